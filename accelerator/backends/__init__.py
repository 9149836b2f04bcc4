"""Backends that score vectors: one base class, one file for each."""
