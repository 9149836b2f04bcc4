"""The command `app`: Lectern in a window of its own, whose server ends with it."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
import webbrowser
from importlib import import_module
from importlib.util import find_spec

import click

from rag_core.cli.output import report
from rag_core.cli.run import HERE, PORT, check_port, has_screen, serve_here
from rag_core.cli.session import Session, command
from rag_core.errors import LecternError
from rag_core.remote.calls import ROOT

_START_S = 120.0
_LOOK_S = 0.2


@command("app", help="Open Lectern in a window of its own where pywebview is installed, else in the browser.")
@click.option("--port", type=int, default=PORT, help=f"where its server listens ({PORT} without it)")
def app(session: Session, port: int) -> None:
    """Show the application that runs, or begin one that ends with its window."""
    if not has_screen() or find_spec("webview") is None:
        browser = "Opened in the browser. For a window: pip install pywebview"
        told = browser if has_screen() else "There is no screen here for a window or a browser."
        report(session.as_json, {"window": False}, told)
        serve_here(session, port)
        return
    if session.wire is not None:
        _show(session)
        return
    check_port(port)
    words = [sys.executable, "-m", "rag_core", "serve", "--port", str(port), "--data-dir", str(session.folder)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        _wait(session, server)
        if not _show(session):
            server.wait()
    finally:
        server.terminate()
        server.wait()


def _wait(session: Session, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers. Raises LecternError where it ends or does not come."""
    end = time.monotonic() + _START_S
    while time.monotonic() < end and server.poll() is None:
        session.__dict__.pop("wire", None)  # it is looked for anew
        if session.wire is not None:
            return
        time.sleep(_LOOK_S)
    raise LecternError("Lectern's server did not start.", help=f"See why: lectern serve, which listens on {HERE}.")


def _show(session: Session) -> bool:
    """Show the window until it is closed; where none can be opened, a browser's, and False."""
    assert session.wire is not None  # noqa: S101  whoever calls has looked
    address = session.wire.url + session.wire.ask("POST", f"{ROOT}/entry")["address"]
    webview = import_module("webview")
    logging.getLogger("pywebview").setLevel(logging.CRITICAL)  # of each toolkit that is not there it prints a traceback
    try:
        webview.create_window("Lectern", address, width=1280, height=860)
        webview.start()
    except Exception as error:  # noqa: BLE001  pywebview's own, and those of the toolkit under it
        told = "Opened in the browser" if webbrowser.open(address) else "Open this in a browser"
        told = f"No window could be opened: {str(error).rstrip('.')}. {told}: {address}"
        report(session.as_json, {"window": False, "url": address}, told)
        return False
    return True
