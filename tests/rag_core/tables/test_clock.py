"""Times of the day in cells and in questions."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.tables.clock import time_shown, times_in, times_said


@pytest.mark.parametrize(
    ("text", "shown"),
    [("06:30", "06:30"), ("7h15", "07:15"), ("12:05 am", "00:05"), ("5:40 p.m.", "17:40"), ("24:00", "24:00"),
     ("06:30:20", "06:30:20"), ("25:00", None), ("10:61", None), ("13:00 pm", None), ("6.30", None), ("", None)],
)  # fmt: skip
def test_a_cell_is_a_time_of_the_day(text: str, shown: str | None) -> None:
    (time,) = times_in([text])
    assert (None if np.isnan(time) else time_shown(time)) == shown


def test_what_something_took_is_compared_in_the_same_way() -> None:
    first, second = times_in(["1:53.97", "1:54.01"])
    assert first < times_in(["1:54"])[0] < second


def test_times_are_found_in_questions() -> None:
    question = "Who came after 9, at 5 pm, um 10.30 Uhr or before noon, in 7.5 hours, for 12.50 or 3 days?"
    found = [(question[start:end], time_shown(time)) for start, end, time in times_said(question)]
    assert sorted(found) == [("10.30 Uhr", "10:30"), ("5 pm", "17:00"), ("9", "09:00"), ("noon", "12:00")]
