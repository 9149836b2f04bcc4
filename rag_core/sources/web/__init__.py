"""Pages of the web: fetched through a guard that reaches public addresses alone, one site at a time and slowly."""

from rag_core.sources.web.crawling import crawl

__all__ = ["crawl"]
