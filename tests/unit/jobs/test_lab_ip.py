"""Checks of a laid network, on a network that is pretended, and refusals without root."""

import pytest

from gpufabric.cli.run import run
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs import lab_ip_checks
from gpufabric.jobs.lab_ip import LabIpOptions, scaled_fabric
from gpufabric.jobs.lab_ip_checks import LabNetwork, check_network
from gpufabric.lab.host_reach import Reach
from gpufabric.lab.traffic_shaping import LinkEnd

LINKS = [(leaf, spine) for leaf in ("leaf1", "leaf2", "leaf3") for spine in ("spine1", "spine2")]
BLOCKS = {"leaf1": "10.0.0.0/30", "leaf2": "10.0.0.4/30", "leaf3": "10.0.0.8/30"}


class PretendedNetwork:
    """Switches that know of a loss at once, or not at all."""

    def __init__(self, deaf: bool = False, without: tuple[int, ...] = ()):
        self.down = set(without)
        self.deaf = deaf
        self.ends = [(LinkEnd(a, f"to-{b}", 1.0), LinkEnd(b, f"to-{a}", 1.0)) for a, b in LINKS]

    def lab(self) -> LabNetwork:
        between = tuple((row, a, f"to-{b}", b, f"to-{a}") for row, (a, b) in enumerate(LINKS))
        return LabNetwork(self, BLOCKS, between, bfd=True)

    def routes(self, leaf):
        found = {prefix: frozenset() for other, prefix in BLOCKS.items() if other == leaf}
        up = [link for row, link in enumerate(LINKS) if row not in self.down]
        for other, prefix in BLOCKS.items():
            ways = {f"to-{s}" for a, s in up if a == leaf and (other, s) in up}
            if other != leaf and ways:
                found[prefix] = frozenset(ways)
        return found

    def cut(self, link):
        self.down |= set() if self.deaf else {link}

    silence = cut

    def mend(self, link):
        self.down.discard(link)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    for name in ("_CONVERGED_S", "_CARRIER_S", "_BFD_S", "_SLACK_S"):
        monkeypatch.setattr(lab_ip_checks, name, 0.02)
    monkeypatch.setattr(lab_ip_checks, "_EXTRA_S", 0.05)
    monkeypatch.setattr(lab_ip_checks, "try_all_pairs", lambda net: Reach(6, ()))


def test_a_network_that_does_what_it_should():
    checks, findings = check_network(PretendedNetwork().lab())
    assert [check.verdict for check in checks] == ["pass"] * 5
    assert checks[0].expected == "12 ways on 3 leaves"
    assert findings == ()
    assert checks[2].name.startswith("carrier lost: leaf1 – spine1")
    assert checks[4].name.startswith("silent loss: leaf3 – spine2")


def test_a_way_that_is_missing_from_the_start():
    checks, findings = check_network(PretendedNetwork(without=(3,)).lab())
    assert [check.verdict for check in checks] == ["fail"]
    assert [finding.rule for finding in findings] == ["lab-routes-missing"]
    assert "10.0.0.4/30 over to-spine1 instead of to-spine1, to-spine2" in checks[0].found


def test_a_loss_that_nobody_notices():
    checks, findings = check_network(PretendedNetwork(deaf=True).lab())
    assert [check.verdict for check in checks][:3] == ["pass", "pass", "fail"]
    assert [finding.rule for finding in findings] == ["lab-routes-missing"]


def test_a_loss_that_is_noticed_late(monkeypatch):
    monkeypatch.setattr(lab_ip_checks, "_CARRIER_S", 0.0)
    checks, findings = check_network(PretendedNetwork().lab())
    assert [check.verdict for check in checks][:3] == ["pass", "pass", "fail"]
    assert [finding.rule for finding in findings] == ["lab-failover-slow"]


def test_servers_that_do_not_connect(monkeypatch):
    failed = (("10.0.0.1", "10.0.0.5", "timed out"),)
    monkeypatch.setattr(lab_ip_checks, "try_all_pairs", lambda net: Reach(6, failed))
    checks, findings = check_network(PretendedNetwork().lab())
    assert checks[1].verdict == "fail"
    assert [finding.rule for finding in findings] == ["lab-servers-cut-off"]
    assert "10.0.0.1 to 10.0.0.5, timed out" in checks[1].found


def test_a_plane_of_its_own():
    text = (
        "servers: {model: {gpus: 2, nics: 2, nic_ports: 2, nic_rate: 100 Gb/s}, count: 8}\n"
        "fabrics: {name: gpu, topology: multi-plane, switch: {ports: 8, rate: 100 Gb/s, network: ethernet}}\n"
    )
    spec = parse_cluster_spec(text, "t.yaml")
    scaled = scaled_fabric(spec, LabIpOptions(plane=2))
    assert (scaled.domain, scaled.domains) == (2, 2)
    assert {int(plane) for plane in scaled.cluster.ports.plane} == {1}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["superpod-b200"], "FRRouting routes Ethernet (infiniband found)"),
        (["leaf-spine-roce", "--fabric", "disks"], 'fabric "disks" is not in the cluster'),
        (["leaf-spine-roce", "--plane", "9"], "--plane: 9 is not there"),
        (["leaf-spine-roce", "--rate", "5"], 'rate "5" is not understood'),
    ],
)
def test_what_can_not_be_rehearsed_is_said_in_one_line(words, message, capsys):
    assert run(["lab", "ip", *words]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_without_root_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr("gpufabric.lab.isolated_machine.os.geteuid", lambda: 1000)
    monkeypatch.setattr("gpufabric.lab.host_networks.find_daemons", lambda bfd: ())
    assert run(["lab", "ip", "leaf-spine-roce"]) == 2
    assert capsys.readouterr().err.startswith("gpufabric: network namespaces: need root")
