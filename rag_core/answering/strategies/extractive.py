"""Answers without a language model: what answers best among the passages' sentences and table rows, word for word.

Each unit gets a score from its evidence (see `evidence`), by weights that were fitted as a conditional logit (McFadden
1974) on questions whose answers are known; `trust` estimates from the evidence of those chosen how probable it is that
the question is answered at all. The weights are data, `reader.json`, made by `python -m tests.benchmarks.fit_reader`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.encoding import Encoder
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.aim import Aim
from rag_core.answering.strategies.composing import Row, compose, scored
from rag_core.answering.strategies.evidence import gather
from rag_core.answering.strategies.trust import Trust, trust
from rag_core.answering.strategies.weights import reader
from rag_core.domain import Hit
from rag_core.retrieval.understanding import topic_of

NO_AIM = Aim()


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an answer is made of.

    lead: a sentence made from figures, "" where the first quote says it itself; lead_quotes: where these stand. quotes:
    best first. confidence: the probability, 0..1, that they answer the question; where `abstained`, that the passages
    do. An abstention's quotes are the closest there is. rows: of a comparison, said instead of the quotes. others: the
    same for further parts of the question.
    """

    quotes: tuple[Quote, ...]
    confidence: float
    abstained: bool
    lead: str = ""
    lead_quotes: tuple[Quote, ...] = ()
    rows: tuple[Row, ...] = ()
    others: tuple[Extraction, ...] = ()


def extract(
    question: str,
    hits: Sequence[Hit],
    encoder: Encoder,
    *,
    aim: Aim = NO_AIM,
    max_sentences: int = 3,
) -> Extraction:
    """Quote what answers a question best, 1 to `max_sentences` units, or abstain where nothing fits."""
    topic = topic_of(question)
    evidence = gather(topic, hits, encoder, aim.meant)
    if evidence is None:
        return Extraction((), 0.0, True)
    made = compose(topic, evidence, scored(evidence), max_sentences)
    sure = trust(evidence, made, aim.narrowed or topic != question)
    if not sure.enough:
        near = sure.answerable >= reader().closest_from
        return Extraction(made.quotes[:1] if near else (), sure.answerable, True)
    return Extraction(made.quotes, sure.right, False, made.lead, made.lead_quotes, made.rows)


def extract_parts(
    parts: Mapping[str, Sequence[Hit]],
    encoder: Encoder,
    *,
    aim: Aim = NO_AIM,
    max_sentences: int = 3,
) -> tuple[Extraction | None, tuple[str, ...]]:
    """What answers the parts of a question, each from its own passages, and the parts that nothing answers.

    None instead of an extraction where no part is answered. The confidence is the least of the answers'.
    """
    most = max(1, max_sentences // max(len(parts), 1))
    found = {part: extract(part, hits, encoder, aim=aim, max_sentences=most) for part, hits in parts.items()}
    missing = tuple(part for part, one in found.items() if one.abstained)
    answers = [one for one in found.values() if not one.abstained]
    if not answers:
        return None, missing
    least = min(one.confidence for one in answers)
    return replace(answers[0], confidence=least, others=tuple(answers[1:])), missing


def believed(question: str, hits: Sequence[Hit], encoder: Encoder, aim: Aim = NO_AIM) -> Trust:
    """How probable it is that the passages answer a question, and that an extractive answer is right."""
    topic = topic_of(question)
    evidence = gather(topic, hits, encoder, aim.meant)
    if evidence is None:
        return Trust(0.0, 0.0, False)
    return trust(evidence, compose(topic, evidence, scored(evidence), 1), aim.narrowed or topic != question)
