"""Scenarios driven over HTTP: requests sent, responses recorded."""
