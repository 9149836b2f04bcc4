"""The doors for other programs, on the port of the pages: REST, OpenAI's protocol, MCP, metrics."""
