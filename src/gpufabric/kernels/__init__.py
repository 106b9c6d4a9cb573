"""NumPy on arrays only: no record is known here."""
