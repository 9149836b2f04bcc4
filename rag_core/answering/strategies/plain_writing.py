"""Answers that a small language model writes: plain sentences from the lines that the reader chose for it.

Small models lose themselves in whole passages and cannot number what they say. So they are given few lines and asked
for a sentence; that is shown once it is held against the passages, with the citation of the line it stands on. Where
the model contradicts what the reader is surer of, says what no line holds, or finds nothing, what is quoted stands
instead (rag_core.answering.strategies.model_choice), and what is near and no answer is decided before it is asked.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rag_core.answering.citations import Passages, Register, is_not_found, sentences_of, without_markers
from rag_core.answering.confidence import support, written
from rag_core.answering.cues import asks_to_write
from rag_core.answering.dialogues import Dialogue, Dialogues
from rag_core.answering.encoding import Encoder
from rag_core.answering.excerpts import Excerpt, Line, excerpts, whole_passages
from rag_core.answering.going_on import Beginning
from rag_core.answering.grounding import Grounding, Stand
from rag_core.answering.question import Question
from rag_core.answering.quotations import PERHAPS
from rag_core.answering.strategies.comparing import asked_of_each
from rag_core.answering.strategies.extractive import Extraction, Reading, quoted_from, read_passages
from rag_core.answering.strategies.model_choice import Choice, choose, refusal_signs, signs
from rag_core.answering.strategies.query_intent import QueryIntent
from rag_core.answering.strategies.quoted import quote, quoting
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written, abstain
from rag_core.domain import Retrieval, Sentence
from rag_core.errors import Cancelled
from rag_core.models import ChatMessage, ChatModel, prompts
from rag_core.models.messages import Usage
from rag_core.settings import Settings
from rag_core.text.sentences import split_sentences
from rag_core.text.terms import terms

_ROOM, _ROOM_TO_GO_ON, _ROOM_TO_EXPLAIN = 450, 240, 1100  # tokens of lines; what is explained needs whole passages
_MOST_TOKENS, _MOST_TO_EXPLAIN = 160, 400
_DOUBT = "Not sure: the language model wrote it, and the passages hold it in part."
_OTHERWISE = "The language model wrote something else, which the passages hold less: “{text}”"
_REFUSED = "The language model found no answer in the passages; what they say is quoted."


def writes_plainly(model: ChatModel, settings: Settings) -> bool:
    """Whether a model is given lines and asked for plain sentences: a small one, unless the settings say otherwise."""
    form = settings.generation.form
    return not settings.answering.prompt and (model.is_small if form == "auto" else form == "plain")


def write_plainly(
    question: Question,
    retrieval: Retrieval,
    model: ChatModel,
    encoder: Encoder,
    dialogues: Dialogues,
    progress: Progress,
) -> Written:
    """What a model writes of the passages, or what is quoted of them. `dialogues` has what it was told before."""
    aim, query = QueryIntent.of(retrieval), retrieval.trace.query
    start = Written(retrieval, retrieval.hits)
    asked_anew = not (asks_to_write(question.text) or question.beginning)
    several = retrieval.parts or asked_of_each(query, [*{hit.document.id: hit.document for hit in start.hits}.values()])
    if several and asked_anew:  # each for itself, side by side, is what quoting does
        return _told(quote(question, start, encoder), progress)
    read = read_passages(query, retrieval.hits, encoder, aim, question.settings.answering.max_sentences)
    if read is None:
        return _told(abstain(start, 0.0), progress)
    said = quoted_from(read, aim)
    # Small models say another row's figure; one that the reader has from a table is said as it stands.
    from_table = bool(said.lead) and not said.abstained
    known = read.made.is_computed or bool(said.rows) or from_table or not read.trust.close
    if known and asked_anew:
        return _told(quoting(start, said), progress)
    last = question.history[-1].id if question.history and question.goes_on and model.keeps_prefix else ""
    before = dialogues.after(_kept_as(question), last)
    writing = _Writing(question, start, read, said, model, encoder, before, progress)
    made = writing.run()
    if question.message_id and not question.beginning:
        dialogues.keep(_kept_as(question), question.message_id, writing.told())
    return made


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence that a model wrote, and what stands before it."""

    before: str
    text: str


