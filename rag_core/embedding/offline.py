"""Keep the libraries of models from the network, and from reporting what they do. Called before they are imported."""

from __future__ import annotations

import os
import sys

_VARIABLES = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    # Silences a warning that goes to standard error with every fork after the first tokenising.
    "TOKENIZERS_PARALLELISM": "true",
}


def keep_offline() -> None:
    """Set what turns the network and telemetry off, for this process and its children."""
    os.environ.update(_VARIABLES)
    # Reports by default, and asks no variable. OpenVINO and nncf do without it where it cannot be imported.
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
