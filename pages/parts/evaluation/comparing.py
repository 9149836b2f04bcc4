"""Two runs side by side: what follows in plain sentences, and every number for who wants to see it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import formatting
from pages.parts.evaluation import looked_up, numbers
from pages.parts.language import _, figure, server_text
from rag_core.domain import Difference, Estimate, Metric, Run

FEW = 30
NAMED = 5
MAIN = (
    "hit_rate", "context_recall", "ndcg", "context_precision", "correct", "abstention", "faithfulness",
    "judged_faithfulness", "answer_ms",
)  # fmt: skip


def labels(runs: Sequence[Run]) -> dict[str, str]:
    """What to call each run: its configuration's name, with its day and hour where two share one."""
    plain, named = [run.configuration.name for run in runs], dict[str, str]()
    for run in runs:
        name = run.configuration.name
        name = f"{name}, {formatting.day(run.created_at)}" if plain.count(name) > 1 else name
        named[run.id] = f"{name} ({len(named) + 1})" if name in named.values() else name
    return named


def pair(runs: Sequence[Run]) -> tuple[Run, Run] | None:
    """The two runs that are compared; where there are more the user chooses."""
    if len(runs) < 2:
        return None
    if len(runs) == 2:
        return runs[0], runs[1]
    named, by_id = labels(runs), {run.id: run for run in runs}
    with st.container(key="evaluation_pair", horizontal=True, vertical_alignment="bottom", gap="small"):
        first = st.selectbox(_("Compare"), list(named), format_func=named.__getitem__, key="evaluation_first")
        others = [run_id for run_id in named if run_id != first]
        second = st.selectbox(_("with"), others, format_func=named.__getitem__, key="evaluation_second")
    return by_id[first], by_id[second]


def verdict(a: Run, b: Run, found: Sequence[Difference]) -> None:
    """What follows from the comparison."""
    sure = [item for item in found if item.significant]
    with st.container(key="evaluation_verdict", gap="xsmall"):
        for item in sure:
            mark = ":green[:material/trending_up:]" if numbers.better(item) else ":red[:material/trending_down:]"
            st.markdown(f"{mark} {formatting.plain(server_text(item.sentence))}")
        if fewer_by_itself(a, b, sure):
            st.caption(
                _("The share of right passages falls by itself where more passages are shown: see what is found.")
            )
        rest = [server_text(item.metric.label) for item in found if not item.significant and item.count]
        if not sure and rest:
            names = (f"“{run.configuration.name}”" for run in (a, b))
            st.markdown(
                _("**No difference beyond chance between {runs}.**").format(
                    runs=formatting.plain(_(" and ").join(names))
                )
            )
            asked = max(item.count for item in found)
            if asked < FEW:
                st.caption(
                    _(
                        "With {questions} only large differences can be told from chance; more "
                        "questions tell smaller ones."
                    ).format(questions=formatting.count(asked, "question"))
                )
        elif rest:
            others = ", ".join(rest) if len(rest) <= NAMED else formatting.count(len(rest), "other metric")
            st.caption(formatting.plain(_("No difference beyond chance in {others}.").format(others=others)))
        elif not found:
            st.caption(_("The two have no question in common that was measured."))


def fewer_by_itself(a: Run, b: Run, sure: Sequence[Difference]) -> bool:
    """Whether precision differs and the runs show different numbers of passages."""
    differs = a.settings.get("retrieval.k") != b.settings.get("retrieval.k")
    return differs and any(item.metric.key in ("context_precision", "context_f1") for item in sure)


def is_worse(found: Sequence[Difference]) -> bool:
    """Whether run B is worse in something, beyond chance, and better in nothing."""
    sure = [item for item in found if item.significant]
    return bool(sure) and not any(map(numbers.better, sure))


def is_better(found: Sequence[Difference]) -> bool:
    """Whether run B is better in something, beyond chance, and worse in nothing."""
    sure = [item for item in found if item.significant]
    return any(map(numbers.better, sure)) and all(map(numbers.better, sure))


def tables(runs: Sequence[Run], metrics: Sequence[Metric], found: Sequence[Difference]) -> None:
    """The metrics of every run with their intervals, of two runs the difference too: the main ones, then all."""
    there = [metric for metric in metrics if any(metric.key in run.metrics for run in runs)]
    differing = {item.metric.key for item in found if item.significant}
    main = [metric for metric in there if metric.key in MAIN or metric.key in differing]
    if main:
        _table("evaluation_summary", runs, main, found)
        st.caption(_("In grey are 95 % intervals: where the mean over more such questions would lie."))
    if there:
        with st.expander(_("Every metric"), icon=":material/table_rows:", key="evaluation_every_metric"):
            _table("evaluation_metrics", runs, there, found, explained=True)


def _table(
    key: str, runs: Sequence[Run], shown: Sequence[Metric], found: Sequence[Difference], *, explained: bool = False
) -> None:
    by_key = {item.metric.key: item for item in found if item.count}
    helps = [f"  \n:gray[{formatting.plain(server_text(metric.help))}]" if explained else "" for metric in shown]
    columns = {
        _("Metric"): [
            f"**{formatting.plain(server_text(item.label))}**{more}" for item, more in zip(shown, helps, strict=True)
        ]
    }
    for run_id, name in labels(runs).items():
        of = next(run.metrics for run in runs if run.id == run_id)
        columns[formatting.plain(name)] = [_value(metric, of.get(metric.key)) for metric in shown]
    if found:
        columns["Difference"] = [_change(by_key.get(metric.key)) for metric in shown]
    with st.container(key=key):
        st.table(columns, border="horizontal", hide_index=True, alt=_("Metrics of the runs"))


def _value(metric: Metric, found: Estimate | None) -> str:
    return f"{numbers.value(metric, found.mean)}  \n:gray[{numbers.interval(metric, found)}]" if found else ""


def _change(found: Difference | None) -> str:
    if found is None:
        return ""
    tone = "gray" if not found.significant else "green" if numbers.better(found) else "red"
    return f":{tone}[{numbers.change(found)}]  \n:gray[{numbers.change_interval(found)}]"


def details(found: Sequence[Difference]) -> None:
    """How sure each difference is, with its p value."""
    if not found:
        return
    with st.expander(_("How sure this is"), icon=":material/functions:", key="evaluation_details"):
        st.dataframe(
            {
                _("Metric"): [server_text(item.metric.label) for item in found],
                _("Difference"): [numbers.change(item) for item in found],
                _("95 % interval"): [numbers.change_interval(item) for item in found],
                "p": [figure(item.p, ".4f") for item in found],
                _("p, corrected"): [figure(item.p_corrected, ".4f") for item in found],
                _("Questions"): [item.count for item in found],
                _("Beyond chance"): [_("yes") if item.significant else _("no") for item in found],
            },
            hide_index=True,
        )
        for item in found:
            st.caption(formatting.plain(server_text(item.sentence)))
        st.caption(
            _(
                "The same questions are compared pairwise: the interval by bootstrap, p by a "
                "permutation test, corrected "
                "for comparing many metrics at once (Holm). Below 0.05 a difference is called more than chance."
            )
        )


def compared(a: Run, b: Run) -> tuple[Difference, ...]:
    """The comparison of two runs; nothing while one of them has no result."""
    return looked_up.differences(a.id, b.id, looked_up.stamp_of([a, b])) if a.done and b.done else ()
