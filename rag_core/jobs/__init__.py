"""Long work: jobs that are kept in PostgreSQL, carried out in threads of their own, told of to whoever looks."""

from rag_core.jobs.base import Kind, Plain, Request
from rag_core.jobs.board import Run
from rag_core.jobs.runner import Jobs

__all__ = ["Jobs", "Kind", "Plain", "Request", "Run"]
