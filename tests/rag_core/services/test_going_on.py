"""An answer that was cut at its limit of tokens: marked, gone on with, checked, kept, exported; by a real chain."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_core import Answer, Library, Settings
from rag_core.domain import StreamEvent
from rag_core.errors import InvalidQuestion, ModelUnavailable
from tests.conftest import add_text
from tests.rag_core.models.openai_server import Script, openai_server

QUESTION = "What does the mill at Tolsund tell of itself?"
MILL = """# The mill at Tolsund

The mill at Tolsund was built in 1871 by Anna Berg. It ground rye for the whole valley.

It burnt down in the winter of 1903 and was built again in brick two years later.

Since 1988 it has been a museum. The museum opens from May to September.
"""


@pytest.fixture
def script() -> Iterator[Script]:
    with openai_server() as running:
        running.models = ({"id": "small", "max_model_len": 4000},)
        yield running


def settings_for(script: Script, folder: Path, database_url: str, **generation: object) -> Settings:
    return Settings(
        _env_file=None, data_dir=folder / "library", database_url=database_url,
        server={"address": script.url, "models": ["small"]}, generation={"model": "server:small", **generation},
    )  # fmt: skip


@pytest.fixture
def library(script: Script, tmp_path: Path, new_database: Callable[[], str]) -> Iterator[Library]:
    settings = settings_for(script, tmp_path, new_database())
    with Library.open(settings) as library:
        add_text(library, "mill.md", MILL)
        yield library


@pytest.fixture
def cut(library: Library, script: Script) -> Answer:
    """An answer whose second sentence was broken off."""
    script.texts, script.finish = ("The mill was built in 1871 by Anna Berg [1]. It burnt do",), "length"
    answer = library.ask(QUESTION)
    assert (answer.cut, answer.text) == (True, "The mill was built in 1871 by Anna Berg [1]. It burnt do")
    return answer


def more(library: Library, answer: Answer) -> tuple[str, Answer]:
    """The text of the events joined, and the longer answer."""
    events: list[StreamEvent] = [*library.history.go_on(answer.conversation, answer.message_id)]
    assert events[-1].answer is not None
    return "".join(event.text for event in events), events[-1].answer


def kept(library: Library, answer: Answer) -> Answer:
    (message,) = library.messages(answer.conversation)
    assert message.answer is not None
    return message.answer


def test_a_cut_answer_is_kept_as_that_and_exported(library: Library, cut: Answer) -> None:
    assert kept(library, cut).cut
    told = json.loads(library.history.export(cut.conversation, "json"))
    assert told["messages"][0]["answer"]["cut"] is True
    assert "reached its limit of tokens" in library.history.export(cut.conversation, "markdown").decode()


def test_it_is_gone_on_with_numbered_on_and_checked(library: Library, script: Script, cut: Answer) -> None:
    library.history.rate(cut.message_id, 1)
    script.texts, script.finish = ("It burnt down in 1903 ", "[1]. It has 40 sails [1]."), "stop"
    text, answer = more(library, cut)
    expected = "The mill was built in 1871 by Anna Berg [1]. It burnt down in 1903 [2]. It has 40 sails [1]."
    assert text == answer.text == expected
    assert [one.supported for one in answer.sentences] == [True, True, False]
    assert answer.citations[0] == cut.citations[0]
    assert "1903" in answer.citations[1].text
    assert not answer.cut
    assert answer.trace.tokens["answer"] > cut.trace.tokens["answer"]
    (message,) = library.messages(cut.conversation)
    assert (message.id, message.rating, message.replaced) == (cut.message_id, 1, 0)
    assert message.answer is not None
    assert (message.answer.text, message.answer.citations) == (answer.text, answer.citations)
    asked = script.requests[-1]["messages"]
    assert asked[-2] == {"role": "assistant", "content": "The mill was built in 1871 by Anna Berg [1]."}
    with pytest.raises(InvalidQuestion, match="whole"):
        more(library, cut)


def test_again_and_again(library: Library, script: Script, cut: Answer) -> None:
    script.texts = ("It burnt down in 1903 [1]. Since 1988 it has be",)
    _, longer = more(library, cut)
    assert longer.cut
    script.texts, script.finish = (" Since 1988 it has been a museum [1].",), "stop"
    _, whole = more(library, longer)
    assert whole.text.endswith("It burnt down in 1903 [2]. Since 1988 it has been a museum [3].")
    assert (whole.cut, len(whole.citations)) == (False, 3)


def test_where_nothing_comes_it_stays_and_is_whole(library: Library, script: Script, cut: Answer) -> None:
    script.texts, script.finish = (), "stop"
    more(library, cut)
    assert (kept(library, cut).text, kept(library, cut).cut) == (cut.text, False)


def test_a_failure_leaves_it_as_it_is(library: Library, script: Script, cut: Answer) -> None:
    script.status = 500
    with pytest.raises(ModelUnavailable):
        more(library, cut)
    assert (kept(library, cut).text, kept(library, cut).cut) == (cut.text, True)
    with pytest.raises(KeyError):
        [*library.history.go_on(cut.conversation, "none")]


def test_plain_sentences_are_gone_on_with_too(script: Script, tmp_path: Path, new_database: Callable[[], str]) -> None:
    with Library.open(settings_for(script, tmp_path, new_database(), form="plain")) as library:
        add_text(library, "mill.md", MILL)
        script.texts, script.finish = ("The mill was built in 1871 by Anna Berg. It burnt do",), "length"
        cut = library.ask("Explain what happened to the mill at Tolsund.")
        assert cut.cut
        assert cut.text.startswith("The mill was built in 1871 by Anna Berg. [1]")
        script.texts, script.finish = ("It burnt down in the winter of 1903. Now it is a bank.",), "stop"
        text, answer = more(library, cut)
        assert text == answer.text
        assert answer.text.startswith(
            "The mill was built in 1871 by Anna Berg. [1] It burnt down in the winter of 1903. [2]"
        )
        assert [one.supported for one in answer.sentences] == [True, True, False]
        assert not answer.cut
        assert "[1]" not in script.requests[-1]["messages"][-2]["content"]


def test_a_summary_is_gone_on_with(library: Library, script: Script) -> None:
    script.texts, script.finish = ("A mill was built in 1871 by Anna Berg [1]. It bur",), "length"
    cut = library.ask("Summarise the document about the mill.")
    assert cut.cut
    script.texts, script.finish = ("It burnt down in the winter of 1903 [1].",), "stop"
    _, answer = more(library, cut)
    assert answer.text.startswith("A mill was built in 1871 by Anna Berg [1]. It burnt down in the winter of 1903 [")
    assert not answer.cut
