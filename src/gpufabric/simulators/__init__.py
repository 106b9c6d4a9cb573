"""Graph + flows + bytes → times, one method a file; the verb is ``run``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.flows import Flows, FlowTimes
from gpufabric.records.graph import Graph
from gpufabric.simulators import alpha_beta, fluid

Simulate = Callable[[Graph, Flows, NDArray[np.float64]], FlowTimes]
SIMULATORS: dict[str, Simulate] = {"fluid": fluid.run, "alpha_beta": alpha_beta.run}
