"""The targets that are simulators: one a file, and this is their list."""

from gpufabric.exports import astra_sim, goal, htsim, infragraph, simai
from gpufabric.records.export_target import ExportTarget

SIMULATORS: tuple[ExportTarget, ...] = (
    astra_sim.TARGET,
    goal.TARGET,
    htsim.TARGET,
    infragraph.TARGET,
    simai.TARGET,
)
