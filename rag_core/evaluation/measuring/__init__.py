"""Metrics of passages and answers, their intervals, and whether a difference is chance."""
