"""Plain requests that any endpoint answers alike: few, since each may be paid for. Nearly all are refused for free."""

from assay.model.dialect import Dialect
from assay.model.scenario import Auth, Mode, Request, Scenario
from assay.scenarios.http import ENVELOPE, HELLO

WHOLE = (Mode.WHOLE,)
SMALL = {**HELLO, "max_tokens": 16}

PLAIN: tuple[Scenario, ...] = (
    Scenario(
        name="live-models",
        title="The list of models",
        request=Request(method="GET", path="/models"),
        modes=WHOLE,
        exercises=("http.models.list",),
    ),
    Scenario(
        name="live-route-unknown",
        title="An address at which there is nothing",
        request=Request(path="/chat/completion", json=SMALL, expect=404),
        modes=WHOLE,
        exercises=("http.route.unknown", *ENVELOPE),
    ),
    Scenario(
        name="live-auth",
        title="A request with a wrong key",
        request=Request(json=SMALL, auth=Auth.WRONG, expect=401),
        modes=WHOLE,
        exercises=("http.auth.wrong", *ENVELOPE),
    ),
    Scenario(
        name="live-auth-missing",
        title="A request without a key",
        request=Request(json=SMALL, auth=Auth.NONE, expect=401),
        modes=WHOLE,
        exercises=("http.auth.missing", *ENVELOPE),
    ),
    Scenario(
        name="live-body-not-json",
        title="A body that is cut short",
        request=Request(body=b'{"model": "{model}", "messages": [', expect=400),
        modes=WHOLE,
        exercises=("http.body.json", *ENVELOPE),
    ),
    Scenario(
        name="live-param-messages",
        title="A request without messages",
        request=Request(json={**SMALL, "messages": ...}, expect=400),
        modes=WHOLE,
        exercises=("param.messages", *ENVELOPE),
    ),
    Scenario(
        name="live-param-role",
        title="A message of a role that does not exist",
        request=Request(json={**SMALL, "messages": [{"role": "wizard", "content": "Hello."}]}, expect=400),
        modes=WHOLE,
        exercises=("param.role", *ENVELOPE),
    ),
    Scenario(
        name="live-param-sampling",
        title="A temperature that is too high",
        request=Request(json={**SMALL, "temperature": 9}, expect=400),
        modes=WHOLE,
        exercises=("param.sampling", *ENVELOPE),
    ),
    Scenario(
        name="live-param-tool-choice",
        title="A tool_choice that names a tool that is not declared",
        request=Request(
            json={**SMALL, "tool_choice": {"type": "function", "function": {"name": "nothing"}}}, expect=400
        ),
        modes=WHOLE,
        exercises=("param.tool-choice", *ENVELOPE),
    ),
    Scenario(
        name="live-param-input",
        title="A request for a response without input",
        request=Request(path="/responses", json={"model": "{model}", "max_output_tokens": 16}, expect=400),
        dialects=(Dialect.RESPONSES,),
        modes=WHOLE,
        exercises=("param.input", *ENVELOPE),
    ),
)
