"""File ↔ record, one format a file; the verbs are ``read`` and ``write``."""
