"""Where the stages are carried out, a line for each executor."""

from __future__ import annotations

from rag_core.ingest.stages import LocalStages, Stages
from rag_core.reading import Reader
from rag_core.settings import Settings


def open_stages(settings: Settings, reader: Reader) -> Stages:
    """Those of the executor that the settings name; one on other machines is joined when it is first needed."""
    if settings.jobs.executor == "ray":
        from rag_core.ingest.ray_stages import RayStages

        return RayStages(settings)
    return LocalStages(reader)
