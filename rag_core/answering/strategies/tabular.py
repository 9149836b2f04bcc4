"""Answers from whole tables: a plan over all the rows of one, and a sentence that says what it found, and how.

Where a key of the question chooses a row, nothing else is quoted: what is said of it may be doubtful, what passages say
is said of its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import permutations

from rag_core.answering.conversation import stands_alone
from rag_core.answering.encoding import Encode
from rag_core.answering.plan_choice import choose_plan
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.summaries.subject import names_of
from rag_core.answering.table_answers import TableFinding, scene_before, written_of
from rag_core.answering.written import Written
from rag_core.domain import Document, Retrieval, Sentence, Trace
from rag_core.models.base import ChatModel
from rag_core.models.registry import EXTRACTIVE
from rag_core.retrieval.contents import Contents
from rag_core.retrieval.identity import identity_terms
from rag_core.tables.asking import (
    Ranked,
    best_plans,
    goes_by_other,
    is_explained,
    is_of_other,
    is_other_day,
    is_unasked_end,
    none_has_all,
    passes_over,
    passes_which,
    share_unexplained,
    trust,
    trust_signs,
    unexplained,
)
from rag_core.tables.links import Link
from rag_core.tables.narrowing import narrowed, widened
from rag_core.tables.plans import ADDED_UP, BEFORE, BEHIND, COUNT, FIRST, LAST, LOOK_UP, OF_ROWS, OPERATIONS
from rag_core.tables.scene import Scene
from rag_core.tables.shapes import lists_things
from rag_core.tables.table import WholeTable
from rag_core.tables.weights import operation_words, weights
from rag_core.tables.wording import in_words
from rag_core.tables.words import Words

_MOST_DOCUMENTS, _MOST_JOINED = 8, 4
# Of being right, from which on a plan answers: passages would say less of a sheet that is all there is, and nothing of
# a row that a key chooses.
_SURE, _SURE_OF_ONE = 0.5, 0.4
# Where no word of the question is left, and most of what speaks for all plans speaks for it.
_SURE_OF_ALL, _MOSTLY, _NEARLY_ALL = 0.2, 0.4, 0.7
_OF_NONE = 0.8  # that no row has all of what is asked, where each is in some row
_MOST_DOUBTED = 2
_OTHERS = (is_of_other, is_other_day, goes_by_other, is_unasked_end)
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORTH, _MOST_CHOICES = 0.1, 5  # of being right, where a model is asked; plans of a table that it chooses from
_PAGED = ("application/pdf", "image/")  # whose tables are read of their pages: their rows may be torn
_MOST_CHARS = 400  # of a question; whatever asks a table is shorter
# A short table amid prose is read whole, with what is said around it.
_FEWEST_ROWS = 20
_LEFT_AMID_PROSE = 1 / 3  # of a question's words, that a plan may have nothing of where prose was found too


@dataclass(frozen=True, slots=True)
class Found:
    """What a plan over a document's table, by its number, found, and the probability that it answers.

    choices: the words of the question that are some of the few cells of a column, in any of the tables asked, or name
    another document.
    other: the document with whose tables its own are joined. others: the likeliest plans, this one among them;
    is_chosen: by a language model.
    """

    document: Document
    number: int
    scene: Scene
    ranked: Ranked
    trust: float
    choices: frozenset[int]
    other: Document | None = None
    others: tuple[Ranked, ...] = ()
    is_chosen: bool = False

    @property
    def finding(self) -> TableFinding:
        """The same without the question."""
        plan, table = widened(self.ranked.plan, self.table)
        return TableFinding(self.document, self.number, table, plan, self.ranked.result, self.other)

    @property
    def unexplained(self) -> int:
        """How many words of the question its plan has nothing of: another table may have them."""
        return len(unexplained(self.scene, self.ranked))

    @property
    def table(self) -> WholeTable:
        """The table that was asked."""
        return self.scene.table

    @property
    def has_key(self) -> bool:
        """Whether the row is chosen by a number, a code or a day that no other row has."""
        return any(map(self._is_key, self.ranked.plan.conditions))

    @property
    def goes_over_rows(self) -> bool:
        """Whether rows of a sheet are gone over, as words ask for, "How many ...?", "the last", of which hardly a word
        is left: none of its passages says what that finds."""
        plan, scene = self.ranked.plan, self.scene
        if not self.document.is_sheet or self.unexplained > 1 or self.ranked.share < _MOSTLY:
            return False
        is_counted = plan.operation == COUNT and bool(plan.conditions) and scene.asks == "how many"
        return is_counted or (plan.operation in (*OF_ROWS, FIRST, LAST) and bool(scene.ends))

    def answers(self, sure: float) -> bool:
        """Whether it is trusted so far, and passes over no word that stands for some rows; less will do where a key
        chooses the row and no word is left. Of an only row all words must be, of a table amid prose, beside which
        much else may be meant, and of what is added up: who was paid may be nowhere."""
        needs_all = len(self.table) == 1 or not self.document.is_sheet
        if self.is_chosen or (needs_all and self.unexplained):
            return self.is_chosen
        if not self.scene.telling and self.ranked.plan.operation != COUNT:  # "How much is it?"
            return False
        if self._is_of_other_things or any(is_other(self.scene, self.ranked) for is_other in _OTHERS):
            return False
        if not self.unexplained and self.scene.telling:
            sure = _SURE_OF_ONE if self.has_key else sure
            sure = _SURE_OF_ALL if self.ranked.share >= _MOSTLY else sure
            sure = 0.0 if self.ranked.share >= _NEARLY_ALL else sure
        return self.trust >= sure and not passes_over(self.scene, self.ranked, self.choices)

    @property
    def _is_of_other_things(self) -> bool:
        """Whether its plan adds up figures, and has nothing of a word that may say of what; or tells several rows or
        counts all, and has nothing of one that may say which; or nothing of a year."""
        left = unexplained(self.scene, self.ranked)
        is_chosen = self.has_key or self.ranked.plan.operation in (BEFORE, BEHIND)
        if not is_chosen and any(_YEAR.fullmatch(word) for word in left):
            return True
        if self.scene.asks == "how many":  # "How many graduates are employed in all?"
            left = [] if is_explained(self.scene, self.ranked) else left
        plan, result = self.ranked.plan, self.ranked.result
        is_of_many = (plan.operation == COUNT and not plan.conditions) or (
            plan.operation == LOOK_UP and result.count > 1
        )
        return (plan.operation in ADDED_UP and bool(left)) or (is_of_many and passes_which(self.scene, self.ranked))

    def _is_key(self, link: Link) -> bool:
        column = self.table.columns[link.column]
        if not column.is_key or link.comparison:
            return column.is_key and link.comparison == "within" and link.value == link.until
        return link.exact and not link.is_negated and any(map(str.isdigit, column.texts[link.codes[0]]))


class Tabular(Strategy):
    """Answers from the tables of the documents that a search finds. Thread-safe."""

    def __init__(self, encode: Encode, open_model: Callable[[Question], ChatModel]) -> None:
        self._encode, self._open_model = encode, open_model

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """What a plan finds; None where none is trusted. Raises StoreUnavailable.

        A follow-up that takes up nothing is tried by itself first: "Who spent the most?".
        """
        if question.text != question.wordings[0] and question.text in question.wordings and stands_alone(question.text):
            alone = self._written(replace(question, wordings=(question.text,)), search, progress)
            if alone is not None and not alone.abstained:
                return alone
        return self._written(question, search, progress)

    def _written(self, question: Question, search: Search, progress: Progress) -> Written | None:
        wording = question.wordings[0]
        if question.contents is None or len(wording) > _MOST_CHARS:
            return None
        retrieval = search(wording)
        progress.lap("search")
        documents = {hit.document.id: hit.document for hit in retrieval.hits}
        asked = [one for one in [*documents.values()][:_MOST_DOCUMENTS] if not one.is_code]
        asked += self._few_others(documents, question.contents)
        pages = {hit.page for hit in retrieval.hits}
        found = self._asked_all(wording, asked, documents, pages, question.contents, progress)
        first = next(iter(documents.values()), None)
        if first is not None and first.is_sheet and not question.contents.has_tables_made(first):
            return _not_yet(first, retrieval)
        is_one = first is not None and first.is_sheet and question.contents.documents(1)[1] == 1
        sure = _SURE_OF_ONE if is_one else _SURE
        best = _best(found, sure)
        if best is None or best.unexplained:
            joined = self._joined(wording, asked, question.contents, progress)
            # Of two files, and of tables amid prose, only what is sure: a doubt must not keep passages from answering.
            joined = (one for one in joined if one.answers(sure) or (one.other is None and one.document.is_sheet))
            found += [one for one in joined if best is None or _is_better(one, best, sure)]
            best = _best(found, sure)
        if any(not document.is_sheet for document in documents.values()):
            found = [one for one in found if share_unexplained(one.scene, one.ranked) <= _LEFT_AMID_PROSE]
            best = _best(found, sure)
        progress.lap("tables")
        if question.model != EXTRACTIVE and not (best and best.answers(sure)):
            best = self._chosen(question, found, progress) or best
        if best is None or not (best.answers(sure) or best.has_key or best.goes_over_rows):
            return None
        doubt = "" if best.answers(sure) else _doubt(best)
        written = written_of(best.finding, question.contents, best.scene.words, best.trust, doubt)
        last = question.history[-1].answer if question.history else None
        if written and last and written.text == last.text and wording != question.text:
            return None  # who goes on asks for something else
        return written and replace(written, retrieval=Retrieval((), Trace(query=retrieval.trace.query)))

    def _asked_all(
        self, wording: str, asked: Sequence[Document], documents: Mapping[str, Document], pages: Set[int],
        contents: Contents, progress: Progress,
    ) -> list[Found]:  # fmt: skip
        """What the tables of some documents say, those that no passage found where they leave no word."""
        called = {document.id: names_of(document) for document in (*documents.values(), *asked)}
        scenes = {document.id: self._scenes(wording, document, contents, pages) for document in asked}
        words = Words(wording)
        strangers = _strangers(scenes)
        return [
            one for document in asked
            for one in self._asked(
                document, scenes[document.id], strangers | _naming(words, _names_of_others(document, called)), progress
            )
            if document.id in documents or not one.unexplained
        ]  # fmt: skip

    def _few_others(self, found: Mapping[str, Document], contents: Contents) -> list[Document]:
        """The other sheets of a scope of few documents, where a sheet was found: its passages may have all places.

        What these find answers where no word of the question is left."""
        documents, count = contents.documents(_MOST_DOCUMENTS)
        if count > _MOST_DOCUMENTS or not any(document.is_sheet for document in found.values()):
            return []
        return [one for one in documents if one.is_sheet and one.id not in found and contents.has_tables_made(one)]

    def _scenes(self, text: str, document: Document, contents: Contents, pages: Set[int]) -> dict[int, Scene]:
        """A question before each of a document's tables that may be asked, by their numbers; of those amid prose, those
        on some pages."""
        words = Words(text)
        is_of_rows = bool(operation_words(words, *OF_ROWS))
        return {
            number: scene_before(text, narrowed(table, words), document, self._encode)
            for number, table in enumerate(contents.tables(document))
            if _is_long(document, table) or (is_of_rows and not pages.isdisjoint(table.pages) and lists_things(table))
        }

    def _asked(
        self, document: Document, scenes: Mapping[int, Scene], strangers: frozenset[str], progress: Progress
    ) -> Iterator[Found]:
        """What plans find in a document's tables; in those amid prose what no passage says.

        strangers: the words of the question that other documents are called, or that stand in their cells.
        """
        said = strangers.union(*(_words_at(scene, scene.choices | scene.context) for scene in scenes.values()))
        for number, scene in scenes.items():
            progress.check()
            choices = frozenset(place for place, word in enumerate(scene.words.plain) if word in said)
            for one in _found(document, number, scene, choices):
                if _is_long(document, scene.table) or (
                    one.ranked.plan.operation in OF_ROWS and is_explained(scene, one.ranked)
                ):
                    yield one

    def _joined(
        self, text: str, documents: Sequence[Document], contents: Contents, progress: Progress
    ) -> Iterator[Found]:
        """What plans find that need two tables, of a document or of two sheets, or columns of several periods."""
        sheets = [document for document in documents if document.is_sheet]
        others = contents.documents(_MOST_DOCUMENTS)[0] if sheets else []
        near = {document.id: document for document in (*sheets, *others)}
        sheets = [document for document in near.values() if document.is_sheet][:_MOST_JOINED]
        tables = [
            (document, None, number, table) for document in documents
            for number, table in enumerate(contents.derived_tables(document), len(contents.tables(document)))
        ] + [
            (one, other, number, table) for one, other in permutations(sheets, 2)
            for number, table in enumerate(contents.joined_with(one, other))
        ]  # fmt: skip
        for document, other, number, table in tables:
            progress.check()
            scene = scene_before(text, table, document, self._encode)
            for one in _found(document, number, scene, frozenset(scene.choices), table.is_needed_for):
                yield replace(one, other=other)

    def _chosen(self, question: Question, found: Sequence[Found], progress: Progress) -> Found | None:
        """The plan over a sheet that a language model chooses among the likeliest; a small one is heard where it
        chooses the likeliest of all."""
        near = [one for one in found if one.document.is_sheet and one.trust >= _WORTH and one.other is None]
        near.sort(key=lambda one: -one.trust)
        choices = [replace(one, ranked=ranked, is_chosen=True) for one in near[:2] for ranked in one.others]
        if not choices:
            return None
        model = self._open_model(question)
        told = [in_words(one.ranked.plan, one.table) for one in choices]
        place = choose_plan(model, question.wordings[0], told, progress.stopping)
        return None if place is None or (place and model.is_small) else choices[place]


def _found(
    document: Document, number: int, scene: Scene, choices: frozenset[int],
    is_meant: Callable[[Sequence[int]], bool] = lambda _: True,
) -> Iterator[Found]:  # fmt: skip
    """The best plan of those whose columns are meant."""
    ranked = [one for one in best_plans(scene, weights()) if is_meant(one.plan.columns)]
    total = sum(one.share for one in ranked)
    ranked = [replace(one, share=one.share / total) for one in ranked]
    if none := none_has_all(scene):
        yield Found(document, number, scene, none, _OF_NONE, choices)
    if ranked:
        sure = trust(trust_signs(scene, ranked), weights())
        yield Found(document, number, scene, ranked[0], sure, choices, others=tuple(ranked[:_MOST_CHOICES]))


def _strangers(scenes: Mapping[str, Mapping[int, Scene]]) -> frozenset[str]:
    """The words that are some of the few cells of a column of any table: "nurses" are none of a list of orders. What
    figures others have says nothing."""
    every = [scene for some in scenes.values() for scene in some.values()]
    done = (operation_words(scene.words, *OPERATIONS) for scene in every)
    found = (_words_at(scene, scene.choices - said) for scene, said in zip(every, done, strict=True))
    return frozenset(word for word in frozenset[str]().union(*found) if not word.isdigit())


def _words_at(scene: Scene, places: Set[int]) -> frozenset[str]:
    """The words at some places of the question as one table is asked it, which may have more of them than others."""
    return frozenset(scene.words.plain[place] for place in places)


def _naming(words: Words, names: Set[str]) -> frozenset[str]:
    """The words that are some names, and do not say what is done."""
    found = {place for place in words.telling if not names.isdisjoint(identity_terms(words.matches[place][0]))}
    return frozenset(words.plain[place] for place in found - operation_words(words, *OPERATIONS))


def _names_of_others(document: Document, called: Mapping[str, set[str]]) -> set[str]:
    """What documents are called by that a document is not."""
    return set().union(*called.values()) - called[document.id]


def _is_long(document: Document, table: WholeTable) -> bool:
    """Whether a table is a sheet's, or too long to be read whole, and its rows are sound."""
    return document.is_sheet or (len(table) >= _FEWEST_ROWS and not document.media_type.startswith(_PAGED))


