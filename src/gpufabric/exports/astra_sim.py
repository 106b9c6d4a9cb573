"""Design → inputs of ASTRA-sim: analytical network, system, memory and a Chakra trace a rank."""

from __future__ import annotations

import json
from collections.abc import Iterator

from gpufabric.errors import InputError
from gpufabric.exports.astra_dimensions import PROGRAM, astra_dimensions
from gpufabric.exports.simulated_collective import SIZE, asked_bytes
from gpufabric.formats import astra_network_yaml, chakra_trace
from gpufabric.formats.chakra_messages import COLLECTIVES, COMM_COLL_NODE, chakra_messages
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget
from gpufabric.records.simulator_inputs import ChakraNode, ChakraTrace
from gpufabric.units import counted

#: ASTRA-sim opens a file for every GPU.
MAX_RANKS = 16_384
_OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
WORKLOAD = ExportOption(
    "workload",
    (*_OPS, "none"),
    "all_reduce",
    "the collective of the traces, which need the package protobuf (gpufabric[chakra]); none: no traces",
)
ALGORITHM = ExportOption(
    "algorithm",
    ("ring", "direct", "doubleBinaryTree", "halvingDoubling"),
    "ring",
    "what every dimension runs, as ASTRA-sim calls it",
)
# The figures that ASTRA-sim's own example has (examples/system/native_collectives); a design says nothing of them.
_EXAMPLE = {
    "scheduling-policy": "LIFO",
    "endpoint-delay": 10,
    "active-chunks-per-dimension": 1,
    "preferred-dataset-splits": 4,
}


def write(source: ExportSource) -> Iterator[ExportedFile]:
    """Yield the network, the system, the memory and a trace a rank.

    Raises
    ------
    InputError
        If the GPUs are not alike, there are more than can have a trace, or protobuf is not installed.
    """
    dimensions = astra_dimensions(source)
    gpus = len(source.cluster.gpus)
    workload = source.option("workload", WORKLOAD.default)
    if not dimensions:
        raise InputError(f"{PROGRAM}: one GPU has no network; describe two or more")
    yield ExportedFile.of_text("network.yml", astra_network_yaml.write(dimensions))
    yield ExportedFile.of_text(
        "system.json", _system(source.option("algorithm", ALGORITHM.default), len(dimensions))
    )
    yield ExportedFile.of_text(
        "memory.json", json.dumps({"memory-type": "NO_MEMORY_EXPANSION"}, indent=2) + "\n"
    )
    if workload == "none":
        return
    if gpus > MAX_RANKS:
        raise InputError(
            f"{PROGRAM}: {counted(gpus, 'GPU')} would need as many traces; at most {MAX_RANKS:,} are written; "
            "take --set workload=none, or a smaller design"
        )
    chakra_messages()
    trace = chakra_trace.write(_trace(workload, asked_bytes(source), gpus))
    # The same operation on every rank: ASTRA-sim tells ranks by the name of the file.
    yield from (ExportedFile(f"workload/{workload}.{rank}.et", (trace,)) for rank in range(gpus))


def _system(algorithm: str, dimensions: int) -> str:
    each = {f"{op.replace('_', '-')}-implementation": [algorithm] * dimensions for op in _OPS}
    if algorithm in ("doubleBinaryTree", "halvingDoubling"):
        # These exchange halves, which an all-to-all has none of.
        each["all-to-all-implementation"] = ["direct"] * dimensions
    return (
        json.dumps({**_EXAMPLE, **each, "collective-optimization": "localBWAware", "boost-mode": 0}, indent=2)
        + "\n"
    )


def _trace(op: str, size_bytes: int, gpus: int) -> ChakraTrace:
    """Return the trace of one collective. ASTRA-sim's all-gather counts what a rank begins with, nccl-tests what it ends with."""
    size = size_bytes // gpus if op == "all_gather" else size_bytes
    if not size:
        raise InputError(
            f"--set size: {size_bytes} bytes are less than one a rank of {gpus:,}; write a larger size"
        )
    attributes = (("is_cpu_op", False), ("comm_type", COLLECTIVES[op]), ("comm_size", size))
    return ChakraTrace(chakra_trace.VERSION, (ChakraNode(0, op, COMM_COLL_NODE, attributes),))


TARGET = ExportTarget(
    name="astra-sim",
    title="ASTRA-sim 2: analytical network, system, memory and Chakra traces",
    files="network.yml, system.json, memory.json, workload/OP.RANK.et",
    kept="scale-up domains and the groups that each tier joins as dimensions, the rate of one GPU in each (ASTRA-sim's "
    "GB/s is 2^30 "
    "bytes/s; converted) with oversubscription, mean latency a link; one collective as a trace a rank",
    lost="single switches, rails, planes, routing and unequal groups; latency inside servers is 0; endpoint delay and "
    "splitting into "
    "chunks are those of ASTRA-sim's example",
    network="any",
    source="ASTRA-sim, https://astra-sim.github.io/astra-sim-docs/, NetworkParser.cc and NetworkFunction.cc of "
    "https://github.com/astra-sim/astra-network-analytical, Sys.cc and Ring.cc of "
    "https://github.com/astra-sim/astra-sim, Chakra schema "
    "of https://github.com/mlcommons/chakra, read 2026-12-01",
    write=write,
    from_files=False,
    options=(WORKLOAD, SIZE, ALGORITHM),
)
