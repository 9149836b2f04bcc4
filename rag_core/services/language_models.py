"""The language models of this machine: which there are, getting more, and the server that has others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil

from rag_core.cancellation import Cancellation
from rag_core.domain import Machine, ModelFile, ModelServer, ModelStatus, Progress, SuggestedModel, UnfinishedDownload
from rag_core.errors import ModelUnavailable, StoreUnavailable
from rag_core.models import model_statuses
from rag_core.models.downloads import Downloads
from rag_core.models.gguf import forget_trials, trials_of
from rag_core.models.gguf_files import GGUF_PREFIX, device, gguf_files, gguf_path, llama_missing
from rag_core.models.gguf_header import header_of
from rag_core.models.openvino_files import forget, openvino_missing
from rag_core.models.trials import copies_in
from rag_core.services.preferences import Preferences

_WORTH_HAVING = Path(__file__).parents[1] / "models" / "worth_having.json"
_COMPUTING_BYTES = 300_000_000  # what llama.cpp allocates besides weights and cache, at its usual batch
_SHARE_OF_FREE = 0.9


class LanguageModels:
    """What the Models page and the command line show and do. Thread-safe.

    `loaded()` names the models in memory, `unload(id)` takes one out of it, once the answer in progress is written.
    What the user decides of Gemini and of a server of models is kept with the other preferences.
    """

    def __init__(
        self, preferences: Preferences, loaded: Callable[[], tuple[str, ...]], unload: Callable[[str], None]
    ) -> None:
        self._preferences = preferences
        self._loaded = loaded
        self.unload = unload
        self.use_gemini, self.forget_gemini = preferences.use_gemini, preferences.forget_gemini
        self.choose_gemini_model = preferences.choose_gemini_model
        self.use_server, self.forget_server = preferences.use_server, preferences.forget_server

    def statuses(self) -> tuple[ModelStatus, ...]:
        """Every model that can be chosen, with what is missing where one is not ready."""
        return model_statuses(self._preferences.effective)

    def gemini_models(self) -> tuple[str, ...]:
        """The models that Gemini has now, the newest small one first. Raises ModelUnavailable."""
        from rag_core.models.gemini import list_models

        return list_models(self._preferences.effective)

    @property
    def gemini_model(self) -> str:
        """The model of Gemini that settings name or the user chose; "" where its list decides."""
        return self._preferences.effective.generation.gemini_model

    def machine(self) -> Machine:
        """What models have to run on."""
        memory = psutil.virtual_memory()
        return Machine(memory.total, memory.available, device(), llama_missing(), not openvino_missing())

    def files(self) -> tuple[ModelFile, ...]:
        """The GGUF files of the models folder, by name. Raises StoreUnavailable."""
        folder, loaded = self.folder, self._loaded()
        try:
            return tuple(self._file(path, loaded) for path in gguf_files(folder))
        except OSError as error:
            raise StoreUnavailable(f"The folder {folder} cannot be read: {error.strerror}.") from error

    def suggestions(self) -> tuple[SuggestedModel, ...]:
        """Models worth having, the smallest first, with whether they would fit and are there."""
        total = self.machine().memory_bytes * _SHARE_OF_FREE
        found = []
        for entry in json.loads(_WORTH_HAVING.read_text(encoding="utf-8")):
            model = SuggestedModel(**entry)
            present = (self.folder / model.wanted.rpartition("/")[2]).exists()
            found.append(replace(model, fits=model.memory_bytes <= total, present=present))
        return tuple(found)

    def download(
        self, wanted: str, *, sha256: str = "", owner: bool = True, cancellation: Cancellation | None = None
    ) -> Iterator[Progress]:
        """Download a model into the models folder; see `rag_core.models.downloads`. Raises LecternError.

        owner: whoever asks owns this machine, whose network is not for others to reach into.
        """
        token = cancellation or Cancellation()
        return self._downloads().download(wanted, sha256=sha256, owner=owner, cancelled=token.is_set)

    def unfinished(self) -> tuple[UnfinishedDownload, ...]:
        """Downloads that stopped and can go on."""
        return self._downloads().unfinished()

    def discard(self, name: str) -> None:
        """Throw away what an unfinished download has fetched. Raises StoreUnavailable."""
        self._downloads().discard(name)

    def remove(self, model_id: str) -> None:
        """Remove a model's file. Raises ModelUnavailable where there is none, StoreUnavailable."""
        name = model_id.removeprefix(GGUF_PREFIX)
        path = self.folder / name
        if name != Path(name).name or not (path.is_file() or path.is_symlink()):
            raise ModelUnavailable(f"There is no model file {name[:100]}.")
        self.unload(model_id)
        forget(path, copies_in(self._preferences.settings.data_dir))
        try:
            path.unlink()
        except OSError as error:
            raise StoreUnavailable(f"{name} cannot be removed: {error.strerror}.") from error

    def try_again(self, model_id: str) -> None:
        """Have a model file's runtimes tried again when it next answers. Raises ModelUnavailable."""
        path = gguf_path(model_id.removeprefix(GGUF_PREFIX), self.folder)
        self.unload(model_id)
        forget_trials(path, self._preferences.settings)

    def server(self) -> ModelServer:
        """The server of models that is set; one without an address where there is none."""
        from rag_core.models.openai_compatible import permitted

        settings = self._preferences.effective
        server = settings.server
        if not server.address:
            return ModelServer()
        has_key = server.key is not None
        try:
            here = permitted(settings).here
        except ModelUnavailable as error:
            return ModelServer(server.address, server.models, has_key, False, f"{error} {error.help}")
        return ModelServer(server.address, server.models, has_key, here)

    def served(self, address: str, key: str = "", *, agreed: bool = False) -> tuple[str, ...]:
        """The models of a server, asked now. Raises ModelUnavailable where it cannot be asked or does not answer.

        key: empty for the one that is set. agreed: passages may leave the machine for it.
        """
        from rag_core.models.openai_compatible import list_models

        return list_models(self._preferences.with_server(address, key, (), agreed=agreed))

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self._preferences.settings.models_dir

    def _downloads(self) -> Downloads:
        settings = self._preferences.settings
        return Downloads(
            self.folder, hub=settings.hub_url, min_free_bytes=settings.storage.min_free_bytes,
            allowed=settings.sources.allowed_hosts,
        )  # fmt: skip

    def _file(self, path: Path, loaded: tuple[str, ...]) -> ModelFile:
        model_id = f"{GGUF_PREFIX}{path.name}"
        found = ModelFile(model_id, path.name, 0, loaded=model_id in loaded)
        try:
            told = path.stat() if path.exists() else path.lstat()
            found = replace(found, size_bytes=told.st_size)
            gguf_path(path.name, self.folder)
            header = header_of(path)
        except ModelUnavailable as error:
            return replace(found, problem=f"{error} {error.help}".strip())
        tokens = min(self._preferences.settings.generation.context_tokens, header.context_tokens or 1 << 30)
        needs = told.st_size + tokens * header.cache_bytes_per_token + _COMPUTING_BYTES
        return replace(
            found, title=header.name, architecture=header.architecture, quantisation=header.quantisation,
            context_tokens=header.context_tokens, has_template=header.has_template, memory_bytes=needs,
            fits=found.loaded or needs <= psutil.virtual_memory().available * _SHARE_OF_FREE,
            trials=trials_of(path, self._preferences.settings),
        )  # fmt: skip
