import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.formats.library_settings_text import read_library_text, read_tool


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("", {}),
        ("NCCL_ALGO=Ring NCCL_MIN_CTAS=24", {"NCCL_ALGO": "Ring", "NCCL_MIN_CTAS": "24"}),
        ("NCCL_ALGO=allreduce:ring", {"NCCL_ALGO": "allreduce:ring"}),
        ("NCCL_NVLS_ENABLE=0 (Ring)", {"NCCL_NVLS_ENABLE": "0"}),
        ("RING/LL128", {"NCCL_ALGO": "Ring", "NCCL_PROTO": "LL128"}),
        ("TREE/SIMPLE", {"NCCL_ALGO": "Tree", "NCCL_PROTO": "Simple"}),
        ("Ring / non-allreduce ops", {"NCCL_ALGO": "Ring"}),
        ("default (NCCL picks NVLS)", {}),
        ("default (Ring chosen by the vendor's tuner)", {"NCCL_ALGO": "Ring"}),
        ("QPS=4 AdaptiveRouting=0", {"NCCL_IB_QPS_PER_CONNECTION": "4", "NCCL_IB_ADAPTIVE_ROUTING": "0"}),
        ("SHARP/CollNet", {"NCCL_COLLNET_ENABLE": "1"}),
        ("NVLS on", {"NCCL_NVLS_ENABLE": "1"}),
    ],
)
def test_settings_in_the_words_of_tables(text, settings):
    library, notes = read_library_text("", text)
    assert library.settings == settings
    assert notes == ()


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ("2.21.5", "nccl", "2.21.5"),
        ("RCCL 2.22.3 (ROCm 6.4.2)", "rccl", "2.22.3"),
        ("v2.18", "nccl", "2.18"),
        ("", "nccl", None),
    ],
)
def test_versions(text, name, version):
    library, notes = read_library_text(text, "")
    assert (library.name, library.version, notes) == (name, version, ())


def test_only_what_is_said_is_set():
    assert read_library_text("2.22.3", "")[0].model_fields_set == {"version", "settings"}


def test_what_is_no_setting_is_named_and_the_rest_is_kept():
    library, notes = read_library_text("unknown", "my_bench.py; NCCL_NVLS_ENABLE=0")
    assert library.settings == {"NCCL_NVLS_ENABLE": "0"}
    assert [note.split(" is no ")[0] for note in notes] == ['version "unknown"', '"my_bench.py"']


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_is_a_bug(version, settings):
    library, notes = read_library_text(version, settings)
    assert library.name in {"nccl", "rccl"}
    assert all(note.isprintable() for note in notes)


@pytest.mark.parametrize(
    ("tool", "settings", "found"),
    [
        ("nccl-tests", "", ""),
        ("", "torch.distributed all_reduce_bench.py; NVLS on", "torch.distributed"),
        ("PyTorch profiler", "", ""),
        ("nccl-tests", "single process -g 8", "one process"),
        ("torch bench", "", "torch.distributed"),
    ],
)
def test_what_measured_is_no_setting(tool, settings, found):
    assert read_tool(tool, settings) == found
    assert read_library_text("", settings)[1] == ()
