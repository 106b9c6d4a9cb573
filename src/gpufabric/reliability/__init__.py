"""Losses → what they cost; the verb is ``cost``."""
