"""Verify, repair, backup, restore."""
