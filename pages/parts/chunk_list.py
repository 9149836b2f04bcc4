"""The chunks of a page: marked on it by a click, corrected, left out of search, and brought back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.parts import formatting, naming, reading, resources
from pages.parts.components import component
from pages.parts.language import _, msgid, ngettext, server_text
from rag_core.domain import Chunk, ChunkEdit, Document
from rag_core.errors import LecternError
from rag_core.library import Library

_HIDDEN = msgid("Some of this text is not to be seen on the page")
_ASTRAY = msgid("The document was cut or came in otherwise since: no passage has the text that this was made of")


def draw(library: Library, document: Document, page: int) -> None:
    """The chunks of this page, those that are left out in their places, and corrections that fit no chunk."""
    chunks = [chunk for chunk in library.chunks(document.id) if chunk.page == page]
    edits = library.chunk_edits.of(document.id)
    corrected = {(edit.page, edit.start, edit.end): edit for edit in edits if edit.in_place and not edit.left_out}
    out = [edit for edit in edits if edit.in_place and edit.left_out and edit.page == page]
    rows = [_row(chunk, corrected.get((chunk.page, chunk.start, chunk.end))) for chunk in chunks]
    rows = sorted([*rows, *map(_left_out, out)], key=lambda row: row["place"][2:])
    place = reading.places(library, document)
    data = {
        "title": ngettext("{number} passage on this page", "{number} passages on this page", len(chunks)),
        "empty": library.page(document.id, page).error or _empty(document),
        "marked": None if st.session_state.get("upload_span") else st.session_state.get("upload_marked"),
        "chunks": [*rows, *(_astray(edit, place(edit.page)) for edit in edits if not edit.in_place)],
    }
    component("chunks")(
        key="upload_chunks", data=data, on_mark_change=_mark,
        on_correct_change=lambda: _change(_correct, document.id),
        on_leave_change=lambda: _change(_leave, document.id),
        on_undo_change=lambda: _change(_undo, document.id),
    )  # fmt: skip
    naming.problem()


def _row(chunk: Chunk, edit: ChunkEdit | None) -> dict[str, Any]:
    marks = [(_("corrected"), "")] if chunk.corrected else []
    return {
        "index": chunk.index,
        "place": (chunk.document_id, chunk.page, chunk.start, chunk.end),
        "head": _("Passage {number}").format(number=chunk.index + 1),
        "facts": formatting.count(len(chunk.text), "character"),
        "marks": [*marks, *([(_("hidden text"), _(_HIDDEN))] if chunk.hidden else [])],
        "section": chunk.section,
        "text": chunk.text,
        "original": edit.original if edit else "",
        "undo": _("Take the correction back") if edit else "",
    }


def _left_out(edit: ChunkEdit) -> dict[str, Any]:
    return _of_edit(edit) | {"head": _("Left out of search"), "undo": _("Bring back")}


def _astray(edit: ChunkEdit, place: str) -> dict[str, Any]:
    head = f"{_('Left out') if edit.left_out else _('Correction')}, {place}"
    return _of_edit(edit) | {"head": head, "marks": [(_("fits no passage"), _(_ASTRAY))], "undo": _("Forget it")}


def _of_edit(edit: ChunkEdit) -> dict[str, Any]:
    return {
        "index": None,
        "place": (edit.document_id, edit.page, edit.start, edit.end),
        "facts": formatting.count(len(edit.text), "character"),
        "marks": [(_("corrected"), "")] if edit.corrected else [],
        "section": edit.section,
        "text": edit.text,
        "original": edit.original if edit.corrected else "",
    }


def _empty(document: Document) -> str:
    return _("Nothing of this page is read yet.") if document.to_recognise else _("This page holds no text.")


def _mark() -> None:
    chosen = st.session_state["upload_chunks"]["mark"]
    again = st.session_state.get("upload_marked") == chosen and not st.session_state.get("upload_span")
    st.session_state["upload_marked"] = None if again else chosen
    st.session_state["upload_span"] = None


def _change(act: Callable[[str], None], document_id: str) -> None:
    """Do what was clicked; what goes wrong is said below."""
    st.session_state["upload_marked"] = None
    try:
        act(document_id)
    except KeyError:
        st.session_state["upload_problem"] = _("This passage is no longer there.")
    except ValueError as error:
        st.session_state["upload_problem"] = server_text(str(error))
    except LecternError as error:
        naming.tell(error)


def _correct(document_id: str) -> None:
    wanted = st.session_state["upload_chunks"]["correct"]
    resources.library().chunk_edits.correct(f"{document_id}:{wanted['index']}", wanted["text"])


def _leave(document_id: str) -> None:
    resources.library().chunk_edits.leave_out(f"{document_id}:{st.session_state['upload_chunks']['leave']}")


def _undo(document_id: str) -> None:
    _, page, start, end = st.session_state["upload_chunks"]["undo"]
    resources.library().chunk_edits.undo(document_id, page, start, end)
