"""The commands that list, name, tag and remove documents."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rag_core.cli_output import WrongUsage, emit, plain
from rag_core.domain import Document
from rag_core.library import Library


def documents(library: Library, options: argparse.Namespace) -> int:
    """List the documents, or those with all of some tags."""
    wanted = {tag.casefold() for tag in options.tag}
    found = [d for d in library.documents() if wanted <= {tag.casefold() for tag in d.tags}]
    if options.json:
        for document in found:
            emit(plain(document))
    elif not found:
        print("No document has these tags." if wanted else "No documents yet. Add some: python -m rag_core add FILE")
    else:
        print(f"{'id':10} {'state':8} {'pages':>6} {'chunks':>7} {'size':>9}  title")
        for d in found:
            size = f"{d.byte_size / 1024:,.0f} KB"
            tags = "".join(f"  #{tag}" for tag in d.tags)
            print(f"{d.id[:10]} {d.state:8} {d.page_count:6} {d.chunk_count:7} {size:>9}  {d.title}{tags}")
    return 0


def remove(library: Library, options: argparse.Namespace) -> int:
    """Remove documents."""
    found = _named(library, options.documents)
    for document in found:
        library.remove(document.id)
        _report(options, {"removed": document.id, "title": document.title}, f"Removed {document.title}.")
    return 0 if len(found) == len(options.documents) else 1


def rename(library: Library, options: argparse.Namespace) -> int:
    """Give a document another title, or the one back that was found."""
    found = _named(library, [options.document])
    for document in found:
        library.rename_document(document.id, options.title)
        title = library.document(document.id).title
        _report(options, {"renamed": document.id, "title": title}, f"{document.title} is called {title}.")
    return 0 if found else 1


def tag(library: Library, options: argparse.Namespace) -> int:
    """Put tags on documents and take others off; without documents, list the tags."""
    if options.documents and not (options.add or options.remove):
        raise WrongUsage("Say what to put on (--add TAG) or to take off (--remove TAG).")
    found = _named(library, options.documents)
    try:
        library.tag_documents([d.id for d in found], add=options.add, remove=options.remove)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    for document in found:
        tags = library.document(document.id).tags
        _report(options, {"id": document.id, "tags": list(tags)}, f"{document.title}: {', '.join(tags) or 'no tags'}")
    if not options.documents:
        for name, count in library.tags():
            _report(options, {"tag": name, "documents": count}, f"{count:6}  {name}")
    return 0 if len(found) == len(options.documents) else 1


def _named(library: Library, names: Sequence[str]) -> list[Document]:
    """Documents by id, its beginning, title or source; names that are not one document's are told of."""
    documents, named = library.documents(), []
    for wanted in names:
        found = [
            d for d in documents if wanted in (d.title, *d.sources) or (len(wanted) >= 4 and d.id.startswith(wanted))
        ]
        if len(found) == 1:
            named += found
        else:
            reason = "no document" if not found else f"{len(found)} documents"
            sys.stderr.write(f"{wanted}: {reason} of that id or title. See: python -m rag_core documents\n")
    return named


def _report(options: argparse.Namespace, values: dict[str, object], line: str) -> None:
    if options.json:
        emit(values)
    else:
        print(line)
