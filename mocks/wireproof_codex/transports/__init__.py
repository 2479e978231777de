"""How bytes come and go: pipes, journals, recordings."""
