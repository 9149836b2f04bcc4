"""Documents that say the same of different things, and which of them a question means, through the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from rag_core import Library, Settings, Upload

Opened = Callable[[dict[str, str]], Library]
KAYAK = "Kayak {name}\n\nThe {name} weighs {weight} kilos. It holds {load} kilos of load. Its hull is of {hull}."

LEASE = """LEASE OF THE BOATHOUSE{mark}

between Ferry Company Ltd and the rowing club, made on {day}.

3. Money
3.1 The club pays a deposit of {deposit} euros.
3.2 The rent is due on the {due} day of each month.
"""


@pytest.fixture(scope="module")
def library_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Opens a library, with these texts alone, by their files' names."""
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:

        def filled(texts: dict[str, str]) -> Library:
            for document in opened.documents():
                opened.remove(document.id)
            for event in opened.add([Upload(name, text.encode()) for name, text in texts.items()]):
                assert event.error is None
            opened.storage.settle()
            return opened

        yield filled


@pytest.fixture(scope="module")
def kayaks(library_of: Opened) -> Library:
    """Three alike."""
    made = [("Orca", 21, 130, "polyethylene"), ("Skua", 17, 110, "carbon"), ("Teal", 26, 160, "plywood")]
    return library_of({
        f"{name}.txt": KAYAK.format(name=name, weight=weight, load=load, hull=hull) for name, weight, load, hull in made
    })  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("How many kilos does the Skua weigh?", "What about its hull?"), "carbon"),
        (("How many kilos does the Orca weigh?", "And the Teal?", "What is its hull made of?"), "plywood"),
    ],
)
def test_a_follow_up_is_of_what_was_asked_of_before(kayaks: Library, asked: tuple[str, ...], said: str) -> None:
    conversation = None
    for question in asked:
        answer = kayaks.ask(question, conversation=conversation)
        conversation = answer.conversation
    assert answer.outcome == "answered" and said in answer.sentences[0].text
    assert len({citation.document_id for citation in answer.citations}) == 1


@pytest.fixture(scope="module")
def leases(library_of: Opened) -> Library:
    """Two versions of one, and another document that tells of a year."""
    return library_of({
        "boathouse lease 2021.txt": LEASE.format(mark="", day="4 May 2021", deposit=400, due="first"),
        "boathouse lease 2023.txt": LEASE.format(mark=" (REVISED)", day="9 June 2023", deposit=550, due="tenth"),
        "regatta.md": "# The regatta\n\nIn 2021 the regatta had 34 boats, in 2023 it had 41.",
    })  # fmt: skip


@pytest.mark.parametrize(
    ("question", "said", "year"),
    [
        ("How much is the current deposit?", "550 euros", "2023"),
        ("When is the rent due in the latest lease?", "tenth day", "2023"),
        ("How much is the deposit in the 2021 lease?", "400 euros", "2021"),
        ("On which day is the rent due in the lease of 2023?", "tenth day", "2023"),
    ],
)
def test_the_version_that_is_meant_answers_alone(leases: Library, question: str, said: str, year: str) -> None:
    answer = leases.ask(question)
    assert answer.outcome == "answered" and said in answer.sentences[0].text
    documents = {document.id: document for document in leases.documents()}
    assert {documents[citation.document_id].sources[0][-8:-4] for citation in answer.citations} == {year}


def test_what_changed_is_told_of_each_version(leases: Library) -> None:
    answer = leases.ask("What changed between the 2021 and the 2023 lease about the deposit?")
    first, second = (sentence.text for sentence in answer.sentences)
    assert first.startswith("2021 ") and "400 euros" in first
    assert second.startswith("2023 ") and "550 euros" in second
    assert len({citation.document_id for citation in answer.citations}) == 2


@pytest.mark.parametrize(
    "question", ["What changed between the two leases?", "What changed between the 2021 and the 2023 lease?"]
)
def test_all_that_changed_stands_beside_what_was_there(leases: Library, question: str) -> None:
    changes = leases.ask(question).text.splitlines()
    assert any("400 euros" in line and line.index("400 euros") < line.index("550 euros") for line in changes)
    assert not any("boathouse" in line and "400" not in line and "2021: –" in line for line in changes)
    assert len(changes) == len({line for line in changes if line.startswith("- 2021: ") and "2023: " in line})


def test_a_year_that_chooses_no_version_is_one_of_what_is_told(leases: Library) -> None:
    assert "34 boats" in leases.ask("How many boats were in the regatta in 2021?").text
    assert leases.ask("How much is the deposit in the 2019 lease?").outcome != "answered"


def test_versions_are_known_by_their_files_where_one_has_a_title_of_its_own(library_of: Opened) -> None:
    contract = "{head}\n\nbetween Quill and Harbour, made on 3 May {year}.\n\nThe notice period is {days} days.\n"
    agreements = library_of({
        "Service agreement 2022.txt": contract.format(head="Harbour Ltd", year=2022, days=30),
        "Service agreement 2024 (amended).txt": contract.format(head="AGREEMENT (RESTATED)", year=2024, days=90),
    })  # fmt: skip
    answer = agreements.ask("What is the current notice period?")
    assert (answer.outcome, [one.text for one in answer.sentences]) == ("answered", ["The notice period is 90 days."])
