"""The torch engine on CUDA: `python -m tests.benchmarks.scan_gpu --rows 1000000 10000000`.

Prints one JSON line per number of rows and of questions asked at once. `scores_ms` is what a block's scores take, from
the rounded questions in main memory to the scores on the card; `fetched_ms`, what the whole call takes, the scores
brought to main memory; `copy_ms` is a device-to-device copy of the same bytes, which reads and writes each once, and
`read_ms` half of it, the time that reading them alone would take; `scores_over_read` compares the two. `first_s` is the
first call with a block, which copies it to the card. Blocks are random int8 codes: the time does not depend on what
they hold. Medians of repeated calls.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from accelerator.backends.base import BackendUnavailable, Block
from accelerator.backends.torch import TorchBackend
from accelerator.quantise import round_queries
from tests.benchmarks.measure import emit, percentile, timed_ms

_DIMENSIONS, _HEAD = 384, 192
_TIMES = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--questions", type=int, nargs="+", default=[1, 16])
    options = parser.parse_args()
    try:
        backend = TorchBackend("cuda")
    except BackendUnavailable as error:
        emit(skipped="scan_gpu", reason=str(error))
        return
    for rows in options.rows:
        block = _block(rows)
        copied_s = timed_ms(lambda block=block: backend.scores(block, _asked(1))) / 1000
        for questions in options.questions:
            _measure(backend, block, questions, copied_s)
        backend.forget(block.digest)


def _measure(backend: TorchBackend, block: Block, questions: int, copied_s: float) -> None:
    asked = _asked(questions)
    rounded = round_queries(asked, block.head.shape[1])
    codes = backend._held(block).codes
    copy_ms = _median(lambda: codes.clone())  # its memory is taken from the last one's
    on_card = _median(lambda: backend._scored(block, rounded))
    fetched = _median(lambda: backend.scores(block, asked))
    emit(
        benchmark="scan_gpu", card=backend.describe(), rows=len(block), questions=questions,
        mb=round(codes.nbytes / 1e6, 1), scores_ms=round(on_card, 3), fetched_ms=round(fetched, 3),
        copy_ms=round(copy_ms, 3), copy_gb_per_s=round(2 * codes.nbytes / copy_ms / 1e6, 1),
        read_ms=round(copy_ms / 2, 3), scores_over_read=round(on_card / (copy_ms / 2), 2),
        first_s=round(copied_s, 2), times=_TIMES,
    )  # fmt: skip


def _median(call: Callable[[], object]) -> float:
    """Milliseconds until the card is done."""
    import torch

    times = []
    for _ in range(_TIMES + 3):
        torch.cuda.synchronize()
        started = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - started) * 1000)
    return percentile(times[3:], 0.5)


def _block(rows: int) -> Block:
    chance = np.random.default_rng(rows)
    codes = np.frombuffer(chance.bytes(rows * _DIMENSIONS), np.int8).reshape(2, rows, _HEAD)
    scales = np.full(rows, 0.01, dtype=np.float32)
    return Block(f"{rows} rows", codes[0], codes[1], scales, scales)


def _asked(count: int) -> np.ndarray:
    rows = np.random.default_rng(1).standard_normal((count, _DIMENSIONS)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
