"""How bytes come and go: pipes, WebSockets, settings, recordings."""
