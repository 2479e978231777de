"""Plain requests that any endpoint answers alike: few, since each may be paid for. Nearly all are refused for free."""

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Auth, Mode, Request, Scenario
from wireproof.scenarios.http import ENVELOPE, HELLO

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
        name="live-model",
        title="The model by its name, and a model that does not exist",
        request=Request(
            method="GET",
            path="/models/{model}",
            also=(Request(method="GET", path="/models/wireproof-nothing", expect=404, judged="http.models.unknown"),),
        ),
        modes=WHOLE,
        exercises=("http.models.get", "http.models.unknown", *ENVELOPE),
    ),
    Scenario(
        name="live-route-wrong-method",
        title="A method that the address does not take",
        request=Request(method="DELETE", json=SMALL, expect=405),
        modes=WHOLE,
        exercises=("http.route.wrong-method", *ENVELOPE),
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
        exercises=("http.auth.wrong", "http.echo-no-key", *ENVELOPE),
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
        name="live-body-not-object",
        title="A body that is JSON and no object",
        request=Request(body=b'["{model}"]', expect=400),
        modes=WHOLE,
        exercises=("http.body.object", *ENVELOPE),
    ),
    Scenario(
        name="live-param-model",
        title="A request without a model",
        request=Request(json={**SMALL, "model": ...}, expect=400),
        modes=WHOLE,
        exercises=("param.model", *ENVELOPE),
    ),
    Scenario(
        name="live-param-stream",
        title="A stream that is neither true nor false",
        request=Request(json={**SMALL, "stream": "maybe"}, expect=400),
        modes=WHOLE,
        exercises=("param.stream", *ENVELOPE),
    ),
    Scenario(
        name="live-param-n",
        title="Less than no choices",
        request=Request(json={**SMALL, "n": -1}, expect=400),
        modes=WHOLE,
        exercises=("param.n", *ENVELOPE),
    ),
    Scenario(
        name="live-param-max-tokens",
        title="A limit of tokens that is no number",
        request=Request(json={**SMALL, "max_tokens": "many"}, expect=400),
        modes=WHOLE,
        exercises=("param.max-tokens", *ENVELOPE),
    ),
    Scenario(
        name="live-param-tools",
        title="Tools that are no list",
        request=Request(json={**SMALL, "tools": "all"}, expect=400),
        modes=WHOLE,
        exercises=("param.tools", *ENVELOPE),
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
