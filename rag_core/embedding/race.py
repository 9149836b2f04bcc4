"""How many passes side by side, of how many texts, embed fastest on this machine: raced once, in a child process.

Only what leaves the vectors as they are takes part: the precision is of a library's profile, and PyTorch and ONNX are
slower than OpenVINO and need 0.3 and 0.5 GB more. On two idle cores of an AMD EPYC with AVX-512 the usual way gives
226 texts of 1000 characters a second in 8 bits, 150 in bfloat16, 85 in float32. OpenVINO chooses kernels by
instructions, not by maker; half as much there is the mark of a busy machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from accelerator.atomic import write_atomically
from rag_core.embedding.base import Embedder
from rag_core.embedding.calibration import calibration_texts
from rag_core.embedding.openvino_runtime import OpenVinoEmbedder, Way, machine
from rag_core.embedding.processor import usable_cores
from rag_core.embedding.quiet import keep_quiet
from rag_core.embedding.source import ModelSource, find_source
from rag_core.errors import LecternError
from rag_core.runtime.low_priority import call_once

_FILE = "race.json"
# What is worth leaving the usual way for; times of a busy machine differ by that much by themselves.
_WORTH = 1.1
_ROUNDS = 3
_TEXTS_A_STREAM, _WORDS = 8, 120
_TIMEOUT_S = 120.0


def fastest(source: ModelSource, precision: str, exported: Path) -> tuple[Way, str]:
    """How to compute an exported model here, and in a few words why.

    Raced in some seconds the first time, and again with another processor or version of OpenVINO. The outcome is kept
    beside the exported models, one for all models of one size.
    """
    path, size = exported.with_name(_FILE), sum(file.stat().st_size for file in exported.glob("*.bin"))
    here = f"{precision} | {size} bytes | {machine()}"
    outcomes = _kept(path)
    with suppress(KeyError, TypeError, ValueError):
        return _read(outcomes[here])
    try:
        outcome = call_once(race, str(source.folder), precision, exported, timeout_s=_TIMEOUT_S)
    except (LecternError, RuntimeError, OSError, ValueError) as error:
        outcome = {"way": asdict(Way.usual()), "words": f"the usual way, as the trial failed: {error}"}
    with suppress(OSError):  # it is raced again then
        write_atomically(path, [json.dumps({**outcomes, here: outcome}, indent=1).encode()])
    return _read(outcome)


def ways(cores: int) -> list[Way]:
    """The usual way first. Fewer passes at a time suit cores that share what they compute with."""
    usual, half = Way.usual(cores), Way.usual(max(1, cores // 2))
    smaller = replace(usual, batch_size=usual.batch_size // 2)
    return list(dict.fromkeys((usual, smaller, half, replace(half, threads=cores))))


def winner(raced: Sequence[Way], rounds: Sequence[Sequence[float]]) -> tuple[Way, float]:
    """The way that was the fastest by a clear margin in every round, else the first; and how many times as fast.

    rounds: seconds of each way, in the order of `raced`.
    """
    gains = [min(times[0] / times[place] for times in rounds) for place in range(len(raced))]
    best = max(range(len(raced)), key=gains.__getitem__)
    return (raced[best], gains[best]) if gains[best] >= _WORTH else (raced[0], 1.0)


def race(folder: str, precision: str, exported: Path) -> dict[str, Any]:
    """Race an exported model: the outcome as it is kept."""
    keep_quiet()
    source, raced = find_source(folder), ways(usable_cores())
    with ExitStack() as opened:
        models = [OpenVinoEmbedder(source, precision, exported, way) for way in raced]
        embedders = [opened.enter_context(model) for model in models]
        texts = _texts(_TEXTS_A_STREAM * raced[0].streams)
        for embedder in embedders:
            embedder.encode(texts)  # the first pass of a shape prepares it
        rounds = [[_took_s(embedder, texts) for embedder in embedders] for _ in range(_ROUNDS)]
    way, gain = winner(raced, rounds)
    speed = len(texts) / min(times[raced.index(way)] for times in rounds)
    beaten = f"{gain:.1f} times as fast as the usual way" if gain > 1 else "no other way is a tenth faster"
    return {"way": asdict(way), "words": f"{beaten}: {speed:.0f} texts/s on trial"}


def _texts(count: int) -> list[str]:
    """As many different texts, each as long as a chunk."""
    words = " ".join(calibration_texts()).split()
    starts = (7 * place % (len(words) - _WORDS) for place in range(count))
    return [" ".join(words[start : start + _WORDS]) for start in starts]


def _took_s(embedder: Embedder, texts: list[str]) -> float:
    started = time.perf_counter()
    embedder.encode(texts)
    return time.perf_counter() - started


def _read(outcome: dict[str, Any]) -> tuple[Way, str]:
    return Way(**outcome["way"]), str(outcome["words"])


def _kept(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}
