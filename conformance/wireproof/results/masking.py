"""Runs without their secrets: whatever a report or an archive says of a run is made of these.

The target's key, and the values of headers and query parameters of a person's own, are replaced wherever they stand, in
requests and in answers alike, by a placeholder of the same length: every place stays where it is, and an answer that
repeats the key is still seen to do so. A target may cut the key in two reads, escape it as JSON does, quote it for a
URL, write it in Base64 (as the password of Basic credentials), or show its ends alone, with stars between; all of that
is found. A key that a model spells out token by token is not: no sequence of bytes holds it then.

A value that cannot be a key, such as `accept=application/json` or the name of a vendor, is replaced in requests alone:
answers have the same words by themselves, and would be judged without them.

Everything is masked before it is judged. A sentence that a judgement quotes from an answer may end in the middle of the
key, and half of it could not be found any more.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

from wireproof.model.transcript import Piece, Transcript
from wireproof.reading import recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from _typeshed import DataclassInstance

    from wireproof.judging.outcomes import ScenarioRun
    from wireproof.model.target import Target
    from wireproof.reading.exchange import Exchange

MASK = "key-"
"""What stands for a secret, repeated to the secret's length."""
SHORTEST = 8
"""Characters of a secret that is looked for inside texts; a shorter one (a flag) stands in many by chance."""
_NAMES_A_SECRET = re.compile(
    r"(?:api|auth|access|secret|private|account|subscription|master|client|app)?keys?"
    r"|.*(?:auth|token|secret|cookie|passw|credential|session|signature|jwt).*"
    r"|pass|pwd?|pin|sig",
    re.IGNORECASE,
)
"""A part of a name, between hyphens or underscores, whose value is secret whatever it looks like."""
_ORDINARY = re.compile(
    r"[a-z]{1,15}|[A-Z]{1,15}|[A-Z][a-z]{1,14}"  # a word; keys are longer, and have digits or change their case
    r"|\d{1,4}|v\d{1,2}(?:\.\d{1,3}){0,2}|\d{4}-\d\d-\d\d(?:-preview)?"  # a count, a version
    r"|(?:application|text|image|audio|multipart|\*)/(?:[a-z.+-]{1,40}|\*)"
    r"|https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:/v\d)?/?"
)
"""The values under other names that are no key. Whatever is not seen to be ordinary is a secret."""

_STARS = re.compile(r"\*{2,}|\.{3,}|\u2026+|\u2022{2,}|(?:\xe2\x80\xa6)+|(?:\xe2\x80\xa2){2,}")
"""What stands for the middle of a key of which the ends are shown; the last two are UTF-8, read byte by byte."""
_SHORTEST_STARS = (b"**", b"...", "\u2026".encode(), "\u2022\u2022".encode())
"""The shortest of them, one of which stands in every body that holds any."""
_BEGUN, _ENDED = 4, 3
"""Characters before and behind stars from which on they are the ends of a key: fewer stand beside stars by chance."""

_URL_SAFE = str.maketrans("+/", "-_")
"""From the alphabet of Base64 to the one for URLs."""

