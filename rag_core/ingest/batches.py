"""A run's documents through the stages, a batch at a time: each function takes documents, each with what the stage
before made, and returns those that go on. The others are given up, which `RunContext` tells of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from rag_core.domain import Document, ParsedDocument
from rag_core.embedding import Embedder
from rag_core.errors import EncryptedDocument, LecternError, UnreadableDocument
from rag_core.ingest import stages
from rag_core.ingest.context import RunContext
from rag_core.ingest.executor import Executor
from rag_core.ingest.work import Work
from rag_core.reading.base import LOCKABLE, PICTURED, RawPage
from rag_core.reading.ocr import recognised_page
from rag_core.storage import Stored
from rag_core.storage.blobs import Blob
from rag_core.storage.postgres.database import ConnectionLost
from rag_core.unexpected import each, stage

# What was read of a long document is embedded first after this many pages, then whenever it is half as much more.
BEGUN_PAGES = 12


def parse(run: RunContext, works: Sequence[Work], ahead: Executor) -> list[Work]:
    """Read files: small ones together, or a larger one alone. What was read of that by now is put into `ahead`, which
    embeds, when it would have nothing to do."""
    parsed: list[Work] = []

    def read_together(works: Sequence[Work]) -> None:
        with stage("reading", *_ids(works)):
            found = _read_all(run, works, ahead)
        for work, made in zip(works, found, strict=True):
            if isinstance(made, LecternError):
                run.give_up(work, made)
                continue
            if work.is_small:
                run.tell(work.source, "reading", len(made.pages), len(made.pages))
            parsed.append(replace(work, parsed=made))

    each(run.going_on(works), read_together, run.give_up)
    return parsed


def chunk(run: RunContext, works: Sequence[Work]) -> list[Work]:
    """Cut documents that were read into chunks."""
    alone = works[0].source if len(works) == 1 else None
    cut: list[Work] = []

    def cut_together(works: Sequence[Work]) -> None:
        with stage("chunking", *_ids(works)):
            made = _cut(run, works, alone)
        for work in made:
            may_be_empty = work.parsed.to_recognise or any(page.recogniser for page in work.parsed.pages)
            if work.chunks or may_be_empty:
                cut.append(work)
            else:
                run.give_up(work, UnreadableDocument("The document holds no text."))

    each(works, cut_together, run.give_up)
    return cut


def embed(run: RunContext, works: Sequence[Work]) -> list[Work]:
    """Make the vectors that documents have yet to get; a model that cannot be had gives all of them up."""
    begun = [work for work in works if not work.whole and not run.stopped(work.source)]
    works = run.going_on([work for work in works if work.whole])
    if begun:
        # The whole document meets it again; the others have no part in it.
        with suppress(LecternError), stage("embedding", *_ids(begun)):
            _embed(run, begun)
    embedded: list[Work] = []

    def embed_together(works: Sequence[Work]) -> None:
        with stage("embedding", *_ids(works)):
            _embed(run, works)
        embedded.extend(works)

    try:
        if works:
            run.embedder()
    except LecternError as error:
        for work in works:
            run.give_up(work, error)
        return []
    each(works, embed_together, run.give_up)
    return embedded


def commit(run: RunContext, works: Sequence[Work]) -> None:
    """Make documents part of the library, in one transaction, and tell of them: their road ends here."""
    works = run.going_on(works)
    for work in works:
        run.tell(work.source, "storing", len(work.chunks), len(work.chunks))

    def commit_together(works: Sequence[Work]) -> None:
        with stage("commit", *_ids(works)):
            with run.committing:
                _commit(run, works)
            run.finish(works)

    try:
        each(works, commit_together, run.give_up, of_all=(ConnectionLost,))
    except ConnectionLost as error:
        for work in works:
            run.give_up(work, error)


def _ids(works: Sequence[Work]) -> list[str]:
    return [work.document.id for work in works]


def _read_all(run: RunContext, works: Sequence[Work], ahead: Executor) -> Sequence[ParsedDocument | LecternError]:
    if len(works) == 1 and not works[0].is_small:
        return [_read(run, works[0], ahead)]
    files = [_file(run, work) for work in works]
    read = run.stages.parse_small(files, run.settings.reading, stopped=lambda: run.stopped(None))
    return [
        _read(run, work, ahead, alone=True) if _is_read_alone(work.document, found) else found
        for work, found in zip(works, read, strict=True)
    ]  # fmt: skip


def _is_read_alone(document: Document, found: ParsedDocument | LecternError) -> bool:
    """Whether a small document needs more than others: its password, or what was recognised in its pictures."""
    if isinstance(found, LecternError):
        may_be_pictures = isinstance(found, UnreadableDocument) and document.media_type in PICTURED
        return may_be_pictures or isinstance(found, EncryptedDocument)
    return any(figure.awaits for page in found.pages for figure in page.figures)


def _file(run: RunContext, work: Work, *, alone: bool = False) -> stages.File:
    """What reading a document needs. Few small ones have a password; asking for it costs a transaction."""
    blob = Blob(run.storage.files.address, work.document.id)
    if work.is_small and not alone:
        return stages.File(blob, work.names)
    kept = run.storage.documents.password(work.document.id) if work.document.media_type in LOCKABLE else None
    return stages.File(blob, work.names, run.password or kept, _recognised(run, work.document))


def _read(run: RunContext, work: Work, ahead: Executor, *, alone: bool = False) -> ParsedDocument | LecternError:
    done = 0

    def begun(pages: int, so_far: Callable[[], ParsedDocument]) -> None:
        nonlocal done
        is_soon = pages - done < max(BEGUN_PAGES, done // 2)
        # Cutting by meaning embeds every sentence: once is enough.
        if is_soon or not ahead.idle or run.settings.chunking.strategy == "semantic":
            return
        parsed = stages.with_card(file, so_far())
        new = replace(parsed, pages=parsed.pages[done:])
        done = pages
        ahead.put(_cut(run, [replace(work, parsed=new, whole=False)], work.source))

    try:
        file = _file(run, work, alone=alone)
        parsed = run.stages.parse(
            file, run.settings.reading, begun=begun, stopped=lambda: run.stopped(work.source),
            progress=lambda done, total: run.tell(work.source, "reading", done, total),
        )  # fmt: skip
        if run.password and parsed.media_type in LOCKABLE:
            run.storage.documents.keep_password(work.document.id, run.password)
    except LecternError as error:
        return error
    return parsed


def _recognised(run: RunContext, document: Document) -> dict[int, RawPage] | None:
    """What text recognition has read of a document; None where there is to be none."""
    if run.settings.ocr.engine == "none" or not (document.is_recognisable or document.media_type in PICTURED):
        return None
    return {
        number: recognised_page(number, content)
        for number, content in run.storage.documents.recognition.of(document.id).items()
    }


def _model(run: RunContext, embedder: Embedder) -> stages.Model:
    return stages.Model(embedder.profile, embedder.model, run.settings.embedding, run.settings.models_dir)


def _cut(run: RunContext, works: Sequence[Work], alone: str | None) -> list[Work]:
    """Documents with their chunks. One of many is not stopped by itself."""
    embedder = run.embedder()
    found = run.stages.chunk(
        [(work.document.id, work.parsed) for work in works], run.settings.chunking, _model(run, embedder),
        embedder=embedder, stopped=lambda: run.stopped(alone),
    )  # fmt: skip
    return [replace(work, chunks=chunks) for work, chunks in zip(works, found, strict=True)]


def _embed(run: RunContext, works: Sequence[Work]) -> None:
    embedder = run.embedder()
    profile = embedder.profile
    sources = {work.source for work in works}
    alone = sources.pop() if len(sources) == 1 else None
    wanted = [(work, key) for work in works for key in work.keys(profile) if key not in work.known]
    total = sum(len(work.chunks) for work in works)
    known = total - len(wanted)  # embedded while the document was read

    def tell(done: int, _: int) -> None:
        if alone is not None or done in (0, len(wanted)):
            for work in works:
                if work.whole:
                    share = len(work.chunks)
                    run.tell(work.source, "embedding", (known + done) * share // max(total, 1), share)

    tell(0, len(wanted))
    contexts, texts = [context for _, (_, context, _) in wanted], [text for _, (_, _, text) in wanted]
    made = run.stages.embed(
        texts, contexts, _model(run, embedder), embedder=embedder, progress=tell, stopped=lambda: run.stopped(alone)
    )  # fmt: skip
    for (work, key), vector, parts in zip(wanted, made.vectors, made.pieces, strict=True):
        work.known[key] = (vector, parts)
    for work in works:
        work.profile = profile


def _commit(run: RunContext, works: Sequence[Work]) -> None:
    """Commit what was embedded, once more where the library was cut over to another model meanwhile."""
    profile = run.embedder().profile
    if any(work.profile != profile for work in works):
        _embed(run, works)
    batch = []
    for work in works:
        vectors, pieces = work.vectors(profile)
        batch.append(
            Stored(
                work.document.id, work.parsed, work.chunks, vectors, pieces, work.replaces, run.settings.chunking.key
            )
        )  # fmt: skip
    leases, sources = run.cancellation.leases, {work.source for work in works}
    run.storage.commit(
        batch, profile, {key: token for key, token in leases.items() if len(leases) == 1 or key in sources}
    )
