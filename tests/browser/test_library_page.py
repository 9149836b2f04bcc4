"""Adding, watching, opening and removing documents, as a user does it."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook
from playwright.sync_api import Locator, Page, expect
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from tests.browser.conftest import SAMPLES, Server, ask, idle, serve

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


def make_pdf(path: Path, pages: int) -> Path:
    """A PDF with a paragraph on each page."""
    canvas = Canvas(str(path))
    for number in range(1, pages + 1):
        for line in range(30):
            canvas.drawString(
                60, 780 - 20 * line, f"Line {line} of page {number} tells of bridge {number * 31 + line}."
            )
        canvas.showPage()
    canvas.save()
    return path


def drop(page: Page, *files: Path) -> None:
    page.locator("input[type=file]").set_input_files([str(file) for file in files])


def row(page: Page, title: str) -> Locator:
    return page.locator(".shelf tbody tr", has_text=title)


def test_an_empty_library_invites(open_page: Open) -> None:
    page = open_page("upload?d=")  # as bookmarks of old have it
    expect(page.get_by_role("heading", name="Ask your own documents")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("up to 512 MB each")).to_be_visible()
    chat = open_page("chat")
    chat.get_by_text("Go to the library").click()
    expect(chat.get_by_role("button", name="Add the sample library")).to_be_visible()


def test_what_an_empty_page_says_stands_in_its_middle(open_page: Open) -> None:
    for path in ("chat", "search", "evaluation"):
        page = open_page(path)
        box = page.get_by_role("button", name="Go to the library").bounding_box()
        words = page.get_by_text("Add a document, or the sample library").first
        middle = words.evaluate(
            "e => { const r = document.createRange(); r.selectNodeContents(e); const b = r.getBoundingClientRect();"
            " return b.left + b.width / 2; }"
        )
        assert box and abs(box["x"] + box["width"] / 2 - middle) < 2, path


def test_the_samples_come_in_by_one_click(open_page: Open, request: pytest.FixtureRequest) -> None:
    chat, search = open_page("chat"), open_page("search")
    expect(chat.get_by_role("heading", name="Nothing to read yet")).to_be_visible()
    request.getfixturevalue("filled")
    expect(chat.locator(".st-key-chat_question")).to_be_visible()
    expect(search.locator(".st-key-search_empty")).to_have_count(0)
    page = open_page()
    expect(page.locator(".shelf tbody tr")).to_have_count(3)
    expect(row(page, "Handbook of the Veyra Ferry")).to_contain_text("Ready")


def test_upload_shows_progress_survives_a_reload_and_can_be_cancelled(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    drop(page, make_pdf(tmp_path / "many bridges.pdf", 3000), make_pdf(tmp_path / "ferry.pdf", 6))
    line = page.locator("[class*=st-key-upload_job_]", has_text="many bridges.pdf")
    expect(line).to_contain_text("of 3000", timeout=60_000)
    expect(row(page, "ferry.pdf")).to_contain_text("Ready", timeout=120_000)  # it waits for no larger one
    page.reload()
    expect(line.get_by_role("button", name="Cancel")).to_be_visible()
    other = open_page()
    expect(other.locator("[class*=st-key-upload_job_]", has_text="many bridges.pdf")).to_be_visible()
    line.get_by_role("button", name="Cancel").click()
    expect(line).to_contain_text("cancelled", timeout=60_000)
    expect(row(page, "many bridges")).to_have_count(0)


@pytest.mark.slow
def test_many_files_that_are_ready_are_one_line(open_page: Open, tmp_path: Path) -> None:
    files = [tmp_path / f"pond {number}.txt" for number in range(10)]
    for number, file in enumerate(files):
        file.write_text(f"Pond {number} holds {number + 3} carp and a pike.")
    page = open_page()
    drop(page, *files)
    lines = page.locator(".st-key-upload_jobs")
    expect(lines).to_contain_text("documents added", timeout=60_000)
    expect(page.locator("[class*=st-key-upload_job_]")).to_have_count(0, timeout=60_000)
    lines.get_by_role("button", name="Dismiss").click()
    expect(lines).to_have_count(0)
    for file in files:
        expect(row(page, file.name)).to_contain_text("Ready")


def test_the_same_file_again_is_said_to_be_there(open_page: Open, filled: None) -> None:
    page = open_page()
    drop(page, SAMPLES / "water-works-guide.md")
    expect(page.get_by_text("already in the library")).to_be_visible()


def test_a_failed_file_says_why_and_can_be_dismissed(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    (tmp_path / "page.pdf").write_text("<!DOCTYPE html><html><body>No PDF at all</body></html>")
    drop(page, tmp_path / "page.pdf")
    card = page.locator("[class*=st-key-upload_failed_]", has_text="page.pdf")
    expect(card).to_contain_text("HTML")
    card.get_by_role("button", name="Dismiss").click()
    expect(card).to_have_count(0)


def test_what_could_not_be_read_stands_first_in_the_table_with_what_mends_it(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    for name in ("one.yaml", "two.yaml"):  # a limit can be raised, but no other try mends what is damaged
        names = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
        (tmp_path / name).write_text("\n".join([f"a0: &a0 {name}", *names]))
    (tmp_path / "three.pdf").write_bytes(b"%PDF-1.7\nno objects here\nstartxref\n7\n%%EOF")
    (tmp_path / "well.txt").write_text("The well is nine metres deep.")
    drop(page, *(tmp_path / name for name in ("one.yaml", "two.yaml", "three.pdf", "well.txt")))
    expect(row(page, "well.txt")).to_contain_text("Ready", timeout=60_000)
    for place in range(3):
        expect(page.locator(".shelf tbody tr").nth(place)).to_contain_text("Failed")
    expect(page.locator("[class*=st-key-upload_failed_]")).to_have_count(0)
    expect(page.get_by_role("button", name="Try three.pdf again")).to_have_count(0)
    for name in ("one.yaml", "two.yaml"):
        row(page, name).get_by_role("checkbox").check()
    idle(page)
    page.get_by_role("toolbar", name="Chosen documents").get_by_role("button", name="Try 2 again").click()
    idle(page)
    expect(page.locator(".st-key-upload_jobs").get_by_role("progressbar")).to_have_count(0)
    expect(row(page, "one.yaml")).to_contain_text("Failed")


@pytest.mark.slow
def test_a_locked_document_is_opened_where_it_stands(open_page: Open, tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(make_pdf(tmp_path / "plain.pdf", 3).read_bytes())))
    writer.encrypt("secret")
    writer.write(tmp_path / "shut.pdf")
    page = open_page()
    drop(page, tmp_path / "shut.pdf")
    line = row(page, "shut.pdf")
    for password, said in (("wrong", "does not open this PDF"), ("secret", "Ready")):
        line.get_by_label("Password of shut.pdf").fill(password)
        line.get_by_label("Password of shut.pdf").press("Enter")
        expect(line).to_contain_text(said)
        idle(page)
    expect(page.locator("[class*=st-key-upload_locked_]")).to_have_count(0)


@pytest.mark.slow
def test_a_document_opens_with_its_chunks_on_the_page(open_page: Open, filled: None) -> None:
    page = open_page()
    page.get_by_role("button", name="Handbook of the Veyra Ferry", exact=True).click()
    page.get_by_role("button", name="Next page").click()
    expect(page.locator(".passage .where")).to_contain_text("Page ii (2 of 13)")
    page.wait_for_url("**p=2**")
    idle(page)
    page.get_by_role("radio", name="Passages").click()
    expect(page.locator(".chunk").first).to_contain_text("About this handbook")
    page.locator(".chunk .body").first.click()
    page.locator(".passage .box").first.wait_for()
    page.reload()
    expect(page.locator(".passage .where")).to_contain_text("Page ii (2 of 13)")
    page.get_by_text("All documents").click()
    expect(page.locator(".shelf")).to_be_visible()


def test_a_removal_is_undone(open_page: Open, filled: None) -> None:
    page = open_page()
    page.get_by_role("button", name="Remove THE STORM OF 14 NOVEMBER 2019").click()
    expect(row(page, "THE STORM")).to_have_count(0)
    idle(page)
    page.get_by_role("button", name="Undo").click()
    expect(row(page, "THE STORM")).to_have_count(1)


def test_a_folder_that_there_is_not_is_said_at_once(open_page: Open, filled: None) -> None:
    page = open_page()
    page.get_by_role("button", name="Folder").click()
    page.get_by_label("Or follow a folder").fill("/no/such/folder")
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.get_by_text("/no/such/folder")).to_be_visible()
    expect(page.locator('[data-testid="stPopoverBody"]')).to_have_count(0)


@pytest.mark.slow
def test_many_files_are_one_line(open_page: Open, filled: None, tmp_path: Path) -> None:
    page = open_page()
    files = [make_pdf(tmp_path / f"many {number}.pdf", 20) for number in range(6)]
    drop(page, *files)
    expect(page.locator(".st-key-upload_whole")).to_contain_text("of 6")
    page.get_by_role("button", name="Cancel all").click()
    expect(page.locator(".st-key-upload_whole")).to_have_count(0, timeout=60_000)
    expect(page.locator(".st-key-upload_jobs")).to_contain_text("cancelled")


def test_a_library_in_use_is_explained(browser, server: Server, tmp_path: Path) -> None:
    with serve(server.data_dir, tmp_path / "log") as second:
        page = browser.new_page()
        page.goto(f"{second.url}/chat")  # a bookmark, and the first page this process draws
        expect(page.get_by_text("The library cannot be opened")).to_be_visible(timeout=30_000)
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_text("The library cannot be opened")).to_be_visible(timeout=30_000)
        assert "Traceback" not in page.content()
        page.close()


@pytest.mark.slow
def test_a_title_is_changed_where_it_stands_and_the_found_one_comes_back(open_page: Open, filled: None) -> None:
    page = open_page()
    page.get_by_role("button", name="Rename Keeper's guide").click()
    page.locator(".shelf .edit").fill("Never mind")
    page.keyboard.press("Escape")
    expect(row(page, "Keeper's guide to the Veyra water works")).to_be_visible()
    page.get_by_role("button", name="Rename Keeper's guide").click()
    page.locator(".shelf .edit").fill("Water works")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Water works", exact=True).click()
    expect(page.locator(".naming .name")).to_contain_text("Water works")
    idle(page)
    page.locator(".naming").get_by_role("button", name="Rename Water works").click()
    page.get_by_role("button", name="Found title: Keeper's guide").click()
    expect(page.locator(".naming .name")).to_contain_text("Keeper's guide to the Veyra water works")
    idle(page)
    page.get_by_text("All documents").click()
    expect(row(page, "Keeper's guide")).to_contain_text("2024 · water-works-guide.md")


@pytest.mark.slow
def test_tags_are_put_on_chosen_documents_and_narrow_the_table(open_page: Open, filled: None) -> None:
    page = open_page()
    expect(row(page, "Keeper's guide")).to_be_visible()
    every = page.locator(".shelf tbody tr").count()
    for name in ("Handbook of the Veyra Ferry", "Keeper's guide"):
        row(page, name).get_by_role("checkbox").check()
    bar = page.get_by_role("toolbar", name="Chosen documents")
    expect(bar).to_contain_text("2 chosen")
    bar.get_by_role("button", name="Add a tag").click()
    bar.locator(".edit").fill("island")
    page.keyboard.press("Enter")
    expect(page.locator(".shelf td .tag", has_text="island")).to_have_count(2)
    page.locator(".st-key-upload_tags").get_by_role("button", name="island").click()
    expect(page.locator(".shelf tbody tr")).to_have_count(2)
    page.locator(".st-key-upload_tags").get_by_role("button", name="island").click()
    expect(page.locator(".shelf tbody tr")).to_have_count(every)
    for name in ("Handbook of the Veyra Ferry", "Keeper's guide"):
        row(page, name).get_by_role("button", name="Take the tag island off").click()
        expect(row(page, name).locator(".tag")).to_have_count(0)


@pytest.mark.slow
def test_a_workbook_is_added_asked_about_and_its_cell_marked_in_a_table(open_page: Open, tmp_path: Path) -> None:
    book = Workbook()
    for cells in (("Harbour", "Depth in m", "Berths"), ("Keel Bay", 7.5, 31), ("Tolsund", 4, 12)):
        book.active.append(cells)
    book.save(tmp_path / "harbours.xlsx")
    page = open_page()
    drop(page, tmp_path / "harbours.xlsx")
    expect(row(page, "harbours")).to_contain_text("Ready", timeout=60_000)
    page = open_page("chat")
    ask(page, "How many berths does Keel Bay have?")
    page.locator(".source", has_text="harbours").first.click()
    expect(page.locator(".passage th")).to_have_text(["Harbour", "Depth in m", "Berths"])
    expect(page.locator(".passage tr").nth(1).locator("td").nth(2).locator("mark")).to_have_text("31")
