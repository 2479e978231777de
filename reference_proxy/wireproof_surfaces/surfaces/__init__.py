"""Surfaces: what clients send and read."""
