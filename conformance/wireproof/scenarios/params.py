"""Parameters: wrong values are refused with the name of the field, right ones accepted; `param_fields` has both."""

from wireproof.model.dialect import STOP_HEADER
from wireproof.model.scenario import PlainScenario, Request
from wireproof.scenarios.http import ENVELOPE, HELLO
from wireproof.scenarios.param_fields import FIELDS

WRONG_FORMAT = {**HELLO, "response_format": "json"}


def _named(header: str, *, right: str, wrong: str) -> tuple[Request, Request]:
    # A right value first: a target that does not echo the header does not know it, and owes it nothing.
    return (
        Request(json=HELLO, headers={header: right}, requires_echo=header),
        Request(json=HELLO, headers={header: wrong}, expect=400, param=header),
    )


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
            *_named(STOP_HEADER, right="first", wrong="sometimes"),
            Request(
                json=WRONG_FORMAT,
                expect=400,
                param="response_format",
                # The last parameter alone, so that the pair after it shows only which of the two answers: headers
                # come last.
                judged="param.response-format",
            ),
            Request(json=WRONG_FORMAT, headers={STOP_HEADER: "sometimes"}, expect=400, param="response_format"),
        ),
        exercises=("param.proxy-headers", *ENVELOPE),
    ),
    PlainScenario(
        name="param-tool-arguments",
        title="An unknown argument mode in the header that asks for one",
        requests=_named("x-proxy-tool-arguments", right="cumulative", wrong="twice"),
        exercises=("param.proxy-headers", *ENVELOPE),
    ),
)
