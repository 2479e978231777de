"""The Messages API, as Anthropic publishes it: requests, answers, errors (docs/use-client.md)."""
