"""What a plan found, in one sentence, and how it was found, in another."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from rag_core.tables import plans as grammar
from rag_core.tables.balances import labels_of
from rag_core.tables.clock import time_shown
from rag_core.tables.columns import Column, normalised
from rag_core.tables.links import Link
from rag_core.tables.outflows import is_payment
from rag_core.tables.plans import Plan, Result
from rag_core.tables.question_words import asks_whether
from rag_core.tables.table import WholeTable
from rag_core.tables.values import writes_decimal_comma
from rag_core.tables.words import Words, heads_named
from rag_core.text.stems import stem

_MOST_LISTED, _MOST_SUMMED = 12, 6
_GROUPED = re.compile(r"\d[,.'’\u00a0\u202f ]\d{3}(?!\d)")
_DECIMALS = re.compile(r"[.,](\d{1,6})\D*$")
_SAMPLE = 200
_HEADS = {
    grammar.SUM: "Sum of {}", grammar.MEAN: "Mean {}", grammar.MEDIAN: "Median {}",
    grammar.LARGEST: "Largest {}", grammar.SMALLEST: "Smallest {}",
    grammar.DIFFERENCE: "Difference in {}", grammar.DIFFERENT: "Different values of {}",
    grammar.COMMONEST: "Most frequent {}", grammar.RAREST: "Least frequent {}",
    grammar.FIRST: "First {}", grammar.LAST: "Last {}",
    grammar.COUNT_BY: "Rows", grammar.SUM_BY: "Sum of {}", grammar.MEAN_BY: "Mean {}",
    grammar.LARGEST_BY: "Largest {}", grammar.SMALLEST_BY: "Smallest {}",
}  # fmt: skip
_DONE = {
    grammar.COUNT: "Counted", grammar.DIFFERENT: "Counted without repetitions", grammar.SUM: "Added up",
    grammar.MEAN: "Averaged", grammar.MEDIAN: "The middle",
    grammar.LARGEST: "The largest", grammar.SMALLEST: "The smallest",
    grammar.FIRST: "The first", grammar.LAST: "The last",
    grammar.BEHIND: "The row behind", grammar.BEFORE: "The row before", grammar.DIFFERENCE: "Subtracted",
    grammar.COUNT_BY: "Counted", grammar.SUM_BY: "Added up", grammar.MEAN_BY: "Averaged",
    grammar.LARGEST_BY: "The largest", grammar.SMALLEST_BY: "The smallest", grammar.SHARE: "Counted",
    grammar.GROUP_LARGEST: "Added up", grammar.GROUP_SMALLEST: "Added up",
    grammar.GROUP_HIGH: "Averaged", grammar.GROUP_LOW: "Averaged",
}  # fmt: skip
_NEGATIVE = {grammar.SMALLEST: "Most negative", grammar.LARGEST: "Least negative"}
_SINGLE = {
    grammar.COUNT_BY: grammar.COUNT, grammar.SUM_BY: grammar.SUM, grammar.MEAN_BY: grammar.MEAN,
    grammar.LARGEST_BY: grammar.LARGEST, grammar.SMALLEST_BY: grammar.SMALLEST,
    grammar.GROUP_LARGEST: grammar.SUM, grammar.GROUP_SMALLEST: grammar.SUM,
    grammar.GROUP_HIGH: grammar.MEAN, grammar.GROUP_LOW: grammar.MEAN,
}  # fmt: skip
_BETWEEN_CELLS = (grammar.MEAN, grammar.MEDIAN)  # they may have more decimals
_SMALL = 10
_SIGNS = {"=": "is", ">": "is over", "<": "is under", ">=": "is at least", "<=": "is at most"}
_HOW_MANY = re.compile(r"\s*how many (?P<what>[^?!.]+)[?!.\s]*", re.IGNORECASE)
_ARE_THERE = re.compile(r"\b(are|were) there\b ?", re.IGNORECASE)
# "How many did Ann sell", "how many have they": what stands behind such words is who does it.
_INVERTED = re.compile(
    r"\b(?:[Dd]id|[Dd]o|[Dd]oes|[Hh]as)\b"
    r"|\b(?:are|were|have|had|can|could|will|would|should|must) (?:I|we|you|they|he|she|it|the|this|these|[A-Z])\b"
)
# What rows of any table may be called.
_ANY = frozenset(map(stem, ("people", "persons", "men", "women", "children", "rows", "entries", "records", "times")))
_PLURALS = ("s", "people", "men", "women", "children")


def finding(plan: Plan, result: Result, table: WholeTable, asked: Words | None = None, title: str = "") -> str:
    """What was found: "Amount: 55.20.", "City: Oslo and Bern.", "288 orders came from Bern." as it was `asked` of a
    document of that title.

    The figure that was found is the only one: conditions that have others are left to the derivation.
    """
    column = table.columns[plan.target] if plan.target >= 0 else None
    where = _where(plan, table)
    if any(map(str.isdigit, where)):
        where = ""
    if plan.operation == grammar.COUNT:
        count = int(result.value or 0)
        if not count and (columns := len({link.column for link in plan.conditions})) > 1:
            return f"No row has {'both' if columns == 2 else 'all of this'}: 0 rows{where}."
        statement = _statement(count, plan, table, asked, title) if asked is not None else ""
        return statement or f"{count} {'row' if count == 1 else 'rows'}{where}."
    if plan.operation == grammar.SHARE:
        return f"{_percent(result.value or 0.0)} % of the rows{_where(_whole(plan), table)}."
    if result.groups:
        return _grouped(plan, result, table)
    head = _HEADS.get(plan.operation, "{}").format(column.head if column else "").strip() or "Found"
    if asked is not None and is_payment(plan, table, result.rows, asked):
        head = f"{_NEGATIVE[plan.operation]} {column.head if column else ''}".strip()
    if plan.operation in _HEADS:
        head += where
    if result.value is not None:
        return f"{head}: {_figure(result.value, plan.operation, column)}."
    if plan.size > 1 and plan.by >= 0:
        return f"{head}: {_joined(_furthest(plan, result, table))}."
    texts = result.texts
    if plan.target >= 0 and table.columns[plan.target].is_key and len(texts) == len(result.rows):
        texts = tuple(_labelled(table, row, plan) for row in result.rows.tolist())
    said = f"{head}: {_joined(_listed(texts, result.count))}"
    if yes_or_no := _yes_or_no(plan, result, table, asked):
        said = f"{yes_or_no} ({said})"
    if plan.by >= 0 and len(result.rows):
        by = table.columns[plan.by]
        said += f" ({by.head}: {table.text(int(result.rows[0]), plan.by)})"
    return f"{said}."


def in_words(plan: Plan, table: WholeTable) -> str:
    """What a plan does, before it is run: "Sum of Amount where City is “Oslo”"."""
    target, by = (table.columns[at].head if at >= 0 else "" for at in (plan.target, plan.by))
    said = _HEADS.get(plan.operation, "{}").format(target)
    if plan.operation in (grammar.COUNT, grammar.SHARE):
        said = "How many rows" if plan.operation == grammar.COUNT else "Share of the rows"
    elif plan.operation in grammar.FURTHEST_GROUPS:
        end = "largest" if plan.operation in (grammar.GROUP_LARGEST, grammar.GROUP_HIGH) else "smallest"
        few = f"The {plan.size} {by}" if plan.size > 1 else by
        said = f"{few} with the {end} {_of_group(plan, target)}"
    elif plan.operation in grammar.GROUPED:
        said += f" for each {by}"
    elif plan.operation in (grammar.ROW_LARGEST, grammar.ROW_SMALLEST):
        said += f" of the {plan.size} rows" if plan.size > 1 else " of the row"
        said += f" with the {'largest' if plan.operation == grammar.ROW_LARGEST else 'smallest'} {by}"
    elif plan.operation in (grammar.BEHIND, grammar.BEFORE):
        said += f" of the row {'behind' if plan.operation == grammar.BEHIND else 'before'} that"
    return f"{said}{_where(plan, table)}"


def derivation(plan: Plan, result: Result, table: WholeTable, title: str) -> str:
    """How: of which rows of which table."""
    done = _DONE.get(plan.operation, "Looked up")
    if plan.operation in grammar.GROUPED:
        done += f" for each {table.columns[plan.by].head}"
    elif plan.operation in (grammar.COMMONEST, grammar.RAREST):
        done = f"Counted for each {table.columns[plan.target].head}"
    elif plan.operation in (grammar.ROW_LARGEST, grammar.ROW_SMALLEST):
        end = "largest" if plan.operation == grammar.ROW_LARGEST else "smallest"
        done = f"By the {f'{plan.size} ' if plan.size > 1 else ''}{end} {table.columns[plan.by].head}"
    elif plan.operation in (grammar.FIRST, grammar.LAST) and (time := grammar.time_of(plan, table)):
        done += f" by {time.head}"
    name = f"“{title}”" + (f", {table.name}" if table.name and table.name != title else "")
    kept, every = (int(grammar.rows_left(table, some).sum()) for some in (plan.conditions, ()))
    if plan.operation in (grammar.ROW_LARGEST, grammar.ROW_SMALLEST) and 1 < kept <= plan.size:
        first = ", the largest first" if plan.operation == grammar.ROW_LARGEST else ""
        done = f"In the order of {table.columns[plan.by].head}{first}"
    rows = f"{kept} of {every} rows" if plan.conditions else f"all {every} rows"
    empty = kept - len(result.rows) if plan.operation in (grammar.SUM, grammar.MEAN, grammar.MEDIAN) else 0
    without = f", {empty} of them without a figure" if empty else ""
    return f"{done}: {rows} of {name}{_where(plan, table)}{without}."


def _listed(texts: Sequence[str], count: int) -> list[str]:
    more = max(count, len(texts)) - _MOST_LISTED
    return [*texts[:_MOST_LISTED], *([f"{more} more"] if more > 0 else [])]


def _yes_or_no(plan: Plan, result: Result, table: WholeTable, asked: Words | None) -> str:
    """Whether what was looked up is the one cell that the question has, "Is A-12 paid?"; "" where it asks for none."""
    if plan.operation != grammar.LOOK_UP or len(result.texts) != 1 or asked is None or not asks_whether(asked.text):
        return ""
    cells = {normalised(text) for text in table.columns[plan.target].texts[:_SAMPLE]}
    has = [cell for cell in cells if cell and f" {cell} " in f" {' '.join(asked.plain)} "]
    if len(has) != 1:
        return ""
    return "Yes" if normalised(result.texts[0]) in has else "No"


def _grouped(plan: Plan, result: Result, table: WholeTable) -> str:
    """What groups come to, or the one that comes to most: "Sum of Amount by City: Oslo 55.20, Bern 31.00."."""
    column = table.columns[plan.target] if plan.target >= 0 else None
    said = [f"{text} {_figure(value, _SINGLE[plan.operation], column)}" for text, value in result.groups]
    by = table.columns[plan.by].head
    if plan.operation in grammar.FURTHEST_GROUPS and column is not None:
        figures = [_figure(value, _SINGLE[plan.operation], column) for _, value in result.groups[: result.count]]
        what = _of_group(plan, column.head)
        if len(figures) == 1:
            return f"{by}: {result.texts[0]} ({what}: {figures[0]})."
        said = [f"{text} ({figure})" for text, figure in zip(result.texts, figures, strict=True)]
        return f"{by} by {what}: {_joined(_listed(said, len(said)))}."
    head = _HEADS[plan.operation].format(column.head if column else "")
    return f"{head} by {by}: {_joined(_listed(said, len(said)))}."


def _of_group(plan: Plan, head: str) -> str:
    """What groups are compared by: "sum of Amount"."""
    return _HEADS[_SINGLE[plan.operation]].format(head).replace("Sum", "sum", 1).replace("Mean", "mean", 1)


def _furthest(plan: Plan, result: Result, table: WholeTable) -> list[str]:
    """Each row's cell with the figure by which it was chosen."""
    rows = result.rows.tolist()
    said = [f"{_labelled(table, row, plan)} ({table.text(row, plan.by)})" for row in rows[:_MOST_LISTED]]
    return _listed(said, len(rows))


