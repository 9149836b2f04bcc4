"""Times of the day in cells and in questions, as the part of a day that has passed by then: 06:00 is 0.25.

What something took, "1:54.01", is written and compared in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_CELL = re.compile(
    r"(?P<hour>\d{1,2})[:h](?P<minute>\d\d(?:\.\d+)?)(?::(?P<second>\d\d)(?:\.\d+)?)?(?:\s?(?P<half>[ap])\.?m\.?)?",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"(?<![\w.,:])(?P<hour>\d{1,2})(?:[:h](?P<minute>\d\d(?:\.\d+)?)(?P<second>:\d\d)?|(?P<point>\.\d\d))?"
    r"(?P<behind>\s?(?P<half>[ap])\.?m\b\.?|\s?(?:uhr|heures?|o['’]?clock|h)\b)?(?![\w:]|[.,]\d)",
    re.IGNORECASE,
)
_BEFORE_BARE = re.compile(
    r"\b(?:before|after|until|till|since|by|at|vor|nach|bis|um|ab|seit|avant|après|à|dès|las)\s+$",
    re.IGNORECASE,
)
_NAMES = {
    **dict.fromkeys(("noon", "midday", "mittag", "midi", "mediodía"), 0.5),
    **dict.fromkeys(("midnight", "mitternacht", "minuit", "medianoche"), 1.0),
}
_NAMED = re.compile(rf"\b(?:{'|'.join(_NAMES)})\b", re.IGNORECASE)
_DAY, _HOUR, _MINUTE, _NOON = 86_400, 3_600, 60, 12


def times_in(texts: Sequence[str]) -> NDArray[np.float64]:
    """Each text of a column as a time of the day, 0..1, float64 (texts,), NaN for what is none."""
    found = (_CELL.fullmatch(text.strip()) for text in texts)
    return np.array([np.nan if match is None else _part_of_day(match) for match in found], dtype=np.float64)


def times_said(text: str) -> Iterator[tuple[int, int, float]]:
    """The times of the day that a question names, with the characters from and to which: "17:40", "5 pm", "9 Uhr".

    A bare number is one behind a word like "after"."""
    for match in _NAMED.finditer(text):
        yield match.start(), match.end(), _NAMES[match[0].casefold()]
    for match in _SAID.finditer(text):
        is_bare = match["hour"] == match[0].strip()
        if is_bare and not _BEFORE_BARE.search(text[: match.start()]):
            continue
        if match["point"] and not match["behind"]:  # "12.50" is a figure
            continue
        time = _part_of_day(match)
        if not np.isnan(time):
            yield match.start(), match.start() + len(match[0].rstrip()), time


def time_shown(time: float) -> str:
    """A time of the day as text: "17:40"."""
    seconds = round(time * _DAY)
    hour, minute, second = seconds // _HOUR, seconds % _HOUR // _MINUTE, seconds % _MINUTE
    return f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")


def _minute(match: re.Match[str]) -> str:
    return match["minute"] or (match.groupdict().get("point") or "").strip(".") or "0"


def _part_of_day(match: re.Match[str]) -> float:
    """NaN where there is no such time."""
    hour, minute, second = int(match["hour"]), float(_minute(match)), int((match["second"] or "0").strip(":"))
    if half := (match["half"] or "").casefold():
        if not 1 <= hour <= _NOON:
            return np.nan
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    seconds = hour * _HOUR + minute * _MINUTE + second
    return seconds / _DAY if minute < _MINUTE and second < _MINUTE and seconds <= _DAY else np.nan
