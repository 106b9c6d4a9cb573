"""A named pipe does not hold a command up, and a pipe with a writer is read to its end."""

import os
import subprocess
import threading

import pytest

from gpufabric.cli.run import run
from gpufabric.formats.open_input import open_input


def test_a_file_is_read(tmp_path):
    (tmp_path / "a").write_bytes(b"one\ntwo")
    with open_input(tmp_path / "a") as file:
        assert file.read() == b"one\ntwo"


def test_what_is_not_there_or_a_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_input(tmp_path / "a")
    with pytest.raises(IsADirectoryError):
        open_input(tmp_path)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["design", "PIPE"], "is empty; write a mapping"),
        (["design", "superpod-b200", "--prices", "PIPE"], "the columns are"),
    ],
)
def test_a_pipe_that_nobody_writes_to_is_empty(words, says, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    assert run([word.replace("PIPE", str(tmp_path / "pipe")) for word in words]) == 2
    assert says in capsys.readouterr().err


def test_a_named_pipe_with_a_writer_is_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    first = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(tmp_path / "pipe", os.O_WRONLY)
    with open_input(tmp_path / "pipe") as file:
        os.close(first)
        later = threading.Timer(0.1, lambda: (os.write(writer, b"late"), os.close(writer)))
        later.start()
        assert file.read() == b"late"
        later.join()


def test_the_pipe_of_a_shell_is_read_to_its_end():
    with (
        subprocess.Popen(
            ["sh", "-c", "sleep 0.1; echo one; sleep 0.1; echo two"], stdout=subprocess.PIPE
        ) as writer,
        open_input(f"/dev/fd/{writer.stdout.fileno()}") as file,
    ):
        assert file.read() == b"one\ntwo\n"
