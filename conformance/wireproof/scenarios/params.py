"""Parameters: wrong values are refused with the name of the field, right ones accepted; `param_fields` has both."""

from wireproof.model.scenario import PlainScenario, Request
from wireproof.scenarios.http import ENVELOPE, HELLO
from wireproof.scenarios.param_fields import FIELDS

PARAMS: tuple[PlainScenario, ...] = (
    *(
        PlainScenario(
            name=one.row.replace(".", "-"),
            title=one.title,
            requests=(
                Request(
                    # First a request that is right: if that is refused, the fields are not to blame.
                    json=HELLO,
                ),
                *(Request(json={**HELLO, **body}, expect=400, param=param) for param, body in one.refused),
                *(Request(json={**HELLO, **body}) for body in one.accepted),
                *(Request(json={**HELLO, **body}, refusable=field) for field, body in one.served_or_refused),
            ),
            exercises=(one.row, *(ENVELOPE if one.refused else ())),
        )
        for one in FIELDS
    ),
    PlainScenario(
        name="param-n-cap",
        title="More choices than anybody serves",
        # OpenAI serves 128 at most.
        requests=(Request(json={**HELLO, "n": 129}, expect=400, param="n"),),
        exercises=("param.n", *ENVELOPE),
        # A proxy without a limit starts 129 turns, which would take the slots of everything beside it.
        alone=True,
    ),
    PlainScenario(
        name="param-stop-after-tools",
        title="A stop policy that does not exist, in the header that names it",
        requests=(
            Request(
                json=HELLO,
                # A right value first: a target that does not echo the header does not know it, and owes it nothing.
                headers={"x-proxy-stop-after-tools": "first"},
                requires_echo="x-proxy-stop-after-tools",
            ),
            Request(
                json=HELLO,
                headers={"x-proxy-stop-after-tools": "sometimes"},
                expect=400,
                param="x-proxy-stop-after-tools",
            ),
            Request(
                json={**HELLO, "response_format": "json"},
                expect=400,
                param="response_format",
                # The last parameter alone, so that the pair after it shows only which of the two answers: headers
                # come last.
                judged="param.response-format",
            ),
            Request(
                json={**HELLO, "response_format": "json"},
                headers={"x-proxy-stop-after-tools": "sometimes"},
                expect=400,
                param="response_format",
            ),
        ),
        exercises=("param.proxy-headers", *ENVELOPE),
    ),
    PlainScenario(
        name="param-tool-arguments",
        title="An unknown argument mode in the header that asks for one",
        requests=(
            Request(
                json=HELLO,
                headers={"x-proxy-tool-arguments": "cumulative"},
                requires_echo="x-proxy-tool-arguments",
            ),
            Request(
                json=HELLO,
                headers={"x-proxy-tool-arguments": "twice"},
                expect=400,
                param="x-proxy-tool-arguments",
            ),
        ),
        exercises=("param.proxy-headers", *ENVELOPE),
    ),
)
