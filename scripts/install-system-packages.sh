#!/bin/sh
# Install the system packages that the Makefile needs (Python with venv, and make), and in CI the programs that tests drive
# (GPUFABRIC_REQUIRE_REAL=1): Chromium with a font, OpenSM with ibsim and ibnetdiscover, slurmctld with scontrol, FRRouting and
# iproute2, and SimGrid's module for the system's Python. Does nothing when all are there.
set -eu

missing=""
command -v make >/dev/null 2>&1 || missing="$missing make"
if ! command -v python3 >/dev/null 2>&1; then
    missing="$missing python3 python3-venv"
elif ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    missing="$missing python3-venv"
fi
if [ "${GPUFABRIC_REQUIRE_REAL:-}" = 1 ]; then
    command -v chromium >/dev/null 2>&1 || missing="$missing chromium fonts-dejavu-core"
    PATH="$PATH:/usr/sbin" command -v opensm >/dev/null 2>&1 || missing="$missing opensm"
    command -v ibsim >/dev/null 2>&1 || missing="$missing ibsim-utils"
    PATH="$PATH:/usr/sbin" command -v ibnetdiscover >/dev/null 2>&1 || missing="$missing infiniband-diags"
    PATH="$PATH:/usr/sbin" command -v slurmctld >/dev/null 2>&1 || missing="$missing slurmctld"
    command -v scontrol >/dev/null 2>&1 || missing="$missing slurm-client"
    command -v vtysh >/dev/null 2>&1 || missing="$missing frr"
    PATH="$PATH:/usr/sbin:/sbin" command -v ip >/dev/null 2>&1 || missing="$missing iproute2"
    /usr/bin/python3 -c "import simgrid" >/dev/null 2>&1 || missing="$missing python3-simgrid"
fi
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "gpufabric: missing system packages:$missing; install them with your package manager, as root" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # one word a package
apt-get install -y -qq --no-install-recommends $missing
