"""Published measurements of collectives, each row with its source, and a description of every cluster that they were made on.

``collectives.csv`` has one row a measurement; its column ``cluster_spec`` names a file of ``clusters/``. A blank cell is what
nobody published.
"""

from __future__ import annotations

from pathlib import Path

COLLECTIVES = Path(__file__).parent / "collectives.csv"
CLUSTERS = Path(__file__).parent / "clusters"
