"""Servers that speak OpenAI's chat completions: Ollama, LM Studio, vLLM, llama-server, and OpenAI's own.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rag_core.domain import ModelStatus
from rag_core.errors import LecternError, ModelUnavailable
from rag_core.models.addresses import Address, server_address
from rag_core.models.base import ChatModel, Provider
from rag_core.models.messages import ChatMessage, Cut, Request, Usage
from rag_core.models.server_errors import explained, failures, refused
from rag_core.models.server_tokens import estimated, tokenizer
from rag_core.settings import ServerSettings, Settings

if TYPE_CHECKING:
    import httpx

SERVER_PREFIX = "server:"
_CONNECT_S = 10.0
_LIST_S = 10.0
_MOST_STOPS = 4  # OpenAI takes no more


class ServerModel(ChatModel):
    """One model of a server. Raises ModelUnavailable where the server does not answer or may not be asked."""

    one_at_a_time = False

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__()
        self._address = permitted(settings)
        self.id = f"{SERVER_PREFIX}{name}"
        self.label = f"{name} ({self._address.name})"
        self.remote = not self._address.here
        self.keeps_prefix = self._address.here
        self.failures = failures()
        self._name = name
        self._settings = settings
        self._client = _client(self._address, settings.server, settings.generation.timeout_s)
        try:
            self.context_tokens = self._context_tokens()
            # Asking a server elsewhere to count would send every text twice.
            count = tokenizer(self._client, self._address.url, name) if self._address.here else None
        except LecternError:
            self._client.close()
            raise
        self._count = lru_cache(maxsize=512)(count or estimated)

    def count_tokens(self, text: str) -> int:
        """Tokens as the server counts them; an estimate on the high side where it does not, or is elsewhere."""
        return self._count(text)

    def _context_tokens(self) -> int:
        found = _listed(self._client, self._settings.server)
        told = next((entry for entry in found if entry.get("id") == self._name), {})
        known = [told.get(key) for key in ("max_model_len", "loaded_context_length", "context_length")]
        return next(
            (value for value in known if isinstance(value, int) and value >= 256), self._settings.server.context_tokens
        )

    def _generate(self, request: Request) -> Generator[str | Usage | Cut, None, None]:
        body: dict[str, Any] = {
            "model": self._name,
            "messages": [_message(message) for message in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": self._settings.generation.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.stop:
            body["stop"] = list(request.stop[:_MOST_STOPS])
        if request.json_schema:
            shape = {"name": "reply", "schema": dict(request.json_schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        with self._answering(body) as response:
            yield from _pieces(response, self._settings.server)

    @contextmanager
    def _answering(self, body: dict[str, Any]) -> Iterator[httpx.Response]:
        """The response to a request; once more in plainer words where the server does not know all of them."""
        with self._client.stream("POST", "chat/completions", json=body) as response:
            if response.status_code == 200:
                yield response
                return
            response.read()
            odd = response.status_code in (400, 422) or "response_format" in response.text  # some say 500 to it
            plainer = _plainer(body, response.text) if odd else body
            if plainer == body:
                raise self._refused(response)
        with self._client.stream("POST", "chat/completions", json=plainer) as response:
            if response.status_code != 200:
                response.read()
                raise self._refused(response)
            yield response

    def _refused(self, response: httpx.Response) -> ModelUnavailable:
        """Why a request was refused; where the model is gone, with those that the server has."""
        names: tuple[str, ...] = ()
        if response.status_code == 404:
            with suppress(ModelUnavailable):
                names = _names(_listed(self._client, self._settings.server))
        return refused(response, self._settings.server, self._name, there=names)

    def _explain(self, error: Exception) -> LecternError:
        return explained(error, self._address.name, self._settings.generation.timeout_s)

    def _free(self) -> None:
        self._client.close()

    def __repr__(self) -> str:
        return f"ServerModel({self.id!r}, {self._address.name!r})"


def list_models(settings: Settings) -> tuple[str, ...]:
    """The names of the models that a server has. Raises ModelUnavailable where it does not answer."""
    address = permitted(settings)
    with _client(address, settings.server, _LIST_S) as client:
        try:
            found = _listed(client, settings.server)
        except failures() as error:
            raise explained(error, address.name, _LIST_S) from error
    return _names(found)


def _names(found: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(sorted(str(entry["id"]) for entry in found if entry.get("id")))


def permitted(settings: Settings) -> Address:
    """The server's address, where it may be asked. Raises ModelUnavailable."""
    address = server_address(settings.server.address)
    if not address.here and not settings.allow_remote:
        raise ModelUnavailable(
            f"{address.name} is not on this machine.",
            help="Confirm first that passages of your documents may leave this machine.",
        )
    return address


