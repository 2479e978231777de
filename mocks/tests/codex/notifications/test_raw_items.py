from __future__ import annotations

from wireproof_codex.notifications.raw_items import call, message, passed_through, response
from wireproof_codex.versions.version import VERSIONS
from wireproof_scripts.steps import Usage


def test_a_call_keeps_the_models_spelling() -> None:
    assert call("fc_1", "f", '{ "n":1.50 }', "c")["arguments"] == '{ "n":1.50 }'


def test_an_item_is_passed_through_with_its_turn() -> None:
    passed = passed_through({"type": "odd"}, "t", {}, {"create_time": 1.5})
    assert passed == {"type": "odd", "internal_chat_message_metadata_passthrough": {"turn_id": "t", "create_time": 1.5}}
    assert list(passed_through({}, "t", {}).values()) == [{"turn_id": "t"}]


def test_versions_tell_more_and_more_of_an_item() -> None:
    def shown(version: str) -> str:
        return " ".join(passed_through(message("m", "x"), "t", VERSIONS[version].messages.hidden))

    assert shown("0.134.0") == "type role content"
    assert shown("0.142.0") == "type id role content"
    assert shown("0.150.0") == "type id role content internal_chat_message_metadata_passthrough"
    assert shown("0.163.0") == "type status id role content internal_chat_message_metadata_passthrough"


def test_a_complete_answer_says_its_tokens_twice() -> None:
    complete = response({"threadId": "t", "turnId": "u"}, "r", Usage(input=3, output=2, cached=1), metadata=True)
    assert complete["usage"]["totalTokens"] == 5
    assert complete["usageMetadata"]["metadata"]["input_tokens_details"] == {"cached_tokens": 1}
