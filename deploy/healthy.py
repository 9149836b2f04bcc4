"""Whether the server of this data directory answers questions: exit code 0, or 1 with why on the error output."""

from __future__ import annotations

import sys
import urllib.request
from pathlib import Path

from rag_core.server_file import find
from rag_core.settings import Settings

served = find(Path(Settings.load().data_dir))
if served is None:
    sys.exit("No server has begun here.")
request = urllib.request.Request(f"{served.url}/api/v1/health", headers={"Authorization": f"Bearer {served.key}"})  # noqa: S310
try:
    with urllib.request.urlopen(request, timeout=10):  # noqa: S310  the server's own note says where it is
        pass
except OSError as error:
    sys.exit(f"It does not answer: {error}")
