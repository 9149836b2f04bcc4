"""Where gold stands, and which passages hold it."""
