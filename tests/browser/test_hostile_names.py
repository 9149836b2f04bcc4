"""Names that are Markdown, of whatever a person names, on every page: drawn as they are, and nothing is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from rag_core import Library, Settings, Upload
from rag_core.domain import Configuration, Gold, Question
from tests.browser.conftest import Server, idle, serve
from tests.until import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]
# Bold, code, an image, a link, colour, an icon, a formula and HTML; the words in capitals are drawn in none of them.
NAME = (
    "**BOLD** `CODE` ![x](http://evil.example/a.png) [LINK](http://evil.example/) :red[RED] :material/home: $MATHS$"
    " <img src='http://evil.example/b.png'>"
)
TAG = "**BOLD** ![t](http://evil.example/t) `CODE`"
FILE = "**BOLD** `CODE` ![x](http&#58;&#47;&#47;evil.example&#47;f.png) :red[RED] $MATHS$"
# What was understood as Markdown, or leads elsewhere, wherever it stands; an answer has bold words and code of its own.
DRAWN = """() => {
  const roots = [document, ...[...document.querySelectorAll("*")].map((e) => e.shadowRoot).filter(Boolean)];
  const all = roots.flatMap((root) => [...root.querySelectorAll("*")]).filter((e) => !e.closest(".block"));
  const leads = (e) => [e.src, e.href].some((to) => typeof to === "string" && to && new URL(to).host.includes("evil"));
  const text = (e) => (e.textContent || "").trim();
  const marked = {STRONG: "BOLD", B: "BOLD", EM: "BOLD", CODE: "CODE", A: "LINK"};
  const styled = (e) => text(e) === marked[e.tagName] || (e.tagName === "SPAN" && text(e) === "RED")
    || (e.classList.contains("katex") && text(e).includes("MATHS"));
  return all.filter((e) => leads(e) || styled(e)).map((e) => e.parentElement?.outerHTML.slice(0, 300));
}"""


TEXT = """() => {
  const roots = [document, ...[...document.querySelectorAll("*")].map((e) => e.shadowRoot).filter(Boolean)];
  return roots.map((root) => root.body?.textContent ?? root.textContent).join(" ");
}"""
PATHS: dict[str, str] = {}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Lectern where everything that has a name has a hostile one."""
    folder = tmp_path_factory.mktemp("n")
    models, watched = folder / "models", folder / FILE
    watched.mkdir()
    models.mkdir()
    (models / f"{FILE}.gguf").write_bytes(b"GGUF and nothing more")
    with Library.open(Settings(_env_file=None, data_dir=folder / "library")) as library:
        (models / "embedding").symlink_to(library.settings.models_dir / "embedding")  # made ready by now
        PATHS.update(fill(library, watched))
    environment = {
        "LECTERN_MODELS_DIR": str(models), "LECTERN_SERVER__ADDRESS": "http://127.0.0.1:9/v1",
        "LECTERN_SERVER__MODELS": json.dumps([NAME]),
    }  # fmt: skip
    with serve(folder / "library", folder / "log", **environment) as running:
        yield running
        assert "Traceback" not in running.log.read_text()


def fill(library: Library, watched: Path) -> dict[str, str]:
    """Give everything its name; returns the addresses of pages."""
    sources = [Upload(f"{FILE} {number}.md", page(number).encode()) for number in range(9)]
    list(library.add([*sources, Upload(f"{FILE}.pdf", b"%PDF-1.4 damaged"), Upload(f"{FILE}.xyz", bytes(9))]))
    ready = [one for one in library.documents() if one.state == "ready"]
    for number, document in enumerate(ready):
        library.catalogue.rename(document.id, f"{NAME} {number}")
    library.catalogue.tag([one.id for one in ready], add=[TAG])
    library.sources.watch(watched)
    list(library.sources.update())
    watched.rmdir()
    list(library.sources.update())
    asked = library.ask(f"What is the toll of bridge 3? {NAME}")
    library.ask(f"And of bridge 4? {NAME}", conversation=asked.conversation)
    library.history.rename(asked.conversation, NAME)
    library.history.rate(asked.message_id, -1, NAME)
    library.ask(f"Who is the mayor of Quixotrania? {NAME}")
    gold = (Gold(ready[0].id, 1, "The toll"), Gold("none", 7, NAME))
    questions = [Question(f"q{number}", f"{NAME} {number}?", gold=gold, references=(NAME,)) for number in range(3)]
    made = library.evaluation.create(NAME[:100], questions)
    tried = [Configuration(f"{NAME} {k}", {"retrieval.k": k}) for k in (3, 5)]
    runs = ",".join(run.id for run in library.evaluation.begin(made.id, tried, answers=True))
    list(library.evaluation.carry_out(runs.split(",")))
    rows = [{"name": one.name, "changes": dict(one.changes), "chosen": True} for one in tried]
    library.preferences.set("evaluation_configurations", json.dumps(rows))
    library.clusters.update()
    of_set = f"evaluation?set={made.id}"
    return {
        "library": "", "document": f"?d={ready[0].id}&p=1", "chat": f"chat?c={asked.conversation}",
        "search": "search?q=toll+of+bridge", "evaluation": of_set, "questions": f"{of_set}&view=questions",
        "runs": f"{of_set}&runs={runs}", "question": f"{of_set}&runs={runs}&question=q1",
        "not found": "insights?view=not_found", "map": "insights?view=map", "models": "models", "system": "system",
    }  # fmt: skip


def page(number: int) -> str:
    return (
        f"# {NAME}\n\nThe toll of bridge {number} is {number} crowns.\n\n## {NAME}\n\n"
        f"| {NAME} | b |\n|--|--|\n| {NAME} | 2 |\n"
    )


def looked_at(tab: Page) -> list[tuple[str, object]]:
    """What of a page is understood as Markdown, or of what it opens."""
    idle(tab)
    found: list[tuple[str, object]] = [("at once", one) for one in tab.evaluate(DRAWN)]
    for kind in ("[role=tab]", "[data-testid=stExpander] summary", "[data-testid=stPopover] button"):
        for place in range(tab.locator(kind).count()):
            opener = tab.locator(kind).nth(place)
            if opener.is_visible() and opener.is_enabled():
                opener.click()
                idle(tab)
                found += [(opener.inner_text(), one) for one in tab.evaluate(DRAWN)]
                tab.keyboard.press("Escape")
    return found


@pytest.mark.parametrize(
    "name",
    ["library", "document", "chat", "search", "evaluation", "questions", "runs", "question", "not found", "map",
     "models", "system"],
)  # fmt: skip
def test_names_are_drawn_as_they_are(open_page: Open, server: Server, name: str) -> None:
    tab = open_page(PATHS[name])
    if name != "map":  # which has them in its picture
        until(lambda: "**BOLD**" in tab.evaluate(TEXT))
    found = looked_at(tab)
    assert found == [], found
