from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from rag_core import Library
from rag_core.cli import main, output
from rag_core.cli.scoping import MODES
from rag_core.domain import SearchMode
from tests.conftest import PROJECT
from tests.rag_core.models.openai_server import openai_server
from tests.rag_core.samples import TEXTS

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    tmp_path: Path,
    new_database: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", new_database())
    monkeypatch.setenv("LECTERN_DATA_DIR", str(tmp_path / "library"))
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def lines(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]


def test_passages_are_shown_without_soft_hyphens(run: Run, tmp_path: Path) -> None:
    (tmp_path / "hyphens.txt").write_text("The com\u00adpass of the Tern points to the lan\u00adtern of Veyra.")
    assert run("add", "hyphens.txt")[0] == 0
    assert "The compass of the Tern points to the lantern of Veyra." in run("search", "compass")[1]


def test_the_whole_road(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run("add", *TEXTS)
    assert code == 0
    assert out.count(": ready, 1 page, 1 chunk\n") == len(TEXTS)
    assert "bakery.md: already in the library" in run("add", "bakery.md")[1]
    assert "The bakery" in run("search", "rye bread", "-k", "1")[1]
    code, out, _ = run("search", "rye bread", "-k", "1", "--explain", "--mode", "dense")
    assert code == 0
    assert "dense search of 4 documents, 4 chunks" in out
    assert out.count("passage ") == 1
    assert out.count("rank ") == 3
    assert "milliseconds: embed" in out
    _, out, _ = run("search", "rye bread", "-k", "1", "--explain", "--mode", "scaler")
    assert "\nexpanded by: rye bread " in out  # the new question of level two
    assert "scaler search of 4 documents, 4 chunks" in out
    assert "not clustered" not in out
    monkeypatch.setenv("LECTERN_RETRIEVAL__MODE", "clusters")
    run("add", "bakery.md")
    assert "not clustered" not in run("search", "rye bread", "--explain")[1]
    monkeypatch.delenv("LECTERN_RETRIEVAL__MODE")
    code, out, _ = run("ask", "What does a loaf of rye breadd cost?")
    assert code == 0
    assert "4.20" in out
    assert "  understood as: What does a loaf of rye bread cost?\n" in out
    assert "[1] The bakery, p. 1" in out
    assert "4 documents, 4 chunks" in run("status")[1]
    assert len(re.findall("ready .* 1 KB ", run("documents")[1])) == 4
    assert run("rename", "bakery", "Loaves") == (0, "The bakery is called Loaves.\n", "")
    assert run("remove", "Loaves") == (0, "Removed Loaves.\n", "")
    assert run("documents")[1].count("ready") == 3


def test_vectors_go_out_as_files_and_come_back(run: Run, tmp_path: Path) -> None:
    run("add", *TEXTS)
    code, out, _ = run("dumps", "export", "vectors")
    assert code == 0
    assert out.count("1 vectors, written\n") == len(TEXTS) == len(list((tmp_path / "vectors").iterdir()))
    files = sorted(map(str, (tmp_path / "vectors").iterdir()))
    assert run("dumps", "import", *files)[1].count("the same vectors") == len(TEXTS)
    (tmp_path / "other.dump").write_bytes(b"no dump at all")
    code, _, err = run("dumps", "import", "other.dump", files[0])
    assert code == 1
    assert "other.dump cannot be taken" in err
    code, _, err = run("dumps", "import", "none.dump")
    assert (code, "none.dump cannot be read: No such file or directory." in err) == (1, True)


def test_a_question_is_asked_by_cli_rag_s_name_and_in_any_mode(run: Run) -> None:
    run("add", *TEXTS)
    assert "4.20" in run("query", "What does a loaf of rye bread cost?", "--mode", "scaler")[1]
    assert get_args(SearchMode) == MODES
    assert run("crawl", "http://127.0.0.1:9/")[0] == run("fetch", "http://127.0.0.1:9/")[0] == 1


def test_a_file_that_may_not_be_read_keeps_no_other_back(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shut.txt").write_text("Nobody reads this.")
    (tmp_path / "shut.txt").chmod(0)
    access = os.access  # root may read all
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "shut.txt" and access(path, mode))
    assert "bakery.md: ready" in run("add", "shut.txt", "bakery.md")[1]


def test_a_name_neither_breaks_nor_turns_its_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "two\nlines\u202etxt.exe.txt").write_text("The lamp hangs in the hall.")
    (tmp_path / "empty\n\x1b[2J.txt").touch()
    code, out, _ = run("add", "two\nlines\u202etxt.exe.txt", "empty\n\x1b[2J.txt")
    assert code == 1
    assert sorted(out.splitlines()) == [
        "empty [2J.txt: failed. The file is empty. Choose a file that has content.",
        "two linestxt.exe.txt: ready, 1 page, 1 chunk",
    ]


