"""Parts, servers and switches as data files; the loader is the validator.

:mod:`~gpufabric.catalog.load` finds the part of an id, :mod:`~gpufabric.catalog.part_file` turns one TOML
file into a part, :mod:`~gpufabric.catalog.user_folder` finds the files in a folder from a stranger, and
:mod:`~gpufabric.catalog.explain_invalid` turns a failed validation into one line a fault.
"""
