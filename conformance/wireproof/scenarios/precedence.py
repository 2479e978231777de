"""Which error answers when one request breaks several rules: one scenario per neighbouring pair of rules.

First the earlier rule alone, judged by its own requirement; then both.
"""

from wireproof.model.scenario import Auth, Mode, Request, Scenario
from wireproof.model.served import UNKNOWN_MODEL
from wireproof.scenarios.http import ENVELOPE, HELLO, PLAIN_TEXT, TOO_LARGE

MESSAGES = HELLO["messages"]
NOWHERE = "/wireproof/nothing/here"
UNKNOWN = {**HELLO, "model": UNKNOWN_MODEL}
TOO_HOT = {"temperature": "hot"}

PRECEDENCE: tuple[Scenario, ...] = (
    Scenario(
        name="route-before-auth",
        title="No such address, and no key",
        request=Request(
            path=NOWHERE,
            json=HELLO,
            expect=404,
            judged="http.route.unknown",
            # What does not exist needs no key.
            also=(Request(path=NOWHERE, json=HELLO, auth=Auth.NONE, expect=404),),
        ),
        modes=(Mode.WHOLE,),
        exercises=("http.precedence.route-before-auth", *ENVELOPE),
    ),
    Scenario(
        name="auth-before-size",
        title="No key, and a body that is too large",
        request=Request(
            json=HELLO,
            auth=Auth.NONE,
            expect=401,
            judged="http.auth.missing",
            # Else a stranger without a key could make a proxy read bodies.
            also=(Request(json=HELLO, padding=TOO_LARGE, auth=Auth.NONE, expect=401),),
        ),
        modes=(Mode.WHOLE,),
        exercises=("http.precedence.auth-before-size", *ENVELOPE),
    ),
    Scenario(
        name="size-before-media-type",
        title="A body that is too large, and not called JSON",
        request=Request(
            json=HELLO,
            padding=TOO_LARGE,
            expect=413,
            judged="http.body.size",
            also=(Request(json=HELLO, padding=TOO_LARGE, headers=PLAIN_TEXT, expect=413),),
        ),
        modes=(Mode.WHOLE,),
        exercises=("http.precedence.size-before-media-type", *ENVELOPE),
    ),
    Scenario(
        name="media-type-before-json",
        title="A body that is no JSON, under a Content-Type that is not JSON",
        request=Request(
            json=HELLO,
            headers=PLAIN_TEXT,
            expect=415,
            judged="http.body.media-type",
            also=(Request(body=b"Hello.", headers=PLAIN_TEXT, expect=415),),
        ),
        modes=(Mode.WHOLE,),
        exercises=("http.precedence.media-type-before-json", *ENVELOPE),
    ),
    Scenario(
        name="json-before-model-missing",
        title="A body that is not JSON, and so names no model: that is not to be asked for",
        request=Request(
            body=b'{"model": "{model}", "messages": [',
            expect=400,
            judged="http.body.json",
            # `param` null: the error is about the body as a whole. The text names no model, so a reader that makes `{}`
            # of it is seen.
            also=(Request(body=b'{"messages": [', expect=400, param=""),),
        ),
        modes=(Mode.WHOLE,),
        exercises=("http.precedence.json-before-model-missing", *ENVELOPE),
    ),
    Scenario(
        name="model-missing-before-messages-missing",
        title="Neither a model nor messages",
        request=Request(
            json={"messages": MESSAGES},
            expect=400,
            param="model",
            judged="param.model",
            also=(Request(json={}, expect=400, param="model"),),
        ),
        modes=(Mode.WHOLE,),
        exercises=("http.precedence.model-missing-before-messages-missing", *ENVELOPE),
    ),
    Scenario(
        name="messages-missing-before-parameters",
        title="No messages, and an invalid temperature",
        request=Request(
            json={"model": "{model}"},
            expect=400,
            param="messages",
            judged="param.messages",
            also=(Request(json={"model": "{model}", **TOO_HOT}, expect=400, param="messages"),),
        ),
        modes=(Mode.WHOLE,),
        exercises=("http.precedence.messages-missing-before-parameters", *ENVELOPE),
    ),
    Scenario(
        name="parameters-before-model-unknown",
        title="An invalid temperature, and a model that is not served",
        request=Request(
            # A parameter for all: their order among each other is in `param_fields`.
            json={**HELLO, **TOO_HOT},
            expect=400,
            param="temperature",
            judged="param.sampling",
            also=(Request(json={**UNKNOWN, **TOO_HOT}, expect=400, param="temperature"),),
        ),
        modes=(Mode.WHOLE,),
        exercises=("http.precedence.parameters-before-model-unknown", *ENVELOPE),
    ),
    Scenario(
        # Two pairs in one scenario: both need all slots filled, with requests that wait.
        name="slots-taken",
        title="All slots are taken while the backend is not ready; one more request, and one for an unknown model",
        request=Request(
            json=UNKNOWN,
            expect=404,
            code="model_not_found",
            judged="http.models.unknown",
            also=(
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
        ),
        modes=(Mode.WHOLE,),
        exercises=(
            "http.precedence.model-unknown-before-capacity",
            "http.precedence.capacity-before-not-ready",
            *ENVELOPE,
        ),
        behind_upstreams=True,
    ),
    Scenario(
        name="not-ready-before-backend-failure",
        title="The backend is not ready: that is not reported as a failure of the backend",
        # 502 would say that the backend answered wrongly; 503 that it is worth trying again.
        request=Request(unready=True, json=HELLO, expect=503),
        modes=(Mode.WHOLE,),
        exercises=("http.precedence.not-ready-before-backend-failure", *ENVELOPE),
        behind_upstreams=True,
    ),
)
