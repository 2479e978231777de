"""Codex up to 0.114: the older family of notifications, and its requests for approval."""
