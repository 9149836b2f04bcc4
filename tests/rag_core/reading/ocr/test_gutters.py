"""Lines across columns that stand near each other are cut between these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from rag_core.reading.ocr.base import Options
from rag_core.reading.ocr.gutters import split_at_gutters
from rag_core.reading.ocr.rapid import RapidRecogniser

FERRY = [
    "The ferry leaves the island at seven", "each morning and comes back at five", "in the afternoon with bread, post",
    "and whoever wants to stay for a day", "or more; bicycles travel free, and a", "car costs fourteen euros each way.",
]  # fmt: skip
TOWER = [
    "The lighthouse was built by masons", "from Denmark and had a lamp of oil", "until the keeper, Asta Riis, left it",
    "with nine goats for the mainland in", "a boat that was too small for them;", "today it holds a modest museum.",
]  # fmt: skip
LEFT, TOP, STEP, SIZE = 40, 30, 34, 22


def draw(
    columns: Sequence[Sequence[str]], gutter: int = 20, colours: tuple[str, str] = ("white", "black")
) -> Image.Image:
    """A picture with columns that end where their widest line does."""
    font = ImageFont.load_default(SIZE)
    picture = Image.new("RGB", (1000, 300), colours[0])
    drawing, left = ImageDraw.Draw(picture), float(LEFT)
    for column in columns:
        for row, text in enumerate(column):
            drawing.text((left, TOP + row * STEP), text, colours[1], font)
        left += max(font.getlength(text) for text in column) + gutter
    return picture


def across(picture: Image.Image, rows: int, slope: float = 0.0) -> list[NDArray[np.float32]]:
    """Lines over the whole width."""
    corners = np.array([[LEFT, TOP], [960, TOP], [960, TOP + 28], [LEFT, TOP + 28]], np.float32)
    tilt = np.array([[0, 0], [0, slope], [0, slope], [0, 0]], np.float32) * 920
    return [corners + np.array([0, row * STEP], np.float32) + tilt for row in range(rows)]


def pixels(picture: Image.Image) -> NDArray[np.uint8]:
    return np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])


@pytest.mark.parametrize("colours", [("white", "black"), ("navy", "white")])
def test_lines_over_two_columns_are_cut_between_them(colours: tuple[str, str]) -> None:
    picture = draw([FERRY, TOWER], colours=colours)
    found = split_at_gutters(pixels(picture), across(picture, 6))
    assert len(found) == 12
    edge = max(ImageFont.load_default(SIZE).getlength(text) for text in FERRY) + LEFT
    assert all(abs(one[1][0] - edge) < 12 for one in found[::2]) and all(
        abs(one[0][0] - edge - 20) < 12 for one in found[1::2]
    )


def test_words_gaps_are_no_gutter() -> None:
    picture = draw([[f"{left} {right}" for left, right in zip(FERRY, TOWER, strict=True)]])
    assert len(split_at_gutters(pixels(picture), across(picture, 6))) == 6


def test_too_few_rows_make_no_columns() -> None:
    picture = draw([FERRY[:3], TOWER[:3]])
    assert len(split_at_gutters(pixels(picture), across(picture, 3))) == 3


def test_a_title_above_columns_stays_whole() -> None:
    picture = draw([["", *FERRY], ["", *TOWER]])
    ImageDraw.Draw(picture).text(
        (LEFT, TOP),
        "News from the island, its ferry and its lighthouse in the north",
        "black",
        ImageFont.load_default(26),
    )
    found = split_at_gutters(pixels(picture), across(picture, 7))
    assert len(found) == 13 and found[0][1][0] == 960


def test_two_columns_that_almost_touch_are_read_one_after_the_other() -> None:
    lines = [line.text for line in RapidRecogniser(Options("rapidocr", "", 1)).lines(draw([FERRY, TOWER], gutter=18))]
    assert not any("seven" in text and "masons" in text for text in lines)
    assert any("Asta" in text and "afternoon" not in text for text in lines)


def test_a_picture_without_lines_has_none() -> None:
    assert split_at_gutters(np.full((50, 50, 3), 255, np.uint8), []) == []
