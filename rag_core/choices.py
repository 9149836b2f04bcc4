"""What a user decided about a library: settings made its own, the model that answers, whether passages may leave."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping

from rag_core import rechunking
from rag_core.errors import ConfigurationError
from rag_core.settings import Settings, translated
from rag_core.storage import Storage

_log = logging.getLogger(__name__)
_OWN = "settings"
_REMOTE = "allow_remote"
_MODEL = "model"


class Choices:
    """Settings as they are now. They outlive this process as preferences of the library. Thread-safe."""

    def __init__(self, settings: Settings, storage: Storage) -> None:
        self._storage = storage
        self._preferences = storage.conversations
        self._lock = threading.Lock()
        self.settings = self._with_own(settings)
        self._consent = self._preferences.preference(_REMOTE) == "yes"

    @property
    def model(self) -> str:
        """The language model that answers."""
        return self._preferences.preference(_MODEL) or self.settings.generation.model

    @property
    def effective(self) -> Settings:
        """The settings with the user's word about remote models."""
        return self.settings.model_copy(update={"allow_remote": self.settings.allow_remote or self._consent})

    @property
    def chosen(self) -> Settings:
        """The settings in effect with the model that was chosen."""
        return self.effective.changed("generation", model=self.model)

    def adopt(self, changes: Mapping[str, object]) -> None:
        """Make settings the library's own, `{"retrieval.k": 10}`. Raises ConfigurationError."""
        changes = translated(changes)
        kept = {**self._own(self.settings), **changes}
        with self._lock:
            self.settings = self.settings.with_values(changes)
        if "generation.model" in kept:
            self._preferences.set_preference(_MODEL, str(kept.pop("generation.model")))
        if any(key.startswith("chunking.") for key in changes):
            rechunking.begin(self._storage, self.settings.chunking.model_dump_json())
        self._preferences.set_preference(_OWN, json.dumps(kept))

    def embed_with(self, model: str, precision: str) -> None:
        """The library was embedded anew with another model."""
        with self._lock:
            self.settings = self.settings.changed("embedding", model=model, precision=precision)

    def use_gemini(self, key: str, *, keep: bool) -> None:
        """Take a key and the user's word; `keep` both beyond this process. Raises ConfigurationError."""
        from rag_core.secrets import keep_key

        key = key.strip()
        if not key or not key.isprintable():
            raise ConfigurationError("The key is empty or holds odd characters.", help="Copy it again from its page.")
        with self._lock:
            self.settings = self.settings.with_key(key)
            self._consent = True
        if keep:
            keep_key(key)
            self._preferences.set_preference(_REMOTE, "yes")

    def forget_gemini(self) -> None:
        """Forget the key and take the word back."""
        from rag_core.secrets import forget_key

        with self._lock:
            self.settings = self.settings.with_key(None)
            self._consent = False
        forget_key()
        self._preferences.set_preference(_REMOTE, None)

    def _with_own(self, settings: Settings) -> Settings:
        """Settings with what was made the library's own. What fits no longer is left out, and logged."""
        own = self._own(settings)
        for group in dict.fromkeys(key.partition(".")[0] for key in own):
            # A group at once, for a chunk's size and overlap fit each other alone.
            values = {key: value for key, value in own.items() if key.startswith(f"{group}.")}
            try:
                settings = settings.with_values(values)
            except ConfigurationError as error:
                _log.warning("Settings of the library's own are not used: %s", error)
        return settings

    def _own(self, settings: Settings) -> dict[str, object]:
        """What was made the library's own. A library may come from elsewhere: only what a run may change is taken."""
        try:
            kept = json.loads(self._preferences.preference(_OWN) or "{}")
        except ValueError:
            kept = {}
        kept = translated(kept) if isinstance(kept, dict) else {}
        return {key: kept[key] for key in settings.tried() if key in kept}
