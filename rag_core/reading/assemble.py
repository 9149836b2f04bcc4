"""From what a reading process gave to a ParsedDocument, with notes on what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from rag_core.domain import Page, ParsedDocument
from rag_core.errors import LecternError, UnreadableDocument
from rag_core.reading.base import IMAGES, PDF, Details, Heading, RawPage
from rag_core.reading.continued import repeat_heads
from rag_core.reading.headings import guess_sections
from rag_core.reading.hyphens import with_whole_words
from rag_core.reading.ocr.picture_words import behind_words
from rag_core.reading.papers import with_abstract
from rag_core.reading.running import without_running_titles
from rag_core.reading.sections import FEW, place, together


def assemble(
    media_type: str, name: str, raw: Sequence[RawPage], details: Details, *, recognising: bool = False
) -> ParsedDocument:
    """Put pages and details together; `name` gives the title where the document has none.

    recognising: whether pages whose text is a picture are left to text recognition.
    """
    labels = details.labels
    pages = tuple(replace(item.page, label=labels.get(item.page.number, "")) for item in raw)
    if media_type == PDF:
        pages = with_whole_words(without_running_titles(pages))
    # Of a document that is still being read the outline says more.
    found = place(_headings(details, [item.page for item in raw]), pages)
    if len(found) <= FEW and media_type in (PDF, *IMAGES):
        guessed = guess_sections([_as_seen(item, page) for item, page in zip(raw, pages, strict=True)])
        found = together(found, guessed)
    if media_type == PDF:
        pages, found = repeat_heads(pages, with_abstract(found, pages))
    scanned = tuple(item.page.number for item in raw if item.pictures)
    return ParsedDocument(
        media_type=media_type,
        pages=pages,
        title=details.title or title_from(name),
        authors=details.authors,
        year=details.year,
        modified=details.modified,
        language=details.language,
        sections=found,
        notes=(*_page_notes(raw), *([] if recognising else _scan_notes(scanned)), *details.notes),
        to_recognise=tuple(item.page.number for item in raw if item.awaits) if recognising else (),
    )


def _headings(details: Details, pages: Sequence[Page]) -> Iterator[Heading]:
    """The headings of the pages that were read, where words in pictures that stand before them put them."""
    for heading in details.headings:
        if heading.page <= len(pages):
            start = heading.start
            moved = start if start is None else behind_words(pages[heading.page - 1], start)
            yield replace(heading, start=moved)


def _as_seen(raw: RawPage, page: Page) -> RawPage:
    """A page without the lines that nobody sees: they are no headings."""
    if not page.hidden:
        return replace(raw, page=page)
    kept = [
        (line, face)
        for line, face in zip(page.lines, raw.faces, strict=True)
        if not any(span.start <= line.start < span.end for span in page.hidden)
    ]
    return replace(
        raw, page=replace(page, lines=tuple(line for line, _ in kept)), faces=tuple(face for _, face in kept)
    )


def title_from(name: str) -> str:
    """Return a title for a document that has none: its file's name without folder, suffix and underscores."""
    base = PurePosixPath(name.replace("\\", "/")).name
    stem = PurePosixPath(base).stem if PurePosixPath(base).stem.strip(".") else base
    return " ".join(stem.replace("_", " ").split())[:300] or "Untitled"


def require_text(
    raw: Sequence[RawPage], deadly: LecternError | None, notes: Sequence[str] = (), *, recognising: bool = False
) -> None:
    """Raise UnreadableDocument for a document without any text, or `deadly`, the limit that took its pages.

    notes: on what was not read, which may be why. recognising: a document may have none yet; one of pictures in which
    recognition found none has said so.
    """
    if any(item.page.text.strip() or item.page.recogniser or (recognising and item.awaits) for item in raw):
        return
    if deadly:
        raise deadly
    if any(item.page.error for item in raw):
        raise UnreadableDocument("None of the document's pages can be read.")
    if any(item.pictures for item in raw):
        raise UnreadableDocument(
            "The document holds pictures of pages, or sound, but no text.",
            help="Recognition is off: set LECTERN_OCR__ENGINE to rapidocr or tesseract and try again.",
        )
    raise UnreadableDocument(" ".join(["The document holds no text.", *notes]), help="Choose a file that has text.")


def _page_notes(raw: Sequence[RawPage]) -> Iterator[str]:
    failed = [item.page.number for item in raw if item.page.error]
    if failed:
        yield f"{_pages(failed)} could not be read and {'was' if len(failed) == 1 else 'were'} left out."
    recognised = [item.page for item in raw if item.page.recogniser and not item.page.is_heard]
    heard = [item.page for item in raw if item.page.is_heard]
    for own, how in ((recognised, "read by text recognition (OCR)"), (heard, "transcribed by speech recognition")):
        if read := [page.number for page in own if page.text.strip()]:
            yield f"{_pages(read)} {'was' if len(read) == 1 else 'were'} {how}."
    if shown := [item.page.number for item in raw if any(one.words and not one.awaits for one in item.page.figures)]:
        yield f"{_pages(shown)}: words in pictures were read by text recognition (OCR)."
    if silent := [page.number for page in heard if not page.text.strip()]:
        yield f"{_pages(silent)}: nothing is said there."
    if empty := [page.number for page in recognised if not page.text.strip()]:
        yield f"{_pages(empty)}: text recognition (OCR) found no text in the picture."


def _scan_notes(scanned: Sequence[int]) -> Iterator[str]:
    if scanned:
        held = f"{_pages(scanned)} {'holds' if len(scanned) == 1 else 'hold'} pictures or sound but no text"
        yield f"{held}: recognition, which is off, would read them."


def _pages(numbers: Sequence[int]) -> str:
    """Return "Page 3" or "Pages 3, 5 to 9"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a} to {b}" for a, b in runs]
    return f"Page{'s' if len(numbers) > 1 else ''} {', '.join(parts)}"
