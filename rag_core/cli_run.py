"""The command `run`: the application in a browser."""

from __future__ import annotations

import argparse
import os
import socket
import sys

from rag_core.api.addresses import is_own
from rag_core.cli_output import WrongUsage
from rag_core.errors import ConfigurationError, LecternError
from rag_core.settings import APP_DIR, Settings

HELP = "Open the application, with its doors for other programs, on 127.0.0.1."
PORT = 8501
HERE = "127.0.0.1"


def add(command: argparse.ArgumentParser) -> None:
    """The command's options."""
    command.add_argument("--port", type=int, default=PORT, help=f"where it listens ({PORT} without it)")
    command.add_argument(
        "--address", default=HERE, help=f"where it listens ({HERE} without it); any other needs keys: lectern keys"
    )
    command.add_argument("--no-browser", action="store_true", help="open no browser")


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Become the application's server. Raises WrongUsage for what is no port, LecternError for one in use."""
    check_port(options.port, options.address)
    if not is_own(options.address):
        _check_keys(settings)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "LECTERN_DATA_DIR": str(settings.data_dir)}
    has_screen = sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    headless = str(options.no_browser or not has_screen).lower()
    arguments = [str(APP_DIR / "app.py"), "--server.port", str(options.port), "--server.headless", headless]
    arguments += ["--server.address", options.address, "--browser.serverAddress", options.address]
    for host in (HERE, "localhost", options.address, *settings.doors.hosts):
        arguments += ["--server.allowedHosts", host]
    os.execve(sys.executable, [sys.executable, "-m", "streamlit", "run", *arguments], environment)


def _check_keys(settings: Settings) -> None:
    """Whether the library has keys. Raises ConfigurationError; the server looks once more when it has opened it."""
    from rag_core.library import Library

    with Library.open(settings) as library:
        if not any(key.revoked_at is None for key in library.access.all()):
            raise ConfigurationError(
                f"Without keys Lectern listens on {HERE} alone.", help="Make one: lectern keys --create NAME."
            )


def check_port(port: int, address: str = HERE) -> None:
    """Whether the application can listen there. Raises WrongUsage for what is no port, LecternError for one in use."""
    if not 0 < port < 65536:
        raise WrongUsage("A port is a number from 1 to 65535.")
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        # As the server does: a port whose last owner has just gone is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise LecternError(
                f"Port {port} of {address} cannot be used ({error.strerror}): perhaps Lectern runs already, on"
                f" http://{address}:{port}.",
                help="Take another one: make run PORT=8502, or lectern run --port 8502.",
            ) from error
