"""Collective → schedule, one algorithm a file, and the proof that it is right."""
