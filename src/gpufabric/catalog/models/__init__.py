"""Models as data: one TOML file a family, each with the sources of its figures; widths in elements."""
