"""A real export, while another process makes the same one and is killed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rag_core.embedding.exported import MANIFEST, is_whole
from rag_core.embedding.source import PACKAGED, ModelSource, find_source
from tests.conftest import PROJECT
from tests.faults.conftest import ALL
from tests.faults.summary import Tally

pytestmark = pytest.mark.slow


def exporter(source: ModelSource, target: Path) -> subprocess.Popen[str]:
    export = "import sys; from pathlib import Path; from rag_core.embedding.export import export_quietly; "
    export += "export_quietly(sys.argv[1], Path(sys.argv[2]), 'float32')"
    return subprocess.Popen(
        [sys.executable, "-c", export, source.folder, target], cwd=PROJECT, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(not ALL, reason="exports the model twice: set ALL_FAULTS=1")
def test_two_exporters_at_once_one_of_them_killed(tmp_path: Path, tally: Tally) -> None:
    source = find_source(PACKAGED)
    target = tmp_path / "model"
    doomed, other = exporter(source, target), exporter(source, target)
    # Killed as soon as anything of its own or the other's is on the disk.
    killer = threading.Thread(target=lambda: (_wait_for_anything(tmp_path), doomed.kill()))
    killer.start()
    _, reason = other.communicate(timeout=120)
    killer.join()
    doomed.communicate(timeout=120)
    assert other.returncode == 0, reason
    assert is_whole(target)
    sizes = json.loads((target / MANIFEST).read_text())["files"]
    assert set(sizes) == {"model.xml", "model.bin"}
    tally.faults += 1


def _wait_for_anything(folder: Path) -> None:
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and not any(folder.iterdir()):
        time.sleep(0.002)
