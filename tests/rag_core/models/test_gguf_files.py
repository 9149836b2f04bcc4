"""Whether llama.cpp is there, is coming, or is not."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_core.models import gguf_files


def test_why_llama_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_files, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert "make llama" in gguf_files.llama_missing()
    (tmp_path / "llama.pid").write_text(f"{os.getpid()}\n")
    assert "is being compiled" in gguf_files.llama_missing()
    (tmp_path / "llama.pid").write_text("999999999\n")  # it was killed
    assert "make llama" in gguf_files.llama_missing()
    monkeypatch.undo()
    pytest.importorskip("llama_cpp")
    assert gguf_files.llama_missing() == ""


def test_whether_it_is_there_is_asked_by_many_at_once() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(20):
                sys.path_importer_cache.update(dict.fromkeys(f"/nowhere/{number}.zip" for number in range(2_000)))
                asked = [pool.submit(gguf_files.llama_missing) for _ in range(8)]
                assert all("llama" in one.result() or not one.result() for one in asked)
    finally:
        sys.setswitchinterval(before)
