"""One task a file: a function that reads like a recipe and returns a result."""
