"""Scripts and the mocks that play them: a codex app-server, faulty proxies, client personas."""
