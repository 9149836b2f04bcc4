"""`/metrics`: what Prometheus collects of the doors, the library and the process."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter, Depends
from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.responses import Response

from rag_core.api.callers import needs
from rag_core.api.doors import Doors
from rag_core.errors import LecternError

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)


class _Library(Collector):
    """How the library is, looked up when it is asked for."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors

    def collect(self) -> Iterator[Metric]:
        """The gauges; that it is open alone where it is not."""
        try:
            ready, pending = self._doors.library().intake()
        except LecternError:
            yield GaugeMetricFamily("lectern_up", "Whether the library is open", 0)
            return
        yield GaugeMetricFamily("lectern_up", "Whether the library is open", 1)
        yield GaugeMetricFamily("lectern_documents_ready", "Documents that can be searched", ready)
        yield GaugeMetricFamily("lectern_documents_pending", "Documents on their way", pending)


def make_router(doors: Doors) -> APIRouter:
    """The path, and the counting of every request from now on."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Library(doors))
    took = Histogram(
        "lectern_request_seconds", "Requests of the doors by method, path and status, streams to their end",
        ("method", "path", "status"), buckets=_SECONDS, registry=registry,
    )  # fmt: skip
    router = APIRouter(tags=["library"])

    def observe(request: str, method: str, path: str, status: int, seconds: float) -> None:
        took.labels(method, path, str(status)).observe(seconds)

    @router.get("/metrics", dependencies=[Depends(needs("read", whole=True))], response_model=None)
    def metrics() -> Response:
        """Counters and times in Prometheus' form."""
        return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    doors.observers.append(observe)
    return router
