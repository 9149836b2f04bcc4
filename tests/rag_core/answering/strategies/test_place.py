"""Questions that name a page, a clause, a figure or the very words of a document, through a real library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core import Answer, Library, Settings
from rag_core.domain import Scope
from rag_core.settings import GenerationSettings
from tests.conftest import PROJECT
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf

LEASE = """Lease of Mill Cottage

This lease was made on 3 May 2021 between Ada Finch and Tom Birch.

1. Subject
1.1 The owner lets Mill Cottage with its garden to the tenant.
1.2 The shed is not part of it.

2. Rent
2.1 The rent is 940 pounds a month, due on the first.
2.2 The tenant leaves a deposit of 1,880 pounds. It is given back within four weeks of the end, less
4.50 pounds for each missing key.
2.3 Heating costs are paid apart.

3. Animals
3.1 Dogs are welcome:
(a) two at most;
(b) on a lead in the yard.
3.2 Geese need the owner's leave.

Appendix A
Inventory: one stove, two beds, an iron kettle.

Appendix B
House rules: no fires after ten.
"""
LOAN = """Loan of the long boat

Article 1
The club lends its long boat to the rowing school.

Article 2
The deposit is 300 crowns.
1. It is paid in cash.
2. It is paid at the boat house.
3. It is kept by the treasurer.

Article 3
Damage is paid by the school, as section 230 of the harbour code says.
"""
SURVEY = (
    (
        "The survey of herons",
        "We counted nests in three valleys, as Figure 1 and Figure 2 tell.",
        "Figure 1. Nests by valley; those of Arle are hatched.",
        "Figure 2.",
        "Table 1. Nests counted",
        "Valley     2014     2023",
        "Arle     41     66",
    ),
    ("Methods", "Two watchers sat on the ridge from dawn to noon.", "Figure 2 shows the day of arrival."),
    ("Results", "Herons came eight days earlier than before."),
    (),
)


REPORT = """# Report of the harbour

# Item 1. Business

We run the harbour.

# Berths

There are nine berths.

# Item 1A. Risk factors

Storms may close the harbour.

# Item 2. Properties

We own two sheds.

# B Details of dredging

The channel is dredged each March.

Steps of dredging

