from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rag_core.embedding.source import ModelSource
from rag_core.embedding.tokens import TokenCounter, batches_by_length, pad, shared_out
from rag_core.errors import ModelUnavailable


@pytest.fixture(scope="module")
def tokens(source: ModelSource) -> TokenCounter:
    return TokenCounter(source)


def test_token_numbers_equal_those_of_transformers(source: ModelSource, tokens: TokenCounter) -> None:
    from transformers import AutoTokenizer

    texts = ["", "Net sales rose 11.4% to $4,812.6 million.", "naïve café — “quoted” 日本", "word " * 400]
    expected = AutoTokenizer.from_pretrained(source.folder)(texts, truncation=True, max_length=source.max_tokens)
    assert [rows[0].tolist() for rows in tokens.windows(texts)] == expected["input_ids"]


def test_counts_are_uncut_and_without_marks(tokens: TokenCounter) -> None:
    assert tokens.count(["", "hello world", "word " * 400]) == [0, 2, 400]
    assert tokens.count([]) == []


@pytest.mark.parametrize("text", ["\ud800", "\x00\x01", "\u202e\u200b", "😀" * 50, " \n\t"], ids=ascii)
def test_odd_characters(tokens: TokenCounter, text: str) -> None:
    assert len(tokens.windows([text])[0][0]) >= 2


def test_models_of_lowercase_text(source: ModelSource) -> None:
    lower = TokenCounter(replace(source, lowercase=True))
    assert lower.windows(["ABC"])[0][0].tolist() == lower.windows(["abc"])[0][0].tolist()


def test_a_tokenizer_that_cannot_be_read(source: ModelSource, tmp_path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match="tokenizer"):
        TokenCounter(replace(source, folder=tmp_path))


def rows_of(*lengths: int) -> list[np.ndarray]:
    return [np.full(length, 7, dtype=np.int64) for length in lengths]


def test_batches_are_sorted_and_complete() -> None:
    batches = batches_by_length(rows_of(3, 9, 1, 9, 5), 2)
    assert batches == [[1, 3], [4, 0], [2]]
    assert batches_by_length([], 2) == []


@pytest.mark.parametrize(
    ("longest", "width"),
    [(1, 8), (8, 8), (9, 16), (24, 24), (25, 40), (32, 40), (64, 64), (65, 80), (250, 256), (256, 256), (300, 300)],
)
def test_padding_is_rounded_up_but_not_beyond_the_model(longest: int, width: int) -> None:
    ids, mask = pad(rows_of(longest, 1), pad_id=3, max_tokens=256)
    assert ids.shape == mask.shape == (2, width)
    assert mask.sum(axis=1).tolist() == [longest, 1]
    assert (ids[mask == 0] == 3).all()
    assert (ids[mask == 1] == 7).all()


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_few_rows_keep_all_workers_busy(workers: int) -> None:
    lengths = [200, 198, 16, 190, 201, 199, 197]
    batches = shared_out(lengths, workers, 8)
    assert sorted(index for batch in batches for index in batch) == list(range(7))
    assert [2] in batches  # would be padded to twelve times its length
    assert len(batches) == min(workers, 6) + 1
    assert max(len(batch) for batch in batches) == -(-6 // workers)


def test_no_batch_has_more_rows_than_it_may() -> None:
    assert [len(batch) for batch in shared_out([10] * 20, 2, 8)] == [8, 8, 4]
    assert shared_out([], 2, 8) == []
