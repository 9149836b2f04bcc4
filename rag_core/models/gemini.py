"""Google's Gemini through google-generativeai: a remote model, asked only with the user's key and consent.

The key goes into the client and nowhere else: no message, repr or log of Lectern holds it.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from rag_core.domain import ModelStatus
from rag_core.errors import ModelUnavailable
from rag_core.models.addresses import is_here
from rag_core.models.base import ChatModel, Provider
from rag_core.models.gemini_models import writing
from rag_core.models.messages import Cut, Request, Usage
from rag_core.models.server_errors import unavailable
from rag_core.models.server_tokens import estimated
from rag_core.settings import Settings

# Google's packages tell whoever asks a question that their support ends, or that Python's does.
for _package in ("google.api_core", "google.generativeai"):
    warnings.filterwarnings("ignore", rf"(?s).*{_package}", FutureWarning)

GEMINI = "gemini"
INSTALL_GEMINI = "Install it: .venv/bin/pip install google-generativeai."

_CUT = "MAX_TOKENS"
_FINE = ("FINISH_REASON_UNSPECIFIED", "STOP", _CUT)
_ROLES = {"user": "user", "assistant": "model"}
_CONTEXT_TOKENS = 100_000
_LIST_S = 10.0
_OFFERED = 8


class GeminiModel(ChatModel):
    """Gemini over REST; where no model of it is named, the one that its list proposes.

    Raises ModelUnavailable where the package is missing, the endpoint is not to be trusted, or the list is not had.
    """

    remote = True
    one_at_a_time = False
    keeps_prefix = False

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        key = _permitted(settings)
        self.id = GEMINI
        self.context_tokens = _CONTEXT_TOKENS
        self._all = settings
        self._settings = settings.generation
        self._failures = _failures()
        self._client = _client(key, settings.generation.gemini_endpoint)
        self._name = self._settings.gemini_model or _proposed(settings)
        self.label = f"Gemini ({self._name})"

    def count_tokens(self, text: str) -> int:
        """An estimate, on the high side: asking Gemini to count would send the text."""
        return estimated(text)

    def _generate(self, request: Request) -> Generator[str | Usage | Cut, None, None]:
        try:
            # Google's own GenerativeModel holds every part back until the next one came, so its client is used.
            # Retries would multiply the longest wait, and the user can ask again.
            asked, usage = _request(self._name, self._settings.temperature, request), None
            for part in self._client.stream_generate_content(asked, timeout=self._settings.timeout_s, retry=None):
                yield self._text_of(part)
                usage = _usage(part) or usage
                if part.candidates and _name(part.candidates[0].finish_reason) == _CUT:
                    yield Cut()
            if usage is not None:
                yield usage
        except self._failures as error:
            failure = _explained(error, self._settings.timeout_s) or self._gone()
            raise failure from _told(error, self._all)

    def _text_of(self, part: Any) -> str:
        """The text of one part of the stream; raises ModelUnavailable where Gemini broke off."""
        blocked = part.prompt_feedback.block_reason
        if blocked:
            raise _blocked(f"the question or its passages ({_name(blocked)})")
        if not part.candidates:
            return ""
        candidate = part.candidates[0]
        reason = _name(candidate.finish_reason)
        if reason not in _FINE:
            raise _blocked(f"its own answer ({reason})")
        return "".join(piece.text for piece in candidate.content.parts)

    def _gone(self) -> ModelUnavailable:
        """What to do about a model that Gemini no longer has: its list tells what it has instead."""
        try:
            names = ", ".join(list_models(self._all)[:_OFFERED])
        except ModelUnavailable:
            names = ""
        return unavailable(
            f"Gemini has no model called {self._name}." + (f" It has: {names}." if names else ""),
            "Choose one of them on the Models page, or name it by LECTERN_GENERATION__GEMINI_MODEL.",
            retryable=False,
        )

    def __repr__(self) -> str:
        return f"GeminiModel({self._name!r})"


def list_models(settings: Settings) -> tuple[str, ...]:
    """The models that Gemini has now and that write text, the one to propose first. Raises ModelUnavailable."""
    client = _client(_permitted(settings), settings.generation.gemini_endpoint, "ModelServiceClient")
    try:
        found = [
            model.name
            for model in client.list_models(timeout=_LIST_S, retry=None)
            if "generateContent" in model.supported_generation_methods
        ]
    except _failures() as error:
        failure = _explained(error, _LIST_S) or unavailable("Gemini tells no list of its models.", "Name one.")
        raise failure from _told(error, settings)
    return writing(found)


def _proposed(settings: Settings) -> str:
    names = list_models(settings)
    if not names:
        raise unavailable(
            "Gemini has no model for this key.", "Name one by LECTERN_GENERATION__GEMINI_MODEL.", retryable=False
        )
    return names[0]


def _permitted(settings: Settings) -> str:
    """The key, where Gemini may be asked with it. Raises ModelUnavailable."""
    key = _key(settings)
    if not key or not settings.allow_remote:
        raise ModelUnavailable(
            "Gemini may not be asked.", help="Enter a key and confirm that passages leave the machine."
        )
    return key


def _key(settings: Settings) -> str:
    return settings.google_api_key.get_secret_value().strip() if settings.google_api_key else ""


def _client(key: str, endpoint: str, service: str = "GenerativeServiceClient") -> Any:
    """A client of this model's own: `genai.configure` would make the key a setting of the whole process."""
    try:
        from google.generativeai import client
    except ImportError as error:
        raise ModelUnavailable("The package google-generativeai is not installed.", help=INSTALL_GEMINI) from error
    options = {"api_key": key}
    if endpoint:
        options["api_endpoint"] = _checked(endpoint)
    try:
        return getattr(client.glm, service)(transport="rest", client_options=options)
    except (ValueError, TypeError) as error:
        raise ModelUnavailable(f"Gemini cannot be set up: {type(error).__name__}.") from None