def test_a_citation_opens_the_file_that_it_came_from(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """While that is as it was; else the kept one, by its name."""
    run("add", "chess.txt")
    monkeypatch.setattr(output, "is_terminal", lambda stream=None: True)
    asked = ("ask", "How does the bishop move?")
    assert f"{(tmp_path / 'chess.txt').as_uri()}#page=1\x1b" in run(*asked)[1]
    (tmp_path / "chess.txt").write_text("Something else.")
    kept = tmp_path / "library" / "files"
    assert re.search(rf"{kept.as_uri()}/named/\w+/chess\.txt#page=1\x1b", run(*asked)[1])


def test_json_is_one_object_a_line(run: Run) -> None:
    code, out, _ = run("add", "--json", "chess.txt")
    assert code == 0
    assert [event["stage"] for event in lines(out)][-1] == "ready"
    (hit,) = lines(run("search", "--json", "How does the bishop move?")[1])
    assert (hit["document"]["title"], hit["page"]) == ("chess", 1)
    hits = lines(run("search", "--json", "--explain", "--folder", "elsewhere", "How does the bishop move?")[1])
    assert [told["searched"]["documents"] for told in hits] == [0]
    (answer,) = lines(run("ask", "--json", "How does the bishop move?")[1])
    assert answer["citations"][0]["title"] == "chess"
    assert not answer["abstained"]
    (document,) = lines(run("documents", "--json")[1])
    assert document["state"] == "ready"
    (status,) = lines(run("status", "--json")[1])
    assert (status["documents"], status["models"][0]["id"]) == (1, "extractive")
    assert lines(run("remove", "--json", document["id"][:8])[1])[0]["removed"] == document["id"]


def test_chat_goes_on_with_its_conversation(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("add", "lighthouse.txt")
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("When was the lighthouse at Cape Varn lit?\nWho was its last keeper?\n\n")
    )
    code, out, _ = run("chat", "--json", "--agent")
    first, second = lines(out)
    assert code == 0
    assert first["trace"]["steps"]
    assert "1887" in first["text"]
    assert first["conversation"] == second["conversation"]


def test_names_tags_and_years_narrow_what_is_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("add", *TEXTS)
    price = "What does a loaf of rye bread cost?"
    assert "[1] The bakery" in run("ask", "--in", "bakery", price)[1]
    assert "Not found in these documents." in run("ask", "--in", "chess", "--in", "glacier", price)[1]
    nothing = run("ask", "--in", "chess", "--in", "glacier", "What is the capital of Peru?")[1]
    assert "Not found in these documents." in nothing
    assert "come nearest: lectern search 'What is the capital of Peru?'" in nothing
    (chess,) = (one["id"] for one in lines(run("documents", "--json")[1]) if one["title"].lower() == "chess")
    run("tag", chess, "--add", "games")
    with Library.open() as library:
        noted = [(one.action, one.status) for one in library.access.audit() if one.who.startswith("command line")]
    assert noted == [(f"lectern tag {chess}", 0), (f"lectern add {' '.join(TEXTS)}", 0)]
    hits = lines(run("search", "--json", "--tag", "games", price)[1])
    assert {hit["document"]["id"] for hit in hits} == {chess}
    assert run("search", "--json", "--year", "1850", price)[1] == ""
    assert run("search", "--year", "1850", price)[1] == "Nothing was found: no passage lies in what is searched.\n"
    for explain in ((), ("--explain",)):
        told = run("search", "--section", "Methods", *explain, price)[1]
        assert told.count("note: No document that is searched has a section called “Methods”") == 1
    code, _, error = run("search", "--in", "walmart", price)
    assert code == 2
    assert "“walmart”" in error
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{price}\n{price}\n@bakery {price}\n\n"))
    answers = lines(run("chat", "--json", "--in", "chess")[1])
    assert [answer["abstained"] for answer in answers] == [True, True, False]


def test_an_answer_says_what_no_passage_holds_and_how_sure_it_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("add", "bakery.md")
    price = "What does a loaf of rye bread cost?"
    with openai_server() as script:
        monkeypatch.setenv("LECTERN_SERVER__ADDRESS", script.url)
        monkeypatch.setenv("LECTERN_SERVER__MODELS", '["small"]')
        script.texts = ("A loaf of rye bread costs 4.20 euros [1]. ", "A bun costs 99 crowns [1].")
        code, out, _ = run("ask", price, "--model", "server:small")
        assert code == 0
        assert out.count("  not found in the passages: ") == 1
        assert "  not found in the passages: A bun costs 99 crowns.\n  confidence: 0." in out
    monkeypatch.delenv("LECTERN_SERVER__ADDRESS")
    quoted = run("ask", price)[1]
    assert "not found in the passages" not in quoted
    assert re.search(r"^  confidence: 0\.\d\d of 1$", quoted, re.MULTILINE)
    assert "confidence" not in run("ask", "What is the capital of Peru?")[1]


def test_failures_have_a_code_a_reason_and_a_remedy(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    code, out, _ = run("add", "empty.txt", "chess.txt", "missing.txt")
    assert code == 1
    assert "empty.txt: failed." in out
    assert "missing.txt: failed." in out
    assert "chess.txt: ready" in out
    code, _, err = run("ask", " ")
    assert code == 1
    assert "empty" in err
    code, _, err = run("ask", "Who?", "--model", "gguf:none.gguf")
    assert code == 1
    assert "none.gguf" in err
    assert run("remove", "nothing")[0] == 1
    assert run("search", "x", "-k", "0")[0] == 2


def test_wrong_usage_is_code_2(run: Run) -> None:
    assert [run(*words)[0] for words in (("fly",), ("search",), ("add", "--fly"), ())] == [2, 2, 2, 2]
    assert [run(*words)[0] for words in (("--help",), ("add", "--help"), ("--version",))] == [0, 0, 0]


def test_no_documents_yet_is_said(run: Run) -> None:
    assert "No documents yet" in run("documents")[1]
    code, out, _ = run("ask", "Is there anything?")
    assert code == 0
    assert "Not found in these documents" in out
    assert "note: There are no documents to search yet. Add some" in out
    assert "No folder is watched" in run("watch")[1]


def test_verify_and_repair(run: Run, tmp_path: Path) -> None:
    run("add", "chess.txt", "bakery.md")
    assert run("verify")[::2] == (0, "")
    (dump, _) = sorted((tmp_path / "library" / "dumps").iterdir())
    data = bytearray(dump.read_bytes())
    data[70] ^= 1
    dump.write_bytes(data)
    (original,) = [p for p in (tmp_path / "library" / "files").iterdir() if p.name != dump.stem]
    original.unlink()
    code, out, _ = run("verify", "--deep")
    assert code == 1
    assert f"Dumps: {dump.stem[:10]}" in out
    assert "checksum. `repair` rebuilds it." in out
    assert "2 documents, 2 chunks compared" in out
    (report,) = lines(run("verify", "--json")[1])
    assert {(item["store"], item["repairable"]) for item in report["findings"]} == {("Dumps", True), ("Files", False)}
    code, out, _ = run("repair")
    assert code == 1
    assert f"repaired: Dumps: {dump.stem[:10]}" in out
    assert "The original file is missing. Add the same file again" in out
    run("add", "chess.txt", "bakery.md")
    assert "no difference" in run("verify", "--deep")[1]


def test_the_sample_library_answers_its_questions(run: Run) -> None:
    samples = PROJECT / "data" / "samples"
    run("add", *(str(p) for p in samples.iterdir() if p.suffix in (".pdf", ".md", ".txt")))
    wrong, refused = [], []
    questions = [json.loads(line) for line in (samples / "questions.jsonl").read_text("utf-8").splitlines()]
    plain = [item for item in questions if item.get("gold")][:9]
    with Library.open() as library:
        for item in (*plain, *[item for item in questions if not item.get("gold")][:2]):
            answer = library.ask(item["question"])
            pages = {place["page"] for place in item.get("gold", ())}
            cited = {citation.page for citation in answer.citations}
            if (pages and not pages & cited) or not (pages or answer.abstained):
                wrong.append((item["question"], answer.text))
            elif pages and answer.abstained:  # the closest passage is shown, and it is the right one
                refused.append(item["question"])
    assert not wrong
    assert len(refused) <= 1


def test_folders_are_watched_and_sources_looked_at_again(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "chess.txt").write_text(TEXTS["chess.txt"])
    code, out, _ = run("watch", "notes", "--tag", "games")
    assert code == 0
    assert "chess.txt: ready" in out
    assert lines(run("watch", "--json")[1])[0] | {"looked_at": None, "device": 0} == {
        "location": str(tmp_path / "notes"), "kind": "folder", "tags": ["games"], "depth": 0, "pages": 0,
        "delay_s": 0.0, "looked_at": None, "problem": "", "device": 0, "documents": 1,
    }  # fmt: skip
    (tmp_path / "notes" / "chess.txt").unlink()
    assert "chess.txt: removed, as its file is gone" in run("update")[1]
    code, out, _ = run("update", "chess.txt")
    assert (code, "looked at again" in out) == (1, True)
    assert run("watch", "notes", "--stop")[0] == 0
    assert run("watch", "notes", "--stop")[0] == 2
    assert run("watch", "notes", "--tag", "#")[0] == 2
    code, out, err = run("add", "http://127.0.0.1:9/page", "--depth", "1", "--pages", "5")
    assert (code, "private network" in out + err) == (1, True)


def test_collections_are_made_changed_removed_and_taken_back(run: Run) -> None:
    code, out, _ = run("collection", "Work", "--make", "--instructions", "In one word.", "--set", "retrieval.k=3")
    assert (code, out.split()[:3]) == (0, ["0", "documents", "Work"])
    assert run("collection", "work", "--rename", "Job", "--set", "retrieval.mode=dense")[0] == 0
    told = run("collection")[1]
    assert "Job" in told
    assert "In one word." in told
    assert "retrieval.k = 3" in told
    identity = run("collection", "Job", "--remove")[1].split()[-2]
    assert "Job" not in run("collection")[1]
    assert run("collection", identity, "--take-back")[0] == 0
    assert "Job" in run("collection")[1]
    assert (run("collection", "none")[0], run("collection", "Job", "--set", "k")[0]) == (2, 2)