def _labelled(table: WholeTable, row: int, plan: Plan) -> str:
    """A row's cell, and behind a code what it stands for: "BP-1040 inner tube"."""
    labels = labels_of(table)
    is_code = plan.target in labels[:1] and not any(link.column in labels for link in plan.conditions)
    return " ".join(table.text(row, place) for place in (labels if is_code else (plan.target,)))


def _whole(plan: Plan) -> Plan:
    """The plan of the rows that a share is taken of."""
    return replace(plan, conditions=tuple(one for one in plan.conditions if one.column != plan.by))


def _percent(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _where(plan: Plan, table: WholeTable) -> str:
    conditions = [*dict.fromkeys(condition(link, table) for link in _ordered(plan.conditions))]
    return f" where {_joined(conditions)}" if conditions else ""


def _statement(count: int, plan: Plan, table: WholeTable, asked: Words, title: str) -> str:
    """The question "How many ...?" as a statement; "" where that is none, has a figure, or says more than was counted.

    Of the words that no condition explains it may have what is counted, as the document, the table or a column calls
    it, and one word that leads to a condition: rows of orders are no trucks.
    """
    found = _HOW_MANY.fullmatch(asked.text)
    if not found or count == 1 or any(map(str.isdigit, found["what"])) or not _says_no_more(plan, table, asked, title):
        return ""
    what = found["what"].strip()
    if is_there := _ARE_THERE.search(what):
        what = _ARE_THERE.sub("", what).strip()
        return f"There {is_there[1].lower()} {count} {what}."
    return "" if _INVERTED.search(what) else f"{count} {what}."


def _says_no_more(plan: Plan, table: WholeTable, asked: Words, title: str) -> bool:
    heads = [table.columns[link.column].head for link in plan.conditions]
    explained = {place for places in heads_named(asked, heads) for place in places}
    explained |= {place for link in plan.conditions for place in range(link.first, link.last)}
    telling = [place for place in asked.telling if asked.plain[place] not in ("how", "many")]
    left = [place for place in telling if place not in explained]
    called = {stem(word) for text in (title, table.name, *table.heads) for word in normalised(text).split()}
    if not left or not asked.plain[left[0]].endswith(_PLURALS) or asked.stems[left[0]] not in called | _ANY:
        return False
    leads = [telling[at + 1] in explained for at, place in enumerate(telling[:-1]) if place in left[1:]]
    return len(left) == 1 or (len(left) == 2 and leads == [True])


def formula(plan: Plan, result: Result, table: WholeTable) -> str:
    """How what was computed comes from its cells: "430.50 = 120.50 + 310.00"; "" where nothing was."""
    column, rows = table.columns[plan.target], len(result.rows)
    if plan.operation == grammar.SHARE:
        whole = int(grammar.rows_left(table, _whole(plan).conditions).sum())
        return f"{_percent(result.value or 0.0)} % = {rows} ÷ {whole}"
    if result.groups:
        return ""
    if plan.operation in (grammar.COMMONEST, grammar.RAREST):
        kept = int(grammar.rows_left(table, plan.conditions).sum())
        return f"{_joined(result.texts[:_MOST_LISTED])}: {rows} of {kept} rows"
    if result.value is None or plan.operation == grammar.COUNT:
        return ""
    figure = _figure(result.value, plan.operation, column)
    if plan.operation == grammar.DIFFERENT:
        return f"{figure} = different cells of {column.head} in {rows} rows"
    if plan.operation == grammar.MEAN:
        total = _figure(result.value * rows, grammar.SUM, column)
        return f"{figure} = {total} ÷ {rows}, the sum of {column.head} by its cells"
    if plan.operation == grammar.MEDIAN:
        return f"{figure} = the middle of {rows} cells of {column.head}, in order"
    if rows > _MOST_SUMMED:
        return f"{figure} = sum of {rows} cells of {column.head}"
    cells = [table.text(row, plan.target) for row in result.rows.tolist()]
    if plan.operation == grammar.DIFFERENCE:
        larger = sorted(result.rows.tolist(), key=lambda row: -float(column.numbers[row]))
        return f"{figure} = {' − '.join(table.text(row, plan.target) for row in larger)}"
    return f"{figure} = {' + '.join(cells)}"


def condition(link: Link, table: WholeTable) -> str:
    """A condition in words."""
    column = table.columns[link.column]
    if not link.comparison:
        texts = [f"“{column.texts[code]}”" if column.texts[code] else "empty" for code in link.codes[:3]]
        more = len(link.codes) - len(texts)
        sign = "is not" if link.is_negated else "is"
        return f"{column.head} {sign} {' or '.join([*texts, *([f'{more} more'] if more else [])])}"
    if link.comparison == "month":
        first, last = map(moment_said, (link.value, link.until))
        within = "is" if link.value % 1 else "is in"
        return f"{column.head} {within} {first}" if first == last else f"{column.head} {within} {first} to {last}"
    value, until = (_shown(number, column) for number in (link.value, link.until))
    if link.comparison == "within":
        return f"{column.head} is {value}" if value == until else f"{column.head} is from {value} to {until}"
    if column.kind == "date" and link.comparison in (">=", "<="):
        return f"{column.head} is from {value} on" if link.comparison == ">=" else f"{column.head} is until {until}"
    is_past = link.comparison == ">" and column.kind == "date"  # of a period its last day
    return f"{column.head} {_SIGNS[link.comparison]} {until if is_past else value}"


def moment_said(number: float) -> str:
    """A month of any year by its number, 1..12, with the day of it that stands in the decimals: "May", "14 May"."""
    day = round(number % 1 * 100)
    return f"{day} {month_name[int(number)]}" if day else month_name[int(number)]


def _ordered(conditions: Sequence[Link]) -> list[Link]:
    return sorted(conditions, key=lambda one: one.first)


def _shown(value: float, column: Column) -> str:
    if column.is_time:
        return time_shown(value)
    if column.kind == "date":
        return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
    return f"{value:g}"


def _figure(value: float, operation: str, column: Column | None) -> str:
    """A figure as its column writes them, with the unit."""
    if column is None or operation == grammar.DIFFERENT:
        return f"{value:.0f}"
    sample = [text for text in column.texts[:_SAMPLE] if text]
    found = [len(match[1]) for text in sample if (match := _DECIMALS.search(text)) and not _GROUPED.search(match[0])]
    own = max(found, default=0)
    text = f"{value:,.{own}f}" if operation not in _BETWEEN_CELLS else _between(value, own)
    if not any(map(_GROUPED.search, sample)):
        text = text.replace(",", "")
    if writes_decimal_comma(sample):
        text = text.translate(str.maketrans(",.", ".,"))
    before = bool(column.unit) and any(text.strip("(-").startswith(column.unit) for text in sample[:20])
    return f"{column.unit}{text}" if before else f"{text} {column.unit}".rstrip()


def _between(value: float, own: int) -> str:
    """A figure that may lie between those of a column of so many decimals: with one more where that has less than two,
    and with two where it is small, "1.27 goals", or these say it whole; no zeros at the end that say nothing."""
    is_whole = round(value, 2) == value
    decimals = max(own, 2 if own or is_whole or abs(value) < _SMALL else 1)
    whole, _, tail = f"{value:,.{decimals}f}".partition(".")
    return f"{whole}.{tail[:own]}{tail[own:].rstrip('0')}".removesuffix(".")


def _joined(texts: Sequence[str]) -> str:
    """Texts as a list in a sentence."""
    return ", ".join(texts[:-1]) + " and " + texts[-1] if len(texts) > 1 else "".join(texts)
