"""The command `run`: the application in a browser."""

from __future__ import annotations

import argparse
import os
import socket
import sys

from rag_core.cli_output import WrongUsage
from rag_core.errors import LecternError
from rag_core.settings import APP_DIR, Settings

HELP = "Open the application on 127.0.0.1."
PORT = 8501


def add(command: argparse.ArgumentParser) -> None:
    """The command's options."""
    command.add_argument("--port", type=int, default=PORT, help=f"where it listens ({PORT} without it)")
    command.add_argument("--no-browser", action="store_true", help="open no browser")


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Become the application's server. Raises WrongUsage for what is no port, LecternError for one in use."""
    check_port(options.port)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "LECTERN_DATA_DIR": str(settings.data_dir)}
    has_screen = sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    headless = str(options.no_browser or not has_screen).lower()
    arguments = [str(APP_DIR / "app.py"), "--server.port", str(options.port), "--server.headless", headless]
    os.execve(sys.executable, [sys.executable, "-m", "streamlit", "run", *arguments], environment)


def check_port(port: int) -> None:
    """Whether the application can listen there. Raises WrongUsage for what is no port, LecternError for one in use."""
    if not 0 < port < 65536:
        raise WrongUsage("A port is a number from 1 to 65535.")
    with socket.socket() as probe:
        # As the server does: a port whose last owner has just gone is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise LecternError(
                f"Port {port} cannot be used ({error.strerror}): perhaps Lectern runs already, on"
                f" http://127.0.0.1:{port}.",
                help="Take another one: make run PORT=8502, or lectern run --port 8502.",
            ) from error
