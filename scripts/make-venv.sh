#!/bin/sh
# Make the virtual environment that the Makefile installs into; say in one line what is missing.
# Usage: make-venv.sh PYTHON FOLDER
set -eu
python=$1
folder=$2

fail() {
    echo "gpufabric: $1" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 ||
    fail "$python is not installed; install Python 3.11 or newer (Debian: apt install python3 python3-venv)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$python" --version 2>&1) is too old; install Python 3.11 or newer and name it: make PYTHON=python3.12 ..."
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python has no venv module; install it (Debian: apt install python3-venv)"
"$python" -m venv "$folder" || fail "$python -m venv $folder failed; see the lines above"
