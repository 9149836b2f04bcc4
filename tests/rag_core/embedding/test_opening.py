"""Which runtime is taken, what is said of those that were not, and what a process pays for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rag_core.embedding import exported, open_embedder, opening, openvino_runtime, processor
from rag_core.embedding.source import PACKAGED
from rag_core.errors import ModelUnavailable
from rag_core.settings import PROJECT_DIR, EmbeddingSettings
from tests.rag_core.embedding.conftest import MODELS


def hide(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    real = opening.find_spec
    monkeypatch.setattr(opening, "find_spec", lambda name: None if name in packages else real(name))


@pytest.mark.parametrize(
    ("precision", "backend", "fast", "expected"),
    [
        ("auto", "auto", True, ["openvino int8", "openvino float32", "onnx float32", "torch float32"]),
        ("auto", "auto", False, ["openvino float32", "onnx float32", "torch float32"]),
        ("float32", "auto", True, ["openvino float32", "onnx float32", "torch float32"]),
        ("bf16", "auto", True, ["openvino bf16"]),
        ("int8", "auto", False, ["openvino int8"]),
        ("auto", "torch", True, ["torch float32"]),
        ("int8", "onnx", True, []),
    ],
)
def test_choices(
    monkeypatch: pytest.MonkeyPatch, precision: str, backend: str, fast: bool, expected: list[str]
) -> None:
    monkeypatch.setattr(opening, "has_fast_int8", lambda: fast)
    settings = EmbeddingSettings(precision=precision, backend=backend)
    assert [" ".join(choice) for choice in opening._choices(settings)] == expected


@pytest.mark.parametrize(("batch_size", "taken"), [(0, 8), (3, 3)])
def test_texts_go_in_batches_of_the_usual_size_or_as_set(batch_size: int, taken: int) -> None:
    with open_embedder(EmbeddingSettings(precision="float32", batch_size=batch_size), MODELS) as embedder:
        assert embedder.how == f"on openvino, {processor.usable_cores()} at a time in batches of {taken}"


def test_a_missing_runtime_is_replaced_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "openvino", "onnxruntime")
    with open_embedder(EmbeddingSettings(precision="float32"), MODELS) as embedder:
        assert embedder.runtime == "torch float32"
        assert [note.partition(" is not installed")[0] for note in embedder.notes] == [
            "Embedding does not run on openvino float32: openvino",
            "Embedding does not run on onnx float32: onnxruntime",
        ]


def test_a_failed_export_is_replaced_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise ModelUnavailable("could not be exported: no reason")

    monkeypatch.setattr(exported, "_export", fail)
    hide(monkeypatch, "onnxruntime")
    with open_embedder(EmbeddingSettings(precision="float32"), tmp_path) as embedder:
        assert embedder.runtime == "torch float32"
        assert "no reason" in embedder.notes[0]


def test_nothing_there_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "openvino", "onnxruntime", "sentence_transformers")
    with pytest.raises(ModelUnavailable, match=r"openvino.*onnx.*torch") as caught:
        open_embedder(EmbeddingSettings(precision="float32"), MODELS)
    assert caught.value.help == "Run: pip install openvino"


def test_a_precision_that_a_runtime_lacks() -> None:
    with pytest.raises(ModelUnavailable, match="needs OpenVINO"):
        open_embedder(EmbeddingSettings(precision="int8", backend="torch"), MODELS)


@pytest.mark.slow
def test_a_processor_without_8_bit_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_runtime, "capabilities", lambda: frozenset({"FP32"}))
    monkeypatch.setattr(opening, "has_fast_int8", lambda: True)
    with open_embedder(EmbeddingSettings(), MODELS) as embedder:
        assert embedder.runtime == "openvino float32"
        assert "no 8-bit runtime" in embedder.notes[0]


def test_a_missing_model(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        open_embedder(EmbeddingSettings(model=str(tmp_path / "none")), MODELS)
    assert PACKAGED in caught.value.help


def test_a_damaged_model_on_disk_is_translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "exported"
    folder.mkdir()
    (folder / "model.xml").write_text("<net/>")
    monkeypatch.setattr(opening, "exported_model", lambda *_: folder)
    with pytest.raises(ModelUnavailable, match="OpenVINO cannot load"):
        open_embedder(EmbeddingSettings(precision="float32", backend="openvino"), tmp_path)


PROBE = """
import json, sys, time
start = time.perf_counter()
from pathlib import Path
from rag_core.embedding import open_embedder
from rag_core.settings import EmbeddingSettings
imported = time.perf_counter()
embedder = open_embedder(EmbeddingSettings(), Path(sys.argv[1]))
opened = time.perf_counter()
embedder.encode_query("a question")
embedder.encode(["some text " * n for n in range(90)])
import psutil
heavy = {"torch", "transformers", "sentence_transformers", "nncf", "optimum", "onnxruntime"} & set(sys.modules)
print(json.dumps({
    "open_s": opened - imported, "heavy": sorted(heavy), "telemetry": bool(sys.modules.get("openvino_telemetry")),
    "rss_mb": psutil.Process().memory_info().rss / 2**20,
}))
embedder.close()
"""


def test_a_process_that_embeds_is_light(source: object) -> None:
    open_embedder(EmbeddingSettings(), MODELS).close()  # exported by now
    command = [sys.executable, "-c", PROBE, str(MODELS)]
    result = subprocess.run(command, cwd=PROJECT_DIR, capture_output=True, text=True, timeout=60, check=True)
    seen = json.loads(result.stdout)
    assert seen["heavy"] == []
    assert not seen["telemetry"]
    assert seen["rss_mb"] < 700
    assert seen["open_s"] < 3, "twice what it takes on a busy machine"


@pytest.mark.parametrize(
    ("system", "machine", "flags", "fast"),
    [
        ("linux", "x86_64", "fpu avx2 avx512_vnni", True),
        ("linux", "x86_64", "fpu avx2 avx_vnni", True),
        ("linux", "x86_64", "fpu avx2 avx512f", False),
        ("linux", "aarch64", "fp asimd asimddp", True),
        ("linux", "aarch64", "fp asimd", False),
        ("linux", "x86_64", "", False),
    ],
)
def test_fast_int8_on_linux(monkeypatch: pytest.MonkeyPatch, system: str, machine: str, flags: str, fast: bool) -> None:
    monkeypatch.setattr(processor.sys, "platform", system)
    monkeypatch.setattr(processor.platform, "machine", lambda: machine)
    monkeypatch.setattr(processor, "_cpu_flags", lambda: set(flags.split()))
    assert processor.has_fast_int8() is fast


@pytest.mark.parametrize(
    ("machine", "answer", "fast"), [("arm64", "1", True), ("arm64", "0", False), ("x86_64", "1", False)]
)
def test_fast_int8_on_macos(monkeypatch: pytest.MonkeyPatch, machine: str, answer: str, fast: bool) -> None:
    monkeypatch.setattr(processor.sys, "platform", "darwin")
    monkeypatch.setattr(processor.platform, "machine", lambda: machine)
    monkeypatch.setattr(processor, "_sysctl", lambda name: answer)
    assert processor.has_fast_int8() is fast


def test_cores_are_those_of_this_process() -> None:
    assert processor.usable_cores() >= 1
