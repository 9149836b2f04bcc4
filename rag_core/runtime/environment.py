"""What the processes that Lectern starts know of its environment: no keys, no addresses of databases."""

from __future__ import annotations

import os
from pathlib import Path

from accelerator.faults import VARIABLE as FAULT

_ROOT = str(Path(__file__).resolve().parents[2])
# Where programs and languages are, and how libraries compute. What else there is may be anybody's secret.
_KEPT = {
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT",
    "VIRTUAL_ENV", "TESSDATA_PREFIX", "XDG_CACHE_HOME", "HF_HOME", FAULT,
}  # fmt: skip
_KEPT_BEGINNINGS = (
    "LC_", "LD_", "DYLD_", "PYTHON", "OMP_", "KMP_", "MKL_", "OPENBLAS_", "RAYON_", "OV_", "TBB_", "HF_HUB_DISABLE_",
    "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "TOKENIZERS_",
)  # fmt: skip


def bare(*beginnings: str, **more: str) -> dict[str, str]:
    """The environment of a process of Lectern's own code: what it needs of this one's, and `more`.

    beginnings: of the names that it needs beside those that all do.
    """
    wanted = (*_KEPT_BEGINNINGS, *beginnings)
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(wanted)}
    paths = [_ROOT, *filter(None, [kept.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), **more}
