"""A secret stands nowhere in masked runs, whatever the target does with it."""

from __future__ import annotations

import base64
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest

from wireproof.model.dialect import Surface
from wireproof.model.target import SurfaceReport, SurfaceState, Target
from wireproof.model.transcript import Death, End, Piece, Transcript
from wireproof.results.masking import masked_runs, masked_target, masking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wireproof.judging.outcomes import ScenarioRun

KEY = 'sk/live+"42"-abcdef'
TARGET = Target(base_url="http://127.0.0.1:1/v1", model="m", api_key=KEY)


def answer(*pieces: bytes) -> Transcript:
    return Transcript(
        method="POST",
        url="http://127.0.0.1:1/v1/chat/completions",
        request_headers=(("authorization", f"Bearer {KEY}"),),
        request_body=b"{}",
        status=200,
        headers=(("x-echo", KEY),),
        pieces=tuple(Piece(at=number, data=data) for number, data in enumerate(pieces)),
        end=End.COMPLETE,
        seconds=1.0,
    )


@pytest.mark.parametrize(
    "spelt",
    [
        KEY,
        r"sk/live+\"42\"-abcdef",
        r"sk\/live+\"42\"-abcdef",
        "sk%2Flive%2B%2242%22-abcdef",
        KEY[:-1],
        f"{KEY}x",
    ],
)
def test_a_key_is_replaced_however_it_is_spelt_and_wherever_a_read_ended(spelt: str) -> None:
    body = f'{{"said": "{spelt}"}}'.encode()
    for cut in range(len(body)):
        masked = masking(TARGET).transcript(answer(body[:cut], body[cut:]))
        assert KEY[:-1].encode() not in masked.body
        assert spelt.encode() not in masked.body
        assert [len(piece.data) for piece in masked.pieces] == [cut, len(body) - cut]
        assert masked.body.startswith(b'{"said": "key-')


