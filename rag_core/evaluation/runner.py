"""One run: its questions to results, in portions that are kept as they are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag_core.cancellation import Cancellation
from rag_core.domain import Answer, Citation, Found, Page, Progress, Question, Result, Run, Sentence
from rag_core.errors import Cancelled, LecternError, ModelUnavailable, StoreUnavailable
from rag_core.evaluation.gold.locating import Locator
from rag_core.evaluation.gold.relevance import Wanted, found_of, ranked_of
from rag_core.evaluation.host import Corpus, Host
from rag_core.evaluation.measuring.answers import answer_metrics
from rag_core.evaluation.measuring.ranking import ranked
from rag_core.retrieval import Retrieval, for_passages
from rag_core.settings import Settings
from rag_core.text.lexical import terms

_PORTION = 128
"""Questions searched in one pass, and kept together."""

Asked = tuple[int, Question]
Kept = tuple[int, Result]


@dataclass(frozen=True, slots=True)
class Located:
    """The chunks that belong to a question's gold, and what of the gold was not found."""

    wanted: Wanted
    problems: tuple[str, ...]


class Runner:
    """Carries out one run. `keep` is given the results of each portion, with the places of their questions."""

    def __init__(
        self,
        host: Host,
        run: Run,
        locator: Locator,
        pages: Callable[[str, int], Sequence[Page]],
        keep: Callable[[Sequence[Kept]], None],
        token: Cancellation,
    ) -> None:
        self._host = host
        self._run = run
        self._locator = locator
        self._pages = pages
        self._keep = keep
        self._token = token
        self._spans: dict[str, NDArray[np.int64]] = {}
        self._corpus: Corpus

    def steps(self, asked: Sequence[Asked]) -> Iterator[Progress]:
        """Ask the questions that are left, telling of each portion.

        Raises Cancelled when it is to stop, and whatever keeps every question from being asked: ModelUnavailable,
        StoreUnavailable, ConfigurationError. What goes wrong with one question alone stands in its result.
        """
        name, total = self._run.configuration.name, self._run.total
        done = total - len(asked)
        yield Progress(name, done, total, self._run.id)
        yield from self._prepared()
        size = 1 if self._run.answers else _PORTION
        for start in range(0, len(asked), size):
            self._look_out()
            portion = asked[start : start + size]
            results = [self._answered(portion[0][1])] if self._run.answers else self._searched(portion)
            self._keep([(place, result) for (place, _), result in zip(portion, results, strict=True)])
            done += len(portion)
            yield Progress(name, done, total, self._run.id)

    @cached_property
    def _settings(self) -> Settings:
        """Those that the run was begun with, whatever the library's are by now.

        The passages are those that answers are made from.
        """
        settings = self._host.settings().with_values(self._run.settings)
        return settings.model_copy(update={"retrieval": for_passages(settings)})

    def _prepared(self) -> Iterator[Progress]:
        """Get ready what is asked: a corpus in other chunks is embedded first, document by document."""
        self._corpus = self._host.corpus(self._settings)
        for done, total in self._corpus.prepare(self._stopped):
            yield Progress("preparing", done, total, self._run.id)

    def _stopped(self) -> bool:
        return self._token.is_set() or self._token.is_set(self._run.id) or self._host.closing()

    def _look_out(self) -> None:
        if self._stopped():
            raise Cancelled("The run was stopped.")

    def _searched(self, portion: Sequence[Asked]) -> list[Result]:
        """Passages alone, all questions of a portion in one pass. Its time is no single question's: no `search_ms`."""
        questions = [question for _, question in portion]
        retrievals = self._corpus.search([question.text for question in questions], self._settings.retrieval)
        located = [self._located(question) for question in questions]
        found = [found_of(retrieval.hits, gold.wanted) for retrieval, gold in zip(retrievals, located, strict=True)]
        measured = ranked([ranked_of(some, gold.wanted) for some, gold in zip(found, located, strict=True)])
        return [
            Result(
                question=question, found=some,
                metrics=metrics,
                latency_ms=retrieval.trace.latency_ms, notes=(*gold.problems, *retrieval.trace.notes),
            )
            for question, retrieval, gold, some, metrics in zip(
                questions, retrievals, located, found, measured, strict=True
            )
        ]  # fmt: skip

    def _answered(self, question: Question) -> Result:
        """One question with its answer."""
        try:
            answer = self._host.answer(question.text, self._settings, self._find, self._stopped)
        except (Cancelled, ModelUnavailable, StoreUnavailable):
            raise
        except LecternError as error:
            return Result(question=question, error=f"{error} {error.help}".strip())
        self._look_out()  # an answer that was stopped in its middle is asked for again
        gold = self._located(question)
        found = found_of(answer.hits, gold.wanted)
        result = Result(
            question=question, found=found, answer=answer.text, sentences=_by_rank(answer, found),
            abstained=answer.abstained, confidence=answer.confidence, latency_ms=answer.trace.latency_ms,
            tokens=answer.trace.tokens, notes=(*gold.problems, *answer.trace.notes),
        )  # fmt: skip
        return replace(result, metrics=self._metrics(answer, result, gold))

    def _find(self, question: str) -> Retrieval:
        return self._corpus.search([question], self._settings.retrieval)[0]

    def _located(self, question: Question) -> Located:
        self._look_out()
        places, problems = self._locator.places(question)
        missing = {place.document_id for place in places} - self._spans.keys()
        if missing:
            self._spans.update(self._corpus.spans(sorted(missing)))
        return Located(Wanted(places, self._spans), tuple(problems))

    def _metrics(self, answer: Answer, result: Result, gold: Located) -> dict[str, float | None]:
        trace = answer.trace
        return {
            **ranked([ranked_of(result.found, gold.wanted)])[0],
            **answer_metrics(result, self._host.encode),
            "citation_validity": self._validity(answer),
            "judged_faithfulness": self._judged(answer) if self._run.judge else None,
            "search_ms": trace.latency_ms.get("embed", 0.0) + trace.latency_ms.get("search", 0.0),
            "answer_ms": trace.latency_ms.get("total"),
            "tokens": float(sum(trace.tokens.values())) if trace.tokens else None,
        }

    def _validity(self, answer: Answer) -> float | None:
        """Share of the numbers in an answer that point at a passage of it that still stands on its page."""
        cited = [number for sentence in answer.sentences for number in sentence.citations]
        if not cited and not answer.trace.removed:
            return None
        standing = {citation.number for citation in answer.citations if self._stands(citation)}
        return sum(number in standing for number in cited) / (len(cited) + answer.trace.removed)

    def _stands(self, citation: Citation) -> bool:
        pages = self._pages(citation.document_id, citation.page)
        return bool(pages) and pages[0].text[citation.start : citation.end].split() == citation.text.split()

    def _judged(self, answer: Answer) -> float | None:
        """Share of the claims that the judge finds in the passages, among those that it judged."""
        from rag_core.evaluation.judging import judge

        model = self._host.model(self._run.judge, self._host.settings())
        texts = [hit.text for hit in answer.hits]
        claims = [sentence.text for sentence in answer.sentences if terms(sentence.text) and not answer.abstained]
        verdicts = [judge(model, claim, texts, self._stopped) for claim in claims]
        judged = [verdict for verdict in verdicts if verdict is not None]
        return sum(judged) / len(judged) if judged else None


def _by_rank(answer: Answer, found: Sequence[Found]) -> tuple[Sentence, ...]:
    """The sentences of an answer with the ranks of the passages that they cite."""
    ranks = {hit.chunk_id: item.rank for hit, item in zip(answer.hits, found, strict=True)}
    numbers: Mapping[int, int] = {c.number: ranks[c.chunk_id] for c in answer.citations if c.chunk_id in ranks}
    return tuple(
        replace(sentence, citations=tuple(dict.fromkeys(numbers[n] for n in sentence.citations if n in numbers)))
        for sentence in answer.sentences
    )
