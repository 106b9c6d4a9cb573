"""NumPy and Numba on arrays only: no record is known here."""
