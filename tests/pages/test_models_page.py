"""What the Models page says of files, machines and downloads."""

from __future__ import annotations

import pytest

from pages.parts.downloading import measure
from pages.parts.local_models import described, pace, told
from rag_core.domain import Job, Machine, ModelFile, Progress, RuntimeTrial

FILE = ModelFile(
    "gguf:a.gguf", "a.gguf", 2_500_000_000, "A", "qwen3", "Q4_K_M", 32_768, True, memory_bytes=4_200_000_000, fits=True
)


def test_a_file_in_one_line() -> None:
    line = described(FILE).replace("\\", "")
    assert line == "2.5 GB · qwen3 · Q4_K_M · context 32,768 · chat template · needs about 4.2 GB: fits into memory"


def test_what_is_wrong_with_a_file() -> None:
    broken = ModelFile("gguf:a.gguf", "a.gguf", 6, problem="It is damaged.")
    assert described(broken).startswith(":red[It is damaged")
    large = ModelFile("gguf:a.gguf", "a.gguf", 10, memory_bytes=9 * 10**9)
    assert "no chat template" in described(large)
    assert "more than is free" in described(large)


@pytest.mark.parametrize(
    ("device", "words"), [("GPU", "graphics"), ("processor", "llama.cpp is ready"), ("", "is compiled")]
)
def test_where_models_run(device: str, words: str) -> None:
    assert words in told(Machine(16 * 10**9, 9 * 10**9, device, missing="" if device else "llama.cpp is compiled."))


def test_openvino_alone_opens_most_files() -> None:
    line = told(Machine(16 * 10**9, 9 * 10**9, "", "llama.cpp is compiled.", openvino=True))
    assert line.endswith(
        "OpenVINO is ready for models of the kinds Llama and Qwen; others need llama.cpp. llama.cpp is compiled."
    )


def test_how_fast_each_runtime_was() -> None:
    trials = (RuntimeTrial("OpenVINO", 0, 160.4, 20.04), RuntimeTrial("llama.cpp", 1, 55.0, 20.6))
    assert pace(trials) == (
        "Opened by OpenVINO: read 160 tokens/s, wrote 20.0; "
        "tried by llama.cpp on 1 thread: read 55 tokens/s, wrote 20.6."
    )
    failed = RuntimeTrial("OpenVINO", problem="OpenVINO cannot open it.")
    assert pace((trials[1], failed)).endswith("; OpenVINO cannot open it.")


@pytest.mark.parametrize(
    ("step", "share", "words"),
    [
        (Progress("waiting"), 0.0, "Looking"),
        (Progress("finding", note="me/tiny"), 0.0, "Looking"),
        (Progress("downloading", 500, 1000, "tiny.gguf"), 0.5, "500 B of 1.0 KB"),
        (Progress("downloading", 500, 0, "tiny.gguf"), 0.0, "500 B"),
        (Progress("checking", 1000, 1000), 1.0, "SHA-256"),
    ],
)
def test_how_far_a_download_is(step: Progress, share: float, words: str) -> None:
    found, text = measure(Job("1", "download", state="running", progress=step))
    assert found == share
    assert words in text
    assert measure(Job("1", "download", state="running", progress=step, stopping=True))[1] == "Stopping"
