"""Map and reduce: notes on each part of a text, condensed until they fit together, then the summary, all of it cited.

What a note cites stays with it: each of its sentences goes on as a passage of its own, numbered anew, that stands for
the chunk which it came from.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from rag_core.answering.citations import CitationWriter, Passages, sentences_of
from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.grounding import Grounding
from rag_core.answering.question import Question
from rag_core.answering.streaming import Progress
from rag_core.answering.summaries.sentence_scoring import telling
from rag_core.answering.written import Written
from rag_core.domain import Hit
from rag_core.models import prompts
from rag_core.models.base import ChatModel
from rag_core.models.messages import ChatMessage, prompted
from rag_core.retrieval.contents import Content
from rag_core.retrieval.hierarchy.summaries import in_turn

_NOTE_TOKENS = 300
_MOST_ROUNDS = 4
_SEPARATOR_TOKENS = 2
_NOTES_KEPT = 256  # of a few sentences each: a book has some eighty parts


@dataclass(frozen=True, slots=True)
class Source:
    """A passage of a prompt: a chunk's text, or a note's sentence on it."""

    text: str
    hit: Hit

    @property
    def place(self) -> str:
        """Its document and page."""
        return f"{self.hit.document.title}, page {self.hit.page_label or self.hit.page}"


class PartNotes:
    """The notes that models made lately, by the model and what they are on: a summary that is gone on with, or asked
    for again, needs none anew. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Sequence[Source]] = OrderedDict()

    def of(self, key: Hashable, make: Callable[[], Sequence[Source]]) -> Sequence[Source]:
        """Those that are kept, else those that are now made."""
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            found = make()
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            while len(self._kept) > _NOTES_KEPT:
                self._kept.popitem(last=False)
        return found


