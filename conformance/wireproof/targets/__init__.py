"""How a proxy is reached: options, launching, preflight, the unready instance, real Codex binaries."""
