"""What is, or is named like, a secret is never shown; what is none stays."""

import time

import pytest

from gpufabric.formats.without_secrets import without_secrets

SECRET = "hunter3hunter3"
TOKENS = (
    "ghp_" + "a1B2" * 9,
    "hf_" + "Q7" * 12,
    "nvapi-" + "x9" * 16,
    "AKIA" + "Z2" * 8,
    "eyJhbGciOiJI.eyJzdWIi.c2lnbmF0dXJl",
)


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"authorization=Basic {SECRET}",
        f"curl -H 'Authorization: {SECRET}'",
        f"bearer {SECRET}",
        f"MY_DB_PASS {SECRET}",
        f"DB_PASSWORD={SECRET}",
        f"db_pass: {SECRET}",
        f'"api_key": "{SECRET} {SECRET}"',
        f"HF_TOKEN='{SECRET} {SECRET}'",
        f"https://user:{SECRET}@host/path",
        f"-----BEGIN OPENSSH {'PRIVATE'} KEY----- {SECRET}\n{SECRET}",
    ],
)
def test_what_is_named_a_secret_is_removed(text):
    shown = without_secrets(text)
    assert SECRET not in shown
    assert "[removed]" in shown


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    "around", ["{}", "NCCL_NET_PLUGIN=/opt/plugins/{}", "say {}, then", "Authorization: Bearer {}"]
)
def test_tokens_are_known_by_their_form(token, around):
    shown = without_secrets(around.format(token))
    assert token not in shown
    assert token[-8:] not in shown


@pytest.mark.parametrize(
    "text",
    [
        "NCCL INFO Using network IB",
        "8 tokens per second on 4 GPUs",
        "bypass of the switch at risk of loss",
        "host-1:22:33 [0] NCCL WARN Call to connect failed : Connection refused",
        "https://host:8080/path",
        "the pass over all ranks took 3 ms",
        "NCCL_IB_HCA=mlx5_0,mlx5_1",
    ],
)
def test_what_is_none_stays(text):
    assert without_secrets(text) == text


@pytest.mark.parametrize("text", ["a" * 4_000, "A_" * 2_000, "token" * 800, "eyJ" * 1_300, "PASS " * 800])
def test_long_text_takes_little_time(text):
    start = time.process_time()
    without_secrets(text)
    assert time.process_time() - start < 1