1: for each berth do
4: stop
"""


def write_survey(path: Path) -> Path:
    canvas = Canvas(str(path), pagesize=(400, 600))
    for lines in SURVEY:
        for number, line in enumerate(lines):
            canvas.drawString(40, 550 - 18 * number, line)
        canvas.showPage()
    canvas.save()
    return path


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    """A tiny model, texts, a survey of four pages, and a handbook whose pages are labelled i, ii, iii, 1, 2, ..."""
    folder = tmp_path_factory.mktemp("places")
    (folder / "lease.txt").write_text(LEASE, encoding="utf-8")
    (folder / "loan.txt").write_text(LOAN, encoding="utf-8")
    (folder / "report.md").write_text(REPORT, encoding="utf-8")
    (folder / "models").mkdir()
    write_tiny_gguf(folder / "models" / "tiny.gguf", chat_template=CHAT_TEMPLATE)
    if (exported := Settings(_env_file=None).models_dir).is_dir():  # or the model of the vectors is exported anew
        for path in exported.iterdir():
            (folder / "models" / path.name).symlink_to(path.absolute())
    files = [folder / "lease.txt", folder / "loan.txt", folder / "report.md", write_survey(folder / "survey.pdf")]
    settings = Settings(
        _env_file=None, data_dir=folder / "library", database_url=new_database(), models_dir=folder / "models",
        generation=GenerationSettings(context_tokens=2048, max_tokens=16),
    )  # fmt: skip
    with Library.open(settings) as library:
        for event in library.add([*files, PROJECT / "data" / "samples" / "veyra-ferry-handbook.pdf"]):
            assert event.error is None
        yield library


def ask(library: Library, question: str, within: str = "") -> Answer:
    """The answer, each of whose citations opens what it shows."""
    ids = tuple(one.id for one in library.documents() if within and within in one.title)
    answer = list(library.stream(question, scope=Scope(documents=ids)))[-1].answer
    assert answer is not None
    for citation in answer.citations:
        page = library.page(citation.document_id, citation.page).text
        assert page[citation.start : citation.end] == citation.text
    return answer


def plain(answer: Answer) -> str:
    return " ".join(sentence.text for sentence in answer.sentences)


@pytest.mark.parametrize(
    ("question", "wanted", "unwanted"),
    [
        ("What does clause 2.2 say?", "1,880 pounds. It is given back within four weeks", "Heating"),
        ("clause 2.2(b) of the lease", "4.50 pounds for each missing key.", "Heating"),
        ("Please show me § 3.1", "(a) two at most; (b) on a lead", "Geese"),
        ("Was sagt Klausel 2.3?", "2.3 Heating costs", "940"),
        ("Que dit l'article 1.2 ?", "1.2 The shed", "garden"),
        ("What does section 2 say?", "2.1 The rent is 940 pounds a month", "Dogs"),
        ("Summarise section 3", "Dogs are welcome", "Inventory"),
        ("What does section three contain?", "Geese need", "Inventory"),
        ("What is in appendix a?", "iron kettle", "fires"),
        ("Anhang B", "no fires", "kettle"),
    ],
)
def test_a_clause_is_quoted_up_to_the_next(filled: Library, question: str, wanted: str, unwanted: str) -> None:
    answer = ask(filled, question, within="Lease")
    assert wanted in plain(answer)
    assert unwanted not in plain(answer)
    assert answer.outcome == "answered"
    assert answer.confidence == 0.95
    assert len(answer.citations) == 1


def test_several_clauses_have_a_line_each(filled: Library) -> None:
    for question in ("What do clauses 2.1 to 2.3 say?", "clauses 2.1, 2.2 and 2.3"):
        answer = ask(filled, question, within="Lease")
        assert [line[:5] for line in answer.text.splitlines()] == ["- 2.1", "- 2.2", "- 2.3"]


def test_a_page_is_its_label_before_its_number(filled: Library) -> None:
    cases = {"page iii": 3, "page 3": 6, "p. 3": 6, "page 12": 12, "the last page": 13, "Seite 3": 6, "la page ii": 2}
    for name, number in cases.items():
        answer = ask(filled, f"What is on {name} of the Veyra handbook?", within="Veyra")
        assert {citation.page for citation in answer.citations} == {number}, name
        assert answer.confidence == 0.95
    answer = ask(filled, "What is on page 2 of the survey?")
    assert plain(answer).startswith("Methods: Two watchers sat")
    both = ask(filled, "pp. 2-3", within="survey")
    assert [citation.page for citation in both.citations] == [2, 3]


def test_pages_are_summarised_and_short_ones_quoted(filled: Library) -> None:
    answer = ask(filled, "Summarise pages 2 to 3 of the Veyra handbook")
    assert {citation.page for citation in answer.citations} == {5, 6}
    assert answer.confidence == 0.6
    short = ask(filled, "Summarise page 3", within="survey")
    assert plain(short) == "Results: Herons came eight days earlier than before."


def test_what_is_not_there_is_said_with_what_is(filled: Library) -> None:
    cases = {
        "What is on page 40?": "“The survey of herons” has 4 pages.",
        "What is on page 4?": "Page 4 of “The survey of herons” holds no text.",
        "What does clause 9.9 say?": "“The survey of herons” has no clause 9.9.",
    }
    for question, said in cases.items():
        answer = ask(filled, question, within="survey")
        assert answer.text == f"Not found in these documents. {said}"
        assert answer.outcome == "not found"
    assert "None of the documents that were looked at has a clause 9.9." in ask(filled, "clause 9.9?").text


def test_a_place_that_is_only_spoken_of_is_left_to_the_search(filled: Library) -> None:
    assert "harbour code" in ask(filled, "What does section 230 say?").text


def test_figures_and_tables_are_their_captions(filled: Library) -> None:
    assert plain(ask(filled, "What does Figure 1 show?")) == "Figure 1. Nests by valley; those of Arle are hatched."
    assert plain(ask(filled, "What does fig. 2 show?")) == "Figure 2. Figure 2 shows the day of arrival."
    table = plain(ask(filled, "What is in Table 1?", within="survey"))
    assert table.startswith("Table 1. Nests counted")
    assert "Arle" in table


def test_where_the_very_words_stand(filled: Library) -> None:
    answer = ask(filled, 'Where does it say "an iron kettle"?')
    assert answer.text.startswith("In “Lease of Mill Cottage”")
    assert answer.citations[0].text == "Inventory: one stove, two beds, an iron kettle."
    page = ask(filled, "Which page says “eight days earlier”?")
    assert page.text.startswith("In “The survey of herons”, p. 3")
    assert ask(filled, 'Where does it say "no fires before ten"?').outcome == "not found"


def test_more_that_is_asked_is_answered_from_the_place_alone(filled: Library) -> None:
    answer = ask(filled, "What deposit does clause 2.2 ask for?")
    assert plain(answer).startswith("2.2 The tenant leaves a deposit of 1,880 pounds.")
    assert "Heating" not in plain(answer)
    assert "Only clause 2.2 was read, as the question asks." in answer.trace.notes
    other = ask(filled, "What deposit does article 2 ask for?")
    assert {citation.title for citation in other.citations} == {"Loan of the long boat"}
    assert ask(filled, "What deposit does clause 2.3 ask for?").abstained
    assert ask(filled, "How many pages does clause 2.3 have?", within="Lease").abstained


def test_a_section_goes_on_to_the_next_of_its_kind(filled: Library) -> None:
    first = plain(ask(filled, "What does Item 1 say?", within="Report"))
    assert "nine berths" in first
    assert "Storms" not in first
    assert "dredged each March" in plain(ask(filled, "What is in appendix B?", within="Report"))
    assert "Storms" in plain(ask(filled, "What does item 1A say?", within="Report"))
    for question in ("section 4", "What does note 2 say?"):  # a line of code, and what is called an item
        assert ask(filled, question, within="Report").outcome == "not found"


def test_a_model_writes_of_a_place_what_is_asked_of_it_alone(filled: Library) -> None:
    model = "gguf:tiny.gguf"
    lease = Scope(documents=tuple(one.id for one in filled.documents() if "Lease" in one.title))
    quoted = list(filled.stream("What does clause 2.3 say?", model=model, scope=lease))[-1].answer
    assert quoted is not None
    assert (quoted.model, plain(quoted)) == ("extractive", "2.3 Heating costs are paid apart.")
    for question in ("What deposit does clause 2.2 ask for?", "Explain clause 2.2"):
        written = list(filled.stream(question, model=model, scope=lease))[-1].answer
        assert written is not None
        assert written.model == model
        assert {hit.text.split()[0] for hit in written.hits} == {"2.2"}


def test_documents_that_have_it_are_each_named(filled: Library) -> None:
    answer = ask(filled, "What is on page 2?")
    assert answer.confidence == 0.6
    assert {line.partition(":")[0] for line in answer.text.splitlines()} == {
        "- Handbook of the Veyra Ferry",
        "- The survey of herons",
    }
    named = ask(filled, "What does article 2 of the loan say?")
    assert {citation.title for citation in named.citations} == {"Loan of the long boat"}


def test_a_conversation_says_which_document(filled: Library) -> None:
    first = filled.ask("What is on page 2 of the survey?")
    answer = filled.ask("And page 3?", conversation=first.conversation)
    assert plain(answer) == "Results: Herons came eight days earlier than before."


@pytest.mark.parametrize(
    "question",
    [
        "How many pages does a passport have?",
        "which section of the market grew",
        "What is step-up rent?",
        "Is it a page turner?",
        'What does "deposit" mean?',
    ],
)
def test_words_for_places_alone_name_none(filled: Library, question: str) -> None:
    answer = ask(filled, question)
    assert answer.confidence not in (0.95, 0.6)
    assert answer.trace.engine
    assert not any(note.startswith("Only ") for note in answer.trace.notes)
