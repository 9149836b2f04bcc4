from __future__ import annotations

import asyncio
import socket
import threading
import webbrowser
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from streamlit import config
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType

from pages.parts import hosting


@pytest.mark.parametrize("headless", [True, False])
def test_the_address_is_told_once_the_port_answers(
    headless: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    shown = threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda url: (opened.append(url), shown.set()))
    monkeypatch.setattr(config, "get_option", {"server.headless": headless}.__getitem__)
    monkeypatch.setattr(hosting, "_LOOK_S", 0.01)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()

    async def told() -> str:
        with socket.socket() as port:
            port.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{port.getsockname()[1]}"
            telling = asyncio.create_task(hosting.announce(url))
            await asyncio.sleep(0.05)
            port.listen()
            await asyncio.sleep(0.05)
            assert not telling.done(), "nobody answers yet"
            assert capsys.readouterr().out == ""
            async with await asyncio.start_server(answer, sock=port):
                await asyncio.wait_for(telling, 10)
        return url

    with ThreadPoolExecutor(1) as executor:  # the browser's tests leave a running loop in this thread
        url = executor.submit(asyncio.run, told()).result()
    assert capsys.readouterr().out == f"Lectern: {url}\n"
    if not headless:
        assert shown.wait(10)
    assert opened == ([] if headless else [url])


def test_a_fragment_is_drawn_on_the_page_that_is_drawn_with_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = SimpleNamespace(page_script_hash="library", query_string="d=handbook")
    monkeypatch.setattr(hosting, "get_script_run_ctx", lambda: drawn)
    requests = ScriptRequests()
    requests.request_rerun(RerunData(fragment_id="clock", page_script_hash="models", query_string=""))
    asked = requests.on_scriptrunner_ready().rerun_data
    assert (asked.page_script_hash, asked.query_string) == ("library", "d=handbook")
    assert asked.fragment_id_queue == ["clock"]
    assert requests.on_scriptrunner_ready().type is ScriptRequestType.STOP  # nothing else is asked


def test_a_page_that_waits_to_be_drawn_is_not_lost_to_a_fragment_of_the_page_before() -> None:
    requests = ScriptRequests()
    requests.request_rerun(RerunData(page_script_hash="library", query_string="d=handbook"))
    requests.request_rerun(RerunData(fragment_id="clock", page_script_hash="models", is_auto_rerun=True))
    asked = requests.on_scriptrunner_ready().rerun_data
    assert (asked.page_script_hash, asked.query_string) == ("library", "d=handbook")
    assert asked.fragment_id_queue == []
