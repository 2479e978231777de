"""Turns: what a model says and calls, played from a script."""
