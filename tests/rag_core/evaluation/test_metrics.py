"""Every metric is explained, and has the words for its sentences."""

from __future__ import annotations

import pytest

from rag_core.domain import Metric
from rag_core.evaluation.measuring.answers import ANSWER_KEYS
from rag_core.evaluation.measuring.metrics import METRIC, METRICS, WORDS
from rag_core.evaluation.measuring.ranking import RETRIEVAL_KEYS


def test_the_keys() -> None:
    kinds = {kind: {metric.key for metric in METRICS if metric.kind == kind} for kind in ("retrieval", "answer")}
    assert kinds["retrieval"] == set(RETRIEVAL_KEYS)
    assert kinds["answer"] == {*ANSWER_KEYS, "judged_faithfulness", "citation_validity"}
    assert [metric.key for metric in METRICS if metric.kind == "cost"] == ["search_ms", "answer_ms", "tokens"]
    assert list(METRIC) == [metric.key for metric in METRICS]
    assert len(METRIC) == len(METRICS)
    assert set(WORDS) == set(METRIC)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_one_metric(metric: Metric) -> None:
    assert metric.help.endswith(".")
    assert len(metric.help) < 220
    assert metric.label
    assert metric.higher_is_better == (metric.kind != "cost")
    assert (metric.unit == "share") == (metric.kind != "cost")
    words = WORDS[metric.key]
    assert len({words.topic, words.better, words.worse}) == 3


def test_labels_and_words_are_told_apart() -> None:
    assert len({metric.label for metric in METRICS}) == len(METRICS)
    assert len({text for words in WORDS.values() for text in (words.topic, words.better, words.worse)}) == 3 * len(
        WORDS
    )
