"""What a user decided about a library: settings made its own, the model that answers, whether passages may leave."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping

from pydantic import SecretStr

from rag_core.domain import Profile
from rag_core.errors import ConfigurationError
from rag_core.services import rechunking
from rag_core.settings import ServerSettings, Settings, not_settings, translated
from rag_core.storage import Storage

_log = logging.getLogger(__name__)
_OWN = "settings"
_REMOTE = "allow_remote"
_MODEL = "model"
_GEMINI_MODEL = "gemini_model"
_MODEL_SETTING = "generation.model"


class Preferences:
    """Settings as they are now. They outlive this process as preferences of the library. Thread-safe.

    `get(name)` tells a value that the user chose, or None; `set(name, value)` keeps one, None forgets it.
    """

    def __init__(self, settings: Settings, storage: Storage) -> None:
        self._storage = storage
        self._kept = storage.conversations
        self.get, self.set = self._kept.preference, self._kept.set_preference
        self._lock = threading.Lock()
        for note in not_settings():
            _log.warning("%s", note)
        self._opened = settings.tunable()
        self.settings = self._with_own(settings)
        rechunking.look(storage, self.settings.chunking.key)
        self._consent = self._kept_consent = self._kept.preference(_REMOTE) == "yes"
        self._gemini_model = self._kept.preference(_GEMINI_MODEL) or ""
        storage.notices.on(self.read_again, "preferences")

    def read_again(self) -> None:
        """Another server has changed what is kept. Consent that was for this process alone stays as it is."""
        with self._lock:
            self.settings = self._with_own(self.settings.with_values(self._opened))
            kept = self._kept.preference(_REMOTE) == "yes"
            if kept != self._kept_consent:
                self._consent = self._kept_consent = kept
            self._gemini_model = self._kept.preference(_GEMINI_MODEL) or ""

    @property
    def model(self) -> str:
        """The language model that answers."""
        return self._kept.preference(_MODEL) or self.settings.generation.model

    @property
    def effective(self) -> Settings:
        """The settings with the user's word about remote models, and the model of Gemini where settings name none."""
        settings = self.settings
        if self._gemini_model and not settings.generation.gemini_model:
            settings = settings.changed("generation", gemini_model=self._gemini_model)
        return settings.model_copy(update={"allow_remote": settings.allow_remote or self._consent})

    @property
    def chosen(self) -> Settings:
        """The settings in effect with the model that was chosen."""
        return self.effective.changed("generation", model=self.model)

    def apply(self, changes: Mapping[str, object]) -> None:
        """Make settings the library's own, `{"retrieval.k": 10}`, beside those that are. Raises ConfigurationError."""
        changes = translated(changes)

        def with_changes(kept: str) -> str:
            own = {**self._own(self.settings, kept), **changes}
            return json.dumps({key: value for key, value in own.items() if key != _MODEL_SETTING})

        with self._lock:  # what is in effect and what is kept change together
            settings = self.settings.with_values(changes)
            self._kept.change_preference(_OWN, with_changes)
            self.settings = settings
            if _MODEL_SETTING in changes:
                self._kept.set_preference(_MODEL, str(changes[_MODEL_SETTING]))
            if any(key.startswith("chunking.") for key in changes):
                rechunking.settle(self._storage, settings.chunking.key)

    def embed_with(self, model: str, profile: Profile) -> None:
        """The library was re-embedded with another model."""
        with self._lock:
            self.settings = self.settings.changed(
                "embedding", model=model, precision=profile.precision, context=profile.in_context
            )

    def use_gemini(self, key: str, *, keep: bool) -> None:
        """Take a Gemini key and the user's word that passages may leave the machine.

        With `keep` both outlive this process: the key in `.env`, the word in the library. Raises ConfigurationError.
        """
        from rag_core.env_file import keep_key

        key = key.strip()
        if not key or not key.isprintable():
            raise ConfigurationError("The key is empty or holds odd characters.", help="Copy it again from its page.")
        with self._lock:
            self.settings = self.settings.with_key(key)
            self._consent = True
        if keep:
            keep_key(key)
            self._kept.set_preference(_REMOTE, "yes")

    def choose_gemini_model(self, name: str) -> None:
        """Keep which model of Gemini answers where settings name none; "" for the one that its list proposes."""
        self._gemini_model = name.strip()
        self._kept.set_preference(_GEMINI_MODEL, self._gemini_model or None)

    def forget_gemini(self) -> None:
        """Forget the key and take the word back."""
        from rag_core.env_file import forget_key

        with self._lock:
            self.settings = self.settings.with_key(None)
            self._consent = False
        forget_key()
        self._kept.set_preference(_REMOTE, None)

    def with_server(self, address: str, key: str, models: tuple[str, ...], *, agreed: bool) -> Settings:
        """The settings with a server of models. An empty key is the one that is set for that address.

        Raises ConfigurationError.
        """
        settings, before = self.effective, self.settings.server
        address, key = address.strip(), key.strip()
        if not all(text.isprintable() and not set(text) & set(" '\"\\") for text in (address, key, *models)):
            raise ConfigurationError("The address, the key or a name holds odd characters.", help="Copy it again.")
        kept = before.key if address == before.address and not key else None
        settings = settings.changed("server", address=address, key=SecretStr(key) if key else kept, models=models)
        return settings.model_copy(update={"allow_remote": settings.allow_remote or agreed})

    def use_server(self, address: str, key: str, models: tuple[str, ...], *, agreed: bool, keep: bool) -> None:
        """Let models of a server answer; `keep` it beyond this process. Raises ConfigurationError, ModelUnavailable."""
        from rag_core.env_file import keep_server
        from rag_core.models.openai_compatible import permitted

        settings = self.with_server(address, key, models, agreed=agreed)
        elsewhere = not permitted(settings).here
        with self._lock:
            self.settings = self.settings.model_copy(update={"server": settings.server})
            self._consent = self._consent or (elsewhere and agreed)
        if keep:
            keep_server(settings.server)
            if elsewhere and agreed:
                self._kept.set_preference(_REMOTE, "yes")

    def forget_server(self) -> None:
        """Forget the server of models and its key. Raises ConfigurationError."""
        from rag_core.env_file import forget_server

        with self._lock:
            self.settings = self.settings.model_copy(update={"server": ServerSettings()})
        forget_server()

    def fetch_from(self, host: str, *, allowed: bool) -> None:
        """Let a `host` or `host:port` of this machine or its network be fetched from, or no longer.

        It is kept in `.env`, so that a library that comes from elsewhere brings none. Raises ConfigurationError.
        """
        from rag_core.env_file import keep_hosts

        host = host.strip().lower()
        if not host.isprintable() or set(host) & set(" '\"\\") or not host:
            raise ConfigurationError("That is no name of a host.", help="Check how it is written.")
        with self._lock:
            others = [one for one in self.settings.sources.allowed_hosts if one.strip().lower() != host]
            settings = self.settings.changed("sources", allowed_hosts=(*others, *([host] if allowed else [])))
            keep_hosts(settings.sources.allowed_hosts)
            self.settings = settings

    def _with_own(self, settings: Settings) -> Settings:
        """Settings with what was made the library's own. What fits no longer is left out, and logged."""
        own = self._own(settings, self._kept.preference(_OWN) or "")
        for group in dict.fromkeys(key.partition(".")[0] for key in own):
            # A group at once, for a chunk's size and overlap fit each other alone.
            values = {key: value for key, value in own.items() if key.startswith(f"{group}.")}
            try:
                settings = settings.with_values(values)
            except ConfigurationError as error:
                _log.warning("Settings of the library's own are not used: %s", error)
        return settings

    @staticmethod
    def _own(settings: Settings, text: str) -> dict[str, object]:
        """What was made the library's own. A library may come from elsewhere: only what a run may change is taken."""
        try:
            kept = json.loads(text or "{}")
        except ValueError:
            kept = {}
        kept = translated(kept) if isinstance(kept, dict) else {}
        return {key: kept[key] for key in settings.tunable() if key in kept}
