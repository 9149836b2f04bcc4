"""Summaries through a real library: documents, sections, all of it; without a model, and by map and reduce."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from itertools import pairwise
from typing import Any

import pytest

from pages.parts import language
from rag_core import Answer, Cancellation, Library, Settings
from rag_core.answering.citations import CitationWriter, Passages, without_markers
from rag_core.answering.question import Question
from rag_core.answering.strategies.summary import Summary
from rag_core.answering.strategies.written import check_claims
from rag_core.answering.streaming import Progress
from rag_core.answering.summaries.condensing import Condensing, PartNotes
from rag_core.answering.summaries.subject import is_request, subject_of
from rag_core.domain import Scope, StreamEvent
from rag_core.models.base import ChatModel
from rag_core.models.messages import Request, Usage
from rag_core.retrieval import Indexes
from rag_core.retrieval.contents import Contents
from rag_core.settings import GenerationSettings
from rag_core.text.sentences import split_sentences
from tests.conftest import PROJECT
from tests.rag_core.answering.parts import encode_tokens
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf

SAMPLES = PROJECT / "data" / "samples"
_PASSAGE = re.compile(r'<passage-\w+ number="(\d+)"[^>]*>\n(.*?)\n</passage-', re.DOTALL)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    """The sample documents, and a tiny model with random weights."""
    folder = tmp_path_factory.mktemp("summaries")
    models = folder / "models"
    models.mkdir()
    write_tiny_gguf(models / "tiny.gguf", chat_template=CHAT_TEMPLATE)
    if (exported := Settings(_env_file=None).models_dir).is_dir():  # or the model of the vectors is exported anew
        for path in exported.iterdir():
            (models / path.name).symlink_to(path.absolute())
    settings = Settings(
        _env_file=None, data_dir=folder / "library", database_url=new_database(), models_dir=models,
        generation=GenerationSettings(context_tokens=2048, max_tokens=16),
    )  # fmt: skip
    with Library.open(settings) as library:
        for event in library.add([path for path in SAMPLES.iterdir() if path.suffix in (".pdf", ".md", ".txt")]):
            assert event.error is None
        yield library


@pytest.mark.parametrize("code", ["de", "es", "fr", "ja", "zh"])
def test_what_the_page_asks_in_the_readers_language_is_summed_up(filled: Library, code: str) -> None:
    title = document(filled, "water works").title
    asked = language.catalogue(code).gettext("Summarise “{title}”").format(title=title)
    subject = subject_of(asked, contents_of(filled))
    assert is_request(asked)
    assert [one.title for one in subject.documents] == [title]
    assert filled.ask(asked).outcome == "answered"


def contents_of(library: Library, scope: Scope | None = None) -> Contents:
    return Contents(library.storage, Indexes(library.storage), scope)


def document(library: Library, title: str) -> Any:
    return next(one for one in library.documents() if title in one.title)


def check_citations(library: Library, answer: Answer) -> None:
    """Each citation opens the very text that its sentence shows."""
    assert answer.citations
    for citation in answer.citations:
        page = library.page(citation.document_id, citation.page).text
        assert page[citation.start : citation.end] == citation.text


def test_a_document_is_summarised_in_its_order_with_a_citation_each(filled: Library) -> None:
    answer = filled.ask("Summarise the Veyra ferry handbook")
    assert answer.text.startswith("This handbook tells the crews")
    assert not answer.abstained
    assert 60 <= len(without_markers(answer.text).split()) <= 120
    check_citations(filled, answer)
    assert {citation.title for citation in answer.citations} == {"Handbook of the Veyra Ferry"}
    places = [(citation.page, citation.start) for citation in answer.citations[1:]]
    assert all(one < other for one, other in pairwise(places))
    for sentence in answer.sentences:
        assert sentence.text[-1] == "."
        assert len(sentence.citations) == 1
        assert "\t" not in sentence.text


def test_what_it_is_comes_first_where_the_card_alone_knows(filled: Library) -> None:
    answer = filled.ask("What is the storm report about?")
    assert answer.sentences[0].text == "THE STORM OF 14 NOVEMBER 2019, report, Einar Lund, 2 December 2019."
    check_citations(filled, answer)


def test_a_section_is_summarised_from_its_own_sentences(filled: Library) -> None:
    by_name = filled.ask("Summarise the section on dangerous goods in the handbook")
    assert "24 hours" in by_name.text
    assert "sheep" not in by_name.text
    by_number = filled.ask("Give me an overview of chapter 4 of the Veyra handbook")
    assert {citation.page for citation in by_number.citations} == {7}
    in_short = filled.ask("How do you deal with a battery fire on the Tern, in short?")
    assert all(wanted in in_short.text for wanted in ("ventilators", "gas", "four hours"))
    assert in_short.trace.searched is None, "a search found the section alone"


def test_the_library_has_a_line_for_each_document(filled: Library) -> None:
    answer = filled.ask("Summarise all my documents")
    lines = answer.text.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("- ") for line in lines)
    assert len({citation.document_id for citation in answer.citations}) == 3
    check_citations(filled, answer)


def test_which_document_is_read_is_told_and_a_stop_heard_before_the_next(filled: Library) -> None:
    cancellation = Cancellation()
    stages: list[str] = []
    # Not as it was asked before: that is answered at once.
    for event in filled.stream("Summarise all of my documents", cancellation=cancellation):
        stages.append(event.stage)
        if event.stage.startswith("Reading document 2 of 3: "):
            cancellation.cancel()
    assert [stage[:19] for stage in stages if stage.startswith("Reading")] == [
        "Reading document 1 ",
        "Reading document 2 ",
    ]
    assert event.answer is not None
    assert event.answer.stopped


def test_this_is_the_document_talked_about_or_the_scope(filled: Library) -> None:
    first = filled.ask("How high is the dam of Lake Ormen?")
    answer = filled.ask("Summarise this", conversation=first.conversation)
    assert {citation.title for citation in answer.citations} == {"Keeper's guide to the Veyra water works"}
    storm = document(filled, "STORM")
    scoped = list(filled.stream("Give me a summary", scope=Scope(documents=(storm.id,))))[-1].answer
    assert scoped is not None
    assert {citation.document_id for citation in scoped.citations} == {storm.id}


def test_many_documents_are_at_most_ten_and_it_says_so(filled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.answering.summaries.subject.MOST_DOCUMENTS", 2)
    answer = filled.ask("Give me an overview of the library")
    assert len(answer.text.splitlines()) == 2
    assert any("1 of 3 documents" in note for note in answer.trace.notes)


def test_what_no_document_or_section_is_called_is_a_topic(filled: Library) -> None:
    contents = contents_of(filled)
    for question in ("Summarise Tesla's annual report", "sum up the penalties for smuggling dangerous goods on barges"):
        assert not subject_of(question, contents, found=filled.documents).documents
    assert filled.ask("Summarise Tesla's annual report").abstained


def test_what_a_request_is() -> None:
    asking = [
        "Summarise this",
        "sum it up please",
        "tl;dr",
        "What is the guide about?",
        "the gist of it",
        "X in short",
        "compare A and B",
    ]
    assert all(map(is_request, asking))
    others = ["What's new about the Wang 1200?", "What charges does the table show?", "A or B?", "what is lime"]
    assert not any(map(is_request, others))


def test_words_that_ask_are_not_put_right_by_the_documents_own(filled: Library) -> None:
    assert filled.ask("sumarise the hanbook").text.startswith("This handbook tells")
    assert filled.ask("What is the gist of the handbook?").text.startswith("This handbook tells")


def test_documents_named_apart_are_both_meant(filled: Library) -> None:
    subject = subject_of("summarise the storm report and the water works guide", contents_of(filled))
    assert {one.title[:9] for one in subject.documents} == {"THE STORM", "Keeper's "}


def test_documents_that_are_compared_by_name_alone_are_summarised_side_by_side(filled: Library) -> None:
    answer = filled.ask("Compare the storm report with the water works guide")
    assert [line[2:11] for line in sorted(answer.text.splitlines())] == ["Keeper's ", "THE STORM"]
    assert all(80 < len(without_markers(line).split()) < 135 for line in answer.text.splitlines())
    brief = filled.ask("Compare the storm report with the water works guide in brief")
    assert all(len(without_markers(line).split()) < 60 for line in brief.text.splitlines())
    contents = contents_of(filled)
    for question in ("compare the storm report", "compare the wind in the storm report and the guide", "compare them"):
        assert not subject_of(question, contents).documents
    assert not filled.ask("Compare the Halcyon and the Tern").text.startswith("- ")


def test_clusters_that_are_kept_are_used(filled: Library) -> None:
    handbook = document(filled, "Handbook")
    before = contents_of(filled).read(handbook)
    list(filled.clusters.update())
    after = contents_of(filled).read(handbook)
    assert before is not None
    assert after is not None
    assert len(after.hits) == len(before.hits) == handbook.chunk_count
    groups = filled.storage.hierarchy.chunk_groups(handbook.id)
    assert [list(rows) for rows in after.clusters.members] == [list(group.members) for group in groups]
    assert filled.ask("Summarise the handbook").text.startswith("This handbook tells")


class Copying(ChatModel):
    """Writes down the first sentence of every passage of a prompt with its number."""

    id, label, context_tokens = "copying", "Copying", 900

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []

    def _generate(self, request: Request) -> Generator[str | Usage, None, None]:
        prompt = request.messages[-1].text
        self.prompts.append(prompt)
        assert self.count_tokens(prompt) + request.max_tokens <= self.context_tokens
        for number, text in _PASSAGE.findall(prompt):
            sentence = next((span.text for span in split_sentences(text) if span.kind == "sentence"), "")
            yield f"{sentence} [{number}] " if sentence else ""

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def test_map_and_reduce_read_everything_and_keep_the_citations(filled: Library) -> None:
    guide = contents_of(filled).read(document(filled, "water works"))
    assert guide is not None
    model = Copying()
    events: list[Any] = []
    question = question_of("Summarise the guide")
    progress = Progress(events.append, lambda: False, {})
    written = Condensing(question, model, encode_tokens, progress, PartNotes()).run([guide])
    stages = [event.stage for event in events if isinstance(event, StreamEvent)]
    parts = len(stages)
    assert parts > 2
    assert stages[:2] == [f"Reading part {number} of {parts}: {guide.document.title}" for number in (1, 2)]
    asked = " ".join(model.prompts[:parts])
    assert all(" ".join(hit.text.split())[:60] in " ".join(asked.split()) for hit in guide.hits)
    assert all(f"\n</passage-{question.mark}>" in prompt for prompt in model.prompts)
    assert written.text == "".join(event for event in events if isinstance(event, str))
    writer = CitationWriter(Passages(written.hits))
    writer.feed(written.text)
    writer.finish()
    assert len(writer.register.citations) >= 3
    assert writer.removed == 0
    checked = check_claims(written, writer, encode_tokens, 1.0, stopped=False)
    assert all(sentence.supported for sentence in checked.sentences)


def test_a_summary_that_is_gone_on_with_makes_no_notes_anew(filled: Library) -> None:
    model = Copying()
    strategy = Summary(encode_tokens, lambda question: model)

    def written() -> str:
        question = question_of("Summarise the water works guide", contents_of(filled))
        made = strategy.write(question, filled.asking.passages, Progress(lambda _: None, lambda: False, {}))
        assert made is not None
        return made.text

    first, asked = written(), len(model.prompts)
    assert asked > 2
    assert written() == first
    assert len(model.prompts) == asked + 1  # the summary itself alone


def question_of(text: str, contents: Contents | None = None) -> Question:
    settings = Settings(generation=GenerationSettings(max_tokens=200))
    return Question(text, (text,), "copying", settings, contents=contents)


def test_what_was_not_read_is_said(filled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = Summary(encode_tokens, lambda question: Copying())

    def notes(text: str) -> str:
        question = question_of(text, contents_of(filled))
        written = strategy.write(question, filled.asking.passages, Progress(lambda _: None, lambda: False, {}))
        assert written is not None
        return " ".join(written.notes)

    assert "passages were read, those nearest" in notes("Summarise all my documents")
    assert "left out" not in notes("Summarise the storm report")
    monkeypatch.setattr("rag_core.answering.summaries.condensing._MOST_ROUNDS", 0)
    assert "too long: the last" in notes("Summarise the storm report")


def test_a_model_that_will_not_follow_the_form_gives_progress_and_an_answer(filled: Library) -> None:
    events = list(filled.stream("Summarise the storm report", model="gguf:tiny.gguf"))
    stages = [event.stage for event in events if event.stage]
    assert stages[0] == "searching"
    assert stages[1].startswith("Reading THE STORM")
    assert stages[2].startswith("Reading part 1 of ")
    assert any(stage.startswith("Condensing part 1 of ") for stage in stages)
    assert stages[-1] == "answering"
    answer = events[-1].answer
    assert answer is not None
    assert answer.text
    assert answer.model == "gguf:tiny.gguf"


def test_a_summary_is_stopped_between_parts(filled: Library) -> None:
    cancellation = Cancellation()
    stages: list[str] = []
    answer = None
    for event in filled.stream("Summarise the handbook", model="gguf:tiny.gguf", cancellation=cancellation):
        stages.append(event.stage)
        answer = event.answer or answer
        if event.stage.startswith("Reading part 2"):
            cancellation.cancel()
    assert answer is not None
    assert answer.stopped
    assert "answering" not in stages
