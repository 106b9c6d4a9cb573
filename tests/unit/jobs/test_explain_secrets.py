"""Secrets, terminal escapes, entities and paths in what strangers send: nothing of it comes out of explain or check."""

import json

import pytest

from gpufabric.cli.run import run

SECRET = "s3cr3t-value-0815"
PREFIX = "n1:11:12 [0] NCCL INFO "
FILES = {
    "environment dump": f"AWS_SECRET_ACCESS_KEY={SECRET}\nexport TOKEN={SECRET}\nHF_TOKEN: {SECRET}\nurl=https://u:{SECRET}@h/x\n"
    f"{PREFIX}Using network IB\n",
    "settings": f"{PREFIX}NCCL_AUTH_TOKEN set by environment to {SECRET}\n{PREFIX}NCCL_API_KEY set by environment to {SECRET}\n",
    "command line": f"mpirun -x NCCL_SECRET={SECRET} -x API_TOKEN={SECRET} all_reduce_perf\n{PREFIX}Using network IB\n",
    "warning": f"n1:11:12 [0] plugin.cc:7 NCCL WARN login failed password={SECRET} token: {SECRET}\n",
    "JSON": json.dumps(
        {
            "version": 3,
            "args": ["all_reduce_perf", f"--token={SECRET}"],
            "env": {"TOKEN": SECRET, "PASSWORD": SECRET, "HOME": SECRET},
            "nccl_version": 22706,
            "config": {"nthreads": 1, "devices": []},
            "results": [],
        },
        indent=1,
    ),
    "escapes": f"\x1b]0;{SECRET}\x07\x1b[2J{PREFIX}Using network IB\nfoo \x1b[31m\u202e{SECRET}\n",
    "entities": f'<?xml version="1.0"?>\n<!DOCTYPE system [<!ENTITY a "{SECRET}"><!ENTITY b "&a;&a;&a;">]>\n'
    '<system version="1"><cpu numaid="&b;"/></system>\n',
    "external entity": '<!DOCTYPE system [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n'
    '<system version="1"><cpu numaid="&a;"/></system>\n',
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("options", [["explain"], ["explain", "--json"], ["check", "superpod-b200"]])
def test_nothing_of_it_comes_out(name, options, tmp_path, capsys):
    path = tmp_path / "file.log"
    path.write_text(FILES[name])
    assert run([options[0], *options[1:], str(path)]) in {0, 1, 2}
    captured = capsys.readouterr()
    shown = captured.out + captured.err
    assert SECRET not in shown
    assert "root:" not in shown
    assert "Traceback" not in shown
    assert not any(ord(char) < 32 and char != "\n" for char in shown)
    assert "\u202e" not in shown


def test_a_bomb_of_entities_is_refused_at_once(tmp_path, capsys):
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 30))
    path = tmp_path / "bomb.xml"
    path.write_text(
        f'<!DOCTYPE system [<!ENTITY e0 "x">{levels}]>\n<system version="1"><cpu numaid="&e29;"/></system>\n'
    )
    assert run(["explain", str(path)]) in {1, 2}
    assert "entit" in capsys.readouterr().out.lower()


def test_names_of_files_are_shown_without_escapes(tmp_path, capsys):
    path = tmp_path / "a\x1b[31m\nb"
    path.write_text("GPU 0: NVIDIA X (UUID: GPU-1)\n\t Link 0: 25 GB/s\n")
    run(["explain", str(path)])
    shown = "".join(capsys.readouterr())
    assert "\x1b" not in shown
