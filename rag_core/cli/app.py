"""The command `app`: Lectern in a window of its own, whose server ends with it."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec

import click

from rag_core.cli.output import report
from rag_core.cli.run import HERE, PORT, check_port, serve_here
from rag_core.cli.session import Session, command
from rag_core.errors import LecternError
from rag_core.remote.calls import ROOT

_START_S = 120.0
_LOOK_S = 0.2


@command("app", help="Open Lectern in a window of its own where pywebview is installed, else in the browser.")
@click.option("--port", type=int, default=PORT, help=f"where its server listens ({PORT} without it)")
def app(session: Session, port: int) -> None:
    """Show the application that runs, or begin one that ends with its window."""
    if find_spec("webview") is None:
        report(session.as_json, {"window": False}, "Opened in the browser. For a window: pip install pywebview")
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
        _show(session)
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


def _show(session: Session) -> None:
    assert session.wire is not None  # noqa: S101  whoever calls has looked
    address = session.wire.url + session.wire.ask("POST", f"{ROOT}/entry")["address"]
    webview = import_module("webview")
    webview.create_window("Lectern", address, width=1280, height=860)
    webview.start()
