"""Which of Gemini's models is proposed, by a rule over their names: Google renews and shuts them down every year."""

from __future__ import annotations

import re
from collections.abc import Iterable

# What a model is for besides writing text, or that it is not yet, or no longer, one to rely on.
_OTHER = re.compile(
    r"preview|exp|image|tts|audio|live|embed|vision|video|thinking|robot|computer|research|custom|dialog|transcri"
)
_NAMED = re.compile(r"gemini-(\d+(?:\.\d+)?)-?(.*)")
_KINDS = ("flash-lite", "flash", "nano", "", "pro")  # quick and cheap first; others after them


def writing(names: Iterable[str]) -> tuple[str, ...]:
    """Those of Gemini's models that write text and are meant to last, the one to propose first.

    Newer versions before older ones; of a version flash-lite before flash before what is slower; a name before the same
    with a build behind it.
    """
    plain = {name.removeprefix("models/") for name in names}
    return tuple(sorted((name for name in plain if name.startswith("gemini-") and not _OTHER.search(name)), key=_rank))


def _rank(name: str) -> tuple[float, int, int, str]:
    found = _NAMED.fullmatch(name)
    if found is None:  # "gemini-flash-latest": whatever that is now
        return 0.0, len(_KINDS), 0, name
    version, rest = found.groups()
    kind = re.sub(r"-(?:\d+|latest)$", "", rest)
    return -float(version), _KINDS.index(kind) if kind in _KINDS else len(_KINDS), len(name), name
