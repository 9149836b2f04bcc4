"""Where things are by default. Imports next to nothing."""

from __future__ import annotations

from pathlib import Path

PROJECT_DIR = Path(__file__).resolve().parent.parent
IS_CHECKOUT = (PROJECT_DIR / "app.py").exists()
APP_DIR = PROJECT_DIR if IS_CHECKOUT else PROJECT_DIR / "lectern_app"
"""Where the application's pages are: the checkout, or what `pip install` made of it."""


def data_dir() -> Path:
    """Where libraries and models are kept by default: beside a checkout's code, else in the user's data folder."""
    if IS_CHECKOUT:
        return PROJECT_DIR / "data"
    import platformdirs

    return platformdirs.user_data_path("lectern", appauthor=False)
