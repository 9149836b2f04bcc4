"""The embedding model of an open library and the reader, loaded when they are first needed."""

from __future__ import annotations

import threading

from rag_core.domain import Profile
from rag_core.embedding import Embedder, Reader, open_embedder, open_reader
from rag_core.services.preferences import Preferences
from rag_core.services.reembedding import open_for
from rag_core.storage import Storage


class EmbeddingInUse:
    """The model that the library was made with, whatever the settings ask for. Thread-safe.

    `embedder` is None until it is needed.
    """

    def __init__(self, storage: Storage, preferences: Preferences) -> None:
        self._storage = storage
        self._preferences = preferences
        self._lock = threading.Lock()
        self._noted = ""
        self.embedder: Embedder | None = None
        self._reader: Reader | None = None
        self._opening_reader = threading.Lock()

    def get(self) -> Embedder:
        """The model. Raises ModelUnavailable."""
        with self._lock:
            if self.embedder is None:
                settings = self._preferences.settings
                profile = self._storage.documents.profile()
                if profile is None:
                    self.embedder = open_embedder(settings.embedding, settings.models_dir)
                else:
                    noted = self._storage.new_vectors.model_of(profile)
                    self.embedder = open_for(profile, noted, settings)
            return self.embedder

    def reader(self) -> Reader:
        """The trained reader. Raises ModelUnavailable."""
        with self._opening_reader:
            if self._reader is None:
                settings = self._preferences.settings
                self._reader = open_reader(settings.embedding, settings.models_dir)
            return self._reader

    def for_new_documents(self) -> Embedder:
        """The same. Where it was found is kept, for when the settings name another."""
        embedder = self.get()
        if self._noted != embedder.profile.id:
            self._storage.new_vectors.note_model(embedder.profile, embedder.model)
            self._noted = embedder.profile.id
        return embedder

    def use(self, embedder: Embedder) -> None:
        """Embed with another model from now on. The old one goes when the last of its users is done."""
        with self._lock:
            self.embedder = embedder
        self._preferences.embed_with(embedder.model, embedder.profile)

    def describe(self, profile: Profile | None) -> str:
        """The profile of a library and what computes it here, in a few words."""
        told = f"{profile.name}, {profile.dimensions} dimensions, {profile.precision}" if profile else "none yet"
        embedder = self.embedder
        return told if embedder is None else f"{told}; {embedder.how}"

    def close(self) -> None:
        """Let the models go."""
        with self._lock:
            embedder, self.embedder = self.embedder, None
        with self._opening_reader:
            reader, self._reader = self._reader, None
        for model in (embedder, reader):
            if model is not None:
                model.close()
