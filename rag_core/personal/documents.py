"""What a person does with documents beside reading them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_core.domain import Box, ChunkCluster, ChunkEdit, Document, DocumentFilter, Figure, Guide, Page, PageImage
from rag_core.personal.rights import Part, seen_document


class PersonalCatalogue(Part):
    """Titles and tags of the documents that they see."""

    def documents(
        self, wanted: DocumentFilter, *, offset: int = 0, limit: int | None = None
    ) -> tuple[list[Document], int]:
        """The documents that a filter leaves, and how many there are."""
        return self._library.catalogue.documents(self._rights.documents(wanted), offset=offset, limit=limit)

    def ids(self, wanted: DocumentFilter) -> list[str]:
        """Their ids."""
        return self._library.catalogue.ids(self._rights.documents(wanted))

    def rename(self, document_id: str, title: str | None) -> None:
        """Call a document that they may edit otherwise."""
        self._rights.edit(document_id)
        self._library.catalogue.rename(document_id, title)

    def tag(self, ids: Iterable[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Put tags on documents of their own and take others off: by them a document is shared, so nobody else may."""
        wanted, add, remove = list(ids), list(add), list(remove)
        if add or remove:
            known = [one for one in wanted if self._library.people.role(self._person, one)]
            for document_id in known:
                self._rights.own(document_id)
            self._library.catalogue.tag(known, add=add, remove=remove)

    def set_aside(self, ids: Iterable[str], *, undo_s: float = 60.0) -> list[str]:
        """Remove documents of their own, so that it can be undone for some seconds."""
        wanted = list(ids)
        for document_id in wanted:
            self._rights.own(document_id)
        return self._library.catalogue.set_aside(wanted, undo_s=undo_s)

    def take_back(self, ids: Iterable[str]) -> list[str]:
        """Undo that, of documents of their own."""
        wanted = list(ids)
        owned = self._library.people.owned(self._person, wanted)
        return self._library.catalogue.take_back([one for one in wanted if one in owned])

    def tags(self) -> list[tuple[str, int]]:
        """The tags of the documents that they see."""
        return self._library.catalogue.tags(viewer=self._person)


class PersonalChunkEdits(Part):
    """Chunks set right by hand."""

    def of(self, document_id: str) -> list[ChunkEdit]:
        """What was made of a document's chunks."""
        self._rights.see(document_id)
        return self._library.chunk_edits.of(document_id)

    def correct(self, chunk_id: str, text: str) -> None:
        """Give a chunk another text."""
        self._rights.edit(chunk_id.rpartition(":")[0])
        self._library.chunk_edits.correct(chunk_id, text)

    def leave_out(self, chunk_id: str) -> None:
        """Have a chunk be found no longer."""
        self._rights.edit(chunk_id.rpartition(":")[0])
        self._library.chunk_edits.leave_out(chunk_id)

    def undo(self, document_id: str, page: int, start: int, end: int) -> None:
        """Take an edit back."""
        self._rights.edit(document_id)
        self._library.chunk_edits.undo(document_id, page, start, end)


class PersonalClusters(Part):
    """What single documents are about; the tree of all is of the library as a whole."""

    def of_document(self, document_id: str) -> list[ChunkCluster]:
        """A document's chunks in clusters."""
        self._rights.see(document_id)
        return list(self._library.clusters.of_document(document_id))

    def summary(self, document_id: str) -> str:
        """A document's summary."""
        self._rights.see(document_id)
        return self._library.clusters.summary(document_id)


class PersonalGuides(Part):
    """Guides of documents."""

    def of(self, document: Document) -> Guide:
        """The guide of a document."""
        return self._library.guides.of(seen_document(self._rights, document))


class PersonalPagePlaces(Part):
    """Where text stands on pages."""

    def of(self, document: Document, page: Page, spans: Sequence[tuple[int, int]]) -> list[tuple[Box, ...]]:
        """The boxes of spans."""
        return self._library.page_places.of(seen_document(self._rights, document), page, spans)

    def figure_image(self, document: Document, figure: Figure, *, width_px: int = 1000) -> PageImage:
        """A picture in a document's text."""
        return self._library.page_places.figure_image(
            seen_document(self._rights, document), figure, width_px=width_px
        )  # fmt: skip
