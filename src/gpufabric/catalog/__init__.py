"""Parts, presets and calibrations as data files; the loader is the validator."""
