"""The map of the documents: hover tells, a click opens; beside it the clusters of the tree."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from pages.parts import clusters, formatting, resources
from pages.parts.evaluation.charting import themed
from pages.parts.insights import looked_up, views
from pages.parts.language import _, figure, msgid, ngettext
from rag_core.domain import CorpusMap
from rag_core.insights.map_chart import CHOSEN, look, name

_SIGNS = {"circle": "●", "diamond": "◆", "triangle-up": "▲", "square": "■"}
_KEPT = "insights_cluster"
NOTHING = msgid("The map is drawn once documents were summarised, which happens in the background.")
LISTED = 12


def draw(asked: looked_up.Asked) -> None:
    """The map beside its clusters, and the documents of the one that is chosen."""
    corpus = looked_up.corpus_map(asked.scope)
    if not corpus.places:
        with st.container(key="insights_empty"):
            st.markdown(_(NOTHING) if corpus.waiting else _("There is no document to be drawn."))
        return
    chosen = _chosen(corpus)
    library = resources.library()
    drawing = library.insights.map_drawing(corpus, chosen)
    views.heading(drawing)
    if corpus.waiting:
        st.caption(
            ngettext("{number} document to be placed still.", "{number} documents to be placed still.", corpus.waiting)
        )
    with st.container(key="insights_map"):
        with st.container(key="insights_map_chart"):
            clicked = st.vega_lite_chart(
                spec=themed(drawing.spec), key=f"insights_map_{chosen}", alt=drawing.caption, on_select="rerun",
                selection_mode=CHOSEN,
            )  # fmt: skip
        _clusters(corpus, chosen)
    if opened := clicked["selection"].get(CHOSEN):
        views.open_document(opened[0]["id"])
    if chosen is not None:
        _documents(corpus, chosen)
    views.numbers(library, drawing)


def _chosen(corpus: CorpusMap) -> int | None:
    """The cluster that was clicked, while there is such a one."""
    chosen: int | None = st.session_state.get(_KEPT)
    return chosen if chosen is not None and chosen < len(corpus.clusters) else None


def _clusters(corpus: CorpusMap, chosen: int | None) -> None:
    """The clusters by name with their mark on the map, the largest first."""
    sizes = Counter(place.cluster for place in corpus.places)
    there = [number for number in range(len(corpus.clusters)) if sizes[number]]
    with st.container(key="insights_clusters", gap="xsmall"):
        for number in there[:LISTED]:
            _cluster(corpus, number, sizes[number], number == chosen)
        if rest := there[LISTED:]:
            more = st.expander(formatting.count(len(rest), "smaller topic"), chosen in rest, key="insights_smaller")
            with more.container(gap="xsmall"):
                for number in rest:
                    _cluster(corpus, number, sizes[number], number == chosen)


def _cluster(corpus: CorpusMap, number: int, size: int, chosen: bool) -> None:
    colour, shape = look(number)
    with st.container(key=f"insights_cluster_{number}", horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.html(f'<span aria-hidden="true" style="color:{colour}">{_SIGNS[shape]}</span>', width="content")
        label = f"{formatting.plain(name(corpus, number))} :gray[· {figure(size)}]"
        st.button(
            f"**{label}**" if chosen else label, key=f"insights_choose_{number}", type="tertiary", on_click=_choose,
            args=(None if chosen else number,),
        )  # fmt: skip


def _choose(cluster: int | None) -> None:
    st.session_state[_KEPT] = cluster


def _documents(corpus: CorpusMap, chosen: int) -> None:
    """The documents of a cluster, and the way to it in the tree."""
    here = sorted(
        (place for place in corpus.places if place.cluster == chosen), key=lambda place: (-place.chunks, place.title)
    )
    st.markdown(f"## {formatting.plain(name(corpus, chosen))}")
    with views.listed("places"):
        for place in here[:LISTED]:
            told = f"{formatting.plain(place.title)} :gray[· {formatting.count(place.chunks, 'passage')}]"
            if st.button(told, key=f"insights_place_{place.document_id}", type="tertiary"):
                views.open_document(place.document_id)
    if len(here) > LISTED:
        st.caption(_("The {shown} largest of {count}.").format(shown=LISTED, count=figure(len(here))))
    if st.button(_("Open among the topics"), icon=":material/account_tree:", key="insights_to_tree"):
        clusters.open_at(chosen)
        st.switch_page("pages/upload.py")
