"""Which error answers when one request breaks several rules: one scenario per neighbouring pair of rules.

First the earlier rule alone, judged by its own requirement; then both.
"""

from wireproof.model.scenario import Auth, PlainScenario, Request
from wireproof.model.served import UNKNOWN_MODEL
from wireproof.scenarios.http import ENVELOPE, HELLO, PLAIN_TEXT, TOO_LARGE
from wireproof.scenarios.plain import plain

MESSAGES = HELLO["messages"]
NOWHERE = "/wireproof/nothing/here"
UNKNOWN = {**HELLO, "model": UNKNOWN_MODEL}
TOO_HOT = {"temperature": "hot"}


def _pair(name: str, title: str, alone: Request, both: Request) -> PlainScenario:
    exercises = (f"http.precedence.{name}", *ENVELOPE)
    return plain(name, title, exercises, alone, both)


PRECEDENCE: tuple[PlainScenario, ...] = (
    _pair(
        "route-before-auth",
        "No such address, and no key",
        # What does not exist needs no key.
        Request(path=NOWHERE, json=HELLO, expect=404, judged="http.route.unknown"),
        Request(path=NOWHERE, json=HELLO, auth=Auth.NONE, expect=404),
    ),
    _pair(
        "auth-before-size",
        "No key, and a body that is too large",
        # Else a stranger without a key could make a proxy read bodies.
        Request(json=HELLO, auth=Auth.NONE, expect=401, judged="http.auth.missing"),
        Request(json=HELLO, padding=TOO_LARGE, auth=Auth.NONE, expect=401),
    ),
    _pair(
        "size-before-media-type",
        "A body that is too large, and not called JSON",
        Request(json=HELLO, padding=TOO_LARGE, expect=413, judged="http.body.size"),
        Request(json=HELLO, padding=TOO_LARGE, headers=PLAIN_TEXT, expect=413),
    ),
    _pair(
        "media-type-before-json",
        "A body that is no JSON, under a Content-Type that is not JSON",
        Request(json=HELLO, headers=PLAIN_TEXT, expect=415, judged="http.body.media-type"),
        Request(body=b"Hello.", headers=PLAIN_TEXT, expect=415),
    ),
    _pair(
        "json-before-model-missing",
        "A body that is not JSON, and so names no model: that is not to be asked for",
        # `param` null: the error is about the body as a whole. The text names no model, so a reader that makes `{}` of
        # it is seen.
        Request(body=b'{"model": "{model}", "messages": [', expect=400, judged="http.body.json"),
        Request(body=b'{"messages": [', expect=400, param=""),
    ),
    _pair(
        "model-missing-before-messages-missing",
        "Neither a model nor messages",
        Request(json={"messages": MESSAGES}, expect=400, param="model", judged="param.model"),
        Request(json={}, expect=400, param="model"),
    ),
    _pair(
        "messages-missing-before-parameters",
        "No messages, and an invalid temperature",
        Request(json={"model": "{model}"}, expect=400, param="messages", judged="param.messages"),
        Request(json={"model": "{model}", **TOO_HOT}, expect=400, param="messages"),
    ),
    _pair(
        "parameters-before-model-unknown",
        "An invalid temperature, and a model that is not served",
        # A parameter for all: their order among each other is in `params`.
        Request(json={**HELLO, **TOO_HOT}, expect=400, param="temperature", judged="param.sampling"),
        Request(json={**UNKNOWN, **TOO_HOT}, expect=400, param="temperature"),
    ),
    # Two pairs in one scenario: both need all slots filled, with requests that wait.
    plain(
        "slots-taken",
        "All slots are taken while the backend is not ready; one more request, and one for an unknown model",
        (
            "http.precedence.model-unknown-before-capacity",
            "http.precedence.capacity-before-not-ready",
            *ENVELOPE,
        ),
        Request(json=UNKNOWN, expect=404, code="model_not_found", judged="http.models.unknown"),
        Request(
            unready=True,
            full=True,
            json=HELLO,
            expect=429,
            # It must be there, whatever it says: SDKs wait for as long before they try again.
            shows={"retry-after": ""},
            judged="http.precedence.capacity-before-not-ready",
        ),
        Request(
            unready=True,
            full=True,
            json=UNKNOWN,
            expect=404,
            code="model_not_found",
            judged="http.precedence.model-unknown-before-capacity",
        ),
        behind_upstreams=True,
    ),
    # 502 would say that the backend answered wrongly; 503 that it is worth trying again.
    plain(
        "not-ready-before-backend-failure",
        "The backend is not ready: that is not reported as a failure of the backend",
        ("http.precedence.not-ready-before-backend-failure", *ENVELOPE),
        Request(unready=True, json=HELLO, expect=503),
        behind_upstreams=True,
    ),
)