class Condensing:
    """One summary by one model; the notes on each part are kept in `notes`."""

    def __init__(
        self, question: Question, model: ChatModel, encode_tokens: EncodeTokens, progress: Progress, notes: PartNotes
    ) -> None:
        self._part_notes = notes
        self._question = question
        self._model = model
        self._encode_tokens = encode_tokens
        self._progress = progress
        self._most = min(question.settings.generation.max_tokens, model.context_tokens // 2)
        self._note = min(_NOTE_TOKENS, self._most)
        self._citing = "" if model.is_small else prompts.CITING
        self._notes: list[str] = []
        self._cut = False

    def run(self, read: Sequence[Content], notes: Sequence[str] = ()) -> Written:
        """Summarise. `notes` stand before those of what was not read.

        Of several documents each gives one part: its chunks nearest to the centroids. Raises Cancelled and
        ModelUnavailable.
        """
        self._notes = list(notes)
        title = read[0].document.title if len(read) == 1 else "several documents"
        sources = [[Source(hit.text, hit) for hit in content.hits] for content in read]
        if len(read) > 1:
            sources = [self._nearest(content) for content in read]
            used, every = sum(map(len, sources)), sum(len(content.hits) for content in read)
            if used < every:
                self._notes.append(
                    f"{used} of {every} passages were read, those nearest to what each document is about."
                )
        flat = [source for some in sources for source in some]
        doing = "Reading"
        for _ in range(_MOST_ROUNDS):
            if len(self._parts(flat, self._room(title, self._most))) <= 1:
                break
            parts = [part for some in sources for part in self._parts(some, self._room(title, self._note))]
            flat = self._noted(parts, read, title, doing)
            sources, doing = [flat], "Condensing"
        return self._summary(flat, title)

    def _noted(
        self, parts: Sequence[Sequence[Source]], read: Sequence[Content], title: str, doing: str
    ) -> list[Source]:
        """Notes on each part, in order."""
        found: list[Source] = []
        for number, part in enumerate(parts, start=1):
            titles = {source.hit.document.title for source in part}
            about = titles.pop() if len(titles) == 1 else title
            self._progress.tell_stage(f"{doing} part {number} of {len(parts)}: {about}")
            key = self._model.id, self._note, title, tuple((source.hit.chunk_id, source.text) for source in part)
            found += self._part_notes.of(key, partial(self._on_part, part, title, read))
        return found

    def _on_part(self, part: Sequence[Source], title: str, read: Sequence[Content]) -> list[Source]:
        """The model's notes on one part, as far as it holds them; else what it says itself."""
        prompt = prompts.PART.fill(title=prompts.plain(title), context=self._context(part), citing=self._citing)
        writer = CitationWriter(Passages([source.hit for source in part]))
        for text in self._generated(prompt, self._note):
            writer.feed(text)
        writer.finish()
        return self._cited(writer) or _quoted(part, read)

    def _cited(self, writer: CitationWriter) -> list[Source]:
        """The sentences of a note that passages hold, each with the first of these."""
        written = sentences_of(writer.text)
        checked = Grounding(writer.passages, self._encode_tokens).check(written, writer.register)
        chunks = {hit.chunk_id: hit for hit in writer.passages.hits}
        known = {citation.number: chunks[citation.chunk_id] for citation in writer.register.citations}
        return [
            Source(one.text, known[one.citations[0]])
            for one in checked
            if one.supported and one.citations and one.citations[0] in known
        ]

    def _summary(self, sources: Sequence[Source], title: str) -> Written:
        fitting = next(iter(self._parts(sources, self._room(title, self._most))), [])
        if len(fitting) < len(sources):
            left_out = len(sources) - len(fitting)
            self._notes.append(
                f"The notes on the documents were too long: the last {left_out} sentences were left out."
            )
        hits, begun = tuple(source.hit for source in fitting), self._question.beginning
        written = Written(hits=hits, cited=False, notes=tuple(self._notes), beginning=begun)
        self._progress.tell(written)
        prompt = prompts.WHOLE.fill(
            title=prompts.plain(title), context=self._context(fitting), question=self._question.text,
            citing=self._citing,
        )  # fmt: skip
        texts = []
        pieces = self._generated(prompt, self._most, begun.messages(hits if self._citing else ()) if begun else ())
        for text in begun.joined(pieces) if begun else pieces:
            texts.append(text)
            self._progress.tell(text)
        return replace(written, text="".join(texts), cut=self._cut)

    def _generated(self, prompt: str, most: int, begun: Sequence[ChatMessage] = ()) -> Iterator[str]:
        stopping, messages = self._progress.stopping, (*prompted(prompt), *begun)
        with closing(self._model.stream(messages, max_tokens=most, cancelled=stopping)) as deltas:
            for delta in deltas:
                self._cut = delta.cut
                self._progress.check()
                if delta.text:
                    yield delta.text

    def _room(self, title: str, answer: int) -> int:
        """Tokens that passages may have in a prompt."""
        frame = prompts.WHOLE.fill(
            title=prompts.plain(title), context=self._context([]), question=self._question.text, citing=self._citing
        )  # fmt: skip
        return self._model.context_tokens - answer - self._model.prompt_tokens(prompted(frame))

    def _parts(self, sources: Sequence[Source], room: int) -> list[list[Source]]:
        """Sources in runs that fit; one that is too long by itself stands in a run of its own, and is cut."""
        parts: list[list[Source]] = []
        left = 0
        for source in sources:
            tokens = self._model.count_tokens(prompts.passage(1, source.place, source.text, self._question.mark))
            tokens += _SEPARATOR_TOKENS
            if tokens > room:
                source = Source(source.text[: max(1, len(source.text) * room // tokens)], source.hit)
                tokens = room
            if not parts or tokens > left:
                parts.append([])
                left = room
            parts[-1].append(source)
            left -= tokens
        return parts

    def _context(self, sources: Sequence[Source]) -> str:
        """Numbered passages."""
        return prompts.passages(((one.place, one.text) for one in sources), self._question.mark)

    def _nearest(self, content: Content) -> list[Source]:
        """The chunks nearest to the centroids that fit into one part, in order."""
        order = list(dict.fromkeys(number for number, _ in in_turn(content.vectors, content.clusters)))
        sources = [Source(content.hits[number].text, content.hits[number]) for number in order]
        first = next(iter(self._parts(sources, self._room(content.document.title, self._note))), [])
        return sorted(first, key=lambda source: source.hit.index)


def _quoted(part: Sequence[Source], read: Sequence[Content]) -> list[Source]:
    """What the part itself says most tellingly, where the model's notes stand on nothing."""
    chunks = {source.hit.chunk_id for source in part}
    found = []
    for content in read:
        places = [place for place, hit in enumerate(content.hits) if hit.chunk_id in chunks]
        if places:
            found += [Source(quote.text, quote.hit) for quote in telling(content.taken(places), 60, most=3)]
    return found
