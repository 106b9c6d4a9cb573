"""Cluster → Graph, one view a file."""
