"""Searches by meaning and by words together, with phrases, excluded words, and an index of words that fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import Scope
from rag_core.retrieval.memory_lexical import MemoryLexical
from rag_core.storage.indexes.base import IndexUnavailable

NOTES = {
    "fares.md": "# Fares\n\nThe ferry to Tolsund costs four crowns, a bicycle two. Form K-77 is not needed.\n",
    "cattle.md": "# Cattle\n\nCattle travel on the lower deck and cost as much as a cart. Form K-78 is needed.\n",
    "train.md": "# Train\n\nThe train to Tolsund costs nine crowns and needs no ferry. Its red lamps burn at night.\n",
    "bread.md": "# Bread\n\nRye bread is baked before dawn on Fridays, and sold by the loaf.\n",
    "marsh.md": "# Marshes\n\n"
    + " ".join(f"In month {month} the marshes kept salt of so many grams in their soil." for month in range(1, 13))
    + "\n\n## References\n\nA. Gray, Salt and soil of northern marshes, 1999.\n",
    "again.md": "# Bread again\n\nRye bread is baked before dawn on Fridays, and sold by the loaf.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: object) -> Iterator[Library]:
    assert callable(new_database)
    folder = tmp_path_factory.mktemp("hybrid") / "library"
    with Library.open(Settings(_env_file=None, data_dir=folder, database_url=new_database())) as opened:
        for event in opened.add([Upload(name, text.encode()) for name, text in NOTES.items()]):
            assert event.error is None
        opened.storage.settle()
        yield opened


def sources(library: Library, question: str, **wanted: object) -> list[str]:
    return [hit.document.sources[0] for hit in library.retrieve(question, **wanted).hits]


@pytest.mark.parametrize("mode", ["auto", "hybrid", "lexical"])
def test_words_find_codes_and_names(library: Library, mode: str) -> None:
    assert sources(library, "K-78", mode=mode)[0] == "cattle.md"
    assert sources(library, "fares to Tolsund", mode=mode)[0] == "fares.md"


def test_each_mode_has_its_scores(library: Library) -> None:
    kinds = {mode: library.search("fares to Tolsund", mode=mode)[0] for mode in ("dense", "lexical", "hybrid")}
    assert {mode: hit.score_kind for mode, hit in kinds.items()} == {
        "dense": "cosine", "lexical": "bm25", "hybrid": "rerank",
    }  # fmt: skip
    assert all("dense" in hit.scores for hit in kinds.values())
    assert {"dense", "piece", "lexical", "document", "fused", "rerank"} == set(kinds["hybrid"].scores)
    assert library.search("fares to Tolsund", mode="hybrid")[0].scores["fused"] == kinds["hybrid"].scores["fused"]
    plain = library.retrieve("fares to Tolsund", rerank="none").hits[0]
    assert (plain.score_kind, plain.score) == ("fused", plain.scores["fused"])
    assert kinds["lexical"].score == kinds["lexical"].scores["lexical"]


def test_ranks_can_be_fused_in_the_place_of_scores(library: Library) -> None:
    found = library.retrieve("fares to Tolsund", fusion="reciprocal")
    assert found.hits[0].document.sources == ("fares.md",)
    assert found.trace.searched is not None
    assert found.trace.searched.mode == "hybrid"


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_a_quoted_phrase_must_stand_there(library: Library, mode: str) -> None:
    assert set(sources(library, 'Where are "red lamps"?', mode=mode)) == {"train.md"}
    assert sources(library, 'Where are "lamps red"?', mode=mode) == []


def test_an_answer_is_made_of_the_nearest_where_nothing_has_a_quoted_phrase(library: Library) -> None:
    found = library.ask('What of "a purple whale" is said of the train?')
    assert found.hits
    assert any("quoted words" in note for note in found.trace.notes) or found.abstained


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_an_excluded_word_stands_in_no_hit(library: Library, mode: str) -> None:
    found = sources(library, "costs to Tolsund -ferries", mode=mode)
    assert "train.md" not in found
    assert "fares.md" not in found
    assert "cattle.md" in found or mode == "lexical"


def test_lists_of_references_are_no_passages_of_an_answer_unless_asked_for(library: Library) -> None:
    def sections(question: str, **wanted: object) -> set[str]:
        return {hit.section for hit in library.retrieve(question, **wanted).hits if "marsh.md" in hit.document.sources}

    assert sections("What is in the soil of northern marshes?", mmr=True) == {"Marshes"}
    assert "References" in sections("What is in the soil of northern marshes?")
    assert "References" in sections("Which paper is about northern marshes?", mmr=True)
    notes = library.retrieve("What is in the soil of northern marshes?", mmr=True).trace.notes
    assert any("references were left out" in note for note in notes)
    assert library.retrieve("What does the ferry to Tolsund cost?", mmr=True, k=2).trace.notes == ()


def test_near_duplicates_are_folded_and_counted(library: Library) -> None:
    hits = [hit for hit in library.search("When is rye bread baked?", k=5) if "Rye bread" in hit.text]
    assert len(hits) in (1, 2)
    assert sum(hit.similar for hit in hits) == 2 - len(hits)


def test_a_scope_reaches_the_index_of_words(library: Library) -> None:
    for scope in (Scope(sections=("Train",)), Scope(folders=("train",))):
        assert set(sources(library, "ferry to Tolsund", scope=scope, mode="lexical")) == {"train.md"}


def test_an_index_of_words_that_fails_leaves_the_search_by_meaning(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise IndexUnavailable("It is broken.")

    monkeypatch.setattr(library.storage.lexical, "search", fail)
    for mode in ("hybrid", "lexical"):
        found = library.retrieve("rye bread", mode=mode)
        assert found.hits
        assert found.hits[0].score_kind == "cosine"
        assert any("It is broken." in note for note in found.trace.notes)
        assert found.trace.searched is not None
        assert found.trace.searched.mode == "dense"


def test_what_the_index_of_words_has_yet_to_take_is_compared_by_its_words(library: Library) -> None:
    text = "The sledge to Tolsund costs one crown, runs on Form K-79, and has no lamps."
    with library.storage.following_stopped():
        *_, last = library.add([Upload("sledge.md", f"# Sledge\n\n{text}\n".encode())])
        assert last.document is not None
        late = library.retrieve("Form K-79")
        alone = library.retrieve("Form K-79", mode="lexical")
    library.storage.settle()
    then = library.retrieve("Form K-79")
    library.remove(last.document.id)
    assert late.hits[0].document.id == then.hits[0].document.id == last.document.id
    assert late.hits[0].scores["lexical"] > max(hit.scores.get("lexical", 0.0) for hit in late.hits[1:])
    assert late.trace.notes == then.trace.notes == ()
    assert last.document.id not in {hit.document.id for hit in alone.hits}
    assert any("yet to take 1 of" in note for note in alone.trace.notes)


def test_scaler_is_flat_until_there_are_clusters(library: Library) -> None:
    found = library.retrieve("rye bread", mode="scaler")
    assert [hit.chunk_id for hit in found.hits] == [hit.chunk_id for hit in library.search("rye bread")]
    assert any("cluster" in note for note in found.trace.notes)
    assert list(library.clusters.update())[-1].stage == "done"
    found = library.retrieve("rye bread", mode="scaler")
    assert found.trace.searched is not None
    assert found.trace.searched.mode == "scaler"
    assert found.trace.searched.expansion
    assert library.search("rye bread")[0].chunk_id in {hit.chunk_id for hit in found.hits}


def of(**weights: float) -> dict[frozenset[str], float]:
    """Terms of one form each."""
    return {frozenset({term}): weight for term, weight in weights.items()}


def test_words_in_memory_are_found_as_those_of_the_library(library: Library) -> None:
    library.storage.settle()  # what an earlier test removed is let go of
    memory = MemoryLexical()
    for document in library.documents():
        chunks = library.chunks(document.id)
        memory.add(document.id, document.title, "en", ((chunk.index, chunk.section, chunk.text) for chunk in chunks))
    for terms in (of(ferri=1, tolsund=2), of(bread=1), of(nothing=1), {}):
        ours, theirs = memory.search(terms, 9), library.storage.lexical.search(terms, 9)
        assert {item[:2] for item in ours} == {item[:2] for item in theirs}
        assert sorted(score for *_, score in ours) == pytest.approx(sorted(score for *_, score in theirs), rel=0.15)
    cattle = next(document.id for document in library.documents() if document.sources == ("cattle.md",))
    assert {key for key, *_ in memory.search(of(form=1), 9, [cattle])} == {cattle}
    assert memory.search(of(train=1), 9, phrases=[["red", "lamp"]], excluded=["ferri"]) == []
    assert len(memory.search(of(train=1), 9, phrases=[["red", "lamp"]])) == 1
    assert memory.search(of(train=1), 9, phrases=[["lamp", "red"]]) == []
