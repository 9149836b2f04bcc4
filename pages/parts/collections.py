"""Collections in the side bar: which one is looked at (it stands in the address), and what is made and changed of them.

Whatever is clicked acts in a callback, as in the menu of a conversation.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from pages.parts import formatting, language, resources, sharing, signing_in
from pages.parts.language import _, figure, msgid, server_text
from pages.parts.state import CollectionState
from rag_core.domain import Collection, Document, Scope
from rag_core.errors import LecternError
from rag_core.library import Library

EVERYTHING = msgid("Everything")
UNDO_S = 60.0
MODES = {
    "": msgid("As everywhere"),
    "hybrid": msgid("By words and meaning"),
    "dense": msgid("By meaning"),
    "lexical": msgid("By words"),
}
_ACTS = {
    "change": msgid(":material/tune: Change"),
    "share": msgid(":material/group_add: Share"),
    "remove": msgid(":material/delete: Remove"),
}
_NAME_CHARS = 60
_CURRENT = "collection"
_OPEN = "collection_dialog"


def current(library: Library) -> Collection | None:
    """The collection in the address, or the one last chosen in this tab; None is the whole library."""
    wanted = CollectionState.parse().collection or st.session_state.get(_CURRENT) or ""
    found = next((one for one in library.collections.all() if one.id == wanted), None) if wanted else None
    _note(found)
    return found


def scope() -> Scope:
    """What a search, or a conversation that begins, is narrowed to where a collection is looked at."""
    name = st.session_state.get("collection_name")
    return Scope(tags=(name,)) if name else Scope()


def tags() -> list[str]:
    """What is put on documents that are added where a collection is looked at."""
    return list(scope().tags)


def into() -> dict[str, object]:
    """What files are added with where a collection is looked at, so that they come into it."""
    if signing_in.is_apart():
        return {"collection": one} if (one := st.session_state.get(_CURRENT)) else {}
    return {"tags": names} if (names := tags()) else {}


def sidebar(library: Library, chosen: Collection | None) -> None:
    """The list: everything, then each collection with its menu; below them a new one."""
    with st.container(key="collection_list", gap=None):
        known = library.collections.all()
        if known:
            _entry(None, chosen is None)
        person, shares = resources.person(), bool(known) and sharing.is_offered(library)
        for one in known:
            with st.container(key=f"collection_row_{one.id}", horizontal=True, wrap=False, gap=None):
                _entry(one, chosen is not None and one.id == chosen.id)
                if one.owner == person or not person:
                    _menu(one, [act for act in _ACTS if act != "share" or shares])
        st.button(
            _("New collection"), icon=":material/add:", key="collection_new", type="tertiary", on_click=_want,
            args=("new",),
        )  # fmt: skip
    _undoing()


def dialog(library: Library, documents: Sequence[Document]) -> None:
    """The dialog that was asked for, until it is closed."""
    wanted = st.session_state.get(_OPEN, "")
    if wanted == "new":
        _new(None, documents)
    elif one := next((one for one in library.collections.all() if one.id == wanted), None):
        _change(one, documents)
    else:
        _close()
        sharing.draw(library)


def choose(collection: Collection | None) -> None:
    """Look at a collection, or at everything. What has begun elsewhere is left."""
    _note(collection)
    st.session_state["chat_current"] = None
    for name in ("chat_passage", "chat_scope", "chat_searched_for"):
        st.session_state.pop(name, None)
    st.query_params.pop("c", None)
    st.query_params.pop("d", None)
    if "search_scope" in st.session_state:
        st.session_state["search_scope"] = scope()


def _note(collection: Collection | None) -> None:
    st.session_state[_CURRENT] = collection.id if collection else None
    st.session_state["collection_name"] = collection.name if collection else ""
    CollectionState.write(collection=collection.id if collection else "")


def _entry(one: Collection | None, is_current: bool) -> None:
    label = f"{formatting.plain(one.name)} :gray[{figure(one.documents)}]" if one else _(EVERYTHING)
    st.button(
        label, icon=":material/folder_open:" if is_current else ":material/folder:" if one else ":material/apps:",
        key=f"collection_entry{'_current' if is_current else ''}_{one.id if one else 'all'}", type="tertiary",
        width="stretch", on_click=choose, args=(one,),
    )  # fmt: skip


def _menu(one: Collection, acts: Sequence[str]) -> None:
    st.menu_button(
        _("More on {name}").format(name=formatting.plain(one.name)), acts, format_func=lambda act: _(_ACTS[act]),
        icon=":material/more_horiz:", type="tertiary", key=f"collection_menu_{one.id}", on_click=_picked, args=(one,),
    )  # fmt: skip


def _picked(one: Collection) -> None:
    act = st.session_state[f"collection_menu_{one.id}"]
    if act == "change":
        _want(one.id)
    elif act == "share":
        st.session_state[sharing.OPENED] = one.id
    elif act == "remove" and _done("remove", one.id):
        st.session_state["collection_removed"] = (one.id, one.name, time.monotonic() + UNDO_S)
        if st.session_state.get(_CURRENT) == one.id:
            choose(None)


def _undoing() -> None:
    """That one was removed, and a button to take it back as long as that is offered."""
    gone, name, until = st.session_state.get("collection_removed") or ("", "", 0.0)
    if time.monotonic() < until:
        with st.container(key="collection_undo_line", gap=None):
            st.caption(
                _("{name} is a collection no longer. Its documents and conversations stay.").format(
                    name=formatting.plain(name)
                )
            )
            st.button(
                _("Undo"), icon=":material/undo:", type="tertiary", key="collection_undo", on_click=_take_back,
                args=(gone,),
            )  # fmt: skip
    if problem := st.session_state.pop("collection_problem", None):
        st.caption(f":red[:material/error:] {formatting.plain(problem)}")


def _take_back(gone: str) -> None:
    if _done("take_back", gone):
        st.session_state.pop("collection_removed", None)


def _want(dialog_of: str) -> None:
    st.session_state[_OPEN] = dialog_of


def _close() -> None:
    st.session_state.pop(_OPEN, None)


def _form(one: Collection | None, documents: Sequence[Document]) -> None:
    if _OPEN not in st.session_state:  # what acted in a callback leaves no dialog to draw
        st.rerun()
    titles = {document.id: document.title for document in documents if document.state == "ready"}
    inside = [document.id for document in documents if one and document.id in titles and one.name in document.tags]
    kept = one.settings if one else {}
    with st.form("collection_form", border=False):
        st.text_input(_("Name"), one.name if one else "", max_chars=_NAME_CHARS, key="collection_title")
        st.multiselect(
            _("Documents"), list(titles), inside, format_func=lambda key: titles[key], key="collection_documents",
            placeholder=_("Choose now, or add them later"),
        )  # fmt: skip
        st.text_area(
            _("Instructions"),
            one.instructions if one else "",
            max_chars=4000,
            key="collection_instructions",
            placeholder=_("Answer in German, in one sentence"),
            help=_("A language model keeps to them; quoting does not."),
        )
        with st.container(horizontal=True):
            mode = str(kept.get("retrieval.mode", ""))
            st.selectbox(
                _("Searched"), list(MODES), index=[*MODES].index(mode) if mode in MODES else 0, key="collection_mode",
                format_func=lambda mode: _(MODES[mode]),
            )  # fmt: skip
            st.number_input(
                _("Passages read"), 1, 100, int(str(kept["retrieval.k"])) if "retrieval.k" in kept else None,
                key="collection_k", placeholder=_("As everywhere"),
            )  # fmt: skip
        if problem := st.session_state.pop("collection_problem", None):
            st.markdown(f":red[:material/error:] {formatting.plain(problem)}")
        with st.container(horizontal=True, horizontal_alignment="right"):
            st.form_submit_button(_("Save") if one else _("Make"), type="primary", on_click=_keep, args=(one, inside))


_new = language.dialog("New collection", until_closed=_OPEN, fields=True, icon=":material/create_new_folder:")(_form)
_change = language.dialog("Collection", until_closed=_OPEN, fields=True, icon=":material/folder_open:")(_form)


def _keep(one: Collection | None, inside: Sequence[str]) -> None:
    """Make or change a collection as the form says, and put its documents in and out."""
    state, library = st.session_state, resources.library()
    settings = {"retrieval.mode": state["collection_mode"], "retrieval.k": state["collection_k"]}
    given = {
        "instructions": state["collection_instructions"],
        "settings": {name: value for name, value in settings.items() if value},
    }
    name, wanted = state["collection_title"], set(state["collection_documents"])
    try:
        if one is None:
            one = library.collections.make(name, **given)
        else:
            library.collections.change(one.id, name=name, **given)
            one = library.collections.get(one.id)
        library.catalogue.tag(wanted - set(inside), add=[one.name])
        library.catalogue.tag(set(inside) - wanted, remove=[one.name])
    except (ValueError, LecternError) as error:
        state["collection_problem"] = server_text(str(error))
        return
    _close()
    choose(one)


def _done(act: str, collection_id: str) -> bool:
    """Whether a change was made; why not is said below the list."""
    try:
        getattr(resources.library().collections, act)(collection_id)
    except KeyError:
        return False
    except (ValueError, LecternError) as error:
        st.session_state["collection_problem"] = server_text(str(error))
        return False
    return True
