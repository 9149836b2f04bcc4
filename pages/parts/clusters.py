"""The library's two levels, walked from clusters of documents down to passages, each named by its words."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts import formatting, reading
from pages.parts.language import _, figure, ngettext, server_text
from pages.parts.state import LibraryState
from rag_core.domain import Chunk, ClusterTree
from rag_core.errors import LecternError
from rag_core.library import Library

_NAMED = 5
_SHOWN = 50
_EXCERPT_CHARS = 160


def draw(library: Library) -> None:
    """The tree, closed until someone opens it; nothing while the library has no clusters."""
    try:
        tree = library.clusters.tree()
        if not tree.clusters:
            return
        with st.expander(_("Topics"), asked_for(), icon=":material/account_tree:", key="upload_clusters"):
            st.caption(_told(tree))
            with st.container(key="upload_cluster_level", gap="xxsmall"):
                _level(library, tree)
    except LecternError as error:
        st.caption(formatting.plain(server_text(str(error))))


def asked_for() -> bool:
    """Whether somebody came to the library page to see the tree, in this tab."""
    return bool(st.session_state.get("upload_clusters_asked_for"))


def open_at(cluster: int) -> None:
    """Have the library page show the tree first, at a cluster of documents."""
    st.session_state["upload_clusters_asked_for"] = True
    st.session_state["upload_cluster_path"] = (cluster,)


def named(terms: tuple[str, ...]) -> str:
    """A cluster's name: its best words."""
    return formatting.plain(", ".join(terms[:_NAMED])) or _("No words")


def _told(tree: ClusterTree) -> str:
    told = _("Documents that are about the same, named by their words. Open one to see its documents and their parts.")
    if tree.waiting:
        told += " " + ngettext(
            "{number} document to be grouped still.", "{number} documents to be grouped still.", tree.waiting
        )
    return told


def _level(library: Library, tree: ClusterTree) -> None:
    """What the steps taken so far lead to. What is no longer there leads back to the beginning."""
    path: tuple[str | int, ...] = st.session_state.setdefault("upload_cluster_path", ())
    if path:
        st.button(_("Back"), icon=":material/arrow_back:", type="tertiary", key="upload_cluster_back", on_click=_back)
    if not path or int(path[0]) >= len(tree.clusters):
        for number, cluster in enumerate(tree.clusters[:_SHOWN]):
            _step(f"{named(cluster.terms)} · {formatting.count(len(cluster.documents), 'document')}", number)
        return
    cluster = tree.clusters[int(path[0])]
    if len(path) == 1:
        st.markdown(f"**{named(cluster.terms)}**")
        _documents(library, cluster.documents)
    else:
        _parts(library, str(path[1]), path)


def _documents(library: Library, ids: tuple[str, ...]) -> None:
    for document_id in ids[:_SHOWN]:
        try:
            document = library.document(document_id)
        except KeyError:  # removed since the tree was read
            continue
        _step(f"{formatting.plain(document.title)} · {formatting.count(document.chunk_count, 'passage')}", document_id)
    if len(ids) > _SHOWN:
        st.caption(_("The {shown} most typical of {count}.").format(shown=_SHOWN, count=figure(len(ids))))


def _parts(library: Library, document_id: str, path: tuple[str | int, ...]) -> None:
    """The clusters of a document's chunks, or the chunks of one."""
    try:
        document = library.document(document_id)
    except KeyError:
        st.markdown(_("**This document is no longer in the library.**"))
        return
    st.markdown(f"**{formatting.plain(document.title)}**")
    clusters = library.clusters.of_document(document_id)
    if len(path) == 2 or int(path[2]) >= len(clusters):
        for number, cluster in enumerate(clusters):
            _step(f"{named(cluster.terms)} · {formatting.count(len(cluster.chunks), 'passage')}", number)
        return
    chosen = clusters[int(path[2])]
    st.markdown(named(chosen.terms))
    place = reading.places(library, document)
    for index in chosen.chunks[:_SHOWN]:
        for chunk in library.chunks(document_id, first=index, limit=1):
            _chunk(chunk, place(chunk.page))
    if len(chosen.chunks) > _SHOWN:
        st.caption(_("The first {shown} of {count}.").format(shown=_SHOWN, count=figure(len(chosen.chunks))))


def _chunk(chunk: Chunk, place: str) -> None:
    excerpt = " ".join(chunk.text.split())
    excerpt = excerpt if len(excerpt) <= _EXCERPT_CHARS else excerpt[:_EXCERPT_CHARS].rsplit(" ", 1)[0] + " …"
    label = f"{place} · {formatting.plain(excerpt)}"
    _button(label, f"upload_cluster_chunk_{chunk.index}", _open, chunk.document_id, chunk.page, chunk.index)


def _step(label: str, to: str | int) -> None:
    _button(label, f"upload_cluster_{to}", _go, to)


def _button(label: str, key: str, act: Callable[..., None], *arguments: object) -> None:
    st.button(label, key=key, type="tertiary", on_click=act, args=arguments)


def _go(to: str | int) -> None:
    st.session_state["upload_cluster_path"] = (*st.session_state["upload_cluster_path"], to)


def _back() -> None:
    st.session_state["upload_cluster_path"] = st.session_state["upload_cluster_path"][:-1]


def _open(document_id: str, page: int, index: int) -> None:
    """The document, at the page of a chunk, which is marked."""
    LibraryState.write(d=document_id, p=str(page))
    st.session_state["upload_marked"] = index
