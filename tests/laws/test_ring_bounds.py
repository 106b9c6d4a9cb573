"""No ring beats its ceiling, and ranges hold what they are ranges of."""

from collections.abc import Callable

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpufabric.errors import UnbuildableError
from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.routing import ROUTING
from gpufabric.simulators import SIMULATORS

SERVERS = {
    "dgx-h100": "qm9790",
    "dgx-a100": "qm8790",
    "dgx-b300-spectrum": "sn5600",
    "hgx-mi300x": "sn5600",
    "gb200-nvl72-tray": "qm9790",
    "{gpus: 5, nics: 3, nic_rate: 100 Gb/s, scale_up: 20 GB/s}": "{ports: 16, rate: 100 Gb/s}",
}
TOPOLOGIES = ["single-switch", "leaf-spine", "rail-optimized", "fat-tree", "full-mesh", "multi-plane"]


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
@given(data=st.data())
def test_no_result_beats_its_ceiling(wire: Callable, data: st.DataObject) -> None:
    server = data.draw(st.sampled_from(sorted(SERVERS)))
    topology = data.draw(st.sampled_from(TOPOLOGIES))
    ratio = data.draw(st.sampled_from(["1:1", "2:1", "3:1"])) if topology != "full-mesh" else "1:1"
    try:
        cluster, parts = wire(
            server, data.draw(st.integers(1, 30)), topology, SERVERS[server], f", oversubscription: '{ratio}'"
        )
    except UnbuildableError:
        assume(False)
    assume(len(cluster.gpus) > 1)
    options = CollectiveOptions(
        ranks=data.draw(st.integers(2, len(cluster.gpus))),
        order=data.draw(st.sampled_from(["fabric", "shuffled"])),
        seed=data.draw(st.integers(0, 3)),
        routing=data.draw(st.sampled_from(sorted(ROUTING))),
        simulator=data.draw(st.sampled_from(sorted(SIMULATORS))),
    )
    sizes = [8, 1 << 20, 1 << 40]
    results = predict_collective(cluster, parts, "all_reduce", sizes, options)
    for result in results:
        assert 0 < result.time_low_s <= result.time_s <= result.time_high_s
        assert result.busbw_bytes_per_s <= result.ceiling_busbw_bytes_per_s * (1 + 1e-9)
        assert result.attainable_busbw_bytes_per_s <= result.ceiling_busbw_bytes_per_s * (1 + 1e-9)
    times = [result.time_s for result in results]
    assert times == sorted(times)
