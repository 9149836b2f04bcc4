"""Texts longer than the model's window, and the pieces of texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rag_core.embedding import Embedder
from rag_core.embedding.pieces import pooled, unit_rows
from rag_core.embedding.source import ModelSource
from tests.rag_core.embedding.conftest import FakeEmbedder

FILLER = "The council met in the town hall and spoke at length of the roads. " * 40
TAIL = "The lighthouse keeper's daughter repaired the broken lamp with a piece of green glass."
QUESTION = "Who mended the lamp of the lighthouse?"


def test_the_tail_of_a_long_text_is_in_its_vector(runtime: Embedder) -> None:
    assert runtime.count_tokens([FILLER])[0] > 512
    question = runtime.encode_query(QUESTION)
    with_tail, without, cut_off = runtime.encode([FILLER + TAIL, FILLER, FILLER[: len(FILLER) // 3]])
    assert with_tail @ question > max(without @ question, cut_off @ question) + 0.05
    np.testing.assert_allclose(np.linalg.norm(with_tail), 1, atol=1e-6)


def test_a_long_text_is_the_mean_of_its_windows_by_tokens(fake: FakeEmbedder) -> None:
    words = [f"word{number % 90}" for number in range(400)]
    text = " ".join(words)
    rows = fake._tokens.windows([text])[0]
    assert len(rows) > 2
    assert rows[1][1:33].tolist() == rows[0][-33:-1].tolist()
    units = [fake._table[row].sum(axis=0) / np.linalg.norm(fake._table[row].sum(axis=0)) for row in rows]
    expected = sum(len(row) * unit for row, unit in zip(rows, units, strict=True))
    expected /= np.linalg.norm(expected)
    for texts in ([text], ["short", text, "another short one"], [text, text]):
        np.testing.assert_allclose(fake.encode(texts)[texts.index(text)], expected, atol=1e-5)
    np.testing.assert_allclose(fake.encode_query(text), expected, atol=1e-5)
    np.testing.assert_allclose(fake.encode(["short", text])[0], fake.encode(["short"])[0], atol=1e-6)


def test_progress_counts_a_long_text_once(fake: FakeEmbedder) -> None:
    steps: list[tuple[int, int]] = []
    fake.encode([FILLER, "short", FILLER + TAIL], progress=lambda *step: steps.append(step))
    assert steps[-1] == (3, 3)


def test_pieces_are_means_of_equal_parts_of_the_body(fake: FakeEmbedder) -> None:
    text, context = "one two three four " * 30, "A title. "
    (_, (pieces,)) = fake.encode_with_pieces([text], [context])
    body = fake._tokens.windows([text])[0][0][1:-1]
    assert len(body) == 120
    assert pieces.shape == (2, 384)
    assert pieces.dtype == np.int8
    for row, part in zip(unit_rows(pieces), (body[:60], body[60:]), strict=True):
        mean = fake._table[part].mean(axis=0)
        assert row @ mean / np.linalg.norm(mean) > 0.9999


def test_vectors_with_pieces_are_those_without(runtime: Embedder) -> None:
    texts = [FILLER, TAIL, "", TAIL, FILLER[:700]]
    vectors, pieces = runtime.encode_with_pieces(texts, [""] * 5)
    assert (vectors * runtime.encode(texts)).sum(axis=1).min() > 0.9999
    assert [len(rows) for rows in pieces[1:4]] == [1, 0, 1]
    assert len(pieces[0]) > 8
    assert runtime.encode_with_pieces([], [])[1] == []


def test_the_piece_that_answers_is_nearest(runtime: Embedder) -> None:
    body = FILLER[: 67 * 5]
    (_, (pieces,)) = runtime.encode_with_pieces([body + TAIL * 2 + " " + body], [""])
    scores = unit_rows(pieces) @ runtime.encode_query(QUESTION)
    assert 0 < scores.argmax() < len(pieces) - 1
    assert scores.max() > runtime.encode([body + TAIL * 2 + " " + body])[0] @ runtime.encode_query(QUESTION)


def test_context_stands_before_the_text_where_the_profile_says_so(source: ModelSource) -> None:
    with FakeEmbedder(source) as plain, FakeEmbedder(replace(source, in_context=True)) as embedder:
        assert plain.profile.id == source.profile("float32").id != embedder.profile.id
        vectors, pieces = embedder.encode_with_pieces(["some text"], ["Title. "])
        np.testing.assert_array_equal(vectors, plain.encode(["Title. some text"]))
        own = plain.encode_with_pieces(["some text"], ["Title. "])
        np.testing.assert_array_equal(own[0], plain.encode(["some text"]))
        np.testing.assert_array_equal(own[1][0], pieces[0])


def test_a_model_of_another_pooling_has_no_pieces(source: ModelSource) -> None:
    with FakeEmbedder(replace(source, has_pieces=False)) as embedder:
        vectors, pieces = embedder.encode_with_pieces(["some text"], [""])
    assert vectors.shape == (1, 384)
    assert pieces[0].size == 0


def test_token_vectors_of_zeros_are_a_piece_of_zeros() -> None:
    pieces = pooled(np.zeros((9, 4), dtype=np.float32), 1, 8)
    assert pieces.tolist() == [[0, 0, 0, 0]]
    assert unit_rows(pieces).tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize("count", [1, 47, 48, 49, 100, 254])
def test_pieces_have_about_48_tokens(count: int) -> None:
    tokens = np.random.default_rng(count).standard_normal((256, 16)).astype(np.float32)
    pieces = pooled(tokens, 1, 1 + count)
    assert len(pieces) == max(1, round(count / 48))
    means = unit_rows(pieces) @ tokens[1 : 1 + count].mean(axis=0)
    assert means.sum() > 0
