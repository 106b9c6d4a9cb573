"""What ``gpufabric`` and ``python -m gpufabric`` run."""

import sys

from gpufabric.cli.run import run


def main() -> None:
    """Run the command that the process's arguments name, and leave with its exit status."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
