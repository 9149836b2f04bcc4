"""What a whole table answered, below the answer: rows that open in their sheet, conditions that are changed, CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, add_sheet, ask, send

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
QUESTION = "How many parcels are in the port Riga?"
ROWS = [
    [f"P-{100 + row}", ("Riga", "Turku", "Gdynia")[row % 3], f"{10 + row}.50", f"2023-0{1 + row % 9}-12"]
    for row in range(90)
]


@pytest.fixture(autouse=True)
def parcels(open_page: Open, server: Server) -> None:
    """Every test here asks a sheet."""
    if not server.filled:
        open_page()  # once the library is open
        add_sheet(server, "parcels.csv", "Parcel,Port,Weight,Sent", ROWS)
        asked = json.dumps({"question": QUESTION, "keep": False}).encode()  # loads what the first answer needs
        send(server, "/api/v1/ask", asked, "application/json")
        server.filled = True


def whole(page: Page, place: int = 0) -> Locator:
    return page.locator(".exchange").nth(place).locator(".whole")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), pytest.param(390, True, marks=pytest.mark.slow)])
def test_rows_are_folded_below_and_one_opens_in_its_sheet_by_keys(open_page: Open, width: int, dark: bool) -> None:
    page = open_page("chat", width=width, height=844, dark=dark)
    ask(page, QUESTION)
    expect(page.locator(".exchange .body")).to_contain_text("30 parcels are in the port Riga.")
    expect(page.locator(".exchange .body .cite")).to_have_count(2)
    rows = whole(page).locator("tr[data-row]")
    expect(whole(page).get_by_label("Conditions")).to_contain_text("Port is “Riga”")
    expect(rows.first).to_be_hidden()
    whole(page).locator("summary").focus()
    page.keyboard.press("Enter")
    expect(rows).to_have_count(20)
    expect(whole(page)).to_contain_text("and 10 more rows")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rows.nth(4).get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".passage mark").first).to_have_text("P-112")
    expect(page.locator(".passage h2")).to_be_focused()
    expect(rows.nth(4)).to_have_attribute("aria-current", "")
    page.get_by_role("button", name="Close").last.click()
    expect(rows.nth(4).get_by_role("button")).to_be_focused()


def test_a_condition_is_changed_and_left_out_as_messages_of_their_own(open_page: Open) -> None:
    page = open_page("chat")
    ask(page, QUESTION)
    whole(page).get_by_role("button", name="Port is “Riga”", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").fill("Tur")
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Ask again").click()
    expect(page.locator(".question").nth(1)).to_have_text(f"{QUESTION} · Port: Turku")
    expect(page.locator(".exchange").nth(1).locator(".body")).to_contain_text("30 rows where Port is “Turku”.")
    whole(page, 1).get_by_role("button", name="Ask again without: Port is “Turku”").click()
    expect(page.locator(".question").nth(2)).to_have_text(f"{QUESTION} · any Port")
    expect(page.locator(".exchange").nth(2).locator(".body")).to_contain_text("90 rows.")
    page.reload()
    expect(page.locator(".exchange")).to_have_count(3)


@pytest.mark.slow
def test_all_rows_are_downloaded_and_a_sum_says_its_formula(open_page: Open, tmp_path: Path) -> None:
    page = open_page("chat")
    ask(page, "What is the total weight of the port Riga?")
    whole(page).locator("summary").click()
    expect(whole(page).locator(".meaning")).to_have_text("1620.00 = sum of 30 cells of Weight")
    whole(page).get_by_role("button", name="All rows as CSV").click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download as CSV").click()
    assert started.value.suggested_filename == "parcels.csv"
    started.value.save_as(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["Parcel", "Port", "Weight", "Sent"]
    assert rows == [row for row in ROWS if row[1] == "Riga"]


@pytest.mark.slow
def test_what_is_added_up_for_each_day_is_a_line_too(open_page: Open) -> None:
    page = open_page("chat")
    ask(page, "What is the total weight for each sent?")
    line = whole(page).get_by_role("img")
    expect(line).to_have_accessible_name("2023-01-12 to 2023-09-12: from 510 to 590")
    expect(line.locator("circle")).to_have_count(9)
    expect(whole(page).locator(".bars dt")).to_have_count(9)
