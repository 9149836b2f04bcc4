"""Texts to token numbers, and token numbers to padded batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding.source import ModelSource
from rag_core.errors import ModelUnavailable

# Runtimes prepare themselves anew for each length they meet; a few padded tokens cost less.
_SHORT_STEP, _LONG_STEP, _LONG = 8, 16, 64
# At this width alone, which is that of the packaged model's heads, OpenVINO 2026.4 in 8 bits is wrong on an Intel
# processor with AMX: cosine .88 with float32 in the mean, .76 at worst, where other widths have .997.
_AVOIDED = 32
# Padding is work as tokens are, but every pass reads the model's weights.
_LEAST_FILLED, _OVER = 0.75, 1.1
# What the windows of a long text share, so that what is cut through by one stands whole in another.
_SHARED_TOKENS = 32


Row = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Token numbers, (t,), and where each token stands in its text, (t, 2)."""


class TokenCounter:
    """The model's tokenizer. Thread-safe.

    marks: how many marks stand at the begin and at the end of a row. shared: tokens that the windows of a text share.
    """

    def __init__(self, source: ModelSource) -> None:
        from tokenizers import Tokenizer

        path = source.folder / "tokenizer.json"
        self._lowercase = source.lowercase
        try:
            self._cut, self._whole = (Tokenizer.from_file(str(path)) for _ in range(2))
        except Exception as error:  # the library raises no narrower one
            raise ModelUnavailable(f"The tokenizer at {path} cannot be read: {error}") from error
        marks = self._cut.num_special_tokens_to_add(False)
        self.marks = (min(marks, 1), max(marks - 1, 0))
        self.shared = min(_SHARED_TOKENS, (source.max_tokens - marks) // 4)
        # The file may carry other settings, such as those of the model's training.
        self._cut.enable_truncation(source.max_tokens, stride=self.shared)
        self._cut.no_padding()
        self._whole.no_truncation()
        self._whole.no_padding()

    def windows(self, texts: Sequence[str]) -> list[list[NDArray[np.int64]]]:
        """Token numbers of each text with the marks of begin and end: one row, or several for a text of more than the
        model takes, each sharing a few tokens with the one before it."""
        return [
            [np.array(window.ids, dtype=np.int64) for window in (item, *item.overflowing)]
            for item in self._cut.encode_batch_fast(self._clean(texts))
        ]

    def placed(self, texts: Sequence[str]) -> list[list[Row]]:
        """As `windows`, each row with the characters that its tokens stand for, int64 (t, 2); marks have none."""
        return [
            [(np.array(one.ids, np.int64), np.array(one.offsets, np.int64)) for one in (item, *item.overflowing)]
            for item in self._cut.encode_batch(self._clean(texts))
        ]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, uncut and without the marks of begin and end."""
        items = self._whole.encode_batch_fast(self._clean(texts), add_special_tokens=False)
        return [len(item.ids) for item in items]

    def _clean(self, texts: Sequence[str]) -> list[str]:
        # Half a surrogate pair has no UTF-8, and the tokenizer takes nothing else.
        cleaned = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [text.lower() for text in cleaned] if self._lowercase else cleaned


def batches_by_length(rows: Sequence[NDArray[np.int64]], size: int) -> list[list[int]]:
    """Indices of at most `size` rows each, longest first, so that a batch holds rows of about the same length."""
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    return [order[start : start + size] for start in range(0, len(order), size)]


def shared_out(lengths: Sequence[int], workers: int, most: int) -> list[list[int]]:
    """Indices of few rows, longest first, in batches that keep all workers busy: of at most `most` rows, none of more
    than a worker's share of the tokens, and each row at least as long as `_LEAST_FILLED` of the longest with it."""
    share = sum(lengths) / workers
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        longest, count = (lengths[batches[-1][0]], len(batches[-1])) if batches else (0, most)
        fits = count < most and (count + 1) * longest <= _OVER * share and lengths[index] >= _LEAST_FILLED * longest
        if fits:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def pad(
    rows: Sequence[NDArray[np.int64]], *, pad_id: int, max_tokens: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token numbers and mask, both int64 (n, t), t being the longest row's length rounded up."""
    longest = max(len(row) for row in rows)
    step = _SHORT_STEP if longest <= _LONG else _LONG_STEP
    width = -(-longest // step) * step
    width = max(longest, min(width + step if width == _AVOIDED else width, max_tokens))
    ids = np.full((len(rows), width), pad_id, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
    return ids, mask