@dataclass(slots=True)
class _Writing:
    """One answer as it is written."""

    question: Question
    written: Written
    read: Reading
    said: Extraction
    model: ChatModel
    encoder: Encoder
    before: Dialogue
    progress: Progress
    raw: str = ""
    lines: frozenset[Line] = frozenset()
    text: str = ""
    sentences: list[Sentence] = field(default_factory=list)
    register: Register = field(default_factory=Register)
    usage: Usage | None = None
    cut: bool = False
    grounding: Grounding = field(init=False)

    def __post_init__(self) -> None:
        if begun := self.question.beginning:
            self.text, self.sentences, self.register = begun.text, [*begun.sentences], Register([*begun.citations])
        self.grounding = Grounding(Passages(self.written.hits), self.encoder.tokens)

    def run(self) -> Written:
        """The answer, told as its sentences are found to be held."""
        begun = self.question.beginning
        self.written = replace(self.written, prompt=self._messages(), beginning=begun)
        self.progress.tell(self._so_far())
        with closing(self._pieces()) as pieces:
            if begun:
                self._go_on(pieces)
                return self._further(begun)
            if asks_to_write(self.question.text):
                self._go_on(pieces)
                return self._explained()
            first = next(pieces, _Piece("", ""))
            choice, stand = self._choose(first.text)
            if stand is None or not choice.is_models:
                return self._quoted(first.text, choice)
            if not choice.enough:
                return self._doubtful(first.text, choice, stand)
            self._add(first, Sentence(first.text, (self.register.number(stand.quote),)))
            self._go_on(pieces)
        return self._answered(choice)

    def _choose(self, first: str) -> tuple[Choice, Stand | None]:
        query = self.written.retrieval.trace.query
        stand = None if is_not_found(first) or _repeats(query, first) else self.grounding.stand(first)
        told = refusal_signs(query, self.read) if stand is None else signs(query, self.read, self.said, first, stand)
        return choose(told, quotes=not self.said.abstained), stand

    def _go_on(self, pieces: Iterator[_Piece]) -> None:
        """Say the model's further sentences until it ends, is stopped, or says one again."""
        with suppress(Cancelled):  # what is there until then is held
            for piece in pieces:
                if any(piece.text == one.text for one in self.sentences):
                    return
                (one, *_) = self.grounding.check(sentences_of(piece.text), self.register) or (Sentence(piece.text),)
                self._add(piece, replace(one, text=piece.text))

    def _add(self, piece: _Piece, one: Sentence) -> None:
        text = f"{piece.before if self.text else ''}{_shown(one)}"
        self.sentences.append(one)
        self.text += text
        self.progress.tell(self._so_far())
        self.progress.tell(text)

    def _answered(self, choice: Choice) -> Written:
        """What was said, of which the first sentence was chosen."""
        held = support(self.sentences)
        told = {"right": choice.right, "answerable": self.read.trust.answerable, "supported": held}
        return replace(self._made(), confidence=choice.right * held, told=told)

    def _further(self, begun: Beginning) -> Written:
        """What was said before and now."""
        held, sure = support(self.sentences), begun.confidence.get("right")
        if sure is None:
            return self._explained()
        told = {**begun.confidence, "supported": held}
        return replace(self._made(), confidence=sure * held, told=told)

    def _explained(self) -> Written:
        """What was said to a request for more than an answer."""
        if not self.text or is_not_found(self.text):
            return abstain(self._made(), self.read.trust.answerable)
        sure, told = written(self.read.trust.answerable, self.sentences)
        return replace(self._made(), confidence=sure, told=told)

    def _doubtful(self, first: str, choice: Choice, stand: Stand) -> Written:
        """An abstention with what the model wrote as what comes near."""
        self._add(_Piece("", ""), Sentence(f"{PERHAPS} {first}", (self.register.number(stand.quote),)))
        self._add(_Piece("\n\n", _DOUBT), Sentence(_DOUBT))  # the reader's doubt is of what it would quote
        return replace(self._made(), confidence=choice.right, abstained=True)

    def _quoted(self, first: str, choice: Choice) -> Written:
        """What is quoted, with a note of what the model wrote instead."""
        note = _OTHERWISE.format(text=first) if first and not is_not_found(first) else _REFUSED
        said = self.said
        if not choice.enough and not said.abstained:
            said = replace(said, abstained=True, doubt=said.doubt or _DOUBT)
        return _told(quoting(replace(self._made(), notes=(note,), cut=False), said), self.progress, begun=True)

    def _so_far(self) -> Written:
        """What is said, for whoever stops here."""
        return replace(
            self.written, text=self.text, sentences=tuple(self.sentences), citations=tuple(self.register.citations),
            cut=self.cut,
        )  # fmt: skip

    def _made(self) -> Written:
        usage = self.usage or Usage(self.model.prompt_tokens(self.written.prompt), self.model.count_tokens(self.text))
        return replace(self._so_far(), tokens={"prompt": usage.prompt_tokens, "answer": usage.answer_tokens})

    def told(self) -> Dialogue:
        """What the model was told, and what it said."""
        return Dialogue(self.written.prompt, lines=self.lines).said(self.raw)

    def _messages(self) -> tuple[ChatMessage, ...]:
        """The rules, and the lines with the question behind them; where the dialogue goes on, those it lacks."""
        rules, *earlier = self.before.messages or self._rules()
        follows = bool(earlier) and self.written.retrieval.trace.query != self.question.text
        if not follows or not self._fits(earlier):
            rules, *earlier = self._rules()
        some = self._excerpts(self.before.lines if earlier else frozenset())
        self.lines = (self.before.lines if earlier else frozenset()).union(*(one.lines for one in some))
        told = ((f"{one.hit.document.title}, page {one.hit.page_label or one.hit.page}", one.text) for one in some)
        context = prompts.excerpts(told, self.question.mark) or prompts.ABOVE
        asked = ChatMessage("user", prompts.PLAIN_ANSWER.fill(context=context, question=self._asked()))
        return rules, *earlier, asked, *(self.question.beginning.messages() if self.question.beginning else ())

    def _rules(self) -> tuple[ChatMessage, ...]:
        rules = prompts.PLAIN_RULES.fill(not_found=prompts.NOT_FOUND)
        return (ChatMessage("system", prompts.with_instructions(rules, self.question.instructions)),)

    def _fits(self, earlier: Sequence[ChatMessage]) -> bool:
        """Whether a dialogue leaves room for more lines and an answer."""
        return self.model.prompt_tokens(earlier) + _ROOM + _MOST_TOKENS < self.model.context_tokens

    def _excerpts(self, known: frozenset[Line]) -> list[Excerpt]:
        count, half = self.model.count_tokens, self.model.context_tokens // 2
        if asks_to_write(self.question.text):
            return whole_passages(self.written.hits, min(_ROOM_TO_EXPLAIN, half), count)
        room = min(_ROOM_TO_GO_ON if known else _ROOM, half)
        return excerpts(self.read.evidence, self.read.made.scores, room, count, known)

    def _asked(self) -> str:
        """The question as it is said to the model: as it stands alone, and as it was asked where that asks for more."""
        return self.question.text if asks_to_write(self.question.text) else self.written.retrieval.trace.query

    def _pieces(self) -> Generator[_Piece, None, None]:
        """The model's sentences, each once it is whole. Raises Cancelled and ModelUnavailable."""
        most = _MOST_TO_EXPLAIN if asks_to_write(self.question.text) else _MOST_TOKENS
        longest = min(self.question.settings.generation.max_tokens, most, self.model.context_tokens // 4)
        before, text = self.question.beginning.between if self.question.beginning else "", ""
        stream = self.model.stream(self.written.prompt, max_tokens=longest, cancelled=self.progress.stopping)
        with closing(stream) as deltas:
            for delta in deltas:
                self.usage, self.cut = delta.usage or self.usage, delta.cut
                text += delta.text
                self.raw += delta.text
                spans = split_sentences(text)
                for span, after in pairwise(spans):
                    yield _Piece(before, without_markers(span.text).strip())
                    before = "\n" if "\n" in text[span.end : after.start] else " "
                text = text[spans[-1].start :] if len(spans) > 1 else text
        if rest := without_markers(text).strip():
            yield _Piece(before, rest)


def _kept_as(question: Question) -> str:
    """A dialogue in lines is another than one in numbered passages, or than one by other instructions."""
    return f"{question.model} in plain sentences {question.instructions}"


def _repeats(question: str, sentence: str) -> bool:
    """Whether a sentence says nothing beyond its question, neither yes nor no."""
    first = sentence.split(maxsplit=1)[0].strip(",.;:").casefold() if sentence else ""
    return first not in ("yes", "no") and not set(terms(sentence)) - set(terms(question))


def _shown(one: Sentence) -> str:
    return f"{one.text} {''.join(f'[{number}]' for number in one.citations)}".rstrip()


def _told(written: Written, progress: Progress, *, begun: bool = False) -> Written:
    """The same, its text shown at once."""
    if not begun:
        progress.tell(written)
    progress.tell(written.text)
    return written
