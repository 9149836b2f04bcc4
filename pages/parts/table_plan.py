"""What a whole table answered, below its answer: rows, all of them as CSV, and conditions that can be changed."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import streamlit as st

from pages.parts import formatting
from pages.parts.language import _, dialog, figure, msgid, ngettext
from rag_core.domain import Message, TableAnswer, TableCondition, TablePlan
from rag_core.domain.tables import Comparison
from rag_core.library import Library
from rag_core.tables.answers import MOST_GROUPS
from rag_core.tables.values import moment_in

Change = tuple[TablePlan, str, str]
"""A changed plan, the question that says so, and the same as a person would ask it, which later ones follow."""
_BETWEEN = " · "
_DAYS = (date(1500, 1, 1), date(2099, 12, 31))
_FEWEST_POINTS = 3
_MOST_SAID, _VALUE_CHARS, _MOST_CHOICES = 3, 60, 1000
OPENED = "chat_table"
"""The name in the session's state under which one of the dialogs is asked for."""
GONE = msgid("The document of this table is no longer in the library.")
_SIGNS: dict[Comparison, str] = {
    "over": "over ", "under": "under ", "at least": "at least ", "at most": "at most ", "not": "not ",
}  # fmt: skip
_OF_NUMBERS: dict[str, Comparison] = {
    msgid("is"): "equals", msgid("is over"): "over", msgid("is under"): "under", msgid("is at least"): "at least",
    msgid("is at most"): "at most",
}  # fmt: skip
_OF_DAYS: dict[str, Comparison] = {
    msgid("is within"): "within", msgid("is after"): "over", msgid("is before"): "under",
    msgid("is from"): "at least", msgid("is until"): "at most",
}  # fmt: skip


def shown(table: TableAnswer | None) -> dict[str, Any] | None:
    """The rows and conditions as the exchange takes them."""
    if table is None:
        return None
    more = table.count - len(table.rows)
    return {
        "words": formatting.count(table.count, "row"),
        "heads": list(table.heads),
        "rows": [list(row.cells) for row in table.rows],
        "more": ngettext("and {number} more row", "and {number} more rows", more) if more else "",
        "formula": table.formula,
        "conditions": [one.words for one in table.plan.conditions],
        "groups": _bars(table.groups),
        "line": _line(table.groups),
    }


def without(message: Message, table: TableAnswer, place: int) -> Change:
    """The plan of a message's answer without one of its conditions."""
    conditions = table.plan.conditions
    kept = (*conditions[:place], *conditions[place + 1 :])
    return _changed(message, table.plan, kept, conditions[place], "")


def with_another(message: Message, table: TableAnswer, place: int, condition: TableCondition) -> Change:
    """The plan of a message's answer with another condition in the place of one."""
    conditions = table.plan.conditions
    changed = (*conditions[:place], condition, *conditions[place + 1 :])
    return _changed(message, table.plan, changed, conditions[place], condition.values[0])


def change(library: Library, message: Message, place: int, ask: Callable[[Change], None]) -> None:
    """A dialog for another value of a condition; `ask` is given what comes of it."""
    table = message.answer.table if message.answer else None
    if table is not None and place < len(table.plan.conditions):
        _change(library, message, table, place, ask)


def rows(library: Library, message: Message) -> None:
    """A dialog that gives all the rows as a file."""
    if message.answer is not None and message.answer.table is not None:
        _rows(library, message.answer.table)


