"""Level one finds the clusters that a question is about, level two the chunks inside, by cosines of one kind."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest

from rag_core import Library, Upload
from rag_core.domain import Scope
from rag_core.errors import ModelUnavailable
from rag_core.retrieval.hierarchy.building import update
from rag_core.retrieval.hierarchy.clustering import unit
from rag_core.retrieval.hierarchy.current import CurrentHierarchy
from rag_core.retrieval.hierarchy.rewriting import by_rules, rewritten
from rag_core.retrieval.hierarchy.search import Focus, Hierarchy, SearchWidth
from rag_core.retrieval.rankers.scaler import ScalerRanker
from rag_core.storage.postgres.hierarchy import Group, Held, Summaries

DIMENSIONS = 16


def axis(number: int) -> np.ndarray:
    return np.eye(DIMENSIONS, dtype=np.float32)[number]


def group(number: int, members: list[int], term: str = "") -> Group:
    return Group(
        (term or f"word{number}",), axis(number), np.array(members, np.int32), np.ones(len(members), np.float32)
    )


def hierarchy() -> Hierarchy:
    """Documents a, b and c; a about axes 0 and 1, b about 2, c about 3; a and b are in one cluster of documents."""
    summaries = Summaries(("a", "b", "c"), unit(np.stack([axis(0) + axis(1), axis(2), axis(3)])))
    documents = (
        Group(("ab",), unit(axis(0) + axis(1) + axis(2)), np.array([0, 1], np.int32), np.ones(2, np.float32)),
        Group(("c",), axis(3), np.array([2], np.int32), np.ones(1, np.float32)),
    )
    chunks = ((0, group(0, [0, 1])), (0, group(1, [2, 3])), (1, group(2, [0, 1])), (2, group(3, [0])))
    return Hierarchy(Held(summaries, documents, chunks))


def test_the_nearest_clusters_are_looked_into() -> None:
    focus = hierarchy().focus(axis(1), SearchWidth(documents=1, document_clusters=0, chunk_clusters=1))
    assert {key: rows.tolist() for key, rows in focus.rows.items()} == {"a": [2, 3]}
    assert sum(map(len, focus.rows.values())) == 2


def test_a_cluster_of_documents_brings_its_members() -> None:
    reach = SearchWidth(documents=2, document_clusters=1, chunk_clusters=9)
    assert set(hierarchy().focus(unit(axis(0) + axis(1)), reach).rows) >= {"a", "b"}
    narrow = SearchWidth(documents=1, document_clusters=0, chunk_clusters=9)
    assert set(hierarchy().focus(unit(axis(0) + axis(1)), narrow).rows) == {"a"}


def test_the_question_moves_towards_what_was_found() -> None:
    asked = unit(axis(1) + axis(9))
    focus = hierarchy().focus(asked, SearchWidth(guides=1))
    assert float(focus.query @ axis(1)) > float(asked @ axis(1))
    assert np.isclose(np.linalg.norm(focus.query), 1, atol=1e-6)
    assert focus.terms == ("word1",)


def test_without_expansion_the_question_stays() -> None:
    asked = unit(axis(1) + axis(9))
    assert np.allclose(hierarchy().focus(asked, SearchWidth(expansion=0)).query, asked)


def test_only_allowed_documents_are_looked_at() -> None:
    assert set(hierarchy().focus(axis(0), allowed={"c", "unknown"}).rows) == {"c"}
    assert hierarchy().focus(axis(0), allowed=()).rows == {}


def test_a_question_of_another_model_finds_nothing() -> None:
    focus = hierarchy().focus(np.ones(3, dtype=np.float32))
    assert (focus.rows, focus.terms) == ({}, ())


def test_an_empty_hierarchy_finds_nothing() -> None:
    empty = Hierarchy(Held(Summaries((), np.empty((0, 0), np.float32)), (), ()))
    assert len(empty) == 0
    assert not empty.focus(axis(0)).rows


def test_level_one_is_quick_for_a_hundred_thousand_chunks() -> None:
    chance = np.random.default_rng(0)
    rows = lambda count: unit(chance.standard_normal((count, 384)).astype(np.float32))  # noqa: E731
    summaries = Summaries(tuple(f"d{number:04d}" for number in range(1_000)), rows(1_000))
    members = np.array_split(np.arange(1_000, dtype=np.int32), 60)
    documents = tuple(
        Group((), middle, part, np.ones(len(part), np.float32)) for middle, part in zip(rows(60), members, strict=True)
    )
    parts = np.array_split(np.arange(100, dtype=np.int32), 8)
    middles = rows(8_000)
    chunks = tuple(
        (number // 8, Group((), middles[number], parts[number % 8], np.ones(len(parts[number % 8]), np.float32)))
        for number in range(8_000)
    )
    found = Hierarchy(Held(summaries, documents, chunks))
    took = []
    for query in rows(15):
        started = time.perf_counter()
        assert found.focus(query).rows
        took.append(time.perf_counter() - started)
    assert sorted(took)[7] < 0.05


@pytest.fixture
def filled(library: Library) -> Library:
    texts = {
        "ferry": "The ferry crosses the strait at hour {n} with cars when the wind allows its captain to sail.",
        "bread": "Baker {n} kneads dough with flour and yeast before the oven is hot enough for bread.",
    }
    uploads = [
        Upload(f"{subject}.txt", "\n\n".join(text.format(n=n) for n in range(60)).encode())
        for subject, text in texts.items()
    ]
    list(library.add(uploads))
    return library


def test_the_mode_clusters_adds_to_what_is_found(filled: Library) -> None:
    list(update(filled.storage))
    hits = filled.search("When does the boat leave?", mode="clusters")
    assert hits[0].document.title.startswith("ferry")
    flat = {hit.chunk_id for hit in filled.search("When does the boat leave?", k=100, mode="hybrid")}
    assert {hit.chunk_id for hit in filled.search("When does the boat leave?", k=100, mode="clusters")} >= flat


def test_the_mode_scaler_finds_nothing_but_inside_the_clusters_of_level_one(filled: Library) -> None:
    list(update(filled.storage))
    question = "When does the boat leave?"
    found = filled.retrieve(question, k=100, mode="scaler")
    assert found.hits[0].document.title.startswith("ferry")
    assert {hit.score_kind for hit in found.hits} == {"cosine"}
    held, vector = CurrentHierarchy(filled.storage.hierarchy).get(), unit(filled.embed([question])[0])
    focus = held.focus(vector, ScalerRanker.width)
    assert {(hit.document.id, hit.index) for hit in found.hits} == {
        (key, int(row)) for key, rows in focus.rows.items() for row in rows
    }
    searched = found.trace.searched
    assert searched is not None
    assert searched.mode == "scaler"
    assert searched.expansion == by_rules(question, focus.terms) != question
    new = filled.embed([searched.expansion])[0]
    vectors = {
        hit.chunk_id: filled.storage.dense["dumps"].vectors([(hit.document.id, hit.index)])[0] for hit in found.hits
    }
    assert all(np.isclose(hit.score, vectors[hit.chunk_id] @ new, atol=1e-4) for hit in found.hits)


def test_one_document_is_searched_by_the_clusters_of_its_chunks(filled: Library) -> None:
    list(update(filled.storage))
    (bread,) = (document.id for document in filled.documents() if document.title.startswith("bread"))
    found = filled.search("When does the boat leave?", mode="scaler", scope=Scope(documents=(bread,)))
    assert {hit.document.id for hit in found} == {bread}


def test_an_answer_can_be_found_inside_clusters(filled: Library) -> None:
    list(update(filled.storage))
    answer = filled.ask("When is the oven hot enough for bread?", mode="scaler")
    assert answer.trace.searched is not None
    assert answer.trace.searched.mode == "scaler"
    assert answer.citations


def test_the_model_that_answers_writes_scaler_s_question(filled: Library) -> None:
    """Also where it is not the one of the settings: one that is not there says so."""
    list(update(filled.storage))
    scaler = filled.settings.changed("retrieval", mode="scaler")
    for settings, model in ((scaler, "gguf:none.gguf"), (scaler.changed("generation", model="gguf:none.gguf"), None)):
        asked = filled.asking.passages("When is the oven hot?", settings=settings, model=model)
        assert ("could not write" in " ".join(asked.trace.notes)) == (model is not None)
        (tried,) = filled.asking.corpus(settings).search(["When is the oven hot?"], settings.retrieval)
        assert ("could not write" in " ".join(tried.trace.notes)) == (model is None)


@pytest.mark.parametrize("mode", ["clusters", "scaler"])
def test_without_clusters_the_flat_search_answers(filled: Library, mode: str) -> None:
    found = filled.retrieve("bread", mode=mode)
    assert found.hits[0].document.title.startswith("bread")
    assert any("not clustered yet" in note for note in found.trace.notes)


def test_a_model_writes_the_question_of_level_two() -> None:
    focus = Focus({}, axis(0), ("ferry", "strait"), ("The ferry crosses the strait.",))
    asked: list[tuple[str, tuple[str, ...]]] = []

    def write(question: str, summaries: Sequence[str]) -> str:
        asked.append((question, tuple(summaries)))
        return " When does the ferry\ncross? "

    new = rewritten("When does the boat leave?", focus, write, lambda text: axis(3))
    assert asked == [("When does the boat leave?", ("The ferry crosses the strait.",))]
    assert (new.text, new.note) == ("When does the boat leave? When does the ferry cross?", "")
    assert new.vector.tolist() == axis(3).tolist()


@pytest.mark.parametrize(
    ("reply", "searched"),
    [
        ("when does the boat leave? At which pier?", "when does the boat leave? At which pier?"),
        ("", "When does the boat leave? ferry strait"),
    ],
)
def test_a_model_that_says_the_question_itself_or_nothing(reply: str, searched: str) -> None:
    focus = Focus({}, axis(0), ("ferry", "strait"), ("The ferry crosses the strait.",))
    assert rewritten("When does the boat leave?", focus, lambda *_: reply, lambda text: axis(3)).text == searched


def test_where_the_model_fails_rules_write_it_and_that_is_said() -> None:
    def write(question: str, summaries: Sequence[str]) -> str:
        raise ModelUnavailable("It is asleep.")

    new = rewritten("Which ferry?", Focus({}, axis(0), ("ferry", "strait")), write, lambda text: axis(3))
    assert new.text == "Which ferry? strait"
    assert "It is asleep." in new.note


def test_what_is_current_follows_updates(filled: Library) -> None:
    current = CurrentHierarchy(filled.storage.hierarchy)
    assert len(current.get()) == 0
    list(update(filled.storage))
    held = current.get()
    assert len(held) == 2
    assert current.get() is held
