"""Adapters of a discovered netlist get the names of the node-name map."""

from gpufabric.jobs.lab_ib_wiring import name_adapters

NETLIST = 'Ca\t1 "H-0000000000100006"\t\t# "srv02:cage2"\nSwitch\t64 "S-000000000020000f"\t\t# "leaf-1"\n'


def test_adapters_only():
    named = name_adapters(NETLIST, '0x0000000000100006 "srv02 mlx5_1"\n0x000000000020000f "other"\n')
    assert named == NETLIST.replace("srv02:cage2", "srv02 mlx5_1")


def test_what_the_map_does_not_know_is_its_guid():
    assert '# "0000000000100006"' in name_adapters(NETLIST, "")
