from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_scripts.steps import Call, Finish, Repeat, Say, Script, Think

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient


def test_the_first_delta_opens_the_item_and_something_else_completes_it(make_client: MakeClient) -> None:
    script = Script(name="a", title="", parts=((Say(("one",)), Say((" two",)), Think("hm"), Say(("three",))),))
    received = make_client({"a": script}).play("[[wireproof:a#1]]")
    items = [(params["item"]["type"], params["item"].get("text")) for params in received.params_of("item/completed")]
    assert items == [
        ("userMessage", None),
        ("agentMessage", "one two"),
        ("reasoning", None),
        ("agentMessage", "three"),
    ]
    (turn,) = received.params_of("turn/completed")
    assert [item["text"] for item in turn["turn"]["items"]] == ["three"]


def test_the_last_notifications_can_be_repeated_word_for_word(make_client: MakeClient) -> None:
    script = Script(name="a", title="", parts=((Say(("one", "two")), Repeat(2), Finish(), Repeat()),))
    received = make_client({"a": script}).play("[[wireproof:a#1]]")
    assert received.text_deltas == ["one", "two", "one", "two"]
    assert len({params["itemId"] for params in received.params_of("item/agentMessage/delta")}) == 1
    assert len(received.params_of("turn/completed")) == 2


def test_halves_of_characters_are_escaped_and_the_whole_text_is_whole(client: Client) -> None:
    received = client.play("[[wireproof:text/surrogates#a]]")
    assert received.text_deltas[0] == "Halves: "
    assert received.text_deltas[1] == "\U0001f600 é \U0001d11e"
    assert received.text_deltas[2:7] == ["\ud83d", "\udc69", "\u200d", "\ud83d", "\udc67"]
    (said,) = [
        item["item"]["text"] for item in received.params_of("item/completed") if item["item"]["type"] == "agentMessage"
    ]
    assert said == "Halves: \U0001f600 é \U0001d11e\U0001f469\u200d\U0001f467 end"


def test_a_sentinel_begins_a_line(make_client: MakeClient) -> None:
    call = Call(id="c", name="f", arguments="{}", shape="sentinel")
    for before, expected in (
        (("Look:",), "Look:\n<tool_call>"),
        (("Look:\n",), "Look:\n<tool_call>"),
        ((), "<tool_call>"),
    ):
        part = (Say(before), call) if before else (call,)
        received = make_client({"a": Script(name="a", title="", parts=(part,))}).play("[[wireproof:a#1]]")
        assert "".join(received.text_deltas).startswith(expected)
