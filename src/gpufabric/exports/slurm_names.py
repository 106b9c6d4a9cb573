"""What Slurm takes as the name of a node, switch or block."""

from __future__ import annotations

from gpufabric.exports.legal_names import NameRule, check_names
from gpufabric.exports.locality_tree import LocalityTree

# Commas, brackets, equals signs and blanks part names in Slurm's files; 64 characters is what its databases keep.
_RULE = NameRule(
    "slurm",
    r"[A-Za-z0-9][A-Za-z0-9._-]*",
    64,
    "letters, digits, dots, dashes and underscores",
    same_in_both_cases=True,
)
CONF_SOURCE = "topology.conf(5) of Slurm, https://slurm.schedmd.com/topology.conf.html, read 2026-12-01"
YAML_SOURCE = "topology.yaml(5) of Slurm, https://slurm.schedmd.com/topology.yaml.html, read 2026-12-01"


def check_tree_names(tree: LocalityTree) -> None:
    """Refuse a tree with names that Slurm could not take.

    Raises
    ------
    InputError
        For the first name that is not legal.
    """
    check_names(tree.names, _RULE, "server")
    check_names((name for level in tree.groups for name in level), _RULE, "switch")


def check_block_names(names: list[str]) -> None:
    """Refuse names of blocks that Slurm could not take.

    Raises
    ------
    InputError
        For the first name that is not legal.
    """
    check_names(names, _RULE, "block")
