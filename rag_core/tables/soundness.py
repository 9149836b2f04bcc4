"""Which plans cannot be meant, whatever weights say: what goes by the other end, adds up what is no amount, or tells
what was said already."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from rag_core.tables import plans as grammar
from rag_core.tables.balances import is_of_one, is_price, may_be_ranks
from rag_core.tables.joins import JoinedTable
from rag_core.tables.periods import PeriodTable
from rag_core.tables.plans import Plan
from rag_core.tables.weights import operation_words

if TYPE_CHECKING:
    from rag_core.tables.scene import Scene

WORDS_OF_ENDS = {"high": {"highest", "largest", "most"}, "low": {"lowest", "least"}}
ENDS_OF = {
    **dict.fromkeys((grammar.LARGEST, grammar.ROW_LARGEST, grammar.GROUP_LARGEST, grammar.GROUP_HIGH), "high"),
    **dict.fromkeys((grammar.SMALLEST, grammar.ROW_SMALLEST, grammar.GROUP_SMALLEST, grammar.GROUP_LOW), "low"),
}  # fmt: skip
"""The end that operations go for."""
FURTHEST = (grammar.LARGEST, grammar.SMALLEST)
AMOUNTS = ("how much", "how many")
_OF_ENDS = (
    *grammar.FURTHEST_ROWS, grammar.FIRST, grammar.LAST, grammar.COMMONEST, grammar.RAREST, grammar.BEHIND,
    grammar.BEFORE,
)  # fmt: skip
_MUCH = frozenset(("much", "viel"))
_OF_THINGS = ("what", "which", "who", "where", "when")
_OF_TIME = (grammar.FIRST, grammar.LAST)
_OF_SIZE = frozenset(("largest", "lowest"))  # days are neither
# Names of rows, and what says that one row stands before another.
_NUMBERS = frozenset(("number", "no", "nr", "id", "code", "nummer", "numéro", "número", "rank", "ranking", "ranked",
                      "place", "position", "pos", "rang", "platz", "puesto"))  # fmt: skip


def is_other_end(scene: Scene, plan: Plan) -> bool:
    """Whether it goes for the smallest where the largest is asked for, or the other way, by figures that are no ranks
    and no payments below zero; or by a day where the largest is asked for; or by a figure that is not named where the
    first or the last is asked for and there are dates."""
    end = ENDS_OF.get(plan.operation)
    said = {one for place in scene.ends for one, some in WORDS_OF_ENDS.items() if some & {*scene.words.english[place]}}
    place = plan.by if plan.by >= 0 else plan.target
    if end is None or place in scene.outflows:
        return False
    column = scene.table.columns[place]
    if column.kind == "date" and plan.operation in grammar.FURTHEST_ROWS and scene.ends:
        return _OF_SIZE.issuperset(chain.from_iterable(scene.words.english[one] for one in scene.ends))
    if scene.ends and not said and column.kind == "number" and any(one.kind == "date" for one in scene.table.columns):
        return not scene.named[place]
    return len(said) == 1 and end not in said and column.kind == "number" and not may_be_ranks(column)


def is_unasked_end(scene: Scene, plan: Plan) -> bool:
    """Whether it tells one end of some rows where no word asks for an end: "Which cost less than 400?" and "Who worked
    on the tunnel?" ask for all; or goes by the order of rows that have several days, one of which is named."""
    if plan.operation in _OF_TIME:
        dates = grammar.dates_of(plan, scene.table)
        if len(dates) > 1 and any(scene.named[place] for place in dates):
            return True
    ends = (*ENDS_OF, *_OF_TIME, grammar.LARGEST_BY, grammar.SMALLEST_BY, grammar.COMMONEST, grammar.RAREST)
    return plan.operation in ends and not scene.ends and not operation_words(scene.words, *ends)


def is_unasked_figure(scene: Scene, plan: Plan) -> bool:
    """Whether it tells one who asks what or which, and not how much, a count, or a sum or mean of a column that is not
    named and has no payments below zero: "What renews in January?" asks for no sum of costs."""
    if scene.asks not in _OF_THINGS or operation_words(scene.words, plan.operation):
        return False
    if plan.operation in grammar.ADDED_UP and plan.target >= 0:
        is_measured = any(plan.target in columns for columns in scene.measured.values())
        is_account = bool((scene.table.columns[plan.target].values < 0).any())
        return not (scene.named[plan.target] or is_measured or scene.paid or is_account)
    return plan.operation == grammar.COUNT


