"""What the commands do, each a function that reads like a recipe."""
