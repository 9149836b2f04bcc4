"""One file for each resource of the REST interface; a new one is a file and a line in `rag_core.api.app`."""
