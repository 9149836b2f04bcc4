"""Clusters: which documents, and which chunks of a document, are about the same; and summaries."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.resources.documents import READ, Opened
from rag_core.api.responses import told
from rag_core.api.schema import answers, object_of, shown
from rag_core.api.scoping import document_of
from rag_core.domain import ChunkCluster, ClusterTree
from rag_core.domain.serialiser import to_json

router = APIRouter(tags=["clusters"])
_CLUSTERS = object_of("ChunkClusters", clusters=list[ChunkCluster])


@router.get("/clusters", dependencies=[Depends(needs("read"))], **answers(shown(ClusterTree)))
def tree(request: Request, library: Opened) -> Response:
    """Documents in clusters, named by their words, the largest first."""
    return told(request, to_json(library.clusters.tree()))


@router.get("/documents/{document_id}/clusters", dependencies=[READ], **answers(_CLUSTERS))
def of_document(request: Request, library: Opened, document_id: str) -> Response:
    """The chunks of a document in clusters, the largest first; none while it waits for them."""
    document_of(library, document_id, caller_of(request))
    return told(request, {"clusters": to_json(library.clusters.of_document(document_id))})


@router.get("/documents/{document_id}/summary", dependencies=[READ], **answers(object_of("Summary", summary=str)))
def summary(request: Request, library: Opened, document_id: str) -> Response:
    """A document's summary; empty while it waits for one."""
    document_of(library, document_id, caller_of(request))
    return told(request, {"summary": library.clusters.summary(document_id)})
