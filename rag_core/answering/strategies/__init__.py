"""Ways from passages to an answer's text. Each is one module that the chain calls."""
