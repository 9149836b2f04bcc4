"""One chart of the insights page with its numbers, and what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import conversations, formatting
from pages.parts.evaluation.charting import columns_of, themed
from pages.parts.evaluation.files import file_name
from pages.parts.insights import looked_up
from pages.parts.language import _, figure, msgid, server_text
from rag_core.domain import Drawing, Insights, NotFound, QuestionGroup

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from rag_core.library import Library

EMPTY = {
    "asked": msgid("No question was asked in this period. What is asked in the chat is counted here."),
    "not_found": msgid("No question was left without an answer in this period."),
    "documents": msgid("No answer of this period cites a document."),
    "times": msgid("There are no times yet: they come with the first answer of this period."),
    "trust": msgid("No answer of this period was given a thumb. Thumbs stand below each answer of the chat."),
    "tokens": msgid("No language model was used in this period. Answers that quote the documents need no tokens."),
    "jobs": msgid("No job ran in this period."),
}
LISTED = 10


def draw(library: Library, asked: looked_up.Asked, insights: Insights, view: str) -> None:
    """The chart, or a sentence where there is nothing to draw."""
    drawing = looked_up.drawings(asked, view == "not_found").get(view)
    if drawing is None:
        with st.container(key="insights_empty"):
            st.markdown(_(EMPTY[view]))
    else:
        heading(drawing)
        # Without its own tones a chart takes those of the theme in use.
        st.vega_lite_chart(spec=themed(drawing.spec), key=f"insights_chart_{view}", alt=drawing.caption)
        numbers(library, drawing)
    if view == "not_found" and drawing is not None:
        _groups(looked_up.groups(asked))
    elif view == "documents":
        _unused(insights)
    elif view == "jobs":
        _failures(insights)


def heading(drawing: Drawing) -> None:
    """What a chart shows, and how to read it."""
    st.markdown(f"## {server_text(drawing.title)}")
    st.caption(server_text(drawing.caption))


def numbers(library: Library, drawing: Drawing) -> None:
    """A chart's numbers as a table, to be taken along."""
    with st.expander(_("The numbers"), icon=":material/table_rows:", key=f"insights_numbers_{drawing.key}"):
        st.dataframe(columns_of(drawing), hide_index=True)
        st.download_button(
            _("CSV"), lambda: library.insights.as_csv(drawing), file_name(f"insights {drawing.key}", "csv"), "text/csv",
            key=f"insights_csv_{drawing.key}", on_click="ignore", type="tertiary", icon=":material/download:",
        )  # fmt: skip


def open_document(document_id: str) -> None:
    """Turn to a document."""
    st.switch_page("pages/upload.py", query_params={"d": document_id})


def listed(name: str) -> DeltaGenerator:
    """A place for buttons in close lines."""
    return st.container(key=f"insights_list_{name}", gap=None)


def _groups(groups: tuple[QuestionGroup, ...]) -> None:
    """The questions behind the first bars; each opens the conversation it was asked in."""
    st.markdown(_("## The questions"))
    shown = groups[:LISTED]
    for number, group in enumerate(shown):
        if len(group.questions) > 1:
            name, often = formatting.plain(formatting.shorten(group.name, 90)), formatting.count(group.times, "time")
            label = f"{name} :gray[· {often}]"
            with st.expander(label, key=f"insights_group_{number}"), listed(f"group_{number}"):
                for place, question in enumerate(group.questions[:LISTED]):
                    _question(question, f"{number}_{place}")
    with listed("alone"):
        for number, group in enumerate(shown):
            if len(group.questions) == 1:
                _question(group.questions[0], f"{number}_0")
    if len(groups) > LISTED:
        st.caption(
            _("The first {shown} of {groups}; the table above has all.").format(
                shown=LISTED, groups=formatting.count(len(groups), "group")
            )
        )


def _question(question: NotFound, key: str) -> None:
    text, last = formatting.plain(formatting.shorten(question.question, 120)), formatting.day(question.last)
    often = _("{times}, last {day}").format(times=formatting.count(question.times, "time"), day=last)
    told = f"{text} :gray[· {often if question.times > 1 else last}]"
    if st.button(told, key=f"insights_question_{key}", type="tertiary", help=_("Open the conversation")):
        conversations.show(question.conversation)
        st.switch_page("pages/chat.py")


def _unused(insights: Insights) -> None:
    """Documents that no answer cites."""
    if not insights.unused:
        return
    st.markdown(_("## Never used") if insights.days is None else _("## Not used"))
    unused = formatting.count(insights.unused_count, "document")
    if insights.days is None:
        st.caption(_("No answer cites {documents}. Those added first come first.").format(documents=unused))
    else:
        told = _("No answer of the last {days} days cites {documents}. Those added first come first.")
        st.caption(told.format(days=insights.days, documents=unused))
    with listed("unused"):
        for one in insights.unused[:LISTED]:
            added = _("added {day}").format(day=formatting.day(one.added_at))
            label = f"{formatting.plain(one.title)} :gray[· {added}]"
            if st.button(label, key=f"insights_unused_{one.document_id}", type="tertiary"):
                open_document(one.document_id)
    if rest := insights.unused[LISTED:]:
        with st.expander(
            _("{number} more").format(number=figure(len(rest))),
            icon=":material/table_rows:",
            key="insights_more_unused",
        ):
            st.dataframe(
                {_("Document"): [one.title for one in rest], _("Added"): [one.added_at for one in rest]},
                hide_index=True,
            )


def _failures(insights: Insights) -> None:
    """Why jobs failed."""
    if not insights.failures:
        return
    st.markdown(_("## What failed"))
    failures = insights.failures
    st.dataframe(
        {
            _("When"): [formatting.day(failure.at) for failure in failures],
            _("What"): [failure.name or failure.kind for failure in failures],
            _("Why"): [server_text(failure.message) for failure in failures],
            _("What helps"): [server_text(failure.help) for failure in failures],
        },
        hide_index=True,
    )
