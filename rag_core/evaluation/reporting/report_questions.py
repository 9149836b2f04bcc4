"""The questions of a report: each can be opened to see its references, and the answer and passages of every run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rag_core.domain import Found, Gold, Question, Result, Run, Sentence

MAX_QUESTIONS = 500
MAX_PASSAGES = 5
MAX_TEXT_BYTES = 6_000_000
"""About what all passages together may take; each gets its share."""

Asked = tuple[Question, list[tuple[Run, Result]]]


def questions(runs: Sequence[tuple[Run, Sequence[Result]]]) -> str:
    """The first 500 questions of all runs, in their order, folded up. What is left out is said."""
    asked: dict[str, Asked] = {}
    for run, results in runs:
        for result in results:
            asked.setdefault(result.question.id, (result.question, []))[1].append((run, result))
    if not asked:
        return ""
    shown = list(asked.values())[:MAX_QUESTIONS]
    passages = sum(min(len(result.found), MAX_PASSAGES) for _, tried in shown for _, result in tried)
    most = max(100, min(700, MAX_TEXT_BYTES // max(passages, 1)))
    left = len(asked) - len(shown)
    more = f"<p>{left:,} more questions are in the exports as CSV and JSON.</p>" if left else ""
    return "\n".join(("<h2>Questions</h2>", *(_question(question, tried, most) for question, tried in shown), more))


def _question(question: Question, tried: Sequence[tuple[Run, Result]], most: int) -> str:
    marks = "".join(_mark(run, result) for run, result in tried)
    answers = "".join(f"<section>{_result(run, result, most)}</section>" for run, result in tried)
    told = f"<div>{_known(question, most)}<div class=runs>{answers}</div></div>"
    return f"<details><summary>{escape(question.text)}{marks}</summary>{told}</details>"


def _mark(run: Run, result: Result) -> str:
    """In a word, how a question went in a run."""
    metrics = result.metrics
    if result.error:
        kind, word = "bad", "error"
    elif metrics.get("correct") is not None:
        kind, word = ("good", "right") if metrics["correct"] else ("bad", "wrong")
    elif metrics.get("hit_rate") is not None:
        kind, word = ("good", "found") if metrics["hit_rate"] else ("bad", "missed")
    else:
        return ""
    return f'<span class="mark">{escape(_cut(run.configuration.name, 40))}: <span class="{kind}">{word}</span></span>'


def _known(question: Question, most: int) -> str:
    """What is known of the right answer."""
    if not question.answerable:
        return '<p class="quiet">The documents hold no answer to this question.</p>'
    parts = []
    if question.references:
        parts.append(
            f"<p><span class=quiet>Reference:</span> {escape(_cut(' · '.join(question.references), 1000))}</p>"
        )
    if question.gold:
        places = "".join(f"<li>{_place(gold, most)}</li>" for gold in question.gold[:MAX_PASSAGES])
        parts.append(f'<p class="quiet">Where the answer stands:</p><ol>{places}</ol>')
    return "".join(parts)


def _place(gold: Gold, most: int) -> str:
    page = "" if gold.page is None else f", page {gold.page}"
    quote = f"<blockquote>{escape(_cut(gold.excerpt, most))}</blockquote>" if gold.excerpt else ""
    return f"{escape(_cut(gold.document, 120))}{page}{quote}"


def _result(run: Run, result: Result, most: int) -> str:
    lines = [f"<h3>{escape(run.configuration.name)}</h3>"]
    if result.error:
        lines.append(f'<p class="bad">{escape(result.error)}</p>')
    if result.answer:
        lines.append(f"<p>{_answer(result)}</p>")
    lines += [f'<p class="quiet">{escape(note)}</p>' for note in result.notes]
    if result.found:
        passages = "".join(_passage(found, most) for found in result.found[:MAX_PASSAGES])
        left = len(result.found) - MAX_PASSAGES
        more = f' <span class="quiet">and {left} more</span>' if left > 0 else ""
        lines.append(f'<p class="quiet">Passages found:</p><ol>{passages}</ol>{more}')
    return "".join(lines)


def _answer(result: Result) -> str:
    """The answer, its sentences with their numbers; those that no passage supports are marked."""
    sure = f' <span class="quiet">(confidence {result.confidence:.0%})</span>' if result.confidence is not None else ""
    if not result.sentences:
        return f"{escape(_cut(result.answer, 4000))}{sure}"
    return " ".join(_sentence(sentence) for sentence in result.sentences[:40]) + sure


def _sentence(sentence: Sentence) -> str:
    numbers = "".join(f"[{number}]" for number in sentence.citations)
    text = f"{escape(_cut(sentence.text, 1000))}{f' {numbers}' if numbers else ''}"
    if sentence.supported:
        return text
    return f'<span class="unsupported" title="No passage was found that supports this.">{text}</span>'


def _passage(found: Found, most: int) -> str:
    page = escape(found.page_label or str(found.page))
    right = ' · <span class="good">holds the answer</span>' if found.relevant else ""
    head = f"{escape(_cut(found.title, 120))}, page {page} · {found.score:.3f}{right}"
    quote = f"<blockquote>{escape(_cut(found.text.strip(), most))}</blockquote>"
    return f"<li{' class=right' if found.relevant else ''}>{head}{quote}</li>"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()}…"
