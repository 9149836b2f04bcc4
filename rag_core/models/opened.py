"""Language models that were opened: kept while they are used, closed when their settings change or nobody asks."""

from __future__ import annotations

import logging
import threading
import time

from rag_core.errors import LecternError
from rag_core.models.base import ChatModel
from rag_core.models.registry import open_model
from rag_core.settings import GenerationSettings, Settings
from rag_core.unexpected import stage

_log = logging.getLogger(__name__)
_LOOK_S = 5.0


class OpenModels:
    """Language models that were opened, kept until their settings change or they were idle. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, tuple[object, float, ChatModel]] = {}
        self._closing = threading.Event()
        self._watch: threading.Thread | None = None

    def get(self, model_id: str, settings: Settings) -> ChatModel:
        """The model, opened where it is not yet. Raises ModelUnavailable."""
        with self._lock:
            wanted, idle_s = _what_matters(settings), settings.generation.idle_s
            known, _, model = self._open.get(model_id, (None, 0.0, None))
            if model is not None and known == wanted:
                model.touch()
                self._open[model_id] = (wanted, idle_s, model)
                return model
            if model is not None:
                del self._open[model_id]
                model.close()
            opened = open_model(model_id, settings)
            self._open[model_id] = (wanted, idle_s, opened)
            self._watch_idle()
            return opened

    def loaded(self) -> tuple[str, ...]:
        """Ids of the models that are open."""
        return tuple(self._open)

    def unload(self, model_id: str) -> None:
        """Close a model, once the request in progress is over; harmless where it is not open."""
        with self._lock:
            _, _, model = self._open.pop(model_id, (None, 0.0, None))
        if model is not None:
            model.close()

    def close(self) -> None:
        """Free them all."""
        self._closing.set()
        with self._lock:
            models = [model for _, _, model in self._open.values()]
            self._open.clear()
        for model in models:
            model.close()

    def unload_idle(self) -> None:
        """Close the models that nobody asked for their time."""
        now = time.monotonic()
        with self._lock:
            idle = [
                model_id
                for model_id, (_, idle_s, model) in self._open.items()
                if idle_s and not model.busy and now - model.used_at > idle_s
            ]
            models = [self._open.pop(model_id)[2] for model_id in idle]
        for model in models:
            model.close()

    def _watch_idle(self) -> None:
        if self._watch is None:
            self._watch = threading.Thread(target=self._look, name="lectern-idle-models", daemon=True)
            self._watch.start()

    def _look(self) -> None:
        while not self._closing.wait(_LOOK_S):
            try:
                with stage("idle models"):
                    self.unload_idle()
            except LecternError as error:
                _log.warning("Idle models are unloaded later: %s", error)


def _what_matters(settings: Settings) -> tuple[GenerationSettings, object, object, object, bool]:
    """The settings that an open model was made from."""
    # Which model is the default, and how long an answer may be, changes nothing about an open one.
    group = settings.generation.model_copy(update={"model": "", "max_tokens": 1, "idle_s": 0})
    server = settings.server.model_copy(update={"models": ()})
    return group, server, settings.models_dir, settings.google_api_key, settings.allow_remote