def _client(address: Address, server: ServerSettings, timeout_s: float) -> httpx.Client:
    import httpx

    key = server.key.get_secret_value().strip() if server.key else ""
    return httpx.Client(
        base_url=address.url,
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=httpx.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
        follow_redirects=False,  # nor is anything sent where the address does not say
        trust_env=not address.here,  # a proxy would carry away what is to stay here
    )


def _listed(client: httpx.Client, server: ServerSettings) -> list[Mapping[str, Any]]:
    """What a server says of its models. Raises ModelUnavailable."""
    try:
        response = client.get("models")
        if response.status_code != 200:
            raise refused(response, server, "")
        found = response.json()["data"]
        return [entry for entry in found if isinstance(entry, dict)]
    except failures() as error:
        raise explained(error, client.base_url.host, client.timeout.read or _LIST_S) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ModelUnavailable(
            f"{client.base_url.host} answers, but not as a server of models does.",
            help="Check the address; most end in /v1.",
        ) from error


def _message(message: ChatMessage) -> dict[str, str]:
    return {"role": message.role, "content": message.text}


def _plainer(body: Mapping[str, Any], told: str) -> dict[str, Any]:
    """A request without what a server refused."""
    if "max_completion_tokens" in told:  # OpenAI's newer models have another word, and a temperature of their own
        plain = {key: value for key, value in body.items() if key not in ("max_tokens", "temperature")}
        return {**plain, "max_completion_tokens": body["max_tokens"]}
    plain = {key: value for key, value in body.items() if key not in ("stream_options", "response_format")}
    if "response_format" in body:  # llama-cpp-python's server has the schema elsewhere
        schema = body["response_format"]["json_schema"]["schema"]
        plain["response_format"] = {"type": "json_object", "schema": schema}
    return plain


def _pieces(response: httpx.Response, server: ServerSettings) -> Iterator[str | Usage | Cut]:
    """The texts of a stream of server-sent events, the usage, and whether it was cut.

    Raises ModelUnavailable where the server fails.
    """
    response.encoding = "utf-8"
    for line in response.iter_lines():
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if not data or data == "[DONE]":
            continue
        part = json.loads(data)
        if part.get("error"):
            raise refused(response, server, "", part)
        for choice in part.get("choices") or ():
            if text := (choice.get("delta") or {}).get("content"):
                yield str(text)
            if choice.get("finish_reason") == "length":
                yield Cut()
        if usage := part.get("usage"):
            yield Usage(int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))


def _statuses(settings: Settings) -> tuple[ModelStatus, ...]:
    """The models that were chosen of a server; none where there is no server."""
    if not settings.server.address:
        return ()
    reason, place, remote = "", "", False
    try:
        address = server_address(settings.server.address)
        place, remote = f" ({address.name})", not address.here
        permitted(settings)
    except ModelUnavailable as error:
        reason = f"{error} {error.help}"
    names: Sequence[str] = settings.server.models
    if not names:
        reason = reason or "No model of it was chosen. Choose one on the Models page."
        return (ModelStatus("server", f"Model server{place}", False, reason, remote=remote),)
    return tuple(
        ModelStatus(f"{SERVER_PREFIX}{name}", f"{name}{place}", not reason, reason, remote=remote) for name in names
    )


def _open(model_id: str, settings: Settings) -> ServerModel:
    if not settings.server.address:
        raise ModelUnavailable("No model server is set.", help="Enter its address on the Models page.")
    return ServerModel(model_id.removeprefix(SERVER_PREFIX), settings)


PROVIDER = Provider(SERVER_PREFIX, _statuses, _open)
