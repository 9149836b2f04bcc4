"""Other users of the machine: what they can neither read, nor hold, nor take the place of."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from rag_core import Library, Settings
from rag_core.runtime import private_folders
from rag_core.storage.embedded.server import EmbeddedServer

NOBODY = 65534
FOLDER_MODE = 0o711 if os.geteuid() == 0 else 0o700
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="root alone can be somebody else")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def other_user(program: str, *arguments: object) -> str:
    """What a program of Python's says that another user runs, to whom this environment is closed."""
    command = [shutil.which("python3", path="/usr/bin") or "python3", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin"}, check=False)  # fmt: skip
    return done.stdout + done.stderr.rpartition("\n")[0].rpartition("\n")[2]


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that everybody may pass through; those of pytest are closed."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_data_directory_is_its_owners_alone(settings: Settings) -> None:
    folder = settings.data_dir
    with Library.open(settings):
        assert (mode(folder) & ~FOLDER_MODE, mode(folder / "owner.lock")) == (0, 0o600)
    folder.chmod(0o777)
    (folder / "owner.lock").chmod(0o666)
    with Library.open(settings):
        assert (mode(folder), mode(folder / "owner.lock")) == (FOLDER_MODE, 0o600)


def test_a_folder_of_all_is_left_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    private_folders.close_to_others(shared)
    assert mode(shared) == 0o1777
    private_folders.close_to_others(tmp_path / "none")


@as_root
def test_another_user_cannot_hold_the_lock_or_look_in(settings: Settings, open_to_all: Path) -> None:
    folder = open_to_all / "library"
    hold = (
        "import fcntl, sys\nfile = open(sys.argv[1])\nfcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\nprint('held')"
    )
    with Library.open(settings.model_copy(update={"data_dir": folder})):
        assert "PermissionError" in other_user(hold, folder / "owner.lock")
        assert "PermissionError" in other_user("import os, sys\nprint(os.listdir(sys.argv[1]))", folder)
    assert "PermissionError" in other_user(hold, folder / "owner.lock")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are, and the system gives no runtime folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return tmp_path


def test_the_runtime_folder_is_the_systems_where_it_is_private(
    temporary: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path_factory.mktemp("given")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(given))
    given.chmod(0o700)
    assert private_folders.runtime_folder() == given
    given.chmod(0o777)
    assert private_folders.runtime_folder() == temporary / f"lectern-{os.geteuid()}"


def test_what_others_put_in_the_place_of_the_runtime_folder_is_not_taken(temporary: Path) -> None:
    name = temporary / f"lectern-{os.geteuid()}"
    name.mkdir(mode=0o777)
    name.chmod(0o777)
    assert private_folders.runtime_folder() == name
    assert mode(name) == 0o700
    name.rmdir()
    (temporary / "elsewhere").mkdir()
    name.symlink_to(temporary / "elsewhere")
    taken = private_folders.runtime_folder()
    assert (taken.parent, taken.resolve() == name.resolve(), mode(taken)) == (temporary, False, 0o700)
    name.unlink()
    name.write_text("")
    assert private_folders.runtime_folder() not in (name, taken)


@as_root
def test_another_users_folder_is_not_taken(temporary: Path) -> None:
    name = temporary / f"lectern-{os.geteuid()}"
    name.mkdir()
    os.chown(name, NOBODY, NOBODY)
    assert private_folders.runtime_folder() != name


def test_a_server_with_a_long_name_has_its_socket_in_the_private_folder(open_to_all: Path) -> None:
    folder = open_to_all / ("long" * 40) / "postgres"
    folder.parent.mkdir()
    embedded = EmbeddedServer(folder)
    try:
        with psycopg.connect(embedded.start()) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        lines = (folder / "postmaster.pid").read_text().splitlines()
        place = Path(lines[4])
        assert place.is_relative_to(os.environ["XDG_RUNTIME_DIR"]), "its lock and socket could be another's"
        assert not mode(place) & 0o077
        if os.geteuid() == 0:
            connect = "import socket, sys\nsocket.socket(socket.AF_UNIX).connect(sys.argv[1])\nprint('connected')"
            assert "PermissionError" in other_user(connect, place / f".s.PGSQL.{lines[3]}")
            assert mode(folder.parent) == 0o711
    finally:
        embedded.stop()
    with socket.socket(socket.AF_UNIX) as probe, pytest.raises(OSError):
        probe.connect(str(place / f".s.PGSQL.{lines[3]}"))
