"""The commands `run` and `serve`: the application's server, with a browser or without."""

from __future__ import annotations

import errno
import os
import socket
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_core.api.addresses import is_own
from rag_core.cli.output import report
from rag_core.cli.session import Session, command
from rag_core.errors import ConfigurationError, LecternError
from rag_core.paths import APP_DIR
from rag_core.remote.calls import ROOT

if TYPE_CHECKING:
    from rag_core.settings import Settings

PORT = 8501
HERE = "127.0.0.1"


def _listening(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options that say where it listens."""
    where = f"where it listens ({HERE} without it); any other needs keys: lectern keys"
    function = click.option("--address", default=HERE, help=where)(function)
    return click.option("--port", type=int, default=PORT, help=f"where it listens ({PORT} without it)")(function)


@command("run", help="Open the application, with its doors for other programs, on 127.0.0.1.")
@_listening
@click.option("--no-browser", is_flag=True, help="open no browser")
def run(session: Session, port: int, address: str, no_browser: bool) -> None:
    """Become the application's server."""
    serve_here(session, port, address, browser=not no_browser)


@command("serve", help="The same without a browser.")
@_listening
def serve(session: Session, port: int, address: str) -> None:
    """Become the application's server."""
    serve_here(session, port, address, browser=False)


def serve_here(session: Session, port: int, address: str = HERE, *, browser: bool = True) -> None:
    """Raises UsageError for what is no port, LecternError for one in use. A library that has a server gets no other."""
    if session.wire is not None:
        url = session.wire.url + session.wire.ask("POST", f"{ROOT}/entry")["address"]
        report(session.as_json, {"url": url}, f"Lectern already runs on {url}")
        return
    settings = session.settings
    if settings.jobs.taken:
        raise ConfigurationError("LECTERN_JOBS__TAKEN makes a worker, which serves nothing.", help="lectern worker")
    if settings.jobs.executor != "local":
        raise ConfigurationError(
            "LECTERN_JOBS__EXECUTOR is for add, reembed and workers: whatever joins a Ray cluster ends with its node.",
            help="lectern worker --executor ray",
        )
    check_port(port, address)
    if not is_own(address) and not _signs_in():
        _check_keys(settings)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "LECTERN_DATA_DIR": str(settings.data_dir)}
    headless = str(not (browser and has_screen())).lower()
    arguments = [str(APP_DIR / "app.py"), "--server.port", str(port), "--server.headless", headless]
    arguments += ["--server.address", address, "--browser.serverAddress", address]
    for host in (HERE, "localhost", address, *settings.doors.hosts):
        arguments += ["--server.allowedHosts", host]
    os.execve(sys.executable, [sys.executable, "-m", "streamlit", "run", *arguments], environment)


def has_screen() -> bool:
    """Whether a window can be opened here."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _signs_in() -> bool:
    """Whether Streamlit's secrets, of this folder or of the user, say how people sign in."""
    for folder in (Path.cwd(), Path.home()):
        try:
            if "auth" in tomllib.loads((folder / ".streamlit" / "secrets.toml").read_text(encoding="utf-8")):
                return True
        except (OSError, ValueError):
            continue
    return False


def _check_keys(settings: Settings) -> None:
    """Whether the library has keys. Raises ConfigurationError; the server looks once more when it has opened it."""
    from rag_core.library import Library

    with Library.open(settings) as library:
        if not any(key.revoked_at is None for key in library.access.all()):
            raise ConfigurationError(
                f"Without keys or a sign-in Lectern listens on {HERE} alone.",
                help="Make one: lectern keys --create NAME.",
            )


def check_port(port: int, address: str = HERE) -> None:
    """Whether the application can listen there. Raises UsageError for what is no port, LecternError for one in use."""
    if not 0 < port < 65536:
        raise click.UsageError("A port is a number from 1 to 65535.")
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        # As the server does: a port whose last owner has just gone is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            perhaps = f": perhaps Lectern runs already, on http://{address}:{port}" if taken else ""
            raise LecternError(
                f"Port {port} of {address} cannot be used ({error.strerror}){perhaps}.",
                help="Take another one: make run PORT=8502, or lectern run --port 8502."
                if taken or error.errno == errno.EACCES
                else f"Name an address of this machine, such as {HERE}: lectern run --address {HERE}.",
            ) from error
