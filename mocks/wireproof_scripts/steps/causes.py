"""Why an answer of the model fails: the names that a `fail` or `error-notice` step may give.

This is the vocabulary alone. How a cause looks is the business of whoever plays the script: the Codex mock has the
messages of each version, the model's service its status codes and events.
"""

from collections.abc import Mapping
from typing import Annotated

from wireproof_scripts.kinds import one_of

# In the order of the script schema and the docs, which are made from this.
CAUSES: Mapping[str, str] = {
    "http-400": "HTTP 400: the service rejects the request.",
    "http-400-context": "HTTP 400: the conversation is longer than the context window.",
    "http-401": "HTTP 401: the key is not accepted.",
    "http-403": "HTTP 403: the key may not do this.",
    "http-404": "HTTP 404: there is no such model or endpoint.",
    "http-429": "HTTP 429: too many requests, also after retries.",
    "http-500": "HTTP 500: the service has an internal error.",
    "http-502": "HTTP 502: a gateway before the service fails.",
    "http-503": "HTTP 503: the service is unavailable.",
    "connection": "The connection to the service fails.",
    "no-network": "The network is down. Codex from 0.150.0 on does not fail: it reconnects until it is interrupted.",
    "context-window": "After the answer has begun: the conversation is longer than the context window.",
    "usage-limit": "The account has used up its plan.",
    "quota": "The account has no credit left.",
    "rate-limit": "After the answer has begun: too many tokens or requests a minute.",
    "overloaded": "The model is at capacity.",
    "invalid-prompt": "The service flags the prompt.",
    "server-error": "After the answer has begun: the service has an internal error.",
    "cut": "The stream ends without the event that completes the answer.",
    "idle": "The stream stays open and nothing more comes, until the client gives up.",
    "missing-key": "No key is configured, so the service is never asked.",
}
"""Every cause by name, with its meaning."""

Cause = Annotated[str, one_of(*CAUSES)]
