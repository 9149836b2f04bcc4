"""What can be done next where a question has no sure answer: quiet links below it, and what each does."""

from __future__ import annotations

import streamlit as st

from pages.parts import conversations, downloading, formatting, models, resources, scoping
from pages.parts.language import _
from rag_core.domain import COURTESY, Answer, Message, Scope
from rag_core.library import Library

Step = dict[str, str]
CONTINUE = "continue"
_LABEL_CHARS = 40
_NEXT = 3
_LIGHT_BYTES = 2_600_000_000  # of a model that is offered unasked
_FILTERS = ".st-key-chat_scope_menu button"


def offered(library: Library, conversation: str, answer: Answer) -> list[Step]:
    """The steps, each with its words; `press` names what of the page it opens instead of calling `take`."""
    if answer.model == COURTESY:
        return _summaries(library, answer)
    if answer.outcome == "answered":
        steps = [*_a_writer(library, conversation, answer), *_again(library, conversation, answer)]
        return [
            *steps,
            *({"act": f"ask {text}", "words": text} for text in questions(library, conversation, answer) or ()),
        ]
    steps = [{"act": "search", "words": _("Search for these words")}]
    steps += _elsewhere(library, conversation, answer)
    steps += _a_writer(library, conversation, answer)
    quoting, *writing = [status for status in library.language_models.statuses() if status.ready]
    if answer.model == quoting.id and writing:
        words = _("Ask {model} (leaves this machine)") if writing[0].remote else _("Ask {model}")
        label = formatting.shorten(writing[0].label, _LABEL_CHARS)
        steps.append({"act": f"model {writing[0].id}", "words": words.format(model=label)})
    return steps


def questions(library: Library, conversation: str, answer: Answer) -> list[str] | None:
    """What can be asked next of the documents that an answer cites, each known to have one; None while it is looked
    for, and nothing while documents are on their way."""
    cited = {citation.document_id for citation in answer.citations}
    if answer.outcome != "answered" or not cited or library.intake()[1]:
        return []
    ready = [document for document in library.documents() if document.state == "ready"]
    found = resources.suggestions().of(ready, Scope(documents=tuple(sorted(cited))), ())
    if found is None:
        return None
    asked = {message.question.strip() for message in library.messages(conversation)}
    return [text for text in found if text not in asked][:_NEXT]


def take(act: str, conversation: str, message: Message) -> str:
    """Prepare a step. Returns what is then to be asked in the message's place, "" where nothing is."""
    query = message.answer.trace.query if message.answer else ""
    if act == "search":
        st.session_state["chat_search_for"] = query or message.question
        return ""
    if act == "widen":
        conversations.narrow(conversation, Scope())
        return query if "@" in message.question and query else message.question  # a name would narrow it again
    if act.startswith("get "):
        downloading.begin(resources.library(), act.removeprefix("get "))
        st.session_state["chat_gets_model"] = True
        return ""
    if act.startswith("model "):
        models.take(act.removeprefix("model "))
    return message.question


def leave() -> None:
    """Off to the Search page or to the Models page, if that was just asked for."""
    if words := st.session_state.pop("chat_search_for", ""):
        st.switch_page("pages/search.py", query_params={"q": words})
    if st.session_state.pop("chat_gets_model", False):
        st.switch_page("pages/models.py")


def _summaries(library: Library, answer: Answer) -> list[Step]:
    """To have each of the documents summed up that a line names, where it tells which there are."""
    places = (
        {one.title: answer.text.find(f"“{one.title}”") for one in library.documents()} if "“" in answer.text else {}
    )
    named = sorted((title for title, place in places.items() if place >= 0), key=lambda title: places[title])
    asked = [_("Summarise “{title}”").format(title=title) for title in named]
    return [{"act": f"ask {text}", "words": text} for text in asked]


def _a_writer(library: Library, conversation: str, answer: Answer) -> list[Step]:
    """To have a language model write, where none is there yet: below the first answer that was quoted, and wherever
    quoting found no sure one."""
    quoting, *others = library.language_models.statuses()
    if answer.model != quoting.id or answer.table is not None or any(status.ready for status in others):
        return []
    is_sure = answer.outcome == "answered"
    if is_sure and len(library.messages(conversation)) > 1:
        return []
    light = [one for one in library.language_models.suggestions() if one.fits and one.size_bytes <= _LIGHT_BYTES]
    if not light:
        return []
    words = (
        _("This is quoted word for word. {title} would write an answer: {size} to download") if is_sure
        else _("A language model may know more: {title}, {size} to download")
    )  # fmt: skip
    told = words.format(title=light[-1].title, size=formatting.size(light[-1].size_bytes))
    return [{"act": f"get {light[-1].wanted}", "words": told}]


def _again(library: Library, conversation: str, answer: Answer) -> list[Step]:
    """To have the same answered by another model, or from all documents."""
    others = [one for one in library.language_models.statuses() if one.ready and one.id != answer.model]
    steps = [
        {
            "act": f"model {one.id}",
            "words": _("Again by {model}").format(model=formatting.shorten(one.label, _LABEL_CHARS)),
        }
        for one in others[:_NEXT]
        if not one.remote
    ]
    narrowed = answer.trace.searched is not None and bool(answer.trace.searched.scope)
    return [*steps, *([{"act": "widen", "words": _("Again in all documents")}] if narrowed else [])]


def _elsewhere(library: Library, conversation: str, answer: Answer) -> list[Step]:
    """To ask in other documents: in those chosen since, in all of them, or in some that are to be chosen."""
    now, searched = conversations.scope(library, conversation), answer.trace.searched
    if searched is not None and now != searched.scope:
        return [{"act": "again", "words": _("Ask again: {scope}").format(scope=scoping.in_words(now))}]
    if now:
        return [{"act": "widen", "words": _("Ask all documents")}]
    several = answer.outcome == "not found" and searched is not None and searched.documents > 1
    return [{"act": "narrow", "words": _("Choose where to look"), "press": _FILTERS}] if several else []
