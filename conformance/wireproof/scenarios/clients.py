"""What real clients send: recorded requests, each once, with the target's model in place of theirs.

A proxy that refuses one of them refuses that client.
"""

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import PlainScenario, Request
from wireproof.scenarios.client_requests import RECORDED
from wireproof.scenarios.plain import plain
from wireproof.scenarios.responses_client_requests import RECORDED_RESPONSES

# One scenario for a client and not for a request: a finding then names who is refused.
CLIENTS: tuple[PlainScenario, ...] = tuple(
    plain(
        f"{prefix}client-{client}",
        f"What {client} sends{what}",
        (row,),
        *(Request(path=path, json=one["body"], headers=one["headers"]) for one in requests),
        dialects=dialects,
    )
    for recorded, path, prefix, what, row, dialects in (
        (RECORDED, "/chat/completions", "", "", "param.real-clients", tuple(Dialect)),
        (
            RECORDED_RESPONSES, "/responses", "responses-", " for a response", "responses.input.real-clients",
            (Dialect.RESPONSES,),
        ),
    )
    for client, requests in recorded.items()
)  # fmt: skip
