"""What documents are called in a library: by their cards, by their user, by tags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from rag_core import Library, Settings, Upload
from rag_core.cli import main
from rag_core.domain import CARD_VERSION, Document, DocumentFilter
from tests.conftest import add_text
from tests.until import until

LETTER = "Annual Report 2022\n\nFictional Widgets Ltd\n\nWe made more widgets than ever, and sold them all.\n"
TITLE = "Fictional Widgets Ltd annual report 2022"
NETS = "How we mend nets\n\nBegin with a needle and some twine, and a dry day.\n"


def titles(library: Library) -> dict[str, str]:
    return {document.sources[0]: document.title for document in library.documents()}


def test_a_document_gets_its_card_while_it_is_added(library: Library) -> None:
    document = add_text(library, "ar22.txt", LETTER)
    assert document.title == TITLE
    assert document.card is not None
    assert (document.card.kind, document.card.year) == ("annual report", 2022)
    assert document.year == 2022
    years = {2022: [document], 2021: []}
    assert {year: library.catalogue.documents(DocumentFilter(year=year))[0] for year in years} == years
    assert library.search("How many widgets were sold?")[0].document.card == document.card


def test_the_users_title_is_shown_everywhere_and_the_found_one_comes_back(library: Library) -> None:
    document = add_text(library, "ar22.txt", LETTER)
    assert library.search("widgets")[0].document.title == TITLE
    library.catalogue.rename(document.id, "  The good\nyear ")
    assert library.document(document.id).title == "The good year"
    assert library.search("widgets")[0].document.title == "The good year"
    assert library.ask("How many widgets were made?").citations[0].title == "The good year"
    for nothing in (None, "  "):
        library.catalogue.rename(document.id, "x")
        library.catalogue.rename(document.id, nothing)
        assert library.document(document.id).title == TITLE
    with pytest.raises(KeyError):
        library.catalogue.rename("0" * 32, "Nobody")


def test_tags_are_put_on_and_taken_off_many_documents(library: Library) -> None:
    first, second = add_text(library, "a.txt", LETTER), add_text(library, "b.txt", NETS)
    library.catalogue.tag([first.id, second.id, "0" * 32], add=["#Work", "to read"])
    library.catalogue.tag([second.id], add=["WORK", "nets"], remove=["To Read"])
    assert library.document(first.id).tags == ("to read", "Work")
    assert library.document(second.id).tags == ("nets", "Work")
    assert library.catalogue.tags() == [("nets", 1), ("to read", 1), ("Work", 2)]
    assert library.search("mend nets")[0].document.tags == ("nets", "Work")
    library.remove(second.id)
    assert library.catalogue.tags() == [("to read", 1), ("Work", 1)]


@pytest.mark.parametrize("tag", ["", " # ", "x" * 61, "–"])
def test_a_tag_that_is_none_is_refused(library: Library, tag: str) -> None:
    with pytest.raises(ValueError, match="A tag has"):
        library.catalogue.tag([], add=[tag])


def test_title_and_tags_outlive_reading_again_and_the_same_bytes(library: Library) -> None:
    document = add_text(library, "nets.md", NETS)
    library.catalogue.rename(document.id, "Nets")
    library.catalogue.tag([document.id], add=["sea"])
    list(library.add([Upload("again.md", NETS.encode())]))
    assert (library.document(document.id).title, library.document(document.id).tags) == ("Nets", ("sea",))
    renew(library, document)
    renewed = library.document(document.id)
    assert (renewed.state, renewed.title, renewed.tags) == ("ready", "Nets", ("sea",))
    assert renewed.media_type == "text/markdown", "it is read by its file's name, not by its title"
    library.catalogue.rename(document.id, None)
    assert library.document(document.id).title == "How we mend nets"


def renew(library: Library, document: Document) -> None:
    library.storage.read_again([document.id])
    *_, last = library.resume({document.id: library.document(document.id).title})
    assert last.stage == "ready", last.error


def strip(settings: Settings) -> None:
    """Make of a library one that a version without cards left."""
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.get_secret_value()) as connection:
        connection.execute("UPDATE documents SET title = title_read, card = NULL, card_version = 0")


def test_documents_of_an_earlier_version_get_their_cards_after_opening(settings: Settings) -> None:
    texts = {f"{number}.txt": f"{LETTER}\nNumber {number}.\n" for number in range(20)} | {"n.txt": NETS}
    with Library.open(settings) as library:
        list(library.add([Upload(name, text.encode()) for name, text in texts.items()]))
        given = library.document(next(d.id for d in library.documents() if d.sources == ("3.txt",)))
        library.catalogue.rename(given.id, "The third")
        before = titles(library)
    strip(settings)
    with Library.open(settings) as library:
        assert all(document.card is None for document in library.documents())
        library.catalogue.cards.wake()
        until(lambda: all(document.card is not None for document in library.documents()))
        assert titles(library) == before
        assert before["3.txt"] == "The third"
        assert before["n.txt"] == "How we mend nets"
        assert not library.storage.documents.cards.without(CARD_VERSION, 1)


def test_titles_and_tags_are_in_a_backup(library: Library, tmp_path: Path, new_database: Callable[[], str]) -> None:
    document = add_text(library, "a.txt", LETTER)
    library.catalogue.rename(document.id, "Mine")
    library.catalogue.tag([document.id], add=["kept"])
    library.maintenance.backup(tmp_path / "b.lectern")
    settings = Settings(_env_file=None, data_dir=tmp_path / "other", database_url=new_database())
    Library.restore(tmp_path / "b.lectern", settings)
    with Library.open(settings) as restored:
        found = restored.document(document.id)
        assert (found.title, found.tags, found.card) == ("Mine", ("kept",), library.document(document.id).card)


def test_the_command_line_tags_and_renames(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settings.database_url is not None
    monkeypatch.setenv("DATABASE_URL", settings.database_url.get_secret_value())

    def run(*arguments: str) -> tuple[int, str]:
        code = main([*arguments, "--data-dir", str(settings.data_dir)])
        return code, capsys.readouterr().out

    with Library.open(settings) as library:
        add_text(library, "a.txt", LETTER)
        add_text(library, "b.txt", NETS)
    assert run("tag", "a.txt", "--add", "work") == (0, f"{TITLE}: work\n")
    assert run("rename", "a.txt", "The good year") == (0, f"{TITLE} is called The good year.\n")
    listed = run("documents", "--tag", "WORK")[1]
    assert "The good year  #work" in listed
    assert "nets" not in listed
    assert run("tag") == (0, "     1  work\n")
    assert run("tag", "The good year", "--remove", "work")[1].endswith("no tags\n")
    assert run("rename", "The good year")[1].endswith(f"is called {TITLE}.\n")
    assert run("rename", "nobody")[0] == 1
    assert run("tag", "a.txt")[0] == 2
    assert run("tag", "a.txt", "--add", "–")[0] == 2
    assert run("documents", "--tag", "none")[1] == "No document has these tags.\n"


def test_indexes_that_hold_titles_follow_a_change_of_title(library: Library) -> None:
    document = add_text(library, "a.txt", LETTER)
    storage = library.storage
    storage.settle()
    assert storage.documents.cards.titled_in
    storage.documents.cards.rename(document.id, "Mine")
    assert all(storage.log.waiting_ids(name) == {document.id} for name in storage.documents.cards.titled_in)
    assert not storage.log.waiting_ids("dumps"), "which has no titles"
    storage.settle()
    storage.documents.cards.rename(document.id, "Mine")
    assert not storage.log.waiting_ids("chroma"), "nothing changed"
