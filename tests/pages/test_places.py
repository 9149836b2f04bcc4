"""The page's other ways in: addresses, folders, what is followed."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import adding, formatting, hosting, owning, resources
from rag_core.domain import AddEvent, Coverage, FollowedSource
from rag_core.errors import AddressRefused, SourceUnavailable
from rag_core.settings import DoorSettings
from tests.pages.conftest import FakeLibrary, a_document
from tests.pages.test_pages import draw, said
from tests.until import until

ADDRESS = "https://example.org/docs/"


def settled(test: AppTest) -> AppTest:
    until(lambda: not resources.library().jobs.busy("visit"))
    return test.run()


def test_an_address_is_fetched_and_its_end_is_told(library: FakeLibrary) -> None:
    gone = SourceUnavailable("The server has no such page (404).")
    library.script[ADDRESS] = [
        AddEvent(ADDRESS, "fetching", 1, 2), AddEvent(ADDRESS, "ready"), AddEvent(f"{ADDRESS}a", "ready", note="known"),
        AddEvent(f"{ADDRESS}b", "failed", error=gone),
    ]  # fmt: skip
    test = draw("upload")
    test.text_input(key="upload_address").set_value("example.org/docs/")
    test.number_input(key="upload_depth").set_value(2)
    next(button for button in test.button if button.label == "Add").click().run()
    told = said(settled(test))
    assert "1 new or changed, 1 as before, 1 not read" in told
    assert "no such page" in told
    assert [(one.label, one.proto.expanded) for one in test.expander] == [("1 address not read", False)]
    assert ("add", [ADDRESS]) in library.calls


def test_why_nothing_was_read_of_an_address_is_open_to_be_seen(library: FakeLibrary) -> None:
    library.script[ADDRESS] = [AddEvent(ADDRESS, "failed", error=SourceUnavailable("It is not public."))]
    test = draw("upload")
    test.text_input(key="upload_address").set_value(ADDRESS)
    next(button for button in test.button if button.label == "Add").click().run()
    told = said(settled(test))
    assert told.count("It is not public") == 1
    assert told.count("1 not read") == 1
    assert len(test.expander) == 0  # the address has one line, which says all


def test_what_is_of_ones_own_network_is_allowed_where_it_was_refused(
    library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = AddressRefused("127.0.0.1 is an address of a private network.", private="127.0.0.1:8000")
    library.script[ADDRESS] = [AddEvent(ADDRESS, "failed", error=refused)]
    test = draw("upload")
    test.text_input(key="upload_address").set_value(ADDRESS)
    next(button for button in test.button if button.label == "Add").click().run()
    (switch,) = settled(test).toggle
    assert switch.label.startswith("Let Lectern fetch from 127") and not switch.value
    library.script[ADDRESS] = [AddEvent(ADDRESS, "ready")]
    switch.set_value(True).run()
    assert "1 new or changed" in said(settled(test))
    assert [call for call in library.calls if call[0] == "fetch_from"] == [("fetch_from", ["127.0.0.1:8000", "True"])]
    assert [call for call in library.calls if call[0] == "add"] == [("add", [ADDRESS])] * 2
    library.settings = library.settings.changed("sources", allowed_hosts=("10.1.2.3",))
    kept = next(one for one in test.run().toggle if one.key == "upload_allowed_10.1.2.3")
    kept.set_value(False).run()
    assert library.calls[-1] == ("fetch_from", ["10.1.2.3", "False"])
    monkeypatch.setattr(owning, "is_owner", lambda: False)
    library.script[ADDRESS] = [AddEvent(ADDRESS, "failed", error=refused)]
    library.jobs.submit("visit", ADDRESS, depth=0)
    assert not settled(test).toggle
    assert "Whoever owns that machine" in said(test)


def test_of_many_addresses_the_last_are_told_of_and_all_are_cleared_by_one_click(library: FakeLibrary) -> None:
    library.held = [a_document()]
    addresses = [f"http://127.0.0.1:{8000 + number}/" for number in range(5)]
    for address in addresses:
        refused = SourceUnavailable("No server answers there.", help="Is it running?")
        library.script[address] = [AddEvent(address, "failed", error=refused)]
        library.jobs.submit("visit", address, depth=0)
    test = settled(draw("upload"))
    named = [address for address in addresses if formatting.plain(address) in said(test)]
    assert (named, "and 2 more" in said(test)) == (addresses[2:], True)
    assert "No server answers" not in said(test.button(key="upload_clear_sites").click().run())


def test_what_is_followed_is_listed_with_its_problem_and_updated(library: FakeLibrary) -> None:
    library.held = [a_document()]
    library.followed_sources = [
        FollowedSource("/papers", "folder", documents=3, problem="The folder is not there."),
        FollowedSource(ADDRESS, "web", documents=7), FollowedSource("https://gone.example/", "web"),
    ]  # fmt: skip
    test = draw("upload")
    assert "The folder is not there" in said(test)
    assert "gone" not in said(test)
    test.button(key="upload_update_1").click().run()
    settled(test)
    assert ("update", [ADDRESS]) in library.calls


def test_files_that_are_passed_over_are_named(library: FakeLibrary) -> None:
    library.held = [a_document()]
    library.followed_sources = [FollowedSource("/papers", "folder", documents=3)]
    library.script["update"] = [AddEvent("/papers", "cancelled", note="Passed over: minutes")]
    test = draw("upload")
    test.button(key="upload_update_0").click().run()
    assert "minutes" in said(settled(test))
    test.session_state["upload_passed_over"] = "Passed over: maps"  # of a folder that the browser sent
    assert "maps" in said(test.run())


def test_how_much_of_a_folder_is_read_and_why_not_the_rest(library: FakeLibrary) -> None:
    library.held = [a_document()]
    library.followed_sources = [FollowedSource("/papers", "folder", documents=2, problem="Passed over: a.xyz")]
    locked, cut = ("It is protected.", "Enter it."), ("It is cut off.", "Copy it again.")
    library.sources.covered = [
        Coverage(
            "/papers", 9, 2, (("b.pdf", *cut), ("c.pdf", *locked), ("d.pdf", *locked)), ("a.xyz",), "Passed over: a.xyz"
        ),
        Coverage("/whole", 5, 5),
    ]
    test = draw("upload")
    (folder,) = [one for one in test.expander if "papers" in one.label]
    assert "2 of 9 read, 3 to go" in folder.label
    told = said(test)
    assert told.index("**2 files** It is protected") < told.index("**1 file** It is cut off")
    assert "Of kinds that are not taken" in told and "Enter it" in told
    assert not [one for one in test.caption if "Passed over" in one.value]
    assert not [one for one in test.expander if "whole" in one.label]


def test_what_failed_of_a_folder_is_shown_in_the_list_where_it_asks_for_its_password(library: FakeLibrary) -> None:
    library.held = [a_document(f"{number}.txt") for number in range(9)] + [a_document("locked.pdf", state="failed")]
    library.sources.covered = [Coverage("/papers", 10, 9, (("locked.pdf", "It is protected.", "Enter it."),))]
    test = draw("upload")
    assert test.selectbox(key="upload_filter_state").value == "All states"
    test.button(key="upload_unread_of_0").click().run()
    assert test.selectbox(key="upload_filter_state").value == "Failed"


def test_a_folder_that_cannot_be_watched_says_why(library: FakeLibrary) -> None:
    test = draw("upload")
    test.text_input(key="upload_watched").set_value("/nowhere")
    next(button for button in test.button if button.label == "Follow").click().run()
    assert "There is no folder" in said(test)


def test_others_than_the_owner_follow_folders_that_are_set_alone(
    library: FakeLibrary, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(owning, "is_owner", lambda: False)
    test = draw("upload")
    assert "LECTERN_DOORS__FOLDERS" in said(test)
    assert "upload_watched" not in {one.key for one in test.text_input}
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "way-out").symlink_to(tmp_path)
    monkeypatch.setattr(hosting.doors, "settings", DoorSettings(folders=(tmp_path / "shared",)))
    for folder in (tmp_path, tmp_path / "none", tmp_path / "shared" / "way-out", "relative"):
        test = draw("upload")
        test.text_input(key="upload_watched").set_value(str(folder))
        next(button for button in test.button if button.label == "Follow").click().run()
        assert "cannot be followed from here" in said(test)
    test.text_input(key="upload_watched").set_value(str(tmp_path / "shared"))
    next(button for button in test.button if button.label == "Follow").click().run()
    assert [call for call in library.calls if call[0] == "watch"] == [("watch", str(tmp_path / "shared"))]


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "localhost:11434", "http://169.254.169.254/v1", "[::1]:80"])
def test_others_than_the_owner_try_no_address_of_the_servers_network(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owning.check_server(address)
    monkeypatch.setattr(owning, "is_owner", lambda: False)
    with pytest.raises(AddressRefused, match="its network"):
        owning.check_server(address)
    for other in ("https://192.0.32.7/v1", "", "http://no such host", "https://[x"):
        owning.check_server(other)


def test_a_folder_says_how_much_of_it_is_read_while_it_is(library: FakeLibrary) -> None:
    library.followed_sources = [FollowedSource("/papers", "folder", documents=4)]
    library.sources.covered = [Coverage("/papers", 8, 4)]
    library.gate.clear()
    test = draw("upload")
    assert not [one for one in test.expander if "papers" in one.label]  # there is nothing to say why
    test.button(key="upload_update_0").click().run()
    (line,) = test.get("progress")
    assert (line.proto.value, "4 of 8 read" in line.proto.text) == (50, True)
    library.gate.set()
    assert not settled(test).get("progress")


def test_files_of_which_the_same_is_said_have_one_line(library: FakeLibrary, tmp_path: Path) -> None:
    names = [f"{number}.txt" for number in range(3)]
    library.script |= {name: [AddEvent(name, "ready", note="already in the library")] for name in names[:2]}
    for name in names:
        (tmp_path / name).write_text("A bridge.")
    adding.add(resources.library().jobs, [tmp_path / name for name in names])
    until(lambda: not resources.library().jobs.busy())
    test = draw("upload")
    assert "2 documents :gray[already in the library]" in said(test)
    assert not any(name in said(test) for name in names[:2])
    assert ":gray[ready]" in said(test)
    assert "already" not in said(test.button(key="upload_dismiss_alike_0").click().run())