def _request(name: str, temperature: float, request: Request) -> Any:
    """The messages, as google-generativeai writes them down."""
    from google.generativeai import protos

    told = [protos.Part(text=message.text) for message in request.messages if message.role == "system"]
    shape = {"response_mime_type": "application/json"} if request.json_schema else {}
    return protos.GenerateContentRequest(
        model=name if "/" in name else f"models/{name}",
        system_instruction=protos.Content(parts=told) if told else None,
        contents=[
            protos.Content(role=_ROLES[message.role], parts=[protos.Part(text=message.text)])
            for message in request.messages
            if message.role != "system"
        ],
        generation_config=protos.GenerationConfig(
            max_output_tokens=request.max_tokens, temperature=temperature, **shape
        ),
    )


def _usage(part: Any) -> Usage | None:
    """What Gemini counted so far, where it says so."""
    counted = part.usage_metadata
    known = counted.prompt_token_count
    return Usage(known, counted.candidates_token_count) if known else None


def _checked(endpoint: str) -> str:
    """The endpoint, where key and passages travel encrypted or stay on this machine. Raises ModelUnavailable."""
    parts = urlsplit(endpoint if "//" in endpoint else f"https://{endpoint}")
    if parts.scheme == "https" and parts.hostname:
        return f"https://{parts.netloc}"
    if parts.scheme == "http" and parts.hostname and is_here(parts.hostname):
        return f"http://{parts.netloc}"
    raise ModelUnavailable(
        "generation.gemini_endpoint is not an https address.", help="Give an https address, or one on this machine."
    )


def _explained(error: Exception, timeout_s: float) -> ModelUnavailable | None:
    """Plain words for what Google's client raises, by the status it carries; None where there is no such model."""
    import requests
    from google.api_core import exceptions as google

    status, text = getattr(error, "code", None), str(error).casefold()
    if isinstance(error, requests.Timeout | google.DeadlineExceeded | google.GatewayTimeout) or "timed out" in text:
        return unavailable(
            f"Gemini did not answer within {timeout_s:g} seconds.", "Try again, or choose a model on this machine."
        )
    if isinstance(error, requests.ConnectionError):
        return unavailable("Gemini cannot be reached.", "Check the connection, or choose a model on this machine.")
    if status in (401, 403) or "api key" in text or "api_key" in text:
        return unavailable("Gemini refused the key.", "Check the key and enter it again.", retryable=False)
    if status == 429:
        return unavailable("Gemini's quota for this key is used up.", "Wait a while, or choose another model.")
    if status == 404:
        return None
    if status == 400:
        return unavailable("Gemini refused the request.", "Ask in other words.", retryable=False)
    return unavailable("Gemini failed to answer.", "Try again in a while, or choose a model on this machine.")


def _told(error: Exception, settings: Settings) -> Exception | None:
    """The cause to keep: none where it repeats the key, as a server's answer can."""
    key = _key(settings)
    return None if key and (key in str(error) or key in repr(error)) else error


def _failures() -> tuple[type[Exception], ...]:
    """What the client raises: Google's errors, those of requests underneath, and broken streams."""
    import requests
    from google.api_core.exceptions import GoogleAPIError
    from google.auth.exceptions import GoogleAuthError
    from google.protobuf.json_format import ParseError  # type: ignore[import-untyped]

    strange = (ParseError, ValueError, TypeError, AttributeError)  # from streams that are not what Gemini sends
    return (GoogleAPIError, GoogleAuthError, requests.RequestException, *strange)


def _name(value: Any) -> str:
    """The name of an enum's value; its number where Google added one since."""
    return str(getattr(value, "name", value))


def _blocked(what: str) -> ModelUnavailable:
    return unavailable(f"Gemini blocked {what}.", "Ask in other words, or choose a model on this machine.")


def _statuses(settings: Settings) -> tuple[ModelStatus, ...]:
    """Whether Gemini may and can be asked."""
    reason = ""
    if find_spec("google") is None or find_spec("google.generativeai") is None:
        reason = f"The package google-generativeai is not installed. {INSTALL_GEMINI}"
    elif not _key(settings):
        reason = "It needs a key: enter one, or set GOOGLE_API_KEY."
    elif not settings.allow_remote:
        reason = "Confirm first that passages of your documents may leave this machine."
    name = settings.generation.gemini_model
    return (ModelStatus(GEMINI, f"Gemini ({name})" if name else "Gemini", not reason, reason, remote=True),)


def _open(model_id: str, settings: Settings) -> GeminiModel:
    (status,) = _statuses(settings)
    if not status.ready:
        raise ModelUnavailable(f"Gemini cannot be used: {status.reason}")
    return GeminiModel(settings)


PROVIDER = Provider(GEMINI, _statuses, _open)
