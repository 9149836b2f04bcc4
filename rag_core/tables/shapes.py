"""What a table amid prose looks like: a list of things over which a question can go, or a statement that is read."""

from __future__ import annotations

import re

import numpy as np

from rag_core.tables.table import WholeTable

_FEWEST, _MOST_COLUMNS, _FILLED = 4, 40, 0.95
_PERIOD = re.compile(r"\b(?:19|20)\d\d\b|\b(?:[QH][1-4]|FY)\b")


def lists_things(table: WholeTable) -> bool:
    """Whether each row is a thing of a kind and each column has a head: what rows of pages are torn has none over
    some, or empty cells at their ends, and a statement has a column for each year."""
    heads = table.heads
    if len(table) < _FEWEST or len(heads) > _MOST_COLUMNS or not all(heads):
        return False
    if len(set(heads)) < len(heads) or sum(_PERIOD.search(head) is not None for head in heads) > 1:
        return False
    last = table.columns[-1]
    return last.blank < 0 or float(np.mean(last.codes != last.blank)) >= _FILLED
