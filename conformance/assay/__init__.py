"""Assay certifies OpenAI-compatible proxies in front of coding agents."""
