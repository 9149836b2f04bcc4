"""Metrics of one answer against its references: SQuAD's, ROUGE, and nearness of meaning.

Exact match and token F1 are those of SQuAD 2.0's script (Rajpurkar et al. 2018): where there is no answer the reference
is empty, and to abstain is to answer nothing. Words are split at spaces there, so an answer in Chinese is one word.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.citations import without_markers
from rag_core.answering.encoding import Encode
from rag_core.domain import Question, Result
from rag_core.text.tokens import words

ANSWER_KEYS = (
    "correct", "abstention", "contains", "exact_match", "token_precision", "token_recall", "token_f1", "rouge_1",
    "rouge_2", "rouge_l", "similarity", "relevance", "faithfulness",
)  # fmt: skip

_ROUGE = ("rouge1", "rouge2", "rougeL")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ENOUGH_WORDS = 0.5  # token F1 from which an answer counts as correct


def normalised(text: str) -> str:
    """A text as SQuAD compares it: lower case, without ASCII punctuation and English articles, spaces made single."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(prediction: str, references: Sequence[str]) -> float:
    """1 where the prediction equals a reference once both are normalised, else 0. No reference: the empty one."""
    return float(normalised(prediction) in _usable(references))


def token_scores(prediction: str, references: Sequence[str]) -> tuple[float, float, float]:
    """Shares of the prediction's words that the reference holds and of its words that the prediction holds, and their
    harmonic mean (F1), each 0..1, for the reference whose F1 is best."""
    found = normalised(prediction).split()
    return max((_shared(found, reference.split()) for reference in _usable(references)), key=lambda one: one[2])


def contains(prediction: str, references: Sequence[str]) -> float:
    """1 where a reference stands in the prediction as whole words (in Chinese and Japanese, characters), else 0.

    Both are normalised. An empty reference stands in an empty prediction alone.
    """
    text = normalised(prediction)
    return float(any(_holds(text, reference) for reference in _usable(references)))


def rouge(prediction: str, references: Sequence[str]) -> tuple[float, float, float]:
    """F measures of ROUGE-1, -2 and -L (Lin 2004), each for its best reference, by rouge-score without stemming.

    rouge-score sees a-z and 0-9 alone: "café" is "caf" to it, and Greek is nothing. Where a reference has letters and
    none of them is Latin, its words are told apart by rag_core.text.tokens instead.
    """
    scores = [_scorer(not_latin(reference)).score(reference, prediction) for reference in references]
    first, second, longest = (max((float(s[kind].fmeasure) for s in scores), default=0.0) for kind in _ROUGE)
    return first, second, longest


def not_latin(text: str) -> bool:
    """Whether a text has letters, and none of them is of the Latin alphabet."""
    letters = [letter for letter in text if letter.isalpha()]
    return bool(letters) and not any(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)


def similarity(answer: str, references: Sequence[str], encode: Encode) -> float:
    """Cosine of the answer's meaning and the nearest reference's, 0..1; 0 for an empty answer or no reference."""
    wanted = [reference for reference in references if reference.strip()]
    if not answer.strip() or not wanted:
        return 0.0
    vectors = encode([answer, *wanted])
    return _share(float((vectors[1:] @ vectors[0]).max()))


def relevance(question: str, answer: str, encode: Encode) -> float:
    """Cosine of the meanings of question and answer, 0..1; 0 for an empty answer."""
    return similarity(answer, [question], encode)


def answer_metrics(result: Result, encode: Encode) -> dict[str, float | None]:
    """The metrics of an answer by key, those that say nothing of this question as None.

    All are None where no answer was made. Which of those of references have a value depends on the question alone, so
    that no configuration gains by abstaining. `encode` is called once at most.
    """
    metrics: dict[str, float | None] = dict.fromkeys(ANSWER_KEYS)
    if result.error or result.abstained is None:
        return metrics
    question = result.question
    answer = "" if result.abstained else unicodedata.normalize("NFC", without_markers(result.answer)).strip()
    references = _references(question)
    known = _encoded([question.text, answer, *references], encode)
    metrics["abstention"] = float(result.abstained != question.answerable)
    metrics["faithfulness"] = _faithfulness(result)
    if references or not question.answerable:
        metrics |= _worded(answer, references)
    if references:
        metrics |= zip(("rouge_1", "rouge_2", "rouge_l"), rouge(answer, references), strict=True)
        metrics["similarity"] = similarity(answer, references, known)
    if question.answerable:
        metrics["relevance"] = relevance(question.text, answer, known)
    metrics["correct"] = _correct(result, metrics)
    return metrics


def _worded(answer: str, references: Sequence[str]) -> dict[str, float | None]:
    precision, recall, f1 = token_scores(answer, references)
    return {
        "exact_match": exact_match(answer, references),
        "token_precision": precision,
        "token_recall": recall,
        "token_f1": f1,
        "contains": contains(answer, references),
    }


def _references(question: Question) -> list[str]:
    """The references of a question that has an answer, without those of articles and punctuation alone."""
    if not question.answerable:
        return []
    return [unicodedata.normalize("NFC", text) for text in question.references if normalised(text)]


def _correct(result: Result, metrics: dict[str, float | None]) -> float | None:
    """Whether an answer is right, as far as the question tells; None without references and gold in the library."""
    question = result.question
    if not question.answerable:
        return float(bool(result.abstained))
    if metrics["token_f1"] is not None:
        return float(bool(metrics["contains"]) or metrics["token_f1"] >= _ENOUGH_WORDS)
    if not question.gold or (result.found and all(found.relevant is None for found in result.found)):
        return None
    cited = set() if result.abstained else {number for one in result.sentences for number in one.citations}
    return float(any(found.relevant for found in result.found if found.rank in cited))


def _faithfulness(result: Result) -> float | None:
    """Share of the sentences that are supported; None where nothing was claimed."""
    if result.abstained or not result.sentences:
        return None
    return sum(sentence.supported for sentence in result.sentences) / len(result.sentences)


def _usable(references: Sequence[str]) -> list[str]:
    """The references normalised, without empty ones; the empty one alone where none is left, as in SQuAD's script."""
    return [text for text in map(normalised, references) if text] or [""]


def _shared(found: list[str], wanted: list[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of words."""
    if not found or not wanted:
        return (float(found == wanted),) * 3
    same = sum((Counter(found) & Counter(wanted)).values())
    precision, recall = same / len(found), same / len(wanted)
    return precision, recall, 2 * precision * recall / (precision + recall) if same else 0.0


def _holds(text: str, reference: str) -> bool:
    """Whether a normalised reference stands in a normalised text."""
    wanted = " ".join(words(reference))
    if not wanted:  # nothing, or symbols alone
        return reference in text if reference else not text
    return f" {wanted} " in f" {' '.join(words(text))} "


class _Words:
    """rouge-score's tokenizer for texts in other alphabets."""

    def tokenize(self, text: str) -> list[str]:
        """The words of a text; in Chinese and Japanese its characters."""
        return words(text)


@lru_cache(maxsize=2)
def _scorer(other_alphabet: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]

    return RougeScorer(list(_ROUGE), tokenizer=_Words() if other_alphabet else None)


def _encoded(texts: Sequence[str], encode: Encode) -> Encode:
    """An encoder that knows the vectors of these texts."""
    wanted = list(dict.fromkeys(text for text in texts if text.strip()))
    vectors = dict(zip(wanted, encode(wanted), strict=True))

    def known(asked: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vectors[text] for text in asked])

    return known


def _share(value: float) -> float:
    """A cosine as a share; 0 for one that is no number."""
    return min(max(value, 0.0), 1.0) if value == value else 0.0
