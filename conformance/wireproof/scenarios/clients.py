"""What real clients send: recorded requests, each once, with the target's model in place of theirs.

A proxy that refuses one of them refuses that client.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import PlainScenario, Request
from wireproof.scenarios.client_requests import RECORDED
from wireproof.scenarios.plain import plain
from wireproof.scenarios.responses_client_requests import RECORDED_RESPONSES

_Recorded = Mapping[str, Any]


def _request(one: _Recorded, path: str) -> Request:
    return Request(path=path, json=one["body"], headers=one["headers"])


def _requests(recorded: Sequence[_Recorded], path: str) -> tuple[Request, ...]:
    return tuple(_request(one, path) for one in recorded)


# One scenario for a client and not for a request: a finding then names who is refused.
CLIENTS: tuple[PlainScenario, ...] = (
    *(
        plain(
            f"client-{client}",
            f"What {client} sends",
            ("param.real-clients",),
            *_requests(recorded, "/chat/completions"),
        )
        for client, recorded in RECORDED.items()
    ),
    *(
        plain(
            f"responses-client-{client}",
            f"What {client} sends for a response",
            ("responses.input.real-clients",),
            *_requests(recorded, "/responses"),
            dialects=(Dialect.RESPONSES,),
        )
        for client, recorded in RECORDED_RESPONSES.items()
    ),
)
