"""What real clients send: recorded chat requests, each once, with the target's model in place of theirs.

A proxy that refuses one of them refuses that client.
"""

from wireproof.model.scenario import PlainScenario, Request
from wireproof.scenarios.client_requests import RECORDED

CLIENTS: tuple[PlainScenario, ...] = tuple(
    PlainScenario(
        name=f"client-{client}",
        # One scenario for a client and not for a request: a finding then names who is refused.
        title=f"What {client} sends",
        requests=(
            Request(json=first["body"], headers=first["headers"]),
            *tuple(Request(json=one["body"], headers=one["headers"]) for one in others),
        ),
        exercises=("param.real-clients",),
    )
    for client, (first, *others) in RECORDED.items()
)
