"""The edge: what stands between a socket and an application."""