_T = TypeVar("_T")
_Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class _Secret:
    """What only the target's owner may read."""

    value: str
    anywhere: bool
    """Whether it is replaced inside texts too, and not only where it is the whole text or the whole credential."""

    @cached_property
    def spellings(self) -> Sequence[tuple[str, str]]:
        """The value, and as bodies of JSON and URLs write it; the longer ones, which may hold it, first.

        Each with what replaces it, in as many characters.
        """
        escaped = json.dumps(self.value, ensure_ascii=False)[1:-1]
        # PHP escapes slashes, too.
        found = {self.value, escaped, escaped.replace("/", r"\/"), quote(self.value, safe="")}
        if self.anywhere:
            found.update(_in_base64(self.value.encode()))
        return [(written, _mask(written)) for written in sorted(found, key=len, reverse=True)]

    @cached_property
    def as_bytes(self) -> Sequence[tuple[bytes, bytes]]:
        """The spellings as bodies hold them."""
        return [(written.encode(), mask.encode()) for written, mask in self.spellings]

    def masked(self, text: str) -> str:
        """The text with the secret replaced by as many characters."""
        for written, mask in self.spellings:
            if self.anywhere or text in {written, f"Bearer {written}"}:
                text = text.replace(written, mask)
        return self._without_ends(text) if self.anywhere else text

    def masked_bytes(self, data: bytes) -> bytes:
        """A body with the secret replaced by as many bytes."""
        for written, mask in self.as_bytes:
            if self.anywhere or data == written:
                data = data.replace(written, mask)
        if not self.anywhere or not self.value.isascii() or not self._may_show_ends(data):
            return data
        # Byte for byte, so that every place stays where it is.
        return self._without_ends(data.decode("latin-1")).encode("latin-1")

    def _may_show_ends(self, data: bytes) -> bool:
        """Whether ends of the key can stand beside stars in a body: nearly none holds both, and this is soon seen."""
        first, last = self.value[:_BEGUN].encode(), self.value[-_ENDED:].encode()
        return (first in data or last in data) and any(stars in data for stars in _SHORTEST_STARS)

    @cached_property
    def _begun(self) -> Mapping[str, Sequence[int]]:
        """The lengths of the key's beginnings, the longest first, by the characters that they end with."""
        return self._lengths(_BEGUN, lambda length: self.value[length - _BEGUN : length])

    @cached_property
    def _ended(self) -> Mapping[str, Sequence[int]]:
        """The lengths of its ends, the longest first, by the characters that they begin with."""
        return self._lengths(_ENDED, lambda length: self.value[-length:][:_ENDED])

    def _lengths(self, least: int, edge: Callable[[int], str]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for length in range(len(self.value), least - 1, -1):
            found.setdefault(edge(length), []).append(length)
        return found

    def _without_ends(self, text: str) -> str:
        """A text in which no ends of the key stand beside stars, in time that grows with its length alone."""
        key, kept, done = self.value, [], 0
        for stars in _STARS.finditer(text):
            first, last = stars.span()
            lengths = self._begun.get(text[max(0, first - _BEGUN) : first], ())
            begun = next((n for n in lengths if text.startswith(key[:n], first - n)), 0)
            lengths = self._ended.get(text[last : last + _ENDED], ())
            ended = next((n for n in lengths if text.startswith(key[-n:], last)), 0)
            # What is behind the stars before may be what is before these.
            begun = min(begun, first - done)
            if begun or ended:
                kept += [text[done : first - begun], _mask(key[:begun]), stars[0], _mask(key[:ended])]
                done = last + ended
        return "".join([*kept, text[done:]]) if kept else text


def _in_base64(value: bytes) -> Iterator[str]:
    """What Base64 makes of a value wherever it begins within a longer one, in either alphabet."""
    for before in range(3):
        # Characters at the ends hold bits of what stands beside it.
        first, last = -(-before * 8 // 6), (before + len(value)) * 8 // 6
        written = base64.b64encode(bytes(before) + value).decode()[first:last]
        yield written
        yield written.translate(_URL_SAFE)


def _mask(written: str) -> str:
    return (MASK * len(written))[: len(written)]


@dataclass(frozen=True, kw_only=True)
class Masking:
    """What replaces the secrets of one target."""

    secrets: tuple[_Secret, ...]
    ordinary: tuple[_Secret, ...] = ()
    """The values of a person's own that are no secret: replaced where they are sent."""

    def text(self, text: str) -> str:
        """A text without them."""
        for secret in self.secrets:
            text = secret.masked(text)
        return text

    def body(self, data: bytes) -> bytes:
        """Bytes without them, as many as before."""
        for secret in self.secrets:
            data = secret.masked_bytes(data)
        return data

    def value(self, value: _T) -> _T:
        """Texts, bytes, collections and dataclasses of such, without the secrets; anything else as it is."""
        masked: Any = value
        match value:
            # Not members of enumerations, which are texts, too.
            case str() if type(value) is str:
                masked = self.text(value)
            case bytes():
                masked = self.body(value)
            case list():
                masked = [self.value(one) for one in value]
            case tuple() if type(value) is tuple:
                masked = tuple(map(self.value, value))
            case dict():
                masked = {name: self.value(one) for name, one in value.items()}
            case Transcript():
                masked = self.transcript(value)
            case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
                masked = replace(value, **self._changed(value))
            case _:
                pass
        return masked  # type: ignore[no-any-return]  # of the same type in every case

    def transcript(self, transcript: Transcript) -> Transcript:
        """A transcript without them. Its body is looked at whole: a secret may lie across two pieces."""
        kept = self._changed(transcript, "pieces")
        sent = self.sent(kept.get("request_headers", transcript.request_headers))
        if sent != transcript.request_headers:
            kept["request_headers"] = sent
        body = transcript.body
        masked = self.body(body)
        if masked != body:
            kept["pieces"] = tuple(_cut(masked, transcript.pieces))
        return replace(transcript, **kept) if kept else transcript

    def sent(self, pairs: _Pairs) -> _Pairs:
        """Names and values that a request carries, without any value of a person's own."""
        return Masking(secrets=(*self.secrets, *self.ordinary)).value(pairs)

    def _changed(self, value: DataclassInstance, *but: str) -> dict[str, Any]:
        """The fields of a dataclass that hold a secret, without it."""
        names = [one.name for one in dataclasses.fields(value) if one.name not in but]
        fields = {name: (old := getattr(value, name), self.value(old)) for name in names}
        return {name: new for name, (old, new) in fields.items() if new != old}


def _cut(body: bytes, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """A body of the same length in pieces of the same lengths."""
    begin = 0
    for piece in pieces:
        yield replace(piece, data=body[begin : begin + len(piece.data)])
        begin += len(piece.data)


def masking(target: Target) -> Masking:
    """What replaces the secrets of a target."""
    own = [(name, value) for name, value in (*target.headers, *target.query) if value]
    secret = [value for name, value in own if not _is_ordinary(name, value)]
    return Masking(
        secrets=(*_keys(target), *(_Secret(value=value, anywhere=len(value) >= SHORTEST) for value in secret)),
        ordinary=tuple(_Secret(value=value, anywhere=False) for name, value in own if _is_ordinary(name, value)),
    )


def _is_ordinary(name: str, value: str) -> bool:
    is_named = any(_NAMES_A_SECRET.fullmatch(part) for part in re.split("[-_.]", name))
    return not is_named and _ORDINARY.fullmatch(value) is not None


def _keys(target: Target) -> Iterator[_Secret]:
    """The key, and the password of the address."""
    if target.api_key:
        key = target.api_key
        yield _Secret(value=key, anywhere=len(key) >= SHORTEST)
        # A scenario sends it without its last character, and that is nearly all of it.
        if len(key) > 1:
            yield _Secret(value=key[:-1], anywhere=len(key) > SHORTEST)
    password = urlsplit(target.base_url).password
    if password:
        yield _Secret(value=password, anywhere=True)


def masked_target(target: Target) -> Target:
    """A target that holds no secret."""
    mask = masking(target)
    masked = mask.value(target)
    return replace(masked, headers=mask.sent(masked.headers), query=mask.sent(masked.query))


def masked_runs(runs: Sequence[ScenarioRun], target: Target) -> list[ScenarioRun]:
    """Runs that hold no secret, as runs of `masked_target`.

    An answer that repeats a secret is read again, so that what is read in it holds none either.
    """
    mask, shown = masking(target), masked_target(target)
    if not (mask.secrets or mask.ordinary):
        return list(runs)
    return [_run(run, mask, shown) for run in runs]


def _run(run: ScenarioRun, mask: Masking, target: Target) -> ScenarioRun:
    return replace(
        run,
        error=mask.text(run.error),
        not_driven={form: mask.text(reason) for form, reason in run.not_driven.items()},
        exchanges={form: [_exchange(one, mask, target) for one in those] for form, those in run.exchanges.items()},
        set_aside={form: [_exchange(one, mask, target) for one in those] for form, those in run.set_aside.items()},
    )


def _exchange(exchange: Exchange, mask: Masking, target: Target) -> Exchange:
    transcript = mask.transcript(exchange.transcript)
    earlier = tuple(_exchange(one, mask, target) for one in exchange.earlier)
    if exchange.reading is None or transcript.pieces == exchange.transcript.pieces:
        return replace(exchange, transcript=transcript, target=target, earlier=earlier)
    return recorded.of_turn(exchange.conversation, exchange.number, exchange.form, target, transcript, earlier=earlier)
