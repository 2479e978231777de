"""Endpoints without a defect, as different as those in the field: none of them may be accused at the level `compat`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from live_defects import each, with_, without
from live_endpoint import Endpoint, Events, RefusedError
from live_model import BABBLE, Json, Said, chatty, cut_up

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = Callable[[Json], Json]


def all_of(*changes: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def change(value: Any) -> Any:
        for one in changes:
            value = one(value)
        return value

    return change


# OpenAI's own, with every optional field

FINGERPRINT = {"system_fingerprint": "fp_44709d6fcb", "service_tier": "default"}


def obfuscated(events: Events) -> Events:
    """Usage null in each chunk where it was asked for, a fingerprint, and text that hides how long the deltas are."""
    counted = any(isinstance(one, dict) and one.get("usage") for one in events)
    null = {"usage": None} if counted else {}
    return [{**null, **FINGERPRINT, "obfuscation": "aB3", **one} if isinstance(one, dict) else one for one in events]


def noted(body: Json) -> Json:
    for choice in body["choices"]:
        choice["logprobs"] = None
        choice["message"]["annotations"] = []
    return body | FINGERPRINT


OPENAI = Endpoint(
    name="openai-like",
    whole=noted,
    chunks=obfuscated,
    response=lambda body: {
        **body, "background": False, "max_tool_calls": None, "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None}, "safety_identifier": None, "service_tier": "default",
        "store": True, "text": {"format": {"type": "text"}, "verbosity": "medium"}, "top_logprobs": 0,
        "truncation": "disabled", "user": None, "completed_at": body["created_at"],
    },
)  # fmt: skip

# the least that OpenAI's clients read


def bare_chunks(events: Events) -> Events:
    found = [_without_nulls(one) if isinstance(one, dict) else one for one in events]
    return [
        {**one, "usage": _bare(one["usage"])} if isinstance(one, dict) and one.get("usage") else one for one in found
    ]


def _without_nulls(chunk: Json) -> Json:
    choices = [{name: value for name, value in one.items() if name != "logprobs" or value} for one in chunk["choices"]]
    return {**chunk, "choices": choices}


def _bare(usage: Json) -> Json:
    return {name: usage[name] for name in ("prompt_tokens", "completion_tokens", "total_tokens")}


MINIMAL = Endpoint(
    name="minimal",
    whole=lambda body: without("choices", "*", "message", "refusal")({**body, "usage": _bare(body["usage"])}),
    chunks=bare_chunks,
    headers=lambda headers: {name: headers[name] for name in ("Content-Type", "Cache-Control")},
)

# a server of open models, with fields of its own and the name of a snapshot

SNAPSHOT = "small-model-2025-04-14"


def of_vendor(body: Json) -> Json:
    for choice in body["choices"]:
        choice["stop_reason"] = None
        choice["message"] |= {"reasoning_content": None, "provider_specific_fields": None}
    return {**body, "model": SNAPSHOT, "kv_transfer_params": None, "prompt_logprobs": None}


VENDOR = Endpoint(
    name="vendor-fields",
    whole=of_vendor,
    chunks=each(
        lambda chunk: {
            **chunk,
            "model": SNAPSHOT,
            "choices": [{**choice, "token_ids": None} for choice in chunk["choices"]],
        }
    ),
    response=with_("model", value=SNAPSHOT),
)

# a model that reasons, and a server that shows it

THOUGHT = "The user asks for something. I shall do exactly that."


def thoughtful(events: Events) -> Events:
    """Deltas of reasoning before the text of each choice."""
    made: Events = []
    for one in events:
        made.append(one)
        choices = one.get("choices") if isinstance(one, dict) else None
        if choices and choices[0]["delta"].get("role"):
            index = choices[0]["index"]
            made += [
                {**one, "choices": [{"index": index, "delta": {"reasoning_content": token}, "finish_reason": None}]}
                for token in cut_up(THOUGHT)
            ]
    return made


def thinking(said: list[Said]) -> list[Said]:
    return [dataclasses.replace(one, hidden=0 if one.finish == "length" else len(cut_up(THOUGHT))) for one in said]


REASONING = Endpoint(
    name="reasoning",
    thinks=thinking,
    whole=with_("choices", "*", "message", "reasoning_content", value=THOUGHT),
    chunks=thoughtful,
)

# a cloud's gateway, with the results of its filters

FILTERED = {"hate": {"filtered": False, "severity": "safe"}}


def filtered(events: Events) -> Events:
    """A first chunk without choices, id and model, and the results of filters beside each choice."""
    first = {
        "id": "", "object": "", "created": 0, "model": "", "choices": [],
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": FILTERED}],
    }  # fmt: skip
    made = [
        {**one, "choices": [{**choice, "content_filter_results": FILTERED} for choice in one["choices"]]}
        if isinstance(one, dict)
        else one
        for one in events
    ]
    return [first, *made]


AZURE = Endpoint(
    name="filtering-gateway",
    whole=lambda body: {
        **with_("choices", "*", "content_filter_results", value=FILTERED)(body),
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": FILTERED}],
    },
    chunks=filtered,
)

# models that do not take every member of a request


def refusing(*members: str, words: str = "Unsupported parameter: '{}' is not supported with this model.") -> Change:
    """Refuses a request with one of these members, as OpenAI's newer models do."""

    def refuse(body: Json) -> Json:
        for name in members:
            if name in body:
                raise RefusedError(400, words.format(name), name, "unsupported_parameter")
        return body

    return refuse


INSTEAD = "Unsupported parameter: '{{}}' is not supported with this model. Use '{}' instead."
NEWER = Endpoint(name="newer-model", request=refusing("max_tokens", words=INSTEAD.format("max_completion_tokens")))
"""Its limit of tokens has the new name alone."""
OLDER = Endpoint(name="older-server", request=refusing("max_completion_tokens", words=INSTEAD.format("max_tokens")))
"""Its limit of tokens has the old name alone."""
SPARE = Endpoint(name="spare-model", request=refusing("stop", "parallel_tool_calls", "stream_options"))
"""It takes little more than messages, tools and a limit."""
UNLIMITED = Endpoint(
    name="unlimited-model", request=refusing("max_tokens", "max_completion_tokens", "max_output_tokens")
)
"""It takes no limit of tokens by any name."""
UNFORCED = Endpoint(name="unforced-model", request=refusing("tool_choice"))
"""It forces no call, neither of any tool nor of one that is named."""

PLAIN = Endpoint(name="plain")
SPARING = (NEWER, OLDER, SPARE, UNLIMITED)
"""Endpoints that refuse members which requests can do without."""
GOODS = (PLAIN, OPENAI, MINIMAL, VENDOR, REASONING, AZURE, *SPARING)
"""Endpoints whose model obeys."""

CHATTY = Endpoint(name="chatty", temper=chatty)
"""Its model says more than it is asked to."""
LAZY = Endpoint(name="lazy", lazy=True)
"""Its model needs two tries."""
IDLE = Endpoint(name="idle", temper=lambda _: BABBLE)
"""Its model says always the same."""
SLOW = Endpoint(name="slow", pause=0.01)
"""It writes its streams token by token."""
MODELS = (CHATTY, LAZY, IDLE, SLOW)
"""Endpoints whose model does not always do what it is asked, or not soon."""
