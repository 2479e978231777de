"""Which error answers when one request breaks several rules: one scenario per neighbouring pair of rules.

First the earlier rule alone, judged by its own requirement; then both.
"""

from wireproof.model.scenario import Auth, PlainScenario, Request
from wireproof.model.served import UNKNOWN_MODEL
from wireproof.scenarios.http import ENVELOPE, HELLO, PLAIN_TEXT, TOO_LARGE

MESSAGES = HELLO["messages"]
NOWHERE = "/wireproof/nothing/here"
UNKNOWN = {**HELLO, "model": UNKNOWN_MODEL}
TOO_HOT = {"temperature": "hot"}

PRECEDENCE: tuple[PlainScenario, ...] = (
    PlainScenario(
        name="route-before-auth",
        title="No such address, and no key",
        requests=(
            Request(
                path=NOWHERE,
                json=HELLO,
                expect=404,
                judged="http.route.unknown",
                # What does not exist needs no key.
            ),
            Request(path=NOWHERE, json=HELLO, auth=Auth.NONE, expect=404),
        ),
        exercises=("http.precedence.route-before-auth", *ENVELOPE),
    ),
    PlainScenario(
        name="auth-before-size",
        title="No key, and a body that is too large",
        requests=(
            Request(
                json=HELLO,
                auth=Auth.NONE,
                expect=401,
                judged="http.auth.missing",
                # Else a stranger without a key could make a proxy read bodies.
            ),
            Request(json=HELLO, padding=TOO_LARGE, auth=Auth.NONE, expect=401),
        ),
        exercises=("http.precedence.auth-before-size", *ENVELOPE),
    ),
    PlainScenario(
        name="size-before-media-type",
        title="A body that is too large, and not called JSON",
        requests=(
            Request(json=HELLO, padding=TOO_LARGE, expect=413, judged="http.body.size"),
            Request(json=HELLO, padding=TOO_LARGE, headers=PLAIN_TEXT, expect=413),
        ),
        exercises=("http.precedence.size-before-media-type", *ENVELOPE),
    ),
    PlainScenario(
        name="media-type-before-json",
        title="A body that is no JSON, under a Content-Type that is not JSON",
        requests=(
            Request(json=HELLO, headers=PLAIN_TEXT, expect=415, judged="http.body.media-type"),
            Request(body=b"Hello.", headers=PLAIN_TEXT, expect=415),
        ),
        exercises=("http.precedence.media-type-before-json", *ENVELOPE),
    ),
    PlainScenario(
        name="json-before-model-missing",
        title="A body that is not JSON, and so names no model: that is not to be asked for",
        requests=(
            Request(
                body=b'{"model": "{model}", "messages": [',
                expect=400,
                judged="http.body.json",
                # `param` null: the error is about the body as a whole. The text names no model, so a reader that makes
                # `{}` of it is seen.
            ),
            Request(body=b'{"messages": [', expect=400, param=""),
        ),
        exercises=("http.precedence.json-before-model-missing", *ENVELOPE),
    ),
    PlainScenario(
        name="model-missing-before-messages-missing",
        title="Neither a model nor messages",
        requests=(
            Request(json={"messages": MESSAGES}, expect=400, param="model", judged="param.model"),
            Request(json={}, expect=400, param="model"),
        ),
        exercises=("http.precedence.model-missing-before-messages-missing", *ENVELOPE),
    ),
    PlainScenario(
        name="messages-missing-before-parameters",
        title="No messages, and an invalid temperature",
        requests=(
            Request(json={"model": "{model}"}, expect=400, param="messages", judged="param.messages"),
            Request(json={"model": "{model}", **TOO_HOT}, expect=400, param="messages"),
        ),
        exercises=("http.precedence.messages-missing-before-parameters", *ENVELOPE),
    ),
    PlainScenario(
        name="parameters-before-model-unknown",
        title="An invalid temperature, and a model that is not served",
        requests=(
            Request(
                # A parameter for all: their order among each other is in `param_fields`.
                json={**HELLO, **TOO_HOT},
                expect=400,
                param="temperature",
                judged="param.sampling",
            ),
            Request(json={**UNKNOWN, **TOO_HOT}, expect=400, param="temperature"),
        ),
        exercises=("http.precedence.parameters-before-model-unknown", *ENVELOPE),
    ),
    PlainScenario(
        # Two pairs in one scenario: both need all slots filled, with requests that wait.
        name="slots-taken",
        title="All slots are taken while the backend is not ready; one more request, and one for an unknown model",
        requests=(
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
        ),
        exercises=(
            "http.precedence.model-unknown-before-capacity",
            "http.precedence.capacity-before-not-ready",
            *ENVELOPE,
        ),
        behind_upstreams=True,
    ),
    PlainScenario(
        name="not-ready-before-backend-failure",
        title="The backend is not ready: that is not reported as a failure of the backend",
        # 502 would say that the backend answered wrongly; 503 that it is worth trying again.
        requests=(Request(unready=True, json=HELLO, expect=503),),
        exercises=("http.precedence.not-ready-before-backend-failure", *ENVELOPE),
        behind_upstreams=True,
    ),
)
