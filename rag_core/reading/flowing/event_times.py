"""When something is, in words: days, times with their zone, spans, and how it comes again (RFC 5545, 3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta

from rag_core.reading.flowing.content_lines import ContentLine

_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d)(?::?\d\d)?(?:\.\d+)?(Z)?)?", re.IGNORECASE)
_SPAN = re.compile(r"\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?")
_UNITS = {
    "SECONDLY": "second", "MINUTELY": "minute", "HOURLY": "hour", "DAILY": "day", "WEEKLY": "week",
    "MONTHLY": "month", "YEARLY": "year",
}  # fmt: skip
_DAYS = {
    "MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
    "SU": "Sunday",
}  # fmt: skip
_DAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_WHICH = {1: "first ", 2: "second ", 3: "third ", 4: "fourth ", 5: "fifth ", -1: "last ", -2: "second last "}


def when(start: ContentLine | None, end: ContentLine | None, lasts: str) -> str:
    """From when until when, on one line. lasts: how long, where no end is given; of days the end is the one behind."""
    if start is None:
        return moment(end) if end else ""
    first, last = _read(start), _read(end) if end else None
    if first is None:
        return start.text
    with suppress(OverflowError):
        last = _after(first, lasts) if last is None else last
        if not isinstance(first, datetime):
            last = (last or first + timedelta(days=1)) - timedelta(days=1)
            until = f" to {_day(last)}" if last > first else ""
            return f"{_day(first)}{until}, all day"
    if not isinstance(first, datetime) or not isinstance(last, datetime) or last == first:
        return moment(start)
    zones = [_zone(start), _zone(end or start)]
    until = f"{last:%H:%M}" if last.date() == first.date() else f"{_day(last)}, {last:%H:%M}"
    return f"{_day(first)}, {first:%H:%M}{zones[0] if zones[0] != zones[1] else ''} to {until}{zones[1]}"


def moment(line: ContentLine) -> str:
    """A day, or a day with its time and zone; as it is written where it makes no sense."""
    found = _read(line)
    if found is None:
        return line.text
    return f"{_day(found)}, {found:%H:%M}{_zone(line)}" if isinstance(found, datetime) else _day(found)


def moments(lines: list[ContentLine]) -> str:
    """Several of them."""
    return "; ".join(moment(ContentLine(line.parameters, part)) for line in lines for part in line.parts(","))


def repeats(rule: str) -> str:
    """How something comes again, in words: nothing is counted out. What has no words here stands as it is written."""
    parts = dict(part.split("=", 1) for part in rule.upper().split(";") if "=" in part)
    unit = _UNITS.get(parts.pop("FREQ", ""), "")
    if not unit:
        return rule
    every = parts.pop("INTERVAL", "1")
    return f"every {unit if every == '1' else f'{every} {unit}s'}{''.join(_limits(parts))}"


def _limits(parts: dict[str, str]) -> Iterator[str]:
    parts.pop("WKST", None)
    count, until = parts.pop("COUNT", ""), parts.pop("UNTIL", "")
    if days := parts.pop("BYDAY", ""):
        yield f" on {_together(map(_weekday, days.split(',')))}"
    if days := parts.pop("BYMONTHDAY", ""):
        yield f" on day {_together(days.split(','))}"
    if months := parts.pop("BYMONTH", ""):
        yield f" in {_together(map(_month, months.split(',')))}"
    yield from (f", {name}={value}" for name, value in parts.items())
    if count:
        yield f", {count} times"
    if until:
        yield f", until {moment(ContentLine({}, until))}"


def _weekday(written: str) -> str:
    found = _DAY.fullmatch(written.strip())
    if not found:
        return written
    which = int(found[1] or 0)
    return ("the " + _WHICH.get(which, f"{which}. ") if which else "") + _DAYS[found[2]]


def _month(written: str) -> str:
    return f"{date(2000, int(written), 1):%B}" if written in map(str, range(1, 13)) else written


def _together(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _after(first: date, lasts: str) -> date | None:
    if not (found := _SPAN.fullmatch(lasts.strip().upper())):
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return first + timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)


def _read(line: ContentLine) -> date | None:
    if found := _MOMENT.fullmatch(line.text):
        year, month, day, hour, minute = (int(part or 0) for part in found.groups()[:5])
        with suppress(ValueError):
            return datetime(year, month, day, hour, minute) if found[4] else date(year, month, day)
    return None


def _day(moment: date) -> str:
    return f"{moment:%A} {moment.day} {moment:%B} {moment.year}"


def _zone(line: ContentLine) -> str:
    zone = "UTC" if line.text[-1:] in "Zz" else line.parameters.get("TZID", "")
    return f" ({zone})" if zone else ""
