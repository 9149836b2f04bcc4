"""One question with its answer: what the component draws, for an answer that grows and for one that is whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pages.parts import formatting, markdown, table_plan
from pages.parts.components import component
from pages.parts.language import _, figure, msgid, ngettext, server_text
from pages.parts.running_answers import RunningAnswer
from rag_core.domain import COURTESY, Answer, Message, Outcome, Result, Sentence
from rag_core.errors import LecternError
from rag_core.exporting import answer_text, quotation, warning_of

RATINGS = {"good": 1, "bad": -1, "none": None}
STAGES = {
    "searching": msgid("Looking through your documents"),
    "answering": msgid("Writing the answer"),
}

STATES: dict[Outcome, str] = {"answered": "done", "perhaps": "perhaps", "not found": "abstained"}
PERHAPS = msgid("Perhaps")

CONFIDENCE = {
    "right": msgid("probability that this answers the question"),
    "answerable": msgid("probability that the passages hold an answer"),
    "supported": msgid("of the sentences are supported by the passages"),
    "most": msgid("at most, since a sentence with a number was not found in the passages"),
    "words": msgid("of the question's words found, rare ones counting for more"),
    "share": msgid("share of the best sentence among all that were read"),
    "read": msgid("probability by the reader alone"),
    "citations": msgid(
        "by an earlier system's formula for papers: 0.4 × mean similarity of the cited passages"
        " + 0.3 × min(citations, 3) / 3 + 0.3 if all citations are valid"
    ),
}


def draw(
    key: str,
    data: dict[str, Any],
    *,
    on_open: Callable[[], None],
    on_retry: Callable[[], None],
    on_rate: Callable[[], None] | None = None,
    on_searched: Callable[[], None] | None = None,
    on_edit: Callable[[], None] | None = None,
    on_back: Callable[[], None] | None = None,
    on_next: Callable[[], None] | None = None,
    on_table: Callable[[], None] | None = None,
) -> None:
    """Mount an exchange under a key that stays the same while its answer grows. `on_rate` hears of reasons too."""
    component("exchange")(
        key=key, data=data, on_open_change=on_open, on_retry_change=on_retry, on_rate_change=on_rate or _nothing,
        on_reason_change=on_rate or _nothing, on_searched_change=on_searched or _nothing,
        on_edit_change=on_edit or _nothing, on_back_change=on_back or _nothing,
        on_next_change=on_next or _nothing, on_table_change=on_table or _nothing,
    )  # fmt: skip


def growing(asking: RunningAnswer) -> dict[str, Any]:
    """An answer on its way, or the error it ended with."""
    if asking.answer is not None:
        return whole(asking.question, asking.answer)
    if asking.error is not None:
        return failed(asking.question, asking.error, asking.text)
    stage = _("Stopping") if asking.stopping else _(STAGES.get(asking.stage, asking.stage))
    data = _frame(asking.question, "working")
    text = asking.text or (asking.before.text if asking.before else "")
    written = bool(asking.text.strip())
    return data | {
        "stage": "" if written else stage,
        "steps": [] if written else [step for step in asking.steps if step != stage],
        "blocks": markdown.blocks(text),
    }


def kept(message: Message, active: int | None, row: int | None = None) -> dict[str, Any]:
    """A message of the library; `active` is the number whose passage is open, `row` that of a table, from 0 on."""
    known = {"editable": True, "row": row, "replaced": _replaced_words(message.replaced)}
    if message.answer is not None:
        marks = {
            "rateable": not (message.answer.stopped and not message.answer.cut) and message.answer.model != COURTESY,
            "rating": message.rating,
            "reason": message.reason,
            "searched": message.answer.trace.searched is not None,
        }
        return whole(message.question, message.answer, active) | known | marks
    if message.error:
        return failed(message.question, LecternError(message.error)) | known
    unanswered = LecternError(_("This question was not answered."), help=_("Lectern was closed before."))
    return failed(message.question, unanswered) | known


def whole(question: str, answer: Answer, active: int | None = None) -> dict[str, Any]:
    """A finished answer with its sources, how sure it is, and what is worth knowing about how it came about."""
    return _frame(question, STATES[answer.outcome]) | {
        "understood": answer.trace.query if answer.trace.restated else "",
        "blocks": _blocks(answer.text, answer.sentences, answer.outcome),
        "sources": _sources(answer),
        "active": active,
        "stopped": answer.stopped and not answer.cut,
        "cut": answer.cut,
        "facts": _facts(answer),
        "notes": _notes(answer),
        "steps": [step.text for step in answer.trace.steps],
        "copy": answer_text(answer),
        "table": table_plan.shown(answer.table),
    }


def measured(result: Result, active: int | None = None) -> dict[str, Any]:
    """What a run of an evaluation answered; its numbers are the ranks of the passages found."""
    cited = {number for sentence in result.sentences for number in sentence.citations}
    sources = [
        _source(found.rank, found.title, formatting.page(found.page, found.page_label))
        for found in result.found
        if found.rank in cited
    ]
    return _frame("", STATES[result.outcome]) | {
        "blocks": _blocks(result.answer, result.sentences, result.outcome),
        "sources": sources,
        "active": active,
    }


def failed(question: str, error: LecternError, text: str = "") -> dict[str, Any]:
    """A question that could not be answered, in words, with the way to try again."""
    return _frame(question, "failed") | {
        "blocks": markdown.blocks(text),
        "error": {"message": server_text(str(error)), "help": server_text(error.help)},
    }


def confidence_words(confidence: float) -> str:
    """The number as a person would say it."""
    if confidence >= 0.7:
        return _("High confidence")
    return _("Fair confidence") if confidence >= 0.4 else _("Low confidence")


def _frame(question: str, state: str) -> dict[str, Any]:
    return {
        "question": question, "state": state, "stage": "", "understood": "", "steps": [], "blocks": [], "sources": [],
        "active": None, "stopped": False, "cut": False, "error": None, "facts": [], "notes": [], "rateable": False,
        "rating": None, "reason": "", "searched": False, "next": [], "continues": False, "copy": "", "editable": False,
        "replaced": "", "table": None, "row": None,
    }  # fmt: skip


def _blocks(text: str, sentences: Sequence[Sentence], outcome: Outcome) -> list[markdown.Block]:
    """An answer laid out; of one in doubt what comes near, marked as that, between lines that are quiet."""
    found = markdown.blocks(text, sentences)
    if outcome != "answered":
        _in_ones_language(found)
    says = [bool(block["runs"]) and block["runs"][0].get("text", "").startswith(f"{PERHAPS}:") for block in found]
    if outcome != "perhaps" or True not in says:
        return found
    place = says.index(True)
    first = found[place]["runs"][0]
    first["text"] = first["text"].removeprefix(f"{PERHAPS}:").lstrip()
    found[place] |= {"kind": "perhaps", "label": _(PERHAPS)}
    for block in (*found[:place], *found[max(place + 1, len(found) - 1) :]):
        block["kind"] = "why"
    return found


def _in_ones_language(blocks: Sequence[markdown.Block]) -> None:
    """Say what Lectern itself says of an answer, that there is none or why it may be none, as the pages do."""
    for block in blocks:
        if len(block["runs"]) == 1 and "text" in block["runs"][0]:
            block["runs"][0]["text"] = server_text(block["runs"][0]["text"])


def _nothing() -> None:
    """An answer that is not kept yet has neither mark nor search."""


def _replaced_words(answers: int) -> str:
    """`Asked again: 2 earlier answers are kept`; empty where nothing was set aside."""
    kept = ngettext("Asked again: {number} earlier answer kept", "Asked again: {number} earlier answers kept", answers)
    return kept if answers else ""


def _sources(answer: Answer) -> list[dict[str, Any]]:
    return [
        _source(item.number, item.title, formatting.page(item.page, item.page_label), warning_of(item))
        | {
            "quote": item.text,
            "copy": quotation(item),
            "place": [item.document_id, item.page, f"{item.start}-{item.end}"],
        }
        for item in answer.citations
    ]


def _source(number: int, title: str, page: str, warning: str = "") -> dict[str, Any]:
    """A source; `place`: the document, the page and the span that can be shown before it is opened, if any."""
    return {"number": number, "title": title, "page": page, "warning": warning, "quote": "", "copy": "", "place": None}


def _facts(answer: Answer) -> list[dict[str, Any]]:
    """How sure the answer is, in a word, and what that means; then its number and what that comes from."""
    if answer.abstained or answer.stopped or answer.model == COURTESY:
        return []
    known = answer.trace.confidence
    lines = [] if "right" in known else [_("{share} of 1").format(share=figure(answer.confidence, ".2f"))]
    lines += [f"{figure(known[name], '.2f')} {_(said)}" for name, said in CONFIDENCE.items() if name in known]
    return [{"words": confidence_words(answer.confidence), "meaning": _meaning(answer), "lines": lines}]


def _meaning(answer: Answer) -> str:
    """What the word for an answer's confidence means for its reader. Where a number was fitted, it is a frequency."""
    if "supported" in answer.trace.confidence:
        return _("An estimate: how often a language model's answers like this one are right was not measured.")
    often = min(max(round(10 * answer.confidence), 1), 9)
    return _("About {often} in 10 answers like this one are right. The passages tell whether this one is.").format(
        often=often
    )


def _notes(answer: Answer) -> list[str]:
    notes = [*map(server_text, answer.trace.notes)]
    if answer.trace.left_out and not any("left out" in note for note in answer.trace.notes):
        notes.append(
            _("{left_out} of the passages found were left out, since the model cannot read more at once.").format(
                left_out=answer.trace.left_out
            )
        )
    return notes
