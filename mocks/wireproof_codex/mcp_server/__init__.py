"""`codex mcp-server`: `tools` says what its two tools take, `server` is the process without its I/O."""
