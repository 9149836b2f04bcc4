"""Answers that a small model of real weights writes in a real library: streamed, cited, followed up, summarised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from rag_core import Answer, Library, Settings
from rag_core.settings import GenerationSettings
from tests.conftest import add_text

MILL = """# The mill at Tolsund

The mill at Tolsund was built in 1871 by Anna Berg. It ground rye for the whole valley.

It burnt down in the winter of 1903 and was built again in brick two years later.

Since 1988 it has been a museum. The museum opens from May to September.
"""


@pytest.fixture(scope="module")
def library(
    tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str], smollm2: Path
) -> Iterator[Library]:
    """One short document, and the model by the runtime that reads fastest on a processor."""
    folder = tmp_path_factory.mktemp("smol")
    (folder / "mill.md").write_text(MILL, encoding="utf-8")
    generation = GenerationSettings(
        model="gguf:smollm2.gguf", context_tokens=2048, max_tokens=40, temperature=0,
        runtime="OpenVINO" if find_spec("openvino_genai") else "auto",
    )  # fmt: skip
    settings = Settings(
        _env_file=None, data_dir=folder / "library", database_url=new_database(), models_dir=smollm2.parent,
        generation=generation,
    )  # fmt: skip
    (copies := smollm2.parent / "library" / "models").mkdir(parents=True, exist_ok=True)
    settings.data_dir.mkdir()
    (settings.data_dir / "models").symlink_to(copies)
    with Library.open(settings) as library:
        for event in library.add([folder / "mill.md"]):
            assert event.error is None
        yield library


def checked(answer: Answer) -> Answer:
    """The answer, if there is one, its citations are of the document, and what is not held there is marked.

    A model as small as this one copies and makes up: what it says is not looked at, but what became of it.
    """
    assert answer.text.strip()
    assert {citation.title for citation in answer.citations} <= {"The mill at Tolsund"}
    for sentence in answer.sentences:
        assert sentence.citations or not sentence.supported
    return answer


def test_an_answer_is_streamed_cited_and_followed_up(library: Library) -> None:
    events = list(library.stream("When was the mill at Tolsund built?"))
    assert events[-1].answer is not None
    answer = checked(events[-1].answer)
    assert "".join(event.text for event in events) == answer.text
    assert answer.trace.tokens["answer"] > 0
    assert answer.trace.tokens["prompt"] > 50
    following = checked(library.ask("And when did it burn down?", conversation=answer.conversation))
    assert following.conversation == answer.conversation


def test_an_answer_that_was_cut_is_gone_on_with(library: Library) -> None:
    cut = library.ask("Explain what happened to the mill at Tolsund, from its beginning to this day.")
    assert cut.cut  # at 40 tokens
    events = list(library.history.go_on(cut.conversation, cut.message_id))
    longer = events[-1].answer
    assert longer is not None
    checked(longer)
    assert "".join(event.text for event in events) == longer.text
    assert len(longer.text) > len(cut.text)
    assert [*longer.citations[: len(cut.citations) - 1]] == [*cut.citations[: len(cut.citations) - 1]]


@pytest.mark.slow
def test_a_document_is_summarised(library: Library) -> None:
    assert checked(library.ask("Summarise the document about the mill.")).model == "gguf:smollm2.gguf"


@pytest.mark.slow
def test_the_agent_plans_with_it_and_answers(library: Library) -> None:
    answer = library.ask("When was the mill built and when did it burn down?", agent=True)
    assert answer.trace.steps
    assert checked(answer).hits


def test_a_plan_over_a_table_is_run_whatever_is_said_of_it(library: Library) -> None:
    rows = [
        f"2024-0{1 + at // 10}-{1 + at % 10:02},{('Rye', 'Oats')[at % 2]},{20 + at * 7 % 90}.50" for at in range(40)
    ]
    add_text(library, "sacks.csv", "\n".join(["Date,Grain,Cost", *rows]))
    rye = sum(float(row.rpartition(",")[2]) for row in rows if "Rye" in row)
    assert f"{rye:.2f}" in library.ask("What is the total cost of rye?").text
    unsure = library.ask("What did the rye of March come to?")
    assert unsure.table is None or unsure.table.plan.conditions
