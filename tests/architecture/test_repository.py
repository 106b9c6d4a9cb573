"""What must not stand in a public repository."""

import re
import subprocess

import pytest

# Written in pieces, so that this file does not find itself.
PATTERNS = {
    "address of a package registry": r"pypi\.o"
    + r"rg|python"
    + r"hosted\.org|npm"
    + r"js\.|deb\.deb"
    + r"ian\.org",
    "setting of a package registry": r"index-u" + r"rl|extra-ind" + r"ex|trusted-h" + r"ost\s*=",
    "path of one machine": r"(?<![\w.:/~-])/(?:ro" + r"ot|wo" + r"rk|ho" + r"me|Us" + r"ers)/\w",
    "path outside the repository": r"\.\./sha" + r"red\b",
    "private key": r"BEGIN (?:[A-Z]+ )?PRIV" + r"ATE KEY",
    "access token": r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bAKI" + r"A[A-Z0-9]{16}\b|\bhf_[A-Za-z]{30,}",
}


def text_of(path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


@pytest.mark.parametrize("what", PATTERNS)
def test_no_tracked_file_holds(what, tracked_files, root):
    pattern = re.compile(PATTERNS[what])
    hits = []
    for path in tracked_files:
        found = pattern.search(text_of(path))
        if found:
            hits.append(f"{path.relative_to(root)}: {found.group()}")
    assert hits == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("address of a package registry", "https://files.python" + "hosted.org/packages/x"),
        ("setting of a package registry", "--index-u" + "rl http://mirror"),
        ("path of one machine", "see /wo" + "rk/out"),
        ("path outside the repository", "open('../sha" + "red/a.csv')"),
        ("private key", "-----BEGIN RSA PRIV" + "ATE KEY-----"),
    ],
)
def test_the_patterns_find_what_they_are_for(what, text):
    assert re.search(PATTERNS[what], text)


def test_no_secret_or_large_file_is_tracked(tracked_files, root):
    size = {str(p.relative_to(root)): p.stat().st_size for p in tracked_files}
    assert {name: n for name, n in size.items() if n > 1024 * 1024} == {}
    assert [name for name in size if re.search(r"(^|/)\.env$|\.pem$|id_rsa", name)] == []


def test_a_missing_python_is_said_in_one_line(root, tmp_path):
    done = subprocess.run(
        ["sh", root / "scripts" / "make-venv.sh", "no-such-python", tmp_path / "v"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "gpufabric: no-such-python is not installed; "
        "install Python 3.11 or newer (Debian: apt install python3 python3-venv)\n"
    )


def test_a_python_that_is_too_old_is_said_in_one_line(root, tmp_path):
    old = tmp_path / "python-old"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && { echo Python 3.9.2; exit 0; }\nexit 1\n')
    old.chmod(0o755)
    done = subprocess.run(
        ["sh", root / "scripts" / "make-venv.sh", old, tmp_path / "v"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("gpufabric: Python 3.9.2 is too old; install Python 3.11 or newer")
    assert done.stderr.count("\n") == 1
