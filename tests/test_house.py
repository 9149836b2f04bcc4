"""The rules of the house: who may import whom, what is public, what may happen at import, what README and docs show."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import rag_core
from rag_core.cli import commands as lectern
from tests.conftest import PROJECT

LAYERS = tomllib.loads((PROJECT / "tests" / "layers.toml").read_text(encoding="utf-8"))
LEVEL = {room: number for number, rooms in enumerate(LAYERS["levels"]) for room in rooms}
STAGES = LAYERS["stages"]
MOST_OF_TESTS = 55  # private parts that tests of whole files use; it only falls
SOURCES = [
    *PROJECT.glob("app.py"),
    *PROJECT.glob("face.py"),
    *(p for top in ("pages", "rag_core", "accelerator") for p in PROJECT.glob(f"{top}/**/*.py")),
]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield node.module or ""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_imports_go_one_way(path: Path) -> None:
    room = path.relative_to(PROJECT).parts
    for name in imports(path):
        top, *rest = name.split(".")
        if room[0] in ("rag_core", "accelerator"):
            assert top not in ("streamlit", "pages", "app"), f"{name} belongs to the face"
        if room[0] == "accelerator":
            assert top != "rag_core", "the accelerator knows nothing of the library"
        if room[0] in ("pages", "app.py", "face.py"):
            assert top != "accelerator", "pages call the library"
            assert top != "rag_core" or not rest or rest[0] not in STAGES, f"pages call the library, not {name}"
        if room[0] == "rag_core" and room[1] != "__init__.py":
            of_rag_core(Path(room[1]).stem, top, rest, name)


def of_rag_core(room: str, top: str, rest: list[str], name: str) -> None:
    """What a room of rag_core may import."""
    assert room in LEVEL, f"tests/layers.toml has no room {room}"
    if top == "accelerator":
        assert room in LAYERS["may_accelerate"], f"{room} imports {name}"
    if top == "rag_core" and rest and rest[0] in LEVEL and rest[0] != room:
        allowed = LEVEL[rest[0]] > LEVEL[room] or rest[0] in LAYERS["uses"].get(room, ())
        assert allowed, f"{room} imports {name}, which is not below it"
        if room in STAGES and rest[0] in STAGES:
            assert rest[0] in STAGES[room], f"the stage {room} imports {name}"


def test_faces_use_the_library_and_its_services_alone() -> None:
    below = [
        f"{library}.{part}"
        for library in ("library", "library()")
        for part in ("storage", "embedding", "asking", "ingest")
    ]
    for path in SOURCES:
        room = path.relative_to(PROJECT).parts
        if room[0] in ("pages", "app.py", "face.py") or room[:2] in (("rag_core", "api"), ("rag_core", "cli")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                used = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
                assert not used.endswith(tuple(below)), f"{path}: {used}"


def reaches(path: Path) -> set[str]:
    """Private parts that a file uses and does not itself define, save by inheritance."""
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    used = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr.startswith("_")]
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {node.attr for node in used if ast.unparse(node.value) in ("self", "cls", "super()")}
    return {node.attr for node in used if node.attr not in own and not node.attr.endswith("__")}


def test_nobody_reaches_into_the_private_parts_of_another() -> None:
    found = {path.name: parts for path in SOURCES if (parts := reaches(path))}
    assert found == {  # of Python and of other packages, which offer no other way
        "chroma_client.py": {"_server", "_session"}, "child_main.py": {"_exit"}, "llama.py": {"_ctx", "_model"},
        "server.py": {"_instances", "_lock"}, "torch.py": {"_int_mm"},
    }  # fmt: skip
    of_tests = sum(len(reaches(path)) for path in PROJECT.glob("tests/**/*.py"))
    assert of_tests <= MOST_OF_TESTS, "a test uses what is public"


def test_the_public_names() -> None:
    assert sorted(rag_core.__all__) == [
        "AddEvent", "Answer", "BackupReport", "Cancellation", "Chunk", "Citation", "Conversation", "Document", "Hit",
        "LecternError", "Library", "LibraryStatus", "Message", "Page", "PageImage", "Question", "RemoteLibrary",
        "Retrieval", "Scope", "Settings", "Source", "StreamEvent", "Table", "Upload", "WebAddress",
    ]  # fmt: skip
    for name in rag_core.__all__:
        assert getattr(rag_core, name), name
    public = {name for name in dir(rag_core.Library) if not name.startswith("_")}
    assert public == {
        "open", "connect", "restore", "backup_beside", "close", "is_closing", "warm_up", "settings", "folder",
        "add", "accept", "resume", "retry", "remove", "intake",
        "documents", "document", "chunks", "page", "pages", "page_image", "tables", "original",
        "search", "retrieve", "ask", "stream", "reply", "embed", "count_tokens", "suggestions", "scope_of",
        "conversations", "messages",
    }  # fmt: skip
    others = {"Iterable", "Iterator", "Mapping", "NDArray", "None", "Path", "Sequence"}
    for name in public:  # what its methods take and give is public too
        hints = getattr(getattr(rag_core.Library, name), "__annotations__", {})
        assert {*re.findall(r"[A-Z]\w+", " ".join(hints.values()))} <= {*rag_core.__all__, *others}, name


def test_nothing_heavy_is_imported_with_the_library() -> None:
    heavy = [
        "torch",
        "sentence_transformers",
        "chromadb",
        "langchain_core",
        "coremltools",
        "openvino",
        "google.generativeai",
    ]
    code = f"import sys, rag_core; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


PAGES = [*sorted(PROJECT.glob("*.md")), *sorted(PROJECT.glob("docs/**/*.md"))]
ROOMS = ("accelerator", "data", "docs", "pages", "rag_core", "tests")
MADE = ("data/library", "data/models")  # by running it


def commands_of(page: Path, program: str) -> list[list[str]]:
    """The words after a program, wherever a line or a piece of code begins with it."""
    found = re.findall(rf"(?:^|`|\(){program} ([^`\n]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [line.partition(" #")[0].split() for line in found]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_the_readme_exists(page: Path) -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    made = {words[0] for words in commands_of(page, "make")}
    assert {target for target in made if f"\n{target}:" not in makefile} == set()
    for name, *words in commands_of(page, "(?:lectern|python -m rag_core)"):
        command = lectern.get_command(click.Context(lectern), name)
        assert command is not None, name
        options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in words if word.startswith("-")} <= options, name
    for module, *_ in commands_of(page, "python -m"):
        path = PROJECT / module.replace(".", "/")
        assert module.endswith(".NAME") or path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


def test_the_readme_says_how_to_begin_and_one_page_has_every_command() -> None:
    readme = PROJECT / "README.md"
    assert len(readme.read_bytes()) <= 8000
    assert {"run", "test"} <= {words[0] for words in commands_of(readme, "make")}
    assert commands_of(readme, "python -m rag_core")
    usage = subprocess.run(
        [sys.executable, "-m", "rag_core", "--help"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout
    listed = usage.partition("Commands:")[2].splitlines()
    exist = {line.split()[0] for line in listed if line.startswith("  ") and line[2] != " "}
    assert {words[0] for words in commands_of(PROJECT / "docs" / "cli.md", "python -m rag_core")} == exist


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_of_the_pages_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert {link for link in links if "://" not in link and not (page.parent / link).exists()} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_path_that_the_pages_name_is_there(page: Path) -> None:
    """Of the code and the data that ships; a name in capitals stands for any."""
    named = re.findall(rf"(?<![\w/.-])(?:{'|'.join(ROOMS)})/[\w./-]*\w/?", page.read_text(encoding="utf-8"))
    there = [path for path in named if not re.search("[A-Z]{2}", path) and not path.startswith(MADE)]
    assert {path for path in there if not (PROJECT / path).exists()} == set()


def test_every_file_that_the_rooms_name_is_in_its_room() -> None:
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = page.partition("```\n")[2].partition("```")[0]
    lines = re.findall(r"^(\S+) +(.+(?:\n {8,}.+)*)", rooms, re.MULTILINE)
    assert len(lines) > 50
    for path, told in lines:
        room = PROJECT / path if path.endswith("/") else (PROJECT / path).parent
        assert (PROJECT / path).exists(), path
        assert {name for name in re.findall(r"[\w-]+(?:\.py\b|/)", told) if not (room / name).exists()} == set(), path


def defined(path: str) -> set[str]:
    """What a file defines, its classes' methods behind their names and a dot."""
    found = set()
    for node in ast.parse((PROJECT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return found


def test_every_stop_of_the_roads_is_where_the_page_says() -> None:
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    stops = re.findall(r"^ *([A-Za-z_][\w.]*) .* (\S+\.py)$", page, re.MULTILINE)
    assert {(name, path) for name, path in stops if name not in defined(path)} == set()
    assert {"page_text", "OpenVinoEmbedder._forward", "ChangeLog.finish", "fused", "Register.number"} <= dict(
        stops
    ).keys()


def test_every_strategy_is_among_the_stops() -> None:
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    plan = page.partition("Answerer.plan ")[2].partition("```")[0]
    answerer = (PROJECT / "rag_core" / "answering" / "answerer.py").read_text(encoding="utf-8")
    tried = {*re.findall(r"strategies\.(\w+) import", answerer)} - {"base"}
    assert {*re.findall(r"strategies/(\w+)\.py", plan)} == tried
