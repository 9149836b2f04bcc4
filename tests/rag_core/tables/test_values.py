"""Cells as numbers and dates, as whole columns write them."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from rag_core.tables.values import date_in, dates_in, moment_in, number_in, numbers_in, writes_decimal_comma


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,355", (1355.0, "")),
        ("$ 12.50", (12.5, "$")),
        ("(230)", (-230.0, "")),
        ("−4.5 %", (-4.5, "%")),
        ("1 204 km", (1204.0, "km")),
        ("7'300", (7300.0, "")),
        ("12 crowns", (12.0, "crowns")),
        (".5", (0.5, "")),
        ("1.5e3", (1500.0, "")),
        ("-2E-1", (-0.2, "")),
        ("1e309", None),
        ("9" * 400, None),
        ("1_000", None),
        ("-0", (0.0, "")),
        ("١٢٣", (123.0, "")),
        ("NaN", None),
        ("inf", None),
        ("A-12", None),
        ("1.2.3", None),
        ("(12", None),
        ("twelve", None),
        ("", None),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, value: tuple[float, str] | None) -> None:
    assert number_in(text) == value


def test_a_column_says_what_its_commas_are() -> None:
    assert writes_decimal_comma(["12,50", "1.204,10", "300"])
    assert writes_decimal_comma(["3740,00", "-12040,5"])  # no thousands are told apart
    assert not writes_decimal_comma(["1,204", "12,300"])
    assert not writes_decimal_comma(["1,204.50", "12,5"])
    assert numbers_in(["3740,00", "1204,50"])[0].tolist() == [3740.0, 1204.5]
    values, unit = numbers_in(["3.456,78 €", "-45,90 €", "none"])
    assert values[:2].tolist() == [3456.78, -45.9]
    assert np.isnan(values[2])
    assert unit == "€"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-03-05", date(2024, 3, 5)),
        ("2024-03-05T10:15:00", date(2024, 3, 5)),
        ("05.03.2024", date(2024, 3, 5)),
        ("5 March 2024", date(2024, 3, 5)),
        ("March 5, 2024", date(2024, 3, 5)),
        ("5. März 2024", date(2024, 3, 5)),
        ("Tue, 5 Mar 2024", date(2024, 3, 5)),
        ("2024-02-31", None),
        ("31.02.2024", None),
        ("0000-00-00", None),
        ("March", None),
        ("12", None),
        ("open", None),
    ],
)
def test_a_day_is_read_in_any_form(text: str, day: date | None) -> None:
    assert date_in(text) == day


def test_a_column_says_whether_its_dates_begin_with_the_month() -> None:
    first, second = dates_in(["03/05/2024", "03/25/2024"])
    assert second - first == 20
    first, second = dates_in(["03/05/2024", "25/05/2024"])
    assert second - first == 22


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-05", (2024, 3, 5)),
        ("2024-03", (2024, 3, 0)),
        ("Mar 2024", (2024, 3, 0)),
        ("Dezember", (0, 12, 0)),
        ("2024", (2024, 0, 0)),
        ("2024-13", None),
        ("Oslo", None),
        ("Oslo 2024", None),
        ("12", None),
    ],
)
def test_a_month_or_a_year_has_its_place_in_time(text: str, moment: tuple[int, int, int] | None) -> None:
    assert moment_in(text) == moment


def test_a_month_is_its_first_day_where_a_column_has_months_and_no_seasons() -> None:
    days = dates_in(["2023-01", "February 2023", ""])
    assert days[:2].tolist() == [(date(2023, month, 1) - date(1970, 1, 1)).days for month in (1, 2)]
    assert np.isnan(days[2])
    assert np.isnan(dates_in(["2009-10", "2010-11", "2011-12"])).all()
    assert np.isnan(dates_in(["2023", "May"])).all()
