"""The server around the pages: the library is opened when it starts, and closed when it stops."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import wraps
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from streamlit import config
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests, ScriptRequestType
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from pages.parts import page_itself, resources, signing_in
from pages.parts.opening import settle
from rag_core import logs, server_file
from rag_core.api import heads
from rag_core.api.doors import Doors
from rag_core.api.headers import page_policy
from rag_core.errors import ConfigurationError, LecternError
from rag_core.runtime.private_folders import runtime_folder
from rag_core.settings import Settings
from rag_core.unexpected import stage

if TYPE_CHECKING:
    from streamlit.runtime.scriptrunner import ScriptRunContext
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
    from streamlit.starlette import App

    from pages.parts.opening import Opening

logger = logging.getLogger(__name__)

# Until `st.navigation` was called once, Streamlit takes the folder pages/ for its older kind of app and would run the
# page of a bookmark without the frame.
PagesManager.uses_pages_directory = False


def _of_page(ready: Callable[[ScriptRequests], ScriptRequest]) -> Callable[[ScriptRequests], ScriptRequest]:
    """Runs of a fragment are of the page that is drawn, with its address.

    Where the browser asks for a fragment that draws itself before it has heard of another page, Streamlit would run it
    under the page it was of; the browser takes that for a page without elements, and what comes next breaks its tree.
    A part of the frame, which every page has, would draw the page anew without the document that its address names.
    """

    @wraps(ready)
    def of_page(self: ScriptRequests) -> ScriptRequest:
        request, context = ready(self), get_script_run_ctx()
        if context is None or request.type is not ScriptRequestType.RERUN or not request.rerun_data.fragment_id_queue:
            return request
        if context.page_script_hash in ("", request.rerun_data.page_script_hash):
            return request
        return ScriptRequest(request.type, _on(context, request.rerun_data))

    return of_page


def _beside_page(request: Callable[[ScriptRequests, RerunData], bool]) -> Callable[[ScriptRequests, RerunData], bool]:
    """A page that is to be drawn is drawn, though a fragment of the page before is asked for before it was begun:
    Streamlit would make one request of both, with the page and the address of the later one."""

    @wraps(request)
    def beside_page(self: ScriptRequests, asked: RerunData) -> bool:
        waiting = self._rerun_data
        is_waiting = self._state is ScriptRequestType.RERUN and not waiting.fragment_id_queue
        if is_waiting and asked.fragment_id and waiting.page_script_hash not in ("", asked.page_script_hash):
            asked = _on(waiting, asked)
        return request(self, asked)

    return beside_page


def _on(page: RerunData | ScriptRunContext, asked: RerunData) -> RerunData:
    """What is asked for, on another page with its address."""
    return replace(asked, page_script_hash=page.page_script_hash, query_string=page.query_string)


ScriptRequests.request_rerun = _beside_page(ScriptRequests.request_rerun)  # type: ignore[method-assign, assignment]
ScriptRequests.on_scriptrunner_ready = _of_page(ScriptRequests.on_scriptrunner_ready)  # type: ignore[method-assign, assignment]

doors = Doors(resources.library)
heads.limit(AutoHTTPProtocol)
_LOOK_S = 0.1
# The doors' own code, and the models, are loaded when the first pages are drawn.
_LATER_S = 5.0


@asynccontextmanager
async def lifespan(app: App) -> AsyncIterator[None]:
    """Open the library and tell where its server is; close everything in the end."""
    address = str(config.get_option("server.address") or "0.0.0.0")  # noqa: S104
    doors.bind(address)
    doors.page_policy = page_policy(page_itself.script_hashes())
    doors.sign_in = signing_in.COOKIES if signing_in.configured() else None
    opening = resources.opening()
    doors.library = lambda: opening.library
    with _logged(), ExitStack() as told:
        _trace()
        telling = asyncio.create_task(_tell(opening, _url(address), told))
        if not (doors.keyless or doors.entry or doors.sign_in):
            await _check_keys(opening)
        try:
            with _stopping():
                yield
        finally:
            telling.cancel()
            doors.closing.set()
            told.close()
            await asyncio.to_thread(resources.close)


@contextmanager
def _logged() -> Iterator[None]:
    """Keep the log; settings that cannot be used are told of by the library, which is not opened then."""
    try:
        settings = Settings.load()
    except LecternError:
        yield
        return
    with logs.kept(settings.data_dir.expanduser().absolute(), settings.logs):
        yield


def _trace() -> None:
    """Send requests to the collector that the settings name, if any."""
    if not doors.settings.telemetry:
        return
    from rag_core.api.tracing import exporter

    try:
        doors.observers.append(exporter(doors.settings.telemetry))
    except ConfigurationError as error:
        logger.warning("%s %s", error, error.help)


def _url(address: str) -> str:
    """Where a server that listens at an address is reached from this machine."""
    host = "127.0.0.1" if address in ("0.0.0.0", "::") else address  # noqa: S104
    return f"http://{f'[{host}]' if ':' in host else host}:{config.get_option('server.port')}"


async def _tell(opening: Opening, url: str, told: ExitStack) -> None:
    """Say where the server is, note address and key beside the library's lock once it is ours, get the doors ready."""
    await announce(url)
    while opening.state != "open":
        await asyncio.sleep(_LOOK_S)
    try:
        told.enter_context(server_file.told(opening.library.folder, url, doors.key))
    except OSError as error:
        logger.warning("The address of the server could not be noted: %s", error)
    await asyncio.sleep(_LATER_S)
    steps: list[Callable[[], object]] = [lambda: opening.library.jobs.resume(), doors.make, settle, opening.warm_up]
    for step in steps:
        await asyncio.to_thread(_done, step)


