from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_endpoint.api.embeddings import vector
from wireproof_endpoint.in_process import transport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mocks.tests.endpoint.conftest import Serve


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    plain: Any = httpx.Client(transport=transport())
    with openai.OpenAI(api_key="k", http_client=plain, max_retries=0) as made:
        yield made


def likeness(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(("model", "size"), [("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072)])
def test_a_text_has_one_vector_in_both_encodings(client: openai.OpenAI, model: str, size: int) -> None:
    # The SDK asks for base64 where nothing is said, and decodes it.
    decoded = client.embeddings.create(model=model, input="Grüß dich!")
    plain = client.embeddings.create(model=model, input=["other", "Grüß dich!"], encoding_format="float")
    assert decoded.data[0].embedding == plain.data[1].embedding != plain.data[0].embedding
    assert [one.index for one in plain.data] == [0, 1]
    assert len(decoded.data[0].embedding) == size
    assert math.isclose(likeness(*[decoded.data[0].embedding] * 2), 1, rel_tol=1e-5)
    assert (decoded.model, decoded.object, decoded.usage.prompt_tokens) == (model, "list", 3)


def test_it_has_as_many_dimensions_as_are_asked_for_and_still_length_1(client: openai.OpenAI) -> None:
    found = client.embeddings.create(model="m", input="a", dimensions=3).data[0].embedding
    assert len(found) == 3
    assert math.isclose(likeness(found, found), 1, rel_tol=1e-5)


def test_tokens_have_vectors_and_are_counted(client: openai.OpenAI) -> None:
    one = client.embeddings.create(model="m", input=[1, 2, 3])
    both = client.embeddings.create(model="m", input=[[1, 2, 3], [4]])
    assert one.data[0].embedding == both.data[0].embedding
    assert (one.usage.total_tokens, both.usage.total_tokens) == (3, 4)


def test_texts_that_share_words_are_closer_than_others() -> None:
    cat, kitten, tax = (vector(text, 256) for text in ("the cat sleeps", "a cat sleeps", "file your taxes"))
    assert likeness(cat, kitten) > 0.5 > likeness(cat, tax)


@pytest.mark.parametrize(
    ("wrong", "param", "code", "right"),
    [
        ({"input": None}, "input", "missing_required_parameter", {"input": "a"}),
        ({"input": ""}, "input", None, {"input": " "}),
        ({"input": []}, "input", "empty_array", {"input": ["a"]}),
        ({"input": ["a", ""]}, "input", None, {"input": ["a", "b"]}),
        ({"input": ["a", 1]}, "input", None, {"input": [0, 1]}),
        ({"input": [[1], []]}, "input", None, {"input": [[1], [2]]}),
        ({"input": [True]}, "input", None, {"input": [1]}),
        ({"input": {"text": "a"}}, "input", None, {"input": "a"}),
        ({"input": ["a"] * 2049}, "input", "array_above_max_length", {"input": ["a"] * 8}),
        ({"input": ["a", "b" * 32_769]}, "input[1]", None, {"input": "b" * 32_768}),
        ({"dimensions": 0}, "dimensions", "integer_below_min_value", {"dimensions": 1}),
        ({"dimensions": 3073}, "dimensions", "integer_above_max_value", {"dimensions": 3072}),
        ({"dimensions": "many"}, "dimensions", "invalid_type", {"dimensions": None}),
        ({"encoding_format": ["float"]}, "encoding_format", "invalid_value", {"encoding_format": "base64"}),
        ({"model": ""}, "model", "invalid_value", {"model": "any"}),
    ],
)
def test_what_is_not_acceptable_is_refused(wrong: Any, param: str, code: str | None, right: Any) -> None:
    with httpx.Client(transport=transport(), base_url="http://endpoint/v1") as plain:
        asked = {"model": "m", "input": "a", "dimensions": 2}
        error = plain.post("/embeddings", json={**asked, **wrong}).json()["error"]
        assert (error["param"], error["code"], error["type"]) == (param, code, "invalid_request_error")
        assert plain.post("/embeddings", json={**asked, **right}).status_code == 200


def test_very_much_text_at_once_is_refused() -> None:
    with httpx.Client(transport=transport(), base_url="http://endpoint/v1") as plain:
        texts = ["word " * 6000] * 41
        error = plain.post("/embeddings", json={"model": "m", "input": texts}).json()["error"]
        assert (error["type"], error["code"], error["param"]) == (
            "max_tokens_per_request", "max_tokens_per_request", "input",
        )  # fmt: skip
        assert plain.post("/embeddings", json={"model": "m", "input": texts[:2], "dimensions": 2}).status_code == 200


@given(st.text(), st.integers(1, 8))
def test_every_text_has_a_direction(text: str, size: int) -> None:
    found = vector(text, size)
    assert math.isclose(likeness(found, found), 1, rel_tol=1e-5)


def test_a_model_that_is_not_served_has_no_vectors(served: Serve) -> None:
    with openai.OpenAI(base_url=served(any_model=False), api_key="k", max_retries=0) as client:
        with pytest.raises(openai.NotFoundError):
            client.embeddings.create(model="other", input="a")
        assert client.embeddings.create(model="codex", input="a").data