def _bars(groups: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Groups with their figures, and each figure's share of the largest."""
    most = max((abs(value) for _, value in groups), default=0.0) or 1.0
    return [
        {"text": text, "figure": _figure(value), "share": abs(value) / most, "negative": value < 0}
        for text, value in groups
    ]


def _line(groups: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Groups of days, months or years in their order, each as high as its figure is between nothing and the furthest;
    none where they are others, fewer than three, or not all."""
    moments = {moment_in(text): (text, value) for text, value in groups}
    if None in moments or not _FEWEST_POINTS <= len(moments) == len(groups) < MOST_GROUPS:
        return []
    ordered = [point for _, point in sorted((moment, point) for moment, point in moments.items() if moment)]
    least, most = min(0.0, *(value for _, value in ordered)), max(0.0, *(value for _, value in ordered))
    return [
        {"text": text, "figure": _figure(value), "height": (value - least) / ((most - least) or 1.0)}
        for text, value in ordered
    ]


def _figure(value: float) -> str:
    return figure(value, ",.0f" if float(round(value, 2)).is_integer() else ",.2f")


def _changed(
    message: Message, plan: TablePlan, conditions: tuple[TableCondition, ...], old: TableCondition, value: str
) -> Change:
    said = [_value(one) for one in conditions if one.head == old.head]
    first, *parts = message.question.split(_BETWEEN)
    parts = [part for part in parts if not part.startswith(f"{old.head}: ") and part != f"any {old.head}"]
    parts.append(f"{old.head}: {', '.join(said)}" if said else f"any {old.head}")
    query = message.answer.trace.query if message.answer else ""
    return replace(plan, conditions=conditions), _BETWEEN.join([first, *parts]), _swapped(query, old.values, value)


def _swapped(query: str, values: Sequence[str], value: str) -> str:
    """What was searched for with another value in the place of one; "" where none stands there."""
    for old in values:
        swapped, count = re.subn(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: value, query, flags=re.IGNORECASE)
        if count:
            return " ".join(swapped.split())
    return ""


def _value(condition: TableCondition) -> str:
    values = [formatting.shorten(value, _VALUE_CHARS) for value in condition.values]
    if condition.comparison in ("is", "not"):
        more = len(values) - _MOST_SAID
        listed = [*values[:_MOST_SAID], *([f"{more} more"] if more > 0 else [])]
        return _SIGNS.get(condition.comparison, "") + " or ".join(listed)
    if condition.comparison in ("over", "at most"):  # a period is over with its last day
        values = values[-1:]
    return _SIGNS.get(condition.comparison, "") + " to ".join(dict.fromkeys(values))


@dialog("Change a condition", until_closed=OPENED, fields=True, icon=":material/filter_alt:")
def _change(library: Library, message: Message, table: TableAnswer, place: int, ask: Callable[[Change], None]) -> None:
    condition = table.plan.conditions[place]
    try:
        choices = library.table_plans.choices(table.plan, condition.column, _MOST_CHOICES)
    except KeyError:
        st.error(_(GONE))
        return
    with st.form("chat_condition", border=False):
        wanted = _wanted(condition, choices)
        if st.form_submit_button(_("Ask again"), type="primary") and wanted is not None:
            st.session_state.pop(OPENED, None)
            ask(with_another(message, table, place, wanted))
            st.rerun()


def _wanted(condition: TableCondition, choices: Sequence[str]) -> TableCondition | None:
    """The condition as its fields say it, None where they are empty."""
    if condition.comparison in ("is", "not"):
        chosen = st.selectbox(
            formatting.plain(condition.head), [*dict.fromkeys([*condition.values[:1], *choices])],
            accept_new_options=len(choices) >= _MOST_CHOICES, key="chat_condition_value",
        )  # fmt: skip
        return replace(condition, values=(chosen,)) if chosen else None
    if condition.comparison == "month":
        months = list(month_name[1:])
        ends = [
            st.selectbox(
                _(label),
                shown := months if value in months else [value, *months],
                shown.index(value),
                key=f"chat_condition_{label}",
            )
            for label, value in zip(
                (msgid("From"), msgid("To")), (condition.values[0], condition.values[-1]), strict=True
            )
        ]
        return replace(condition, values=tuple(ends))
    is_of_days = _is_day(condition.values[0])
    named = _OF_DAYS if is_of_days else _OF_NUMBERS
    if condition.comparison == "within":  # of two figures, as a period has
        named = named | {msgid("is within"): "within"}
    now = next((at for at, one in enumerate(named.values()) if one == condition.comparison), 0)
    how = st.selectbox(
        formatting.plain(condition.head), list(named), index=now, key="chat_condition_how", format_func=_
    )
    comparison = named[how]
    if not is_of_days:
        said = (condition.values[0], condition.values[-1])[: 2 if comparison == "within" else 1]
        numbers = [st.text_input(_("Number"), end, key=f"chat_condition_{at}").strip() for at, end in enumerate(said)]
        return replace(condition, comparison=comparison, values=tuple(numbers)) if all(numbers) else None
    days = [
        st.date_input(_(label), date.fromisoformat(value), *_DAYS, key=f"chat_condition_{label}")
        for label, value in zip((msgid("From"), msgid("To")), (condition.values[0], condition.values[-1]), strict=True)
    ]
    return replace(condition, comparison=comparison, values=tuple(day.isoformat() for day in days))


def _is_day(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return "-" in value[1:]


@dialog("All rows", until_closed=OPENED, icon=":material/download:")
def _rows(library: Library, table: TableAnswer) -> None:
    try:
        library.document(table.plan.document_id)
    except KeyError:
        st.error(_(GONE))
        return
    name = re.sub(r"[^\w-]+", "-", table.title).strip("-") or "rows"
    st.caption(
        _("{rows} of {title}, with every column.").format(
            rows=formatting.count(table.count, "row"), title=formatting.plain(table.title)
        )
    )
    st.download_button(
        _("Download as CSV"), lambda: b"".join(library.table_plans.csv(table.plan)), f"{name}.csv", "text/csv",
        icon=":material/table_rows:", key="chat_rows_csv", on_click="ignore", width="stretch",
    )  # fmt: skip
