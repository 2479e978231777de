"""Exchanges read: what was expected, which requirements apply, which scenarios are selected."""
