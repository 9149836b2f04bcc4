"""A sheet looked at as a table: sorted, narrowed, some rows at a time; a row opens where it stands."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, add_sheet, idle

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
PORTS = ("Riga", "Turku", "<img src=x onerror=alert(1)> :red[Gdynia] **b**")
ROWS = [[f"P-{100 + row}", PORTS[row % 3], f"{row * 7 % 120}.50", f"2023-0{1 + row % 9}-12"] for row in range(120)]


@pytest.fixture
def parcels(open_page: Open, server: Server) -> str:
    """The address of a sheet's page."""
    if not server.filled:
        open_page()  # once the library is open
        add_sheet(server, "parcels.csv", "Parcel,Port,Weight,Sent", ROWS)
        server.filled = True
    with urllib.request.urlopen(f"{server.url}/api/v1/documents") as found:
        (document,) = json.load(found)["documents"]
    return f"?d={document['id']}"


@pytest.mark.parametrize(("width", "dark"), [(1280, False), pytest.param(390, True, marks=pytest.mark.slow)])
def test_rows_are_sorted_narrowed_and_turned_over_and_one_opens(
    open_page: Open, parcels: str, width: int, dark: bool
) -> None:
    page = open_page(parcels, width=width, height=844, dark=dark)
    grid, rows, words = page.locator(".grid"), page.locator(".grid tbody tr"), page.locator(".grid .words")
    expect(rows).to_have_count(50)
    expect(words).to_have_text("1–50 of 120 rows")
    heads = grid.locator("th")
    expect(heads.nth(1)).to_contain_text("3 different")
    expect(heads.nth(2)).to_contain_text("0.50 to 119.50")
    expect(heads.nth(2)).to_contain_text("mean 60")
    expect(heads.nth(3)).to_contain_text("2023-01-12 to 2023-09-12")
    expect(rows.nth(2)).to_contain_text(PORTS[2])  # as text
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    weight = grid.get_by_role("button", name="Weight")
    for order, first in (("ascending", "0.50"), ("descending", "119.50")):
        weight.click()
        expect(heads.nth(2)).to_have_attribute("aria-sort", order)
        expect(rows.first.locator("td").nth(2)).to_have_text(first)
    expect(weight).to_be_focused()
    grid.get_by_role("button", name="Rows after").click()
    expect(words).to_have_text("51–100 of 120 rows")
    idle(page)
    page.get_by_placeholder("Rows that contain").fill("turku")
    page.keyboard.press("Enter")
    expect(words).to_have_text("1–40 of 40 rows, of 120 in all")
    expect(rows.first).to_contain_text("Turku")
    name = rows.nth(3).locator(".open")
    expected = str(name.text_content())
    name.click()
    expect(page.locator(".passage mark").first).to_have_text(expected)
    expect(words).to_have_text("1–40 of 40 rows, of 120 in all")
    idle(page)
    page.get_by_placeholder("Rows that contain").fill("nowhere")
    page.keyboard.press("Enter")
    expect(words).to_have_text("No row of 120 contains that.")


def test_how_a_table_is_read_is_set_right_and_taken_back(open_page: Open, server: Server) -> None:
    open_page()
    add_sheet(server, "ledger.csv", "Harbour,Ledger,Draft", [["Parcel", "Port", "Weight"], *(row[:3] for row in ROWS)])
    with urllib.request.urlopen(f"{server.url}/api/v1/documents") as found:
        ledger = next(one for one in json.load(found)["documents"] if "ledger.csv" in one["sources"])
    page = open_page(f"?d={ledger['id']}")
    heads = page.locator(".grid th")
    expect(heads.nth(0)).to_contain_text("Harbour")
    page.get_by_role("button", name="Correct").click()
    page.get_by_label("Head row").click()
    page.get_by_role("option", name="2: Parcel").click()
    expect(heads.nth(0)).to_contain_text("Parcel")
    idle(page)
    if not page.get_by_label("It holds").is_visible():
        page.get_by_role("button", name="Correct").click()
    page.get_by_label("It holds").click()
    page.get_by_role("option", name="One of a few").click()
    expect(heads.nth(0)).to_contain_text("Choice")
    idle(page)
    if not page.get_by_role("button", name="As read").is_visible():
        page.get_by_role("button", name="Correct").click()
    page.get_by_role("button", name="As read").click()
    expect(heads.nth(0)).to_contain_text("Harbour")
