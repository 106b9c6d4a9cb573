"""Communication libraries as data: one TOML file each, whose facts say for which versions they hold."""
