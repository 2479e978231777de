"""What real clients send: recorded chat requests, each once, with the target's model in place of theirs.

`client_requests.json` holds them by client. Long texts are cut (…), and headers that only tell of the machine are left
out. A proxy that refuses one of them refuses that client.
"""

import json
from importlib.resources import files

from assay.model.scenario import Mode, Request, Scenario

RECORDED = json.loads(files("assay.scenarios").joinpath("client_requests.json").read_text(encoding="utf-8"))
"""Client → its requests: headers and body."""

CLIENTS: tuple[Scenario, ...] = tuple(
    Scenario(
        name=f"client-{client}",
        title=f"What {client} sends",
        request=Request(
            json=first["body"],
            headers=first["headers"],
            also=tuple(Request(json=one["body"], headers=one["headers"]) for one in others),
        ),
        modes=(Mode.WHOLE,),
        exercises=("param.real-clients",),
    )
    for client, (first, *others) in RECORDED.items()
)