def _best(found: Sequence[Found], sure: float) -> Found | None:
    """The best one; what is paid is told by a table that has it below zero, where one does."""
    return max(
        found,
        key=lambda one: (one.answers(sure), one.has_key, -one.unexplained, bool(one.scene.outflows), one.trust),
        default=None,
    )


def _is_better(joined: Found, best: Found, sure: float) -> bool:
    """Whether two tables say more of a question than one does, and as surely, or all of it."""
    is_sure = joined.trust >= best.trust or not best.answers(sure) or not joined.unexplained
    return joined.unexplained < best.unexplained and is_sure


def _not_yet(document: Document, retrieval: Retrieval) -> Written:
    """That a long table cannot be asked for some seconds: what passages say of it is said of some of its rows."""
    said = Sentence(f"The table of “{document.title}” is still being made ready. Ask again in a moment.")
    found = replace(retrieval, trace=replace(retrieval.trace, provisional=True))
    return Written(found, text=said.text, sentences=(said,), abstained=True)


def _doubt(found: Found) -> str:
    """Why it may be no answer: the words of the question that neither its conditions nor its column have."""
    left = [f"“{word}”" for word in unexplained(found.scene, found.ranked)[:_MOST_DOUBTED]]
    if not left:
        return "Not sure: another column may be meant."
    return f"Not sure: the table does not say {' or '.join(left)}."
