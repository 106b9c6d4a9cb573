"""Drivers of real programs: what is designed here is given to them, and what they decide is read back."""
