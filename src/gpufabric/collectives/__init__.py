"""Collective → Schedule, one algorithm a file; the verb is ``plan``."""
