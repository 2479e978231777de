"""The HTTP edge: server, limits, CORS, metrics, signals, the disconnect of a client."""
