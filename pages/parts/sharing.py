"""With whom a collection is shared: people who sign in or have keys of their own, each as a reader or an editor."""

from __future__ import annotations

import streamlit as st

from pages.parts import formatting, resources, signing_in
from pages.parts.language import _, dialog, msgid, server_text
from rag_core.domain import Collection, Membership
from rag_core.errors import LecternError
from rag_core.library import Library

OPENED = "collection_shared"
"""The name in the session's state under which the dialog of a collection is asked for."""
_ROLES: dict[Membership, str] = {
    "reader": msgid("Reads and asks"),
    "editor": msgid("Corrects, and adds documents"),
}


def is_offered(library: Library) -> bool:
    """Whether there are people to share with: such as have a library of their own, or a key that opens something."""
    if signing_in.configured():
        return signing_in.knows_people()
    return any(key.person and key.revoked_at is None for key in library.access.all())


def draw(library: Library) -> None:
    """The dialog of the collection that was asked for, until it is closed."""
    wanted = st.session_state.get(OPENED)
    one = next((one for one in library.collections.all() if one.id == wanted), None) if wanted else None
    if one is None:
        st.session_state.pop(OPENED, None)
    else:
        _share(library, one)


@dialog("Share a collection", until_closed=OPENED, fields=True, icon=":material/group_add:")
def _share(library: Library, one: Collection) -> None:
    st.markdown(f"**{formatting.plain(one.name)}**")
    with st.form("collection_share", border=False):
        st.text_input(_("Address"), max_chars=320, key="collection_share_with")
        st.selectbox(_("What they may do"), list(_ROLES), key="collection_share_as", format_func=_told)
        st.form_submit_button(_("Share"), icon=":material/group_add:", type="primary", on_click=_add, args=(one.id,))
    if problem := st.session_state.pop("collection_share_problem", None):
        st.markdown(f":red[:material/error:] {formatting.plain(problem)}")
    members = library.people.members(one.id)
    if not members:
        st.caption(_("Shared with nobody."))
    for number, (person, role) in enumerate(members.items()):
        with st.container(key=f"collection_member_{number}", horizontal=True, vertical_alignment="center", wrap=False):
            st.markdown(f"{formatting.plain(person)} :gray[{_told(role)}]")
            st.button(
                _("Take back"), key=f"collection_unshare_{number}", type="tertiary", on_click=_take_back,
                args=(one.id, person),
            )  # fmt: skip


def _told(role: Membership) -> str:
    return _(_ROLES[role])


def _add(collection_id: str) -> None:
    state = st.session_state
    try:
        resources.library().people.share(collection_id, state["collection_share_with"], state["collection_share_as"])
    except LecternError as error:
        state["collection_share_problem"] = f"{server_text(str(error))} {server_text(error.help)}".strip()
        return
    state["collection_share_with"] = ""


def _take_back(collection_id: str, person: str) -> None:
    try:
        resources.library().people.unshare(collection_id, person)
    except LecternError as error:
        st.session_state["collection_share_problem"] = server_text(str(error))
