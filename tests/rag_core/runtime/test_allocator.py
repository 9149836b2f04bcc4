"""What is let go of is given back to the system."""

from __future__ import annotations

import sys

import numpy as np
import psutil
import pytest

from rag_core.runtime.allocator import give_back, keep_little


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_what_is_freed_between_what_is_used_is_given_back() -> None:
    keep_little()
    before = psutil.Process().memory_info().rss
    arrays = [np.ones(100_000, np.uint8) for _ in range(2_000)]  # 200 MB in pieces below the threshold
    assert psutil.Process().memory_info().rss - before > 150e6
    del arrays[:-1]
    give_back()
    assert psutil.Process().memory_info().rss - before < 50e6
    assert arrays
