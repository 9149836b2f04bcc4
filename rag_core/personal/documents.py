"""What a person does with documents beside reading them."""

from __future__ import annotations

from collections.abc import Iterable

from rag_core.personal.rights import Offered, Part, Rights


class PersonalCatalogue(Part):
    """Titles and tags of the documents that they see."""

    service = "catalogue"
    documents = Offered(Rights.documents)
    ids = Offered(Rights.documents)
    rename = Offered(Rights.edit)

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

    service = "chunk_edits"
    of = Offered(Rights.see)
    undo = Offered(Rights.edit)
    correct = Offered(Rights.edit_chunk)
    leave_out = Offered(Rights.edit_chunk)


class PersonalClusters(Part):
    """What single documents are about; the tree of all is of the library as a whole."""

    service = "clusters"
    of_document = Offered(Rights.see)
    summary = Offered(Rights.see)


class PersonalGuides(Part):
    """Guides of documents."""

    service = "guides"
    of = Offered(Rights.seen)


class PersonalPagePlaces(Part):
    """Where text stands on pages."""

    service = "page_places"
    of = Offered(Rights.seen)
    figure_image = Offered(Rights.seen)
