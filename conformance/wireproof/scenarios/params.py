"""Parameters: wrong values are refused with the name of the field, right ones accepted; `param_fields` has both."""

from wireproof.model.dialect import STOP_HEADER
from wireproof.model.scenario import PlainScenario, Request
from wireproof.scenarios.http import ENVELOPE, HELLO
from wireproof.scenarios.param_fields import FIELDS
from wireproof.scenarios.plain import plain

WRONG_FORMAT = {**HELLO, "response_format": "json"}


def _named(header: str, *, right: str, wrong: str) -> tuple[Request, Request]:
    # A right value first: a target that does not echo the header does not know it, and owes it nothing.
    return (
        Request(json=HELLO, headers={header: right}, requires_echo=header),
        Request(json=HELLO, headers={header: wrong}, expect=400, param=header),
    )


PARAMS: tuple[PlainScenario, ...] = (
    *(
        plain(
            one.row.replace(".", "-"),
            one.title,
            (one.row, *(ENVELOPE if one.refused else ())),
            Request(
                # First a request that is right: if that is refused, the fields are not to blame.
                json=HELLO,
            ),
            *(Request(json={**HELLO, **body}, expect=400, param=param) for param, body in one.refused),
            *(Request(json={**HELLO, **body}) for body in one.accepted),
            *(Request(json={**HELLO, **body}, refusable=field) for field, body in one.served_or_refused),
        )
        for one in FIELDS
    ),
    # OpenAI serves 128 at most.
    # A proxy without a limit starts 129 turns, which would take the slots of everything beside it.
    plain(
        "param-n-cap",
        "More choices than anybody serves",
        ("param.n", *ENVELOPE),
        Request(json={**HELLO, "n": 129}, expect=400, param="n"),
        alone=True,
    ),
    plain(
        "param-stop-after-tools",
        "A stop policy that does not exist, in the header that names it",
        ("param.proxy-headers", *ENVELOPE),
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
    plain(
        "param-tool-arguments",
        "An unknown argument mode in the header that asks for one",
        ("param.proxy-headers", *ENVELOPE),
        *_named("x-proxy-tool-arguments", right="cumulative", wrong="twice"),
    ),
)
