"""Plain requests that any endpoint answers alike: few, since each may be paid for. Nearly all are refused for free."""

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Auth, Mode, PlainScenario, Request
from wireproof.scenarios.http import ENVELOPE, HELLO

WHOLE = (Mode.WHOLE,)
SMALL = {**HELLO, "max_tokens": 16}

PLAIN: tuple[PlainScenario, ...] = (
    PlainScenario(
        name="live-models",
        title="The list of models",
        requests=(Request(method="GET", path="/models"),),
        exercises=("http.models.list",),
    ),
    PlainScenario(
        name="live-model",
        title="The model by its name, and a model that does not exist",
        requests=(
            Request(method="GET", path="/models/{model}"),
            Request(method="GET", path="/models/wireproof-nothing", expect=404, judged="http.models.unknown"),
        ),
        exercises=("http.models.get", "http.models.unknown", *ENVELOPE),
    ),
    PlainScenario(
        name="live-route-wrong-method",
        title="A method that the address does not take",
        requests=(Request(method="DELETE", json=SMALL, expect=405),),
        exercises=("http.route.wrong-method", *ENVELOPE),
    ),
    PlainScenario(
        name="live-route-unknown",
        title="An address at which there is nothing",
        requests=(Request(path="/chat/completion", json=SMALL, expect=404),),
        exercises=("http.route.unknown", *ENVELOPE),
    ),
    PlainScenario(
        name="live-auth",
        title="A request with a wrong key",
        requests=(Request(json=SMALL, auth=Auth.WRONG, expect=401),),
        exercises=("http.auth.wrong", "http.echo-no-key", *ENVELOPE),
    ),
    PlainScenario(
        name="live-auth-missing",
        title="A request without a key",
        requests=(Request(json=SMALL, auth=Auth.NONE, expect=401),),
        exercises=("http.auth.missing", *ENVELOPE),
    ),
    PlainScenario(
        name="live-body-not-json",
        title="A body that is cut short",
        requests=(Request(body=b'{"model": "{model}", "messages": [', expect=400),),
        exercises=("http.body.json", *ENVELOPE),
    ),
    PlainScenario(
        name="live-body-not-object",
        title="A body that is JSON and no object",
        requests=(Request(body=b'["{model}"]', expect=400),),
        exercises=("http.body.object", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-model",
        title="A request without a model",
        requests=(Request(json={**SMALL, "model": ...}, expect=400),),
        exercises=("param.model", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-stream",
        title="A stream that is neither true nor false",
        requests=(Request(json={**SMALL, "stream": "maybe"}, expect=400),),
        exercises=("param.stream", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-n",
        title="Less than no choices",
        requests=(Request(json={**SMALL, "n": -1}, expect=400),),
        exercises=("param.n", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-max-tokens",
        title="A limit of tokens that is no number",
        requests=(Request(json={**SMALL, "max_tokens": "many"}, expect=400),),
        exercises=("param.max-tokens", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-tools",
        title="Tools that are no list",
        requests=(Request(json={**SMALL, "tools": "all"}, expect=400),),
        exercises=("param.tools", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-messages",
        title="A request without messages",
        requests=(Request(json={**SMALL, "messages": ...}, expect=400),),
        exercises=("param.messages", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-role",
        title="A message of a role that does not exist",
        requests=(Request(json={**SMALL, "messages": [{"role": "wizard", "content": "Hello."}]}, expect=400),),
        exercises=("param.role", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-sampling",
        title="A temperature that is too high",
        requests=(Request(json={**SMALL, "temperature": 9}, expect=400),),
        exercises=("param.sampling", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-tool-choice",
        title="A tool_choice that names a tool that is not declared",
        requests=(
            Request(json={**SMALL, "tool_choice": {"type": "function", "function": {"name": "nothing"}}}, expect=400),
        ),
        exercises=("param.tool-choice", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-input",
        title="A request for a response without input",
        requests=(Request(path="/responses", json={"model": "{model}", "max_output_tokens": 16}, expect=400),),
        dialects=(Dialect.RESPONSES,),
        exercises=("param.input", *ENVELOPE),
    ),
)
