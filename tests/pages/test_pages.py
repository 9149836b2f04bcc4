"""The two pages, drawn by AppTest over a played library."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import backup, owning, resources, samples
from rag_core.domain import Finding, LibraryServer, Message, ModelStatus, Progress, Report, StreamEvent, TargetProfile
from rag_core.errors import LimitExceeded, StoreUnavailable
from rag_core.jobs import Jobs
from tests.conftest import PROJECT
from tests.pages.conftest import NOW, FakeLibrary, a_document, an_answer
from tests.until import until

GEMINI = ModelStatus("gemini", "Gemini", False, "No key has been entered.", remote=True)


def draw(page: str, **query: str) -> AppTest:
    test = AppTest.from_file(str(PROJECT / "pages" / f"{page}.py"), default_timeout=20)
    for name, value in query.items():
        test.query_params[name] = value
    test.run()
    assert not test.exception
    return test


def said(test: AppTest) -> str:
    return "\n".join(element.value for element in (*test.markdown, *test.caption, *test.text))


def test_an_empty_library_says_what_lectern_does(library: FakeLibrary) -> None:
    test = draw("upload")
    assert "shows you the page and the passage" in said(test)
    assert "up to 512 MB each" in said(test)
    assert "Add the sample library" in [button.label for button in test.button]
    assert "Three invented documents" in said(test)
    assert len(samples.files()) == 3


def test_the_samples_are_added_by_one_click(library: FakeLibrary) -> None:
    draw("upload").button(key="upload_samples").click().run()
    until(lambda: not resources.library().jobs.busy())
    assert "veyra-ferry-handbook.pdf" in library.calls[0][1]
    test = draw("upload")
    assert "3 documents :gray[added]" in said(test)
    assert [button.label for button in test.button if "dismiss" in str(button.key)] == ["Dismiss"]
    assert "added" not in said(test.button(key="upload_dismiss_added").click().run())


def test_a_filled_library_counts_and_offers_a_filter(library: FakeLibrary) -> None:
    library.held = [a_document(f"document {number}.txt") for number in range(9)]
    test = draw("upload")
    assert "9 documents, 27 pages" in said(test)
    test.text_input(key="upload_filter").set_value("nothing like it").run()
    assert "No document matches." in said(test)
    assert test.query_params["q"] == "nothing like it", "so that it is there again behind an opened document"
    again = draw("upload", q="document 3")
    assert again.text_input(key="upload_filter").value == "document 3"


def test_an_opened_document_names_the_pages_that_could_not_be_read(library: FakeLibrary) -> None:
    library.held = [a_document()]
    assert "Page 2 could not be read" in said(draw("upload", d="bridges.txt"))
    assert "no longer in the library" in said(draw("upload", d="gone"))


def test_a_store_that_does_not_answer_is_said(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise StoreUnavailable("PostgreSQL does not answer.")

    monkeypatch.setattr(library, "documents", broken)
    for page in ("upload", "chat", "search", "evaluation", "insights"):
        assert "PostgreSQL does not answer" in said(draw(page)).replace("\\", ""), page


@pytest.mark.parametrize(
    ("fault", "told"),
    [("StoreUnavailable", "PostgreSQL does not answer"), ("ZeroDivisionError", "Something inside Lectern failed")],
)
def test_what_fails_in_a_part_that_draws_itself_again_is_said_in_its_place(fault: str, told: str) -> None:
    def script(fault: str) -> None:
        import streamlit as st

        from pages.parts.refreshing import fragment
        from rag_core import errors

        def draw() -> None:
            raise getattr(errors, fault, ZeroDivisionError)("PostgreSQL does not answer.")

        fragment(draw, 1.0)()
        st.markdown("The rest of the page")

    test = AppTest.from_function(script, args=(fault,)).run()
    assert not test.exception
    assert told in said(test).replace("\\", "")
    assert "The rest of the page" in said(test)


def test_documents_that_could_not_be_read_are_told_of_where_there_are_no_others(library: FakeLibrary) -> None:
    library.held = [a_document("torn.pdf", state="failed")]
    for page in ("chat", "search"):
        assert "1 document could not be read" in said(draw(page))


def test_chat_without_documents_leads_to_the_library(library: FakeLibrary) -> None:
    test = draw("chat")
    assert "Nothing to read yet" in said(test)
    assert test.button(key="chat_to_library")


def test_a_suggestion_is_asked_in_a_new_conversation(library: FakeLibrary) -> None:
    library.held = [a_document()]
    library.suggested = ["Of what are bridges made?"]
    test = suggesting()
    library.gate.clear()
    library.events = [StreamEvent(stage="answering")]
    test.button(key="chat_suggestion_0").click().run()
    asking = resources.questions().of(test.session_state["chat_current"])
    assert asking is not None
    assert asking.question == "Of what are bridges made?"
    assert test.button(key="chat_stop").label == "Stop"
    library.gate.set()


def test_nothing_is_suggested_but_what_is_answered(library: FakeLibrary) -> None:
    library.held = [a_document()]
    library.gate.clear()
    assert len(held_places(draw("chat"))) == 4
    library.gate.set()
    test = suggesting()
    assert not [button for button in test.button if "suggestion" in str(button.key)]
    assert not held_places(test)
    library.held += [a_document("roads.txt", state="pending")]
    library.calls.clear()
    assert "1 document can be searched, 1 more is coming in" in said(draw("chat"))
    assert not library.calls, "what is suggested would be another in a moment"


def test_documents_on_their_way_are_said_where_none_can_be_asked_yet(library: FakeLibrary) -> None:
    library.held = [a_document(state="pending"), a_document("roads.txt", state="failed")]
    test = draw("chat")
    assert "Your documents are coming in" in said(test)
    assert "No document can be searched yet, 1 is coming in" in said(test)


def held_places(test: AppTest) -> list[str]:
    return [found for one in test.get("html") if "lectern-to-come" in (found := str(one.proto))]


def suggesting() -> AppTest:
    """The chat page once its suggestions were looked for."""
    draw("chat")
    board = resources.suggestions()
    until(lambda: all(found.done() for found in board._found.values()))
    return draw("chat")


def test_a_conversation_comes_back_by_its_address(library: FakeLibrary) -> None:
    library.held = [a_document()]
    library.kept = {"one": [Message("m1", "Why?", NOW, answer=an_answer())]}
    test = draw("chat", c="one")
    assert test.button(key="chat_entry_current_one")
    test.button(key="chat_new").click().run()
    assert "c" not in test.query_params
    assert "What would you like to know?" in said(test)


def test_a_question_of_a_program_is_listed_where_it_is_looked_for(library: FakeLibrary) -> None:
    library.held = [a_document()]
    library.kept = {"one": [Message("m1", "Why?", NOW, answer=an_answer())], "two": []}
    library.unlisted = {"one"}

    def listed(test: AppTest) -> list[str]:
        return [str(button.key) for button in test.button if str(button.key).startswith("chat_entry")]

    test = draw("chat")
    assert listed(test) == ["chat_entry_two"]
    assert listed(test.text_input(key="chat_find").set_value("one").run()) == ["chat_entry_one"]
    assert listed(draw("chat", c="one")) == ["chat_entry_current_one", "chat_entry_two"]


def ways_to_gemini() -> None:
    from pages.parts import models, resources

    models.gemini(resources.library())


def test_models_say_what_is_missing(library: FakeLibrary) -> None:
    library.held = [a_document()]
    library.statuses = (*library.statuses, GEMINI)
    test = draw("chat")
    assert not test.exception
    assert test.radio(key="chat_model").options == ["Quotes"]
    assert "No key has been entered" in said(AppTest.from_function(ways_to_gemini).run())


@pytest.mark.parametrize(("key", "agreed", "used"), [("k", True, True), ("k", False, False), (" ", True, False)])
def test_gemini_needs_a_key_and_the_users_word(library: FakeLibrary, key: str, agreed: bool, used: bool) -> None:
    library.statuses = (*library.statuses, GEMINI)
    test = AppTest.from_function(ways_to_gemini).run()
    test.text_input(key="models_gemini_key").set_value(key)
    test.checkbox(key="models_gemini_agreed").set_value(agreed)
    next(button for button in test.button if button.label == "Use Gemini").click().run()
    assert [call for call in library.calls if call[0] == "use_gemini"] == (
        [("use_gemini", (key, False))] if used else []
    )


def test_a_remote_model_is_named_on_the_page(library: FakeLibrary) -> None:
    library.held = [a_document()]
    library.statuses = (*library.statuses, ModelStatus("gemini", "Gemini", True, remote=True))
    library.preferences["model"] = "gemini"
    assert "leave this machine" in said(draw("chat"))


def test_a_chosen_model_that_is_gone_gives_way_aloud(library: FakeLibrary) -> None:
    library.preferences["model"] = "gguf:gone.gguf"
    test = draw("chat")
    assert "is not ready" in said(test)
    assert test.radio(key="chat_model").value == "extractive"


def test_the_system_page_tells_which_servers_there_are_and_what_each_does_not_find(library: FakeLibrary) -> None:
    assert "process" not in said(draw("system"))
    library.servers = (
        LibraryServer("process 1 on one", is_this=True), LibraryServer("process 2 on two", behind=3),
        LibraryServer("process 3 on three", lanes=("adding", "recognising")),
    )  # fmt: skip
    text = said(draw("system"))
    assert "process 1 on one, this one" in text
    assert "process 2 on two; 3 documents not found there yet" in text
    assert "process 3 on three; worker for adding, recognising" in text


def test_the_system_page_tells_what_differs_and_repairs_it(library: FakeLibrary) -> None:
    wrong = Finding("Dumps", "bridges.txt", "Bridges *and* more", "The dump file is missing.", True)
    lost = Finding("Files", "roads.txt", "", "The original file is missing.", False, "Add the same file again.")
    library.report = Report(2, 10, (wrong, lost), False, 0.2)
    test = draw("system")
    assert "1 document, 5 passages, 2 waiting" in said(test)
    assert "Chroma is rebuilt" in said(test).replace("\\", "")
    assert [button.label for button in test.button] == ["Verify", "Verify thoroughly", "Repair", "Write backup"]
    checked(test, "system_verify")
    assert "**2 differences**" in said(test)
    (table,) = test.table
    assert list(table.value["Document"]) == ["Bridges \\*and\\* more", "roads\\.txt"]
    assert "Repair rebuilds it" in table.value["What differs"][0]
    assert "Add the same file again" in table.value["What differs"][1]
    checked(test, "system_repair")
    assert "**No difference**" in said(test)
    assert "**2 differences repaired**" in said(test)


TARGET = TargetProfile("small (int8)", "large", 0, 2000, begun=False, note="It is re-embedded.")


def test_another_model_is_explained_and_embedded_with(library: FakeLibrary) -> None:
    library.target = TARGET
    test = draw("system")
    assert "small (int8)" in said(test).replace("\\", "")
    assert "2,000 chunks" in said(test)
    assert TARGET.note not in said(test).replace("\\", "")
    library.steps = [Progress("embedding", 2000, 2000), Progress("done", 2000, 2000)]
    library.gate.clear()
    test.button(key="system_reembed").click().run()
    assert test.button(key="system_stop")
    library.gate.set()
    library.target = None
    rest(library.jobs)
    test.run()
    assert "**Re-embedded** :gray[2,000 chunks in" in said(test)
    assert not [button for button in test.button if button.key == "system_reembed"]


def test_a_stopped_model_goes_on_or_is_forgotten(library: FakeLibrary) -> None:
    library.target = replace(TARGET, done=512, begun=True)
    library.steps = [LimitExceeded("The disk is full.", help="Make room.")]
    test = draw("system")
    assert "512 of 2,000 chunks are embedded with **large**" in said(test)
    assert test.button(key="system_reembed").label == "Resume"
    test.button(key="system_reembed").click().run()
    rest(library.jobs)
    test.run()
    assert "The disk is full" in said(test)
    assert "Make room" in said(test)
    test.button(key="system_forget").click().run()
    rest(library.jobs)
    test.run()
    assert "discarded" in said(test)
    assert library.calls[-1] == ("forget", None)


def test_a_backup_goes_where_it_is_told(library: FakeLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    test = draw("system")
    suggested = Path(test.text_input(key="system_backup_file").value)
    assert (suggested.parent, suggested.suffix) == (tmp_path, ".lectern")
    suggested.touch()
    assert backup.new_name(tmp_path, date.today()).stem.endswith("-2")
    for name, problem in ((" ", "Name a file"), (str(tmp_path), "a folder"), (str(suggested), "That file exists")):
        test.text_input(key="system_backup_file").set_value(name)
        test.button(key="system_write").click().run()
        assert problem in said(test)
        assert not library.calls
    test.checkbox(key="system_replace").check()
    (tmp_path / "other").touch()
    test.text_input(key="system_backup_file").set_value(str(tmp_path / "other"))
    test.button(key="system_write").click().run()
    assert not library.calls, "to replace another file was agreed to"
    test.checkbox(key="system_replace").check()
    test.button(key="system_write").click().run()
    rest(library.jobs)
    test.run()
    assert library.calls == [("backup", (str(tmp_path / "other"), True))]
    assert "**Backup written** :gray[12 KB, 1 document, 1 original file, 2 conversations" in said(test)
    assert "Bridges is missing" in said(test)
    assert not test.checkbox


def test_a_backup_of_others_than_the_owner_goes_into_the_data_directory(
    library: FakeLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owning, "is_owner", lambda: False)
    library.folder = tmp_path
    test = draw("system")
    assert not [one for one in test.text_input if one.key == "system_backup_file"]
    for count in (1, 2):
        test.session_state["system_backup_file"] = str(tmp_path / "elsewhere")
        test.button(key="system_write").click().run()
        rest(library.jobs)
        test.run()
        name, (path, replaced) = library.calls[-1]
        assert (name, Path(path).parent, replaced, len(library.calls)) == ("backup", tmp_path / "backups", False, count)
        Path(path).touch()


@pytest.mark.parametrize(
    "error", [StoreUnavailable("There is no room."), PermissionError(13, "Permission denied")], ids=["ours", "foreign"]
)
def test_a_backup_that_fails_says_why(library: FakeLibrary, tmp_path: Path, error: Exception) -> None:
    library.written = error
    test = draw("system")
    test.text_input(key="system_backup_file").set_value(str(tmp_path / "new")).run()
    test.button(key="system_write").click().run()
    rest(library.jobs)
    test.run()
    assert str(getattr(error, "strerror", error) or error) in said(test).replace("\\", "")


def checked(test: AppTest, button: str) -> None:
    test.button(key=button).click().run()
    rest(resources.library().jobs)
    test.run()
    assert not test.exception


def rest(jobs: Jobs) -> None:
    deadline = time.monotonic() + 10
    while jobs.busy() and time.monotonic() < deadline:
        time.sleep(0.01)