def tells_no_day(scene: Scene, plan: Plan) -> bool:
    """Whether it tells something else where a day is asked for that the table has."""
    columns = scene.table.columns
    is_told = plan.target >= 0 and columns[plan.target].kind == "text"
    return is_told and scene.asks == "when" and any(column.kind == "date" for column in columns)


def tells_a_condition(scene: Scene, plan: Plan) -> bool:
    """Whether it tells yes or no to one who asks which: "Which waterproof phones" are those that are."""
    is_told = plan.target >= 0 and scene.table.columns[plan.target].is_yes_or_no
    return is_told and scene.asks in ("which", "who") and not scene.ends


def tells_no_number(scene: Scene, plan: Plan) -> bool:
    """Whether it tells one who asks "How much?" or "How many?" no figure, or counts rows where a column has the figures
    that are asked for, "How many hours?", or at all where it is "much"."""
    is_much = scene.asks == "how much" and not _MUCH.isdisjoint(scene.words.plain)  # "combien" is "how many" too
    if plan.operation == grammar.COUNT and (scene.figures_asked or is_much):
        return True
    if is_much and plan.operation in (grammar.COUNT_BY, grammar.DIFFERENT):
        return True
    if is_much and plan.operation == grammar.LOOK_UP and scene.table.columns[plan.target].has_names:
        return True
    if scene.asks not in AMOUNTS or plan.operation not in (*_OF_ENDS, *FURTHEST) or plan.target < 0:
        return False
    if plan.operation in FURTHEST:
        return not (scene.ends or operation_words(scene.words, plan.operation))
    is_said = bool(scene.ends) or plan.operation not in grammar.FURTHEST_ROWS
    return not is_said or scene.table.columns[plan.target].kind != "number"


def tells_nobody(scene: Scene, plan: Plan) -> bool:
    """Whether what is told to one who asks "Who?" of a table of names is a code, unless its column is named and says
    one thing of several rows, "Customer 7", a figure or a day, or, where a column has people, none of them."""
    columns = scene.table.columns
    place = plan.by if plan.operation in grammar.GROUPED else plan.target
    if place < 0 or not any(column.has_names for column in columns):
        return False
    column = columns[place]
    is_no_name = column.kind != "text" or column.is_yes_or_no
    if is_no_name and scene.words.english[0] == ["who"]:
        return True
    is_named = bool(scene.named[place]) and not column.is_key
    if not (is_named or column.has_people) and any(one.has_people for one in columns):
        return True
    return column.kind == "text" and not (column.has_names or is_named)


def is_other_payment(scene: Scene, plan: Plan) -> bool:
    """Whether what it computes is neither what was paid nor a column that is named, a balance beside it."""
    if plan.operation == grammar.DIFFERENCE and not operation_words(scene.words, plan.operation):
        return True  # of two payments that a month has
    is_of_figures = plan.operation in (*grammar.OF_FIGURES, *grammar.GROUPED) and plan.target >= 0
    return is_of_figures and plan.target not in scene.outflows and not scene.named[plan.target]


def is_of_a_side(scene: Scene, plan: Plan) -> bool:
    """Whether it goes by which row stands behind another where "after" says which rows are meant: "after 9:00"."""
    if plan.operation not in (grammar.BEHIND, grammar.BEFORE):
        return False
    return any(link.comparison and scene.table.columns[link.column].is_time for link in scene.links)


def is_other_measure(scene: Scene, plan: Plan) -> bool:
    """Whether it goes by another column than what the question measures, "Beds" for the cheapest room, that it does not
    name; or tells one who asks "How tall?" of another."""
    asked = scene.measured.get(scene.behind, set()) if scene.asks == "how" else set()
    if asked:
        return plan.target not in asked
    columns = set().union(*(scene.measured.get(place, ()) for place in scene.ends))
    place = plan.by if plan.operation in grammar.FURTHEST_ROWS else plan.target
    return bool(columns) and plan.operation in ENDS_OF and place not in columns and not scene.named[place]


