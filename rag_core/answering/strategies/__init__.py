"""Ways from passages to an answer's text; `base` says how one is added."""
