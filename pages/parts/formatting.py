"""Numbers and names as a person reads them."""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import quote

from pages.parts import language
from pages.parts.language import _, figure, ngettext
from rag_core.text.invisible import visible

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$])")


def plain(text: str) -> str:
    """Text for a label that Streamlit reads as Markdown: every mark escaped, so that nothing is followed or loaded."""
    one_line = " ".join(visible(text).split())
    # A word joiner after a colon keeps `:red[`, `:material/..:` and `https:` from being understood.
    return _MARKS.sub(r"\\\1", one_line).replace(":", ":\u2060")


def link(address: str) -> str:
    """A link to an address of the web that shows it whole; plain where it is none."""
    if not address.startswith(("http://", "https://")):
        return plain(address)
    return f"[{plain(address)}](<{quote(address, safe=':/?#@!$&*+,;=%-._~[]')}>)"


def count(number: int, one: str, many: str = "") -> str:
    """`1 page`, `12 pages`, in the language that is read; each pair of words is a text of the catalogues."""
    return ngettext(f"{{number}} {one}", f"{{number}} {many or one + 's'}", number)


def page(number: int, label: str = "") -> str:
    """`p. 12`: as the document calls its page where it has a label (`p. ix`), else by its place. The label of a
    recording's minute is the time: `2:00`."""
    return label if ":" in label else _("p. {page}").format(page=label or number)


def size(size_bytes: int) -> str:
    """`812 B`, `34 KB`, `1.2 MB`."""
    value = float(size_bytes)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{figure(value, '.1f' if value < 10 and unit != 'B' else '.0f')} {unit}"


def duration(seconds: float) -> str:
    """`less than a second`, `about 40 s`, `about 3 min`, `about 2.5 h`."""
    if seconds < 1:
        return _("less than a second")
    if seconds < 100:
        return _("about {time}").format(time=f"{seconds:.0f} s")
    minutes, hours = f"{seconds / 60:.0f} min", f"{figure(seconds / 3600, '.1f')} h"
    return _("about {time}").format(time=minutes if seconds < 90 * 60 else hours)


def left(seconds: float) -> str:
    """`about 3 min left`."""
    return _("{time} left").format(time=duration(seconds))


def day(moment: datetime | None, now: datetime | None = None) -> str:
    """`today 14:05`, `3 Nov` or `3 Nov 2025`, in this machine's time zone."""
    if moment is None:
        return ""
    local = moment.astimezone()
    today = (now or datetime.now().astimezone()).astimezone()
    if local.date() == today.date():
        return _("today {time}").format(time=f"{local:%H:%M}")
    if language.current() != language.SOURCE:
        return date_in(local, "MMMd" if local.year == today.year else "yMMMd")
    return f"{local.day} {local:%b}" if local.year == today.year else f"{local.day} {local:%b %Y}"


def month(moment: datetime, *, with_year: bool) -> str:
    """`November`, `November 2025`."""
    if language.current() != language.SOURCE:
        return date_in(moment, "yMMMM" if with_year else "MMMM")
    return f"{moment:%B %Y}" if with_year else f"{moment:%B}"


def date_in(moment: datetime, parts: str) -> str:
    """A date with these parts (Unicode's skeletons, UTS 35) as the language that is read has it."""
    from babel.dates import format_date, format_skeleton

    if parts == "MMMM":  # which no skeleton is for, alone
        return format_date(moment, "LLLL", locale=language.current())
    return format_skeleton(parts, moment, locale=language.current())


def shorten(text: str, length: int) -> str:
    """At most `length` characters on one line, cut at a word where there is one."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    head, _, _ = line[:length].rpartition(" ")
    return (head if len(head) > length // 2 else cut) + "…"
