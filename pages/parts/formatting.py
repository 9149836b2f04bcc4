"""Numbers and names as a person reads them."""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import quote

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
    """`1 page`, `12 pages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(size_bytes: int) -> str:
    """`812 B`, `34 KB`, `1.2 MB`."""
    value = float(size_bytes)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.1f} {unit}" if value < 10 and unit != "B" else f"{value:.0f} {unit}"


def duration(seconds: float) -> str:
    """`less than a second`, `about 40 s`, `about 3 min`, `about 2.5 h`."""
    if seconds < 1:
        return "less than a second"
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 90 * 60 else f"about {seconds / 3600:.1f} h"


def day(moment: datetime | None, now: datetime | None = None) -> str:
    """`today 14:05`, `3 Nov` or `3 Nov 2025`, in this machine's time zone."""
    if moment is None:
        return ""
    local = moment.astimezone()
    today = (now or datetime.now().astimezone()).astimezone()
    if local.date() == today.date():
        return f"today {local:%H:%M}"
    return f"{local.day} {local:%b}" if local.year == today.year else f"{local.day} {local:%b %Y}"


def shorten(text: str, length: int) -> str:
    """At most `length` characters on one line, cut at a word where there is one."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    head, _, _ = line[:length].rpartition(" ")
    return (head if len(head) > length // 2 else cut) + "…"
