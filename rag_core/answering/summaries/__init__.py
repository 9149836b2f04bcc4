"""Summaries: what is to be summarised, and its telling sentences."""
