"""One suite for every runtime; PyTorch in float32 is the oracle."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from rag_core.embedding import Embedder
from rag_core.embedding.export import calibration_texts
from rag_core.errors import ModelUnavailable

# Least cosine with PyTorch in float32 of a text, and the mean.
LEAST = {"float32": (0.99999, 0.99999), "bf16": (0.9995, 0.9999), "int8": (0.97, 0.993)}


def texts_of(count: int) -> list[str]:
    """Texts that no model was calibrated on: words of the calibration set, shuffled, of all lengths."""
    words = np.array(" ".join(calibration_texts()).split())
    random = np.random.default_rng(count)
    return [" ".join(random.choice(words, int(random.integers(1, 180)))) for _ in range(count)]


@pytest.mark.parametrize("count", [1, 3, 24])
def test_vectors_are_those_of_pytorch(runtime: Embedder, oracle: Embedder, count: int) -> None:
    texts = texts_of(count)
    cosines = (runtime.encode(texts) * oracle.encode(texts)).sum(axis=1)
    least, mean = LEAST[runtime.profile.precision]
    assert cosines.min() >= least
    assert cosines.mean() >= mean


def test_texts_of_every_length_have_the_right_vector(runtime: Embedder, oracle: Embedder) -> None:
    words = " ".join(calibration_texts()).split()
    texts = [" ".join(words[number * 3 : number * 4]) for number in range(1, 72)]
    least, _ = LEAST[runtime.profile.precision]
    assert (np.stack([runtime.encode_query(text) for text in texts]) * oracle.encode(texts)).sum(axis=1).min() >= least


def test_the_same_text_gives_the_same_vector_in_any_batch(runtime: Embedder) -> None:
    texts = texts_of(17)
    together = runtime.encode(texts)
    alone = np.stack([runtime.encode_query(text) for text in texts])
    assert (together * alone).sum(axis=1).min() >= 0.9999


def test_the_nearest_text_is_the_right_one(runtime: Embedder) -> None:
    texts = ["The cat sleeps on the sofa.", "Net sales grew by eight per cent.", "The court dismissed the appeal."]
    questions = ["Where is the kitten resting?", "How did revenue develop?", "What did the judges decide?"]
    scores = np.stack([runtime.encode_query(question) for question in questions]) @ runtime.encode(texts).T
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "😀", "word " * 5000], ids=["empty", "space", "NUL", "emoji", "long"]
)
def test_odd_texts_have_vectors(runtime: Embedder, text: str) -> None:
    assert np.linalg.norm(runtime.encode_query(text)) == pytest.approx(1, abs=1e-6)
    assert np.linalg.norm(runtime.encode([text])[0]) == pytest.approx(1, abs=1e-6)


def test_threads_share_a_runtime(runtime: Embedder) -> None:
    texts = texts_of(12)
    expected, faults = runtime.encode(texts), []

    def work() -> None:
        if (runtime.encode(texts) * expected).sum(axis=1).min() < 0.9999:
            faults.append("encode differs")
        if runtime.encode_query(texts[3]) @ expected[3] < 0.9999:
            faults.append("encode_query differs")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_runtime_and_profile_name_themselves(runtime: Embedder) -> None:
    assert runtime.runtime == f"{runtime.kind} {runtime.profile.precision}"
    assert (runtime.profile.name, runtime.profile.dimensions, runtime.profile.pooling) == (
        "all-MiniLM-L6-v2",
        384,
        "mean",
    )
    assert runtime.notes == ()


def test_runtimes_of_one_precision_share_a_profile(runtime: Embedder, oracle: Embedder) -> None:
    assert (runtime.profile == oracle.profile) is (runtime.profile.precision == "float32")


def test_a_question_takes_milliseconds(runtime: Embedder) -> None:
    laps = []
    for _ in range(7):
        start = time.perf_counter()
        runtime.encode_query("What were the total net sales in the fiscal year?")
        laps.append(time.perf_counter() - start)
    assert min(laps) < 0.1, f"{min(laps) * 1000:.1f} ms"


def test_openvino_failures_are_translated(runtime: Embedder) -> None:
    if runtime.kind != "openvino":
        pytest.skip("this is about OpenVINO")
    with pytest.raises(ModelUnavailable, match="OpenVINO failed"):
        runtime._forward(np.zeros((1, 3), dtype=np.int64), np.zeros((1, 4, 2), dtype=np.int64))
    assert runtime.encode_query("still works").shape == (384,)
