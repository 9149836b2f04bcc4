"""The map of a library's documents as a chart: hover tells, a click chooses."""

from __future__ import annotations

from rag_core.chart_parts import COLOURS, MIDDLE, chart_of, specification, tooltip
from rag_core.domain import CorpusMap, Drawing, Place

CHOSEN = "opened"
"""The selection's name; it has the `id` of the document that was clicked."""

NAMED = 24
"""Clusters with a look of their own; the smaller ones share one."""

NONE = "In no cluster yet"
_SHAPES = ("circle", "diamond", "triangle-up", "square")
_WORDS = 4
_HEIGHT = 420
_MOST = 4_000


def name(corpus: CorpusMap, cluster: int) -> str:
    """What a cluster is called: its best words. Namesakes are numbered."""
    names = [", ".join(terms[:_WORDS]) or "No words" for terms in corpus.clusters]
    earlier = names[:cluster].count(names[cluster])
    return f"{names[cluster]} ({earlier + 1})" if earlier else names[cluster]


def look(cluster: int | None) -> tuple[str, str]:
    """Colour and shape of a cluster's marks: every colour first as discs, then in the next shape."""
    if cluster is None or cluster >= NAMED:
        return MIDDLE, "circle"
    return COLOURS[cluster % len(COLOURS)], _SHAPES[cluster // len(COLOURS)]


def map_drawing(corpus: CorpusMap, chosen: int | None) -> Drawing:
    """Discs by document, as large as it has chunks. The largest documents are drawn first, below the others."""
    import altair as alt

    places = sorted(corpus.places, key=lambda place: (-place.chunks, place.document_id))[:_MOST]
    names = [name(corpus, number) for number in range(len(corpus.clusters))]
    rows = [_row(place, names, chosen) for place in places]
    shown = alt.Scale(domain=[-1.08, 1.08])
    marks = chart_of(rows).mark_point(filled=True, stroke="white", strokeWidth=0.6, cursor="pointer").encode(
        x=alt.X("x:Q", axis=None, scale=shown), y=alt.Y("y:Q", axis=None, scale=shown),
        color=alt.Color("colour:N", scale=None), shape=alt.Shape("shape:N", scale=None),
        size=alt.Size("chunks:Q", scale=alt.Scale(type="sqrt", range=[60, 900], domainMin=0), legend=None),
        opacity=alt.Opacity("shown:Q", scale=None), tooltip=tooltip(rows) if rows else [],
    ).add_params(alt.selection_point(name=CHOSEN, fields=["id"], on="click", toggle=False, empty=False))  # fmt: skip
    left = len(corpus.places) - len(places)
    return Drawing(
        "map", "Map of the documents",
        "Documents that are about the same stand near each other; larger marks have more text. Click one to open it."
        + (f" The {left:,} smallest are not drawn." if left else ""),
        specification(marks, height=_HEIGHT),
        ("Document", "Cluster", "Chunks", "x", "y"),
        tuple(
            (place.title, NONE if place.cluster is None else names[place.cluster], place.chunks,
             round(place.x, 3), round(place.y, 3))
            for place in corpus.places
        ),
    )  # fmt: skip


def _row(place: Place, names: list[str], chosen: int | None) -> dict[str, object]:
    colour, shape = look(place.cluster)
    apart = chosen is not None and place.cluster != chosen
    return {
        "id": place.document_id, "document": place.title, "chunks": place.chunks, "x": place.x, "y": place.y,
        "cluster": NONE if place.cluster is None else names[place.cluster], "colour": colour, "shape": shape,
        "shown": 0.15 if apart else 0.85,
    }  # fmt: skip
