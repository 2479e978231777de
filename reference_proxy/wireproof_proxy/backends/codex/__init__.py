"""The Codex backend: one supervised `codex app-server`, its protocol versions, its notifications as events."""
