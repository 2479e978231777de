from __future__ import annotations

from assay_mocks.codex.raw_items import call, passed_through, response
from assay_mocks.script import Usage


def test_a_call_keeps_the_models_spelling() -> None:
    assert call("fc_1", "f", '{ "n":1.50 }', "c")["arguments"] == '{ "n":1.50 }'


def test_an_item_is_passed_through_with_its_turn() -> None:
    told = passed_through({"type": "odd"}, "t", {"create_time": 1.5})
    assert told == {"type": "odd", "internal_chat_message_metadata_passthrough": {"turn_id": "t", "create_time": 1.5}}
    assert list(passed_through({}, "t").values()) == [{"turn_id": "t"}]


def test_a_complete_answer_tells_its_tokens_twice() -> None:
    told = response({"threadId": "t", "turnId": "u"}, "r", Usage(input=3, output=2, cached=1))
    assert told["usage"]["totalTokens"] == 5
    assert told["usageMetadata"]["metadata"]["input_tokens_details"] == {"cached_tokens": 1}
