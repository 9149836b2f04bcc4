"""What `pip install .` makes: whole, and with its data in the user's folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from rag_core import __version__
from tests.conftest import PROJECT

MADE_OF = ("README.md", "app.py", "face.py", "pyproject.toml", "requirements.txt", "setup.py")
FOLDERS = (".streamlit", "accelerator", "pages", "rag_core", "data/samples")


def test_what_is_installed_is_whole(tmp_path: Path) -> None:
    source, installed = tmp_path / "source", tmp_path / "installed"
    for name in FOLDERS:
        shutil.copytree(PROJECT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in MADE_OF:
        shutil.copy(PROJECT / name, source / name)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", installed, source], check=True)
    for folder, name in (("pages", "lectern_app/pages"), ("rag_core", "rag_core"), ("accelerator", "accelerator")):
        files = {path.relative_to(source / folder) for path in (source / folder).rglob("*") if path.is_file()}
        assert {path for path in files if not (installed / name / path).exists()} == set()
    assert (installed / "lectern_app" / ".streamlit" / "config.toml").exists()
    assert (installed / "lectern_app" / "data" / "samples" / "questions.jsonl").exists()
    environment = {**os.environ, "PYTHONPATH": str(installed), "XDG_DATA_HOME": str(tmp_path / "data")}
    environment.pop("LECTERN_DATA_DIR", None)
    ask = "from rag_core.settings import APP_DIR, DATA_DIR; print((APP_DIR / 'app.py').exists(), DATA_DIR)"
    ask += "; from rag_core.models.gguf_files import INSTALL_LLAMA; print(INSTALL_LLAMA)"
    said = subprocess.run([sys.executable, "-c", ask], cwd=tmp_path, env=environment, capture_output=True, text=True)
    told, llama = said.stdout.splitlines()
    exists, folder = told.split(maxsplit=1)
    assert exists == "True"
    assert Path(folder.strip()).name == "lectern"
    assert not folder.startswith(str(installed))
    assert "pip install '.[llama]'" in llama
    assert (installed / f"lectern-{__version__}.dist-info").exists()
    helped = subprocess.run([installed / "bin" / "lectern", "--help"], env=environment, capture_output=True, text=True)
    assert (helped.returncode, helped.stdout.split()[:2]) == (0, ["Usage:", "lectern"])