@pytest.mark.parametrize("before", ["", "m", "me", "me:", "user:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_is_replaced_in_credentials_too(before: str, encode: Callable[[bytes], bytes]) -> None:
    written = encode(f"{before}{KEY}".encode())
    masked = masking(TARGET).body(b"Authorization: Basic " + written)
    assert len(masked) == len(b"Authorization: Basic " + written)
    left = masked.rpartition(b" ")[2]
    # At least as many characters as the key has are hidden, of the third more that it takes: all but its ends.
    assert sum(a == b for a, b in zip(left, written, strict=True)) <= len(written) - len(KEY)


@pytest.mark.parametrize("stars", ["**", "********", "...", "\u2026", "\u2022\u2022\u2022"])
@pytest.mark.parametrize(("begun", "ended"), [(7, 4), (4, 0), (0, 3), (8, 8)])
def test_the_ends_of_a_key_beside_stars_are_replaced(begun: int, ended: int, stars: str) -> None:
    first, last = KEY[:begun], KEY[len(KEY) - ended :]
    said = f"Incorrect API key provided: {first}{stars}{last}. See the page."
    hidden = f"{(b'key-' * 2)[:begun].decode()}{stars}{(b'key-' * 2)[:ended].decode()}"
    assert masking(TARGET).text(said) == f"Incorrect API key provided: {hidden}. See the page."
    assert masking(TARGET).body(said.encode()).decode() == masking(TARGET).text(said)


@pytest.mark.parametrize("said", ["sk***", "Well... abc", "**bold** text ***", "and so on\u2026", "f***"])
def test_what_stands_beside_stars_by_chance_is_left(said: str) -> None:
    assert masking(TARGET).text(said) == said
    assert masking(TARGET).body(said.encode()) == said.encode()


@pytest.mark.parametrize(
    ("said", "hidden"),
    [
        ("sk/l...abcdef...", "key-...key-ke..."),
        ("sk/live...def, sk/live**cdef", "key-key...key, key-key**key-"),
    ],
)
def test_ends_that_follow_each_other_are_all_replaced(said: str, hidden: str) -> None:
    assert masking(TARGET).text(said) == hidden


def test_headers_the_last_words_and_bytes_that_are_no_text_are_masked_too() -> None:
    last = Death(status=1, last_words=f"refused {KEY}")
    masked = masking(TARGET).transcript(replace(answer(b"\xff" + KEY.encode() + b"\xfe"), death=last))
    assert masked.body == b"\xff" + (b"key-" * 5)[: len(KEY)] + b"\xfe"
    assert KEY not in repr(masked)
    assert masked.death is not None


def test_what_holds_no_secret_is_the_same_object() -> None:
    plain = replace(answer(b"hello"), request_headers=(), headers=())
    assert masking(TARGET).transcript(plain) is plain


def test_a_target_is_masked_in_what_was_seen_of_it_and_in_the_password_of_its_address() -> None:
    said = SurfaceReport(state=SurfaceState.ABSENT, reason=f"HTTP 401: {KEY}", said=KEY)
    target = replace(TARGET, base_url="http://me:s3cret@host/v1", surfaces={Surface.CHAT: said})
    masked = masked_target(target)
    assert KEY not in repr(masked)
    assert masked.base_url == "http://me:key-ke@host/v1"
    assert masked.surfaces[Surface.CHAT].state is SurfaceState.ABSENT


def held(runs: Iterable[ScenarioRun]) -> list[ScenarioRun | dict[str, object]]:
    """All that runs hold, to be compared: exchanges are equal to themselves alone."""
    exchanges = [one for run in runs for those in run.exchanges.values() for one in those]
    parts = [{part.name: getattr(one, part.name) for part in fields(one)} for one in exchanges]
    return [*(replace(run, exchanges={}) for run in runs), *parts]


def test_masking_twice_is_masking_once(driven: tuple[Target, Sequence[ScenarioRun]]) -> None:
    target, runs = driven
    once, shown = masked_runs(runs, target), masked_target(target)
    assert held(once) != held(runs)
    assert held(masked_runs(once, shown)) == held(once)
    assert masked_target(shown) == shown


def test_without_a_secret_the_runs_stay_as_they_are(driven: tuple[Target, Sequence[ScenarioRun]]) -> None:
    target, runs = driven
    assert masked_runs(runs, replace(target, api_key=None)) == list(runs)


def test_an_answer_that_repeats_the_key_is_read_again(driven: tuple[Target, Sequence[ScenarioRun]]) -> None:
    target, runs = driven
    word = "completion"
    run = next(run for run in runs for those in run.exchanges.values() if word.encode() in those[0].transcript.body)
    masked = masked_runs([run], replace(target, api_key=word))
    readings = [one.reading for those in masked[0].exchanges.values() for one in those if one.reading]
    assert readings
    assert word not in repr([reading.payloads for reading in readings])


TEXT = "openai at 2024-10-21 of http://127.0.0.1:8123/v1, application/json; qwertyuiop"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-portkey-provider", "openai"),
        ("x-portkey-custom-host", "http://127.0.0.1:8123/v1"),
        ("accept", "application/json"),
        ("api-version", "2024-10-21"),
        ("x-team", "qwertyuiop"),
    ],
)
def test_a_value_that_cannot_be_a_key_is_replaced_where_it_is_sent_and_left_in_answers(name: str, value: str) -> None:
    target = replace(TARGET, headers=((name, value),))
    sent = replace(answer(TEXT.encode()), request_headers=((name, value),), headers=(("content-type", value),))
    masked = masking(target).transcript(sent)
    assert masked.body == TEXT.encode()
    assert masked.headers == (("content-type", value),)
    assert masked.request_headers == ((name, ("key-" * len(value))[: len(value)]),)
    shown = masked_target(target)
    assert value not in repr(shown.headers)
    assert masked_target(shown) == shown


@pytest.mark.each(
    ("name", "value"),
    [
        ("authorization", "qwertyuiop"),
        ("x-portkey-api-key", "qwertyuiop"),
        ("apikey", "qwertyuiop"),
        ("X_AUTH", "QWERTYUIOP"),
        ("x-access-token", "application/json"),
        ("session_id", "http://127.0.0.1:8123/v1"),
        ("cookie", "2024-10-21"),
        # Under any name:
        ("x-team", "qwertyuiopasdfgh"),
        ("x-team", "qWertyuiop"),
        ("x-team", "qwertyuiop1"),
        ("x-team", "a1b2-c3d4"),
        ("x-team", "20241021"),
        ("x-callback", "https://hooks.example/v1"),
        ("x-callback", "http://127.0.0.1:8123/v1/T0/B0"),
        ("x-callback", "http://me:qwertyuiop@127.0.0.1/v1"),
        ("accept", "application/json; key=a1"),
        ("x-words", "correct-horse-battery"),
    ],
)
@pytest.mark.each("where", ["headers", "query"])
def test_whatever_may_be_a_key_stands_nowhere(name: str, value: str, where: str) -> None:
    pairs = ((name, value),)
    target = replace(TARGET, headers=pairs) if where == "headers" else replace(TARGET, query=pairs)
    said = f"You sent {value}, did you?"
    got = replace(answer(said.encode()), request_headers=((name, value),), headers=(("x-echo", said),))
    for shown in (masking(target).transcript(got), masked_target(target)):
        assert value not in repr(shown)
    assert value.encode() not in masking(target).transcript(got).body
