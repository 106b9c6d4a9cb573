import pytest
from pydantic import ValidationError

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import PartError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.records.generic_parts import GenericServer
from gpufabric.topologies.resolve_parts import generic_server, resolve_parts


def server(**fields):
    return generic_server(GenericServer.model_validate(fields))


def test_gpus_without_nics_have_a_root_port_each():
    part = server(gpus=4, nics=0, scale_up="32 GB/s", scale_up_kind="pcie", gpu="rtx-4090")
    assert (part.gpu, part.nics, part.cages) == ("rtx-4090", (), ())
    assert [p.bytes_per_s for p in part.pcie] == [32e9] * 4
    assert part.scale_up.kind == "pcie"
    assert part.scale_up.switches == 0


def test_a_rack_that_multicasts_has_its_switches_elsewhere():
    part = server(
        gpus=4,
        nics=4,
        nic_rate="400 Gb/s",
        scale_up="900 GB/s",
        multicast=True,
        domain_servers=16,
        gpu="gb200",
    )
    assert part.scale_up.multicast
    assert (part.scale_up.kind, part.scale_up.switches, part.scale_up.domain_servers) == ("switched", 0, 16)
    assert part.id == "generic-4g-4x1n-400g-d16-multicast-gb200"


def test_an_id_is_valid_whatever_the_gpu_is_called():
    assert server(gpus=2, nics=0, scale_up="1 GB/s", gpu="My_GPU " + "x" * 80).id.startswith(
        "generic-2g-0n-my-gpu-x"
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gpus": 8, "nics": 8}, "nic_rate is missing"),
        ({"gpus": 8, "nics": 0}, "a server without NICs needs scale_up"),
        (
            {"gpus": 8, "nics": 0, "scale_up": "1 GB/s", "scale_up_kind": "mesh", "multicast": True},
            "scale_up_kind is mesh; multicast and domain_servers are for switched GPUs",
        ),
    ],
)
def test_what_does_not_fit_is_one_clear_line(fields, message):
    with pytest.raises(ValidationError, match=message):
        GenericServer.model_validate(fields)


def test_a_gpu_that_is_in_no_catalogue_is_refused():
    spec = parse_cluster_spec(
        "servers: {model: {gpus: 8, nics: 8, nic_rate: 400 Gb/s, gpu: h1000}, count: 2}\n"
        "fabrics: {topology: single-switch, switch: {ports: 64, rate: 400 Gb/s}}\n",
        "x.yaml",
    )
    with pytest.raises(PartError, match='gpu "h1000" is unknown'):
        resolve_parts(spec, load_catalog())
