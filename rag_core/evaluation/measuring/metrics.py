"""The metrics of an evaluation: what each number means, in words that a newcomer can follow.

Retrieval metrics are those of information retrieval (Manning, Raghavan and Schütze 2008, chapter 8; nDCG by Järvelin
and Kekäläinen 2002), answer metrics those of question answering (SQuAD, Rajpurkar et al. 2018; ROUGE, Lin 2004).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rag_core.domain import Metric

METRICS: tuple[Metric, ...] = (
    Metric(
        "hit_rate",
        "Hit rate",
        "How often at least one of the passages found is a right one, that is, holds a place marked as the answer.",
        "retrieval",
    ),
    Metric(
        "context_recall",
        "Context recall",
        "Of all places marked as holding the answer, the share that the passages found cover.",
        "retrieval",
    ),
    Metric(
        "span_recall",
        "Span recall",
        "Of the text marked as the answer, the share of characters that stand in the passages found.",
        "retrieval",
    ),
    Metric(
        "mrr",
        "Reciprocal rank (MRR)",
        "How high in the list the first right passage stands: 100 % when it is first, 50 % second, 33 % third, 0 % when"
        " there is none.",
        "retrieval",
    ),
    Metric(
        "ndcg",
        "Ranking quality (nDCG)",
        "How near the list comes to the best order, with all right passages at the top: 100 % is the best order.",
        "retrieval",
    ),
    Metric(
        "context_precision",
        "Context precision",
        "Of the passages found, the share that are right ones; it cannot reach 100 % when more passages are asked for"
        " than hold the answer.",
        "retrieval",
    ),
    Metric(
        "context_f1",
        "Context F1",
        "One number for context precision and context recall; it is high only when both are (their harmonic mean).",
        "retrieval",
    ),
    Metric(
        "correct",
        "Correct answers",
        "How often the answer is right: it holds a reference answer or most of its words, cites a right passage where"
        " no reference is given, or says “perhaps” or “not found” where the library has"
        " no answer.",
        "answer",
    ),
    Metric(
        "abstention",
        "Knows when to say “not found”",
        "How often it answers where there is an answer, and says “perhaps” or “not found” where there is none.",
        "answer",
    ),
    Metric(
        "contains",
        "Holds the reference",
        "How often a reference answer stands in the answer word for word; capitals, punctuation and articles do not"
        " matter.",
        "answer",
    ),
    Metric(
        "exact_match",
        "Exact match",
        "How often the answer is a reference answer and nothing more; capitals, punctuation and articles do not"
        " matter. Answers in whole sentences rarely are.",
        "answer",
    ),
    Metric(
        "token_precision",
        "Words that are right (precision)",
        "Of the answer's words, the share that stand in the nearest reference answer; words added lower it.",
        "answer",
    ),
    Metric(
        "token_recall",
        "Words that are there (recall)",
        "Of the nearest reference answer's words, the share that stand in the answer; words missing lower it.",
        "answer",
    ),
    Metric(
        "token_f1",
        "Words in common (F1)",
        "How many words the answer shares with the nearest reference answer, in any order; words missing and words"
        " added both lower it.",
        "answer",
    ),
    Metric(
        "rouge_1",
        "ROUGE-1",
        "How many single words the answer and the nearest reference answer have in common, articles counted too.",
        "answer",
    ),
    Metric(
        "rouge_2",
        "ROUGE-2",
        "How many pairs of neighbouring words the answer and the nearest reference answer have in common.",
        "answer",
    ),
    Metric(
        "rouge_l",
        "ROUGE-L",
        "How long a row of words, gaps allowed, the answer and the nearest reference answer have in the same order.",
        "answer",
    ),
    Metric(
        "similarity",
        "Same meaning",
        "How near the answer's meaning is to that of the nearest reference answer, whatever its words.",
        "answer",
    ),
    Metric(
        "relevance",
        "Answer relevance",
        "How near the answer's meaning is to the question: whether it speaks of what was asked, right or wrong.",
        "answer",
    ),
    Metric(
        "faithfulness",
        "Faithfulness",
        "Of the answer's sentences, the share that the passages they cite support, by words, numbers, names and"
        " meaning.",
        "answer",
    ),
    Metric(
        "judged_faithfulness",
        "Faithfulness (judged)",
        "Of the answer's sentences, the share that a language model judges to be supported by the passages they cite.",
        "answer",
    ),
    Metric(
        "citation_validity",
        "Citation validity",
        "Of the citations in the answer, the share that lead to a passage whose text still stands in its document.",
        "answer",
    ),
    Metric("search_ms", "Search time", "Time to find the passages of one question.", "cost", "ms", False),
    Metric("answer_ms", "Answer time", "Time from the question to the whole answer.", "cost", "ms", False),
    Metric(
        "tokens",
        "Tokens",
        "Pieces of words that the language model reads and writes for one question; they decide price and time.",
        "cost",
        "tokens",
        False,
    ),
)
"""All metrics, in the order in which they are shown."""

METRIC: Mapping[str, Metric] = MappingProxyType({metric.key: metric for metric in METRICS})
"""The metrics by key."""


@dataclass(frozen=True, slots=True)
class Words:
    """How a sentence speaks of a metric: what it is about ("how often ..."), and what a better or worse one does."""

    topic: str
    better: str
    worse: str


WORDS: Mapping[str, Words] = MappingProxyType(
    {
        "hit_rate": Words(
            "how often a right passage is found",
            "finds a right passage more often",
            "finds a right passage less often",
        ),
        "context_recall": Words(
            "how many of the right places are found",
            "finds more of the right places",
            "finds fewer of the right places",
        ),
        "span_recall": Words(
            "how much of the marked text is found",
            "finds more of the marked text",
            "finds less of the marked text",
        ),
        "mrr": Words(
            "how high the first right passage stands",
            "puts the first right passage higher in its list",
            "puts the first right passage lower in its list",
        ),
        "ndcg": Words(
            "the order of the passages",
            "puts its passages in a better order",
            "puts its passages in a worse order",
        ),
        "context_precision": Words(
            "the share of right passages",
            "has a larger share of right passages in its list",
            "has a smaller share of right passages in its list",
        ),
        "context_f1": Words(
            "the balance of context precision and recall",
            "strikes a better balance of context precision and recall",
            "strikes a worse balance of context precision and recall",
        ),
        "correct": Words(
            "how often the answer is correct",
            "answers correctly more often",
            "answers correctly less often",
        ),
        "abstention": Words(
            "knowing when to say “not found”",
            "knows better when to say “not found”",
            "knows less well when to say “not found”",
        ),
        "contains": Words(
            "how often the answer holds a reference",
            "gives an answer that holds a reference more often",
            "gives an answer that holds a reference less often",
        ),
        "exact_match": Words(
            "how often the answer is exactly a reference",
            "gives exactly a reference answer more often",
            "gives exactly a reference answer less often",
        ),
        "token_precision": Words(
            "the share of the answer's words that are the reference's",
            "adds fewer words to those of the reference",
            "adds more words to those of the reference",
        ),
        "token_recall": Words(
            "the share of the reference's words that the answer has",
            "leaves out fewer words of the reference",
            "leaves out more words of the reference",
        ),
        "token_f1": Words(
            "the words shared with the reference",
            "answers more nearly in the words of the reference",
            "answers less nearly in the words of the reference",
        ),
        "rouge_1": Words(
            "the single words shared with the reference (ROUGE-1)",
            "shares more words with the reference (ROUGE-1)",
            "shares fewer words with the reference (ROUGE-1)",
        ),
        "rouge_2": Words(
            "the pairs of words shared with the reference (ROUGE-2)",
            "shares more pairs of words with the reference (ROUGE-2)",
            "shares fewer pairs of words with the reference (ROUGE-2)",
        ),
        "rouge_l": Words(
            "the words in the reference's order (ROUGE-L)",
            "keeps nearer to the reference's order of words (ROUGE-L)",
            "keeps less near to the reference's order of words (ROUGE-L)",
        ),
        "similarity": Words(
            "how near the answer's meaning is to the reference",
            "comes nearer to the meaning of the reference",
            "comes less near to the meaning of the reference",
        ),
        "relevance": Words(
            "how near the answer keeps to the question",
            "keeps nearer to the question",
            "keeps less near to the question",
        ),
        "faithfulness": Words(
            "the share of sentences that the passages support",
            "says more that its passages support",
            "says less that its passages support",
        ),
        "judged_faithfulness": Words(
            "the share of sentences that the judging model finds supported",
            "says more that its passages support, as the judging model sees it",
            "says less that its passages support, as the judging model sees it",
        ),
        "citation_validity": Words(
            "the share of citations that hold",
            "gives citations that hold more often",
            "gives citations that hold less often",
        ),
        "search_ms": Words("the time to search", "searches faster", "searches more slowly"),
        "answer_ms": Words("the time to answer", "answers faster", "answers more slowly"),
        "tokens": Words("the tokens used", "uses fewer tokens", "uses more tokens"),
    }
)
"""The words for each metric, by its key."""
