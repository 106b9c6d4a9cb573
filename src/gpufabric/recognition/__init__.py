"""Names what a found fabric is made of by laying it over a design; the verbs are ``match`` and ``diagnose``."""