def _done(step: Callable[[], object]) -> None:
    """Do what the server does when it has time; what fails keeps nothing else back."""
    try:
        with stage("start"):
            step()
    except LecternError as error:
        logger.warning("Left out as the server started: %s", error)


async def announce(url: str) -> None:
    """Print the address, and open the browser where there is one to open, once the port answers."""
    while not await _answers(url):
        await asyncio.sleep(_LOOK_S)
    sys.stdout.write(f"Lectern: {doors.entry.address(url) if doors.entry else url}\n")
    sys.stdout.flush()
    if not config.get_option("server.headless"):  # Streamlit opens none for an application with doors of its own
        threading.Thread(target=_open_browser, args=(url,), name="lectern-browser", daemon=True).start()


def _open_browser(url: str) -> None:
    """Open the pages. An address with a token is not among a program's arguments, which other users can read."""
    if doors.entry is None:
        webbrowser.open(url)
        return
    page = runtime_folder() / "lectern.html"
    page.unlink(missing_ok=True)
    page.touch(mode=0o600)
    page.write_text(f'<meta http-equiv="refresh" content="0; url={doors.entry.address(url)}">', encoding="utf-8")
    webbrowser.open(page.as_uri())


async def _answers(url: str) -> bool:
    """Whether a request is answered. The port is taken before; whoever connects then waits for the server to begin."""
    parts = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(f"GET /_stcore/health HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n".encode())
        await reader.read()
        writer.close()
    except OSError:
        return False
    return True


async def _check_keys(opening: Opening) -> None:
    """Where others reach the server, it starts with keys, or a sign-in, alone. Raises ConfigurationError."""
    while opening.state == "opening":
        await asyncio.sleep(_LOOK_S)
    if opening.error is not None:
        raise opening.error
    if not any(key.revoked_at is None for key in opening.library.access.all()):
        raise ConfigurationError(
            "Without keys or a sign-in Lectern listens on 127.0.0.1 alone. Make one: lectern keys --create."
        )


@contextmanager
def _stopping() -> Iterator[None]:
    """Tell the doors at once that the server is to stop: it waits for the streams that they have open."""

    def stop(number: int, frame: FrameType | None) -> None:
        doors.closing.set()
        before = handlers[signal.Signals(number)]
        if callable(before):
            before(number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in handlers:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, before in handlers.items():
            signal.signal(number, before)
