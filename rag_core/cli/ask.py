"""The command `ask`: one question, its answer as it is written, and what the answer stands on."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

import click

from rag_core.cli.output import clean, emit, link, say, say_linked
from rag_core.cli.scoping import cluster_for, mode_option, narrowed, scoped
from rag_core.cli.session import Session, command, models_complete
from rag_core.errors import ModelUnavailable
from rag_core.text.pages import counted

model_option = click.option(
    "--model", shell_complete=models_complete, help="extractive, gguf:FILE, server:NAME or gemini"
)
agent_option = click.option(
    "--agent/--no-agent", default=None, help="plan several searches, read and search again; or not, whatever is set"
)
conversation_option = click.option("--conversation", metavar="ID", help="go on with this conversation")


@command("ask", help="Answer one question, with citations; or say what may answer it, or that nothing does.")
@click.argument("question")
@model_option
@agent_option
@mode_option
@conversation_option
@scoped
def ask(
    session: Session, question: str, model: str | None, agent: bool | None, mode: str | None, conversation: str | None,
    **given: Any,
) -> None:  # fmt: skip
    """Print the answer."""
    scope = narrowed(session, given)
    cluster_for(session, mode)
    show(session, session.asked(question, scope, model=model, agent=agent, mode=mode, conversation=conversation))


query = ask  # as CLI-RAG calls it


def show(session: Session, events: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Print an answer while it comes, the steps of an agent before it, and its citations. Returns it.

    Raises ModelUnavailable where there is none.
    """
    answer: dict[str, Any] | None = None
    for name, told in events:
        if name == "answer":
            answer = told
        elif not session.as_json:
            say(f"  {told['step']['text']}\n" if told["step"] else told["text"], end="")
    if answer is None:
        raise ModelUnavailable("The model gave no answer.")
    if session.as_json:
        emit(answer)
    else:
        say()
        if answer["trace"]["restated"]:
            say(f"  understood as: {answer['trace']['query']}")
        _judge(answer)
        cite(session, answer)
        searched = answer["trace"]["searched"]
        if answer["outcome"] == "not found" and searched and searched["documents"]:
            say(f"  The passages that come nearest: lectern search {shlex.quote(answer['question'])}")
    return answer


def _judge(answer: Mapping[str, Any]) -> None:
    """Print which sentences no passage holds, and how sure an answer is."""
    for sentence in answer["sentences"]:
        if not sentence["supported"]:
            say(f"  not found in the passages: {' '.join(sentence['text'].split())}")
    if answer["outcome"] == "answered" and answer["citations"]:
        say(f"  confidence: {answer['confidence']:.2f} of 1")


def cite(session: Session, answer: Mapping[str, Any]) -> None:
    """Print the citations of an answer; a title opens where the document stands on the web, else the document here."""
    addresses = {key: _address(session, key) for key in {one["document_id"] for one in answer["citations"]}}
    for one in answer["citations"]:
        address = addresses[one["document_id"]]
        where = f" {address}" if address else f", {counted(one['page'], one['page_label'])}"
        target = address or _opened(session, one["document_id"], one["page"])
        passage = " ".join(one["text"].split())
        say_linked(f"  [{one['number']}] ", link(one["title"], target), clean(f"{where}: {passage}"))
    for note in answer["trace"]["notes"]:
        say(f"  note: {note}")


def _opened(session: Session, document_id: str, page: int) -> str:
    """Opens a document at a page: in the application where it runs, else from its file, whose name tells what with."""
    if session.wire is not None:
        return f"{session.wire.url}/?d={document_id}&p={page}"
    try:
        return f"{session.library.sources.file_of(document_id).as_uri()}#page={page}"
    except KeyError:  # it was removed meanwhile
        return ""


def _address(session: Session, document_id: str) -> str:
    """Where a cited document stands on the web; empty for one that came from elsewhere, or is gone."""
    try:
        if session.wire is not None:
            sources = session.wire.ask("GET", f"/api/v1/documents/{document_id}")["sources"]
        else:
            sources = session.library.document(document_id).sources
    except KeyError:
        return ""
    return next((name for name in sources if name.startswith(("http://", "https://"))), "")
