"""Whole tables: typed columns, links from words to cells, plans, and what they find."""
