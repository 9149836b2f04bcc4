"""What documents are called, for a person to look at: `python -m tests.benchmarks.cards [FILE ...]`.

Prints one JSON line with the card of each file, without files those of shared/data, and milliseconds a card.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path

from rag_core.errors import LecternError
from rag_core.reading import Reader, make_card
from rag_core.settings import ReadingSettings
from tests.benchmarks.measure import PROJECT, SHARED, emit


def main(names: list[str]) -> int:
    """Read, make and print."""
    data = SHARED / "data"
    usual = [*data.glob("filings/*.pdf"), *data.glob("documents/pdf/*.pdf"), *data.glob("spans/*.md")]
    files = [Path(name) for name in names] or sorted([*usual, *(PROJECT / "data" / "samples").glob("*.[pmt][dx]*")])
    cards: dict[str, object] = {}
    spent_s = 0.0
    with Reader(ReadingSettings()) as reader:
        for file in files:
            try:
                parsed = reader.read(file, file.name)
            except LecternError as error:
                cards[file.name] = str(error)
                continue
            began = time.perf_counter()
            cards[file.name] = asdict(make_card(parsed, [file.name]))
            spent_s += time.perf_counter() - began
    emit(benchmark="cards", ms_each=round(1000 * spent_s / max(len(cards), 1), 2), cards=cards)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
