"""How a proxy is reached: options, launching, preflight, real Codex binaries."""
