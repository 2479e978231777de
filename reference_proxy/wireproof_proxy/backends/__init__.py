"""Backends: whoever answers a turn."""
