"""Requests as spans for an OpenTelemetry collector, where the settings name one; its packages are optional."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rag_core.errors import ConfigurationError

if TYPE_CHECKING:
    from rag_core.api.doors import Observer


def exporter(address: str) -> Observer:
    """What sends each request to a collector that speaks OTLP over gRPC. Raises ConfigurationError."""
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        help_text = "pip install opentelemetry-exporter-otlp-proto-grpc, or leave LECTERN_DOORS__TELEMETRY out."
        raise ConfigurationError("OpenTelemetry's exporter is not installed.", help=help_text) from error
    provider = TracerProvider(resource=Resource.create({"service.name": "lectern"}))
    sender = OTLPSpanExporter(endpoint=address, insecure=not address.startswith("https://"))
    provider.add_span_processor(BatchSpanProcessor(sender))
    tracer = provider.get_tracer("lectern")

    def observe(request: str, method: str, route: str, status: int, took_s: float) -> None:
        # The names are those of OpenTelemetry's semantic conventions for HTTP.
        told: dict[str, str | int] = {
            "http.request.method": method, "http.route": route, "http.response.status_code": status,
            "lectern.request": request,
        }  # fmt: skip
        ended = time.time_ns()
        tracer.start_span(f"{method} {route}", start_time=ended - int(took_s * 1e9), attributes=told).end(ended)

    return observe
