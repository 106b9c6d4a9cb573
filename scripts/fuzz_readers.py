"""Feed mutated captured files to ``explain`` until a time is over, and stop at the first that crashes or hangs.

With atheris (``pip install gpufabric[fuzz]``) mutations are led by coverage; without it they are random from a seed. Usage::

    python scripts/fuzz_readers.py FOLDER… [--seconds 60] [--seed 1] [--atheris]

FOLDERs are those of tests/captured, default all. A mutation may raise nothing but InputError, must end within ten seconds and
stay below 1 GiB. What breaks one of these is written to fuzz-finding.bin in the working folder.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CAPTURED = Path(__file__).parents[1] / "tests" / "captured"
SKIPPED = {"descriptions", "measurements", "ranks", "opensm"}
MOST_SECONDS, MOST_BYTES = 10.0, 1 << 30
PIECES = (
    b"\x00", b"\xff\xfe", b"\x1b[31m", b"\x1b]0;x\x07", b"\r", b"\n" * 50, b"\t", b"9" * 40, b"-1", b"1e999", b"nan", b"{" * 200,
    b"[" * 200, b'"', b"'", b"<", b"]]>", b"<!DOCTYPE x [", b"&a;", b":" * 50, b",," * 50, b"../" * 20, b"%s", b"\xe2\x80\xae",
    b"GPU0", b"NCCL INFO ", b"Channel 00/1 : 0[0] -> 1[1] via P2P/IPC\n", b"a" * 70_000, b"0x" + b"f" * 30, b" " * 5_000,
)  # fmt: skip


def seeds(folders: list[str]) -> list[bytes]:
    """Return the captured files of some folders."""
    chosen = folders or sorted(path.name for path in CAPTURED.iterdir() if path.name not in SKIPPED)
    return [
        path.read_bytes()
        for folder in chosen
        for path in sorted((CAPTURED / folder).iterdir())
        if path.is_file()
    ]


def mutated(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    """Return *raw* with some of it cut, doubled, moved, flipped, spliced with another file, or with odd pieces in it."""
    data = bytearray(raw)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((1, 4, 40, 400)))
        kind = chance.randrange(7)
        if kind == 0:
            del data[at:end]
        elif kind == 1:
            data[at:at] = data[at:end] * chance.choice((1, 2, 50))
        elif kind == 2 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 3:
            data[at:at] = chance.choice(PIECES)
        elif kind == 4:
            cut = chance.randrange(len(other) + 1)
            data[at:end] = other[cut : cut + chance.choice((20, 400, 4000))]
        elif kind == 5:
            del data[at:]
        else:
            lines = data.split(b"\n")
            chance.shuffle(lines)
            data = bytearray(b"\n".join(lines))
        del data[1 << 20 :]
    return bytes(data)


def one_input(raw: bytes) -> None:
    """Read one input as the commands do.

    Raises
    ------
    AssertionError
        When it takes too long or too much memory, or something unprintable comes out.
    """
    from gpufabric.errors import InputError
    from gpufabric.jobs import explain as job

    # Predictions depend on the catalogue alone and would take nine tenths of the time.
    job.expect_of_server = lambda server, nics: ()  # type: ignore[assignment]
    start = time.process_time()
    try:
        shown = str(job.explain([io.BytesIO(raw)]).to_dict())
    except InputError as error:
        shown = str(error)
    assert shown.isprintable(), "unprintable text comes out"
    assert time.process_time() - start < MOST_SECONDS, "took too long"
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert used < MOST_BYTES, f"took {used} bytes of memory"


def run_random(
    files: list[bytes], seconds: float, seed: int, take: Callable[[bytes], None] = one_input
) -> int:
    """Return how many mutations were read in a time."""
    chance = random.Random(seed)
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        raw = mutated(chance.choice(files), chance.choice(files), chance)
        try:
            take(raw)
        except BaseException:
            Path("fuzz-finding.bin").write_bytes(raw)
            print(f"input {count} of seed {seed} is in fuzz-finding.bin", file=sys.stderr)
            raise
        count += 1
    return count


def run_atheris(files: list[bytes], seconds: float, seed: int) -> None:
    """Let atheris mutate; it ends the process itself."""
    try:
        import atheris
    except ImportError:
        sys.exit(
            "atheris is not installed: pip install gpufabric[fuzz]; without --atheris mutations are random"
        )

    with atheris.instrument_imports(include=["gpufabric.formats", "gpufabric.jobs.explain"]):
        import gpufabric.jobs.explain  # noqa: F401 - imported to be instrumented
    corpus = Path(tempfile.mkdtemp())
    for number, raw in enumerate(files):
        (corpus / str(number)).write_bytes(raw)
    limits = [
        f"-max_total_time={int(seconds)}",
        "-timeout=10",
        "-rss_limit_mb=1024",
        "-max_len=65536",
        f"-seed={seed}",
    ]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], one_input)
    atheris.Fuzz()


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Feed mutated captured files to the readers.")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--atheris", action="store_true")
    options = parser.parse_args()
    files = seeds(options.folders)
    if options.atheris:
        run_atheris(files, options.seconds, options.seed)
    else:
        print(f"{run_random(files, options.seconds, options.seed)} inputs of seed {options.seed} were read")


if __name__ == "__main__":
    main()
