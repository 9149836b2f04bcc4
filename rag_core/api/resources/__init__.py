"""One file for each resource of the REST interface; a new one is a file with a `router`, and that router in
`_RESOURCES` of `rag_core.api.app`. Its decorators say by `rag_core.api.schema` what is answered, and who may ask."""
