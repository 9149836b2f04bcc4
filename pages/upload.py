"""The library page: add documents, watch them come in, look at them, remove them."""

from __future__ import annotations

import streamlit as st

from pages.parts import (
    add_from,
    adding,
    asking_of,
    clusters,
    collections,
    document,
    document_table,
    formatting,
    recognising,
    resources,
    signing_in,
)
from pages.parts.language import _, msgid, server_text
from pages.parts.refreshing import recovering
from pages.parts.state import LibraryState

PURPOSE = msgid(
    "Lectern answers questions from your own documents, on this machine, "
    "and shows you the page and the passage behind every sentence."
)


def main() -> None:
    """Draw the page."""
    library = resources.library()
    asking_of.leave()
    jobs = library.jobs
    opened = LibraryState.parse().d
    is_whole = not signing_in.is_apart()
    with st.container(key="upload_open" if opened else "upload_page_body"), recovering(library):
        seen, from_elsewhere = adding.seen(jobs), add_from.seen(library) if is_whole else None
        collection, every = collections.current(library), library.documents()
        with st.sidebar:
            collections.sidebar(library, collection)
        collections.dialog(library, every)
        if opened:
            document.draw(library, opened)
            return
        documents = [one for one in every if not collection or collection.name in one.tags]
        lines = frozenset(job.document_id for job in adding.lines(jobs) if job.state != "done")
        if documents or lines or collection:
            ready = [item for item in documents if item.state == "ready"]
            pages = sum(item.page_count for item in ready)
            st.markdown(f"# {formatting.plain(collection.name)}" if collection else _("# Library"))
            st.caption(f"{formatting.count(len(ready), 'document')}, {formatting.count(pages, 'page')}")
        else:
            st.markdown(_("# Ask your own documents"))
            st.markdown(_(PURPOSE))
        adding.drop_zone()
        covered = add_from.ways(library) if is_whole else None
        if not every and not jobs.busy(adding.KIND):
            adding.sample_button(jobs)
        adding.progress(jobs, seen)
        if from_elsewhere is not None and covered is not None:
            add_from.progress(library, from_elsewhere, covered)
            recognising.progress(library)
            for note in library.maintenance.notes():
                st.caption(f":material/info: {formatting.plain(server_text(note))}")
        if is_whole and clusters.asked_for():  # from the map; behind a hundred rows it would not be seen
            clusters.draw(library)
        document_table.draw(documents, lines)
        if is_whole and not clusters.asked_for():
            clusters.draw(library)


main()
