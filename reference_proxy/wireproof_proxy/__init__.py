"""The reference proxy: an OpenAI-compatible face for `codex app-server`, keeping the whole contract."""