def is_no_money(scene: Scene, plan: Plan) -> bool:
    """Whether it computes or compares what is no money and is not named, where money is asked for and some figures
    are sure to be some."""
    if not scene.speaks_of_money or not any(column.is_money for column in scene.table.columns):
        return False
    of_figures = plan.operation in (*grammar.OF_FIGURES, *grammar.GROUPED)
    place = plan.target if of_figures else plan.by if plan.operation in grammar.FURTHEST_ROWS else -1
    return place >= 0 and not scene.table.columns[place].is_money and not scene.named[place]


def is_of_none(scene: Scene, plan: Plan) -> bool:
    """Whether what it adds up is said of one thing each, as a unit price is, or it goes by groups of which no name
    is told and whose column is not named."""
    if plan.operation in grammar.FURTHEST_GROUPS:
        by = scene.table.columns[plan.by]
        if not (scene.named[plan.by] or by.has_names):
            return True
    is_of_figures = plan.operation in (*grammar.ADDED_UP, *grammar.FURTHEST_GROUPS)
    if is_of_figures and isinstance(scene.table, PeriodTable) and plan.target == len(scene.table.others):
        return True  # a year is no amount
    if plan.target < 0:
        return False
    column = scene.table.columns[plan.target]
    if plan.operation in grammar.ADDED_UP and scene.asks_price and is_price(column):
        return not operation_words(scene.words, plan.operation)
    if plan.operation not in grammar.SUMMED or not is_of_one(column):
        return False
    return not (scene.named[plan.target] and operation_words(scene.words, grammar.SUM))


def is_no_row(scene: Scene, plan: Plan) -> bool:
    """Whether it tells something else of rows to one who asks which they are, "Which company ...?" of companies, where
    these have codes and names, and it is not named."""
    is_asked = scene.asks == "which" and scene.behind >= 0 and scene.words.stems[scene.behind] in scene.called
    is_told = plan.operation == grammar.LOOK_UP or plan.operation in (*_OF_TIME, *grammar.FURTHEST_ROWS)
    return (
        is_asked and is_told and bool(scene.labels) and plan.target not in scene.labels and not scene.named[plan.target]
    )


def is_of_one_row(scene: Scene, plan: Plan) -> bool:
    """Whether it tells whose single payment is the furthest where who spent most is asked: of what several rows are,
    all they come to is meant."""
    is_asked = bool(scene.paid) and scene.says(("most", "least"))
    return is_asked and plan.operation in grammar.FURTHEST_ROWS and grammar.has_groups(scene.table.columns[plan.target])


def tells_nothing(scene: Scene, plan: Plan) -> bool:
    """Whether it finds what was said already, the only cell of a column that its rows have, or goes by the size of
    numbers that name or count rows, where these are not asked for: the largest order is of no number."""
    same = [one for one in plan.conditions if one.column == plan.target and not one.comparison]
    is_same = len(same) == 1 and len(same[0].codes) == 1 and not same[0].is_negated
    if is_same and plan.operation not in (grammar.BEHIND, grammar.BEFORE):
        return True
    if plan.target in scene.row_names and scene.asks in ("how many", "how much"):
        return True
    if plan.operation == grammar.DIFFERENT and plan.target in scene.keys and not scene.says(("different",)):
        return True  # so many are the rows
    by_size = [plan.by] if plan.operation in grammar.FURTHEST_ROWS else []
    by_size += [plan.target] if plan.operation in (*grammar.OF_FIGURES, *grammar.GROUPED) else []
    is_asked = scene.says(_NUMBERS)
    called = scene.row_names | scene.numbering
    return any(place in called and not (is_asked and scene.named[place]) for place in by_size)


def adds_up_again(scene: Scene, plan: Plan) -> bool:
    """Whether what one row of another table says is added up for each row that is joined with it."""
    if not isinstance(scene.table, JoinedTable) or plan.operation not in (*grammar.ADDED_UP, *grammar.SUMMED):
        return False
    known = scene.table.matches[scene.table.matches >= 0]
    return plan.target >= scene.table.own and len(np.unique(known)) < len(known)
