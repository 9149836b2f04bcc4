"""Which document a question means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rag_core import Library, Settings, Upload
from rag_core.retrieval.identity import Card, Cards, Meant, identity_terms
from rag_core.storage.postgres.passages import CardRow, Passages

BODY = "Revenue grew. The risks of the business are many.\n"
FILES = {
    "APPLE_2020_10K.txt": "Apple Inc.\nAnnual report for the fiscal year 2020\n\n" + BODY,
    "APPLE_2019_10K.txt": "Apple Inc.\nAnnual report for the fiscal year 2019\n\n" + BODY,
    "NIKE_2023Q1_earnings.txt": "Nike reports results of its first quarter\n\n" + BODY,
    "handbook.txt": "Handbook of the Veyra Harbour Office\n\nBerths are let by the week.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: object) -> Iterator[Library]:
    assert callable(new_database)
    folder = tmp_path_factory.mktemp("identity") / "library"
    with Library.open(Settings(_env_file=None, data_dir=folder, database_url=new_database())) as opened:
        for event in opened.add([Upload(name, text.encode()) for name, text in FILES.items()]):
            assert event.error is None
        yield opened


@pytest.fixture
def cards(library: Library) -> Cards:
    made = Cards(Passages(library.storage.database))
    made.refresh()
    return made


def first(library: Library, cards: Cards, question: str) -> str:
    return library.document(next(iter(cards.meant(question).documents))).sources[0]


def test_names_years_and_periods_become_terms() -> None:
    assert identity_terms("Apple's annual report for FY 20") == ["appl", "form10k", "2020"]
    assert identity_terms("APPLE_2020_10K") == ["appl", "2020", "form10k"]
    assert set(identity_terms("the first quarter of 2023")) == {"q1", "2023"}
    assert set(identity_terms("NIKE_2023Q1_earnings")) == set(identity_terms("earnings of Nike, Q1 2023"))
    assert identity_terms("What is the year of this document?") == []


def test_a_card_weighs_its_title_and_names_above_its_first_page() -> None:
    row = CardRow(
        "a",
        "Annual report",
        "Ada Lund",
        ("of/north/mail/harbour-2019.pdf",),
        "Veyra Town Hall, 2018. The hall. We introduce TernNet, a new net.",
        3,
        9,
        "en",
    )
    weights = Card.of(row).weights
    assert weights["harbour"] == weights["2019"] == weights["form10k"] == 1.0
    assert weights["north"] == weights["tern"] == 1.0  # a folder above it, and the name that it introduces
    assert weights["veyra"] == weights["2018"] == weights["lund"] == 0.25
    assert "hall" not in weights  # written in lower case too, so no name
    assert "pdf" not in weights
    uncovered = Card.of(replace(row, pages=1))
    assert "veyra" not in uncovered.weights
    assert uncovered.weights["lund"] == 0.25
    assert {"veyra", "lund", "harbour"} <= uncovered.names


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("What did Apple earn in 2020?", "APPLE_2020_10K.txt"),
        ("What did Apple earn in fiscal 2019?", "APPLE_2019_10K.txt"),
        ("Nike's results of Q1 2023", "NIKE_2023Q1_earnings.txt"),
        ("Who lets berths, by the handbook?", "handbook.txt"),
    ],
)
def test_the_document_that_is_named_comes_first(library: Library, cards: Cards, question: str, source: str) -> None:
    assert first(library, cards, question) == source
    assert all(0 < surely <= 1 for surely in cards.meant(question).documents.values())


def test_a_note_goes_by_its_aliases() -> None:
    text = "---\naliases: [Kiln book]\n---\nAsh melts early."
    note = CardRow("n", "Glazes", "", ("pots/glazes.md",), text, 1, 1, "en")
    assert Card.of(note).weights["kiln"] == 1


def test_the_names_of_a_question_by_which_a_document_goes(library: Library, cards: Cards) -> None:
    of = {document.sources[0]: document.id for document in library.documents()}
    handbook, nike = of["handbook.txt"], of["NIKE_2023Q1_earnings.txt"]
    found = cards.called("May Ada leave her boat in Veyra for weeks?", [handbook, nike, "gone"])
    assert found == {handbook: ("Veyra",), nike: ()}
    assert cards.called("Veyra's boats, Veyra?", [handbook]) == {handbook: ("Veyra",)}
    assert cards.called("who lets berths by the handbook", [handbook, nike]) == {handbook: ("handbook",), nike: ()}
    assert cards.called("WHO LETS BERTHS IN VEYRA", [handbook]) == {handbook: ()}


def test_names_that_are_compared_are_sides(library: Library, cards: Cards) -> None:
    of = {document.sources[0]: document.id for document in library.documents()}
    apple = frozenset([of["APPLE_2019_10K.txt"], of["APPLE_2020_10K.txt"]])
    nike = frozenset([of["NIKE_2023Q1_earnings.txt"]])
    alone = Cards(Passages(library.storage.database))
    alone.refresh()
    assert alone.meant("Did Nike or the handbook change?").sides == (nike, frozenset([of["handbook.txt"]]))
    assert alone.meant("What did Nike change?").sides == ()
    assert apple not in alone.meant("Did Nike or Apple earn more?").sides  # half of so few documents are no side


def test_among_some_documents_the_names_of_others_are_none(library: Library, cards: Cards) -> None:
    of = {document.sources[0]: document.id for document in library.documents()}
    handbook, nike = of["handbook.txt"], of["NIKE_2023Q1_earnings.txt"]
    assert cards.meant("Did Apple and the handbook change?", [handbook, nike]) == cards.meant(
        "Did Abble and the handbook change?", [handbook, nike]
    )
    assert set(cards.meant("Did Apple and the handbook change?", [handbook, nike]).documents) == {handbook}
    assert cards.meant("What is this report about?", [nike]).documents == {nike: 1.0}
    assert cards.meant("Did Nike or the handbook change?", [nike]).sides == ()


def test_a_word_that_other_chunks_hold_is_less_of_a_name(library: Library) -> None:
    common = Cards(Passages(library.storage.database), lambda terms: dict.fromkeys(terms, 0.2))
    rare = Cards(Passages(library.storage.database), lambda terms: dict.fromkeys(terms, 9.0))
    for made in (common, rare):
        made.refresh()
    assert max(common.meant("Nike").documents.values()) < max(rare.meant("Nike").documents.values())


def test_a_question_that_names_none_means_none(cards: Cards) -> None:
    assert cards.meant("How long does it take?") == Meant()
    assert cards.meant("") == Meant()


def test_cards_follow_what_comes_and_goes(library: Library, cards: Cards) -> None:
    library.storage.settle()
    before = cards.refresh()
    assert (before.documents, cards.refresh()) == (len(FILES), before)
    *_, last = library.add([Upload("TOLSUND_fares.txt", b"Fares to Tolsund, four crowns each way.\n")])
    assert last.document is not None
    assert cards.refresh().documents == len(FILES) + 1
    assert first(library, cards, "fares to Tolsund") == "TOLSUND_fares.txt"
    library.remove(last.document.id)
    library.storage.settle()
    assert cards.refresh() == before
    assert cards.meant("Tolsund") == Meant()


def test_this_document_is_the_only_one_there_is(settings: Settings) -> None:
    with Library.open(settings) as library:
        cards = Cards(Passages(library.storage.database))
        assert cards.refresh().documents == 0
        assert cards.meant("What is this paper about?") == Meant()
        *_, last = library.add([Upload("one.txt", b"A paper on bread.\n")])
        assert last.document is not None
        cards.refresh()
        assert cards.meant("What is this paper about?").documents == {last.document.id: 1.0}


def test_the_document_that_is_meant_is_found_among_its_likes(library: Library) -> None:
    for source in ("APPLE_2019_10K.txt", "APPLE_2020_10K.txt"):
        hits = library.search(f"What were the risks of Apple in {source[6:10]}?")
        assert hits[0].document.sources == (source,)
