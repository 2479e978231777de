"""Good endpoints in the taste of servers that people use, as their documentation and recorded answers show them.

Each has what its kind adds, leaves out or writes in a way of its own, and no fault. The model behind them has moods.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from live_defects import each, with_, without
from live_endpoint import Endpoint, Events
from live_goods import AZURE, MINIMAL, OPENAI, REASONING, THOUGHT, all_of
from live_model import Json, Said, cut_up

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = (1, 2, 3)
MESSAGE = ("choices", "*", "message")


def plus(**members: Any) -> Callable[[Json], Json]:
    """Adds members to an object."""
    return lambda body: {**body, **members}


def call_ids(pattern: str) -> Callable[[list[Said]], list[Said]]:
    """Ids of calls as a server makes them; `{}` is what tells them apart."""
    return lambda said: [
        dataclasses.replace(
            one,
            calls=[dataclasses.replace(call, id=pattern.format(call.id.removeprefix("call_"))) for call in one.calls],
        )
        for one in said
    ]


def whole_calls(events: Events) -> Events:
    """Each call in one delta, with all its arguments."""
    made: Events = []
    for one in events:
        choices = one.get("choices") if isinstance(one, dict) else None
        fragment = choices[0]["delta"].get("tool_calls") if choices else None
        if fragment and "id" not in fragment[0]:
            made[-1]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] += fragment[0]["function"][
                "arguments"
            ]
        else:
            made.append(one)
    return made


def commented(frame: bytes) -> bytes:
    return b": OPENROUTER PROCESSING\n\n" + frame


def thinking_aloud(events: Events) -> Events:
    """Deltas of thought, each beside a content of null, before the text of each choice."""
    made: Events = []
    for one in events:
        made.append(one)
        choices = one.get("choices") if isinstance(one, dict) else None
        if choices and choices[0]["delta"].get("role"):
            index = choices[0]["index"]
            deltas = [{"content": None, "reasoning_content": token} for token in cut_up(THOUGHT)]
            made += [{**one, "choices": [{"index": index, "delta": d, "finish_reason": None}]} for d in deltas]
    return made


ROLE_EACH = each(lambda one: with_("choices", "*", "delta", "role", value="assistant")(one) if one["choices"] else one)
NULLS = {"service_tier": None, "system_fingerprint": None, "prompt_logprobs": None, "kv_transfer_params": None}
TIMINGS = {"timings": {"prompt_n": 3, "predicted_per_second": 31.5}}
GROQ = {"x_groq": {"id": "req_01jbd6g2qdfw2adyrt2az8hz4w"}}
TIMES = {"queue_time": 0.02, "prompt_time": 0.001, "completion_time": 0.04, "total_time": 0.041}

TASTES = (
    dataclasses.replace(OPENAI, name="as-openai"),
    dataclasses.replace(AZURE, name="as-azure"),
    dataclasses.replace(REASONING, name="as-reasoning"),
    dataclasses.replace(MINIMAL, name="as-minimal"),
    Endpoint(
        name="as-ollama",
        whole=plus(system_fingerprint="fp_ollama"),
        chunks=all_of(whole_calls, ROLE_EACH, each(plus(system_fingerprint="fp_ollama"))),
        models=with_("data", "*", "owned_by", value="library"),
    ),
    Endpoint(
        name="as-vllm",
        thinks=call_ids("chatcmpl-tool-{}"),
        whole=all_of(
            with_(*MESSAGE, "reasoning_content", value=None),
            with_(*MESSAGE, "function_call", value=None),
            with_(*MESSAGE, "annotations", value=None),
            lambda body: {
                **body,
                "choices": [
                    {**one, "stop_reason": None, "message": {"tool_calls": [], **one["message"]}}
                    for one in body["choices"]
                ],
            },
            plus(**NULLS),
            with_("usage", "prompt_tokens_details", value=lambda _: None),
        ),
        chunks=each(with_("usage", "prompt_tokens_details", value=lambda _: None)),
        headers=lambda _: {"Content-Type": "text/event-stream; charset=utf-8"},
    ),
    Endpoint(
        name="as-llama-cpp",
        whole=plus(system_fingerprint="b6500-ac12", **TIMINGS),
        chunks=all_of(
            each(plus(system_fingerprint="b6500-ac12")),
            each(lambda one: {**one, **TIMINGS} if one.get("usage") else one),
        ),
        models=lambda body: {**body, "models": [{"name": "small-model", "type": "model"}]},
    ),
    Endpoint(
        name="as-openrouter",
        whole=all_of(
            plus(provider="Somebody", model="vendor/small-model"),
            with_(*MESSAGE, "reasoning", value=None),
            with_("choices", "*", "native_finish_reason", value="stop"),
        ),
        chunks=all_of(
            ROLE_EACH, each(plus(provider="Somebody", model="vendor/small-model")),
            each(with_("choices", "*", "native_finish_reason", value=None)),
        ),
        response=with_("model", value="vendor/small-model"),
        raw=commented,
    ),
    Endpoint(
        name="as-deepseek",
        thinks=lambda said: [dataclasses.replace(one, hidden=0 if one.finish == "length" else 14) for one in said],
        whole=all_of(
            with_(*MESSAGE, "reasoning_content", value=THOUGHT),
            with_("usage", "prompt_cache_hit_tokens", value=0),
            plus(system_fingerprint="fp_058df29938_prod0820_fp8_kvcache"),
        ),
        chunks=thinking_aloud,
    ),
    Endpoint(
        name="as-mistral",
        thinks=call_ids("D681Pe{:>3.3}"),
        whole=all_of(
            without(*MESSAGE, "refusal"),
            lambda body: {**body, "choices": [
                {**one, "message": {"tool_calls": None, "prefix": False, **one["message"],
                                    "content": one["message"]["content"] or ""}}
                for one in body["choices"]
            ]},
            without("usage", "prompt_tokens_details"), without("usage", "completion_tokens_details"),
        ),
        chunks=all_of(whole_calls, each(plus(p="abcdef")), each(without("usage", "prompt_tokens_details")),
                      each(without("usage", "completion_tokens_details"))),
    ),
    Endpoint(
        name="as-gemini",
        thinks=call_ids("function-call-{}"),
        whole=all_of(
            without(*MESSAGE, "refusal"), without("usage", "prompt_tokens_details"),
            without("usage", "completion_tokens_details"),
            with_(*MESSAGE, "tool_calls", "*", "extra_content", value={"google": {"thought_signature": "CtkB"}}),
        ),
        chunks=all_of(whole_calls, ROLE_EACH, each(without("usage", "prompt_tokens_details")),
                      each(without("usage", "completion_tokens_details"))),
    ),
    Endpoint(
        name="as-groq",
        whole=all_of(plus(**GROQ), with_("usage", "queue_time", value=0.02), plus(service_tier="on_demand")),
        chunks=all_of(
            whole_calls, lambda events: [{**events[0], **GROQ}, *events[1:]],
            each(lambda one: {**one, "usage": {**one["usage"], **TIMES}} if one.get("usage") else one),
        ),
    ),
    Endpoint(
        name="as-lm-studio",
        thinks=call_ids("{}"),
        whole=all_of(plus(stats={}, system_fingerprint="small-model"), with_("choices", "*", "logprobs", value=None)),
        chunks=each(plus(system_fingerprint="small-model")),
        headers=lambda headers: {**headers, "Content-Type": "text/event-stream"},
    ),
)  # fmt: skip
"""One of each kind."""
MOODY = tuple(dataclasses.replace(one, name=f"{one.name}-{seed}", seed=seed) for one in TASTES for seed in SEEDS)
"""Each of them three times, with a model that does not always do what it is asked."""
__all__ = ["MOODY", "TASTES"]
