"""The application behind the doors: every resource, what they answer when something goes wrong, and their page."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from rag_core.api import problems
from rag_core.api.doors import Doors
from rag_core.api.mcp import McpDoor
from rag_core.api.resources import (
    ask,
    chunks,
    clusters,
    collections,
    conversations,
    documents,
    evaluation,
    insights,
    jobs,
    metrics,
    models,
    openai,
    papers,
    search,
    sources,
    state,
    table_plans,
    whole_tables,
)
from rag_core.api.schema import ASSISTANT_ERRORS, PROBLEMS
from rag_core.errors import LecternError

ROOT = "/api/v1"
VERSION = "1"
_PAGE = Path(__file__).parent / "page"
_RESOURCES = (
    documents.router, chunks.router, whole_tables.router, clusters.router, collections.router, sources.router,
    search.router, ask.router, ask.messages, table_plans.router, conversations.router, conversations.messages,
    evaluation.sets, jobs.router, evaluation.runs, insights.router, models.router, state.router,
)  # fmt: skip
_DESCRIPTION = (
    "Ask questions of your own documents. On the machine itself no key is needed; elsewhere send one as"
    " `Authorization: Bearer KEY`. What goes wrong is told as RFC 9457 says, with what to do as `help`."
)


def make_app(doors: Doors) -> FastAPI:
    """The application. Raises whatever an import raises."""
    app = FastAPI(
        title="Lectern", version=VERSION, description=_DESCRIPTION, openapi_url=f"{ROOT}/openapi.json", docs_url=None,
        redoc_url=None, redirect_slashes=False,
    )  # fmt: skip
    app.state.doors = doors
    app.state.searches = search.limiter()
    rest = APIRouter(prefix=ROOT, responses=PROBLEMS)
    for router in _RESOURCES:
        rest.include_router(router)
    app.include_router(rest)
    app.include_router(papers.router, responses=ASSISTANT_ERRORS)
    app.include_router(openai.router)
    app.include_router(metrics.make_router(doors))
    app.router.routes.append(McpDoor(doors).route)
    app.add_api_route(f"{ROOT}/docs", page, include_in_schema=False)
    for kind in (LecternError, HTTPException, RecursionError, Exception):
        app.add_exception_handler(kind, problems.handle)
    app.add_exception_handler(RequestValidationError, _unusable)
    return app


async def page(request: Request) -> Response:
    """The documentation of all paths, which asks no other address for anything."""
    schema = request.app.openapi()
    parts = [_operation(path, verb, told) for path, verbs in schema["paths"].items() for verb, told in verbs.items()]
    template = Template((_PAGE / "documentation.html").read_text(encoding="utf-8"))
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
    body = template.substitute(
        description=re.sub("`(.+?)`", r"<code>\1</code>", escape(_DESCRIPTION)),
        origin=escape(str(request.base_url).rstrip("/")), root=ROOT, operations="\n".join(parts),
    )  # fmt: skip
    return HTMLResponse(body, headers={"Content-Security-Policy": policy})


def _operation(path: str, verb: str, told: dict[str, Any]) -> str:
    """One operation as HTML: what it is for, what it takes, what it answers."""
    rows = "".join(
        f"<tr><td><code>{escape(one['name'])}</code><td>{one['in']}<td>{escape(_kind(one.get('schema', {})))}"
        for one in told.get("parameters", [])
    )
    given = [
        f"<p>Takes <code>{escape(kind)}</code>: {escape(_kind(content.get('schema', {})))}"
        for kind, content in told.get("requestBody", {}).get("content", {}).items()
    ]
    answered = [
        f"<p>Answers {status}: {escape(_kind(content.get('schema', {})))} <code>{escape(kind)}</code>"
        for status, answer in told.get("responses", {}).items() if status.startswith("2")
        for kind, content in answer.get("content", {}).items()
    ]  # fmt: skip
    what = escape(told.get("description", told.get("summary", "")))
    table = f"<table>{rows}</table>" if rows else ""
    return (
        f"<details><summary><b>{verb.upper()}</b> <code>{escape(path)}</code></summary>"
        f"<p>{what}</p>{table}{''.join(given)}{''.join(answered)}</details>"
    )


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(json.dumps(one) for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))


async def _unusable(request: Request, error: Exception) -> Response:
    """What of a request does not fit its schema."""
    faults = error.errors() if isinstance(error, RequestValidationError) else []
    told = [{"where": ".".join(map(str, fault["loc"])), "what": str(fault["msg"])} for fault in faults]
    first = f"{told[0]['where']}: {told[0]['what']}" if told else "It does not fit the schema"
    help_text = f"{ROOT}/docs tells what it takes."
    refused = problems.Refused(422, f"The request cannot be used: {first}.", help_text)
    return problems.problem(request.url.path, refused, faults=told)
