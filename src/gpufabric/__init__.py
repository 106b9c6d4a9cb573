"""Design, predict and check the networks of GPU clusters, from one description of the cluster."""

__version__ = "0.1.0"
