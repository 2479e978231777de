r"""Reads a conversation that a client has written into one text: its messages, calls and results, in order.

The service has a place for the history, and many clients do not use it. Each spells the history in its own way:

    User: go                                       a role, then its text
    Assistant: I look. [Called tool: read({"path":"a"})]
    [Tool result for call_0]: alpha                a bracket that names the call
    Tool result for read(call_0): alpha            a line that names it
    ### Tool result (call_0)                       a heading, and the output below it
    <tool_result id="call_0">alpha</tool_result>   an element
    {"role": "tool", "tool_call_id": "call_0", …}  the message itself, as JSON

What begins a part of the conversation is its head; `_SPELLINGS` is the table of them. The text between a head and the
next one belongs to the first. A call is read to the end of its arguments, in which nothing counts as a head. Every
repetition in a pattern has a limit, and no text is read twice, so that hostile text takes no longer than other text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from wireproof_cursor.runs.written import Json, Written, WrittenCall, WrittenMessage, WrittenResult, call_in, in_message

if TYPE_CHECKING:
    from collections.abc import Iterator

_Kind = Literal["role", "call", "result", "call_tag", "result_tag", "json"]

_ROLE = r"(?:user|human|assistant|ai|model|system|developer)"
_TOOL = r"(?:tool|function)"
_LINE = r"^[ \t]{0,8}(?:[>*•-][ \t]{1,3}){0,2}(?:#{1,6}[ \t]{1,3})?(?:\*\*|__|`)?"
# A client may write a call or a result behind the role of its message.
_BEHIND = (
    rf"(?:\[?(?:{_ROLE}|{_TOOL})\]?(?:\*\*|__)?:(?:\*\*|__)?[ \t]{{0,3}}|(?:user|assistant)[ \t](?=called|requested))"
)
_BEGIN = rf"{_LINE}{_BEHIND}?(?:\*\*|__|`)?"
# What is quoted in a sentence is no head.
_ANYWHERE = r"(?<![\w\"'`\u201c\u2018\[(])"
_NO_MORE = r"(?:\*\*|__|`)?"

_RESULT = rf"{_TOOL}(?:[ _-]?call)?[ _-]?(?:result|output|response)s?"
_CALL = (
    rf"(?:(?:call(?:ed|ing)?|invok(?:ed|ing)|us(?:ed|ing)|r[au]n(?:ning)?|request(?:ed|ing)?)[ _-](?:the[ ])?{_TOOL}s?"
    rf"|{_TOOL}[ _-]?(?:calls?|uses?|invocation|request)(?![ _-]?(?:result|output|response))(?:ed)?)\b"
)
_SAYS = r"(?:returned|responded|replied|result|output)"
_WORD = r"[\"'`]?[\w.:|/-]{1,160}?[\"'`]?"
_ASIDE = r"[ \t]?(?:\([^()\n]{0,400}\)|\[[^\[\]\n]{0,400}\])"
_OF = rf"[ \t](?:(?:for|of|from|by|to)[ \t](?:the[ \t])?(?:{_TOOL}[ \t])?(?:call[ \t])?)?(?:id[ \t:=]{{1,2}})?"
_AT_ROLE = rf"{_LINE}\[?(?P<role>{_ROLE})\]?{_NO_MORE}:{_NO_MORE}[ \t]?"
_END = rf"{_NO_MORE}[ \t]{{0,2}}(?::{_NO_MORE}|->|=>|$)[ \t]?"

_SPELLINGS: tuple[tuple[_Kind, str], ...] = (
    ("json", r"(?:^|(?<=[\s\[,]))(?=\{\s{0,8}\"(?:role|type|tool_call_id|content|name|id)\"\s{0,4}:)"),
    ("result_tag", rf"<(?P<tag>{_RESULT})(?P<who>[^<>\n]{{0,400}})>"),
    ("call_tag", rf"<(?P<tag>{_TOOL}[_-](?:call|use)|invoke)(?P<who>[^<>\n]{{0,400}})>"),
    # [Tool result for c]: … wherever it is; [tool:c] … and [Tool]: … where a line begins.
    ("result", rf"{_ANYWHERE}\[(?:{_RESULT}|results? (?:of|for|from) {_TOOL})(?P<who>[^\[\]\n]{{0,400}})\]:?[ \t]?"),
    ("result", rf"{_BEGIN}\[{_TOOL}(?P<who>[ \t]?[:#(=][^\[\]\n]{{0,400}})?\]{_NO_MORE}:?[ \t]?"),
    ("call", rf"{_ANYWHERE}\[{_CALL}"),
    ("call", rf"{_BEGIN}\[{_CALL}"),
    ("call", rf"{_BEGIN}{_CALL}(?=[^\n]{{0,200}}[({{:\[]|\**$)"),
    # Tool result for read(c): …, Tool result (c): …, and, since a word alone may be prose, Tool result c_1: …
    ("result", rf"{_BEGIN}{_RESULT}(?P<who>(?:{_OF}{_WORD})?(?:{_ASIDE}){{0,2}}){_END}"),
    ("result", rf"{_BEGIN}{_TOOL}[ \t](?P<who>{_WORD}(?:{_ASIDE})?)[ \t]{_SAYS}{_END}"),
    ("result", rf"{_BEGIN}results? (?:of|from|for) (?P<who>(?:the )?(?:{_TOOL} )?{_WORD}(?:{_ASIDE})?){_END}"),
    ("result", rf"{_LINE}(?:{_TOOL}|observation)(?P<who>(?:{_ASIDE})?){_NO_MORE}:{_NO_MORE}[ \t]?"),
    ("role", _AT_ROLE),
    ("role", rf"^#{{1,6}}[ \t]{{1,3}}(?P<role>{_ROLE})$|^\[(?P<role2>{_ROLE})\]$"),
    ("role", rf"^<(?P<role>{_ROLE})>|<\|(?:im_start\|>|start_header_id\|>)?(?P<role2>{_ROLE})(?:\|>)?"),
)  # fmt: skip

_FLAGS = re.IGNORECASE | re.MULTILINE
_EACH = [(kind, re.compile(pattern, _FLAGS)) for kind, pattern in _SPELLINGS]
# What every line has early on in which a head begins: it saves other lines from the patterns.
_EARLY = rf"(?=[^\n]{{0,40}}?(?:{_ROLE}|{_TOOL}|observation|result|call|us|invok|r[au]n|request))"


def _joined(*, in_lines: bool) -> str:
    """The patterns of those heads that begin a line, or of the others, each in a group with its number."""
    patterns = [(at, pattern) for at, (_, pattern) in enumerate(_SPELLINGS) if pattern.startswith("^") is in_lines]
    # The numbers name the only groups: which of the alternatives it was is `lastgroup`.
    return "|".join(f"(?P<_{at}>{re.sub(r'[?]P<[a-z0-9]+>', '?:', pattern)})" for at, pattern in patterns)


# The sign before the alternatives saves a text of empty lines from all of them.
_HEAD = re.compile(rf"(?!\n)(?:{_joined(in_lines=False)}|^{_EARLY}(?:{_joined(in_lines=True)}))", _FLAGS)
_MENTIONS = re.compile(r"tool|function|observation|invoke", re.IGNORECASE)
"""What every text with a call or a result has in it; most texts of users do not."""
_ROLE_ALONE = re.compile(_AT_ROLE, _FLAGS)
_MOST_HEADS = 10_000
"""How many heads are read of one text: no conversation has more."""
_MOST_FAILED = 1_000
"""How many heads with broken JSON are read of one text."""
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "developer": "system"}
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Head:
    """Where a part of the conversation begins."""

    kind: _Kind
    start: int
    end: int
    """Where its text begins."""
    about: str = ""
    """What it says of the role or the call."""
    whole: tuple[Written, ...] = ()
    """What the head itself holds: the call, or what the JSON is."""


def written_in(text: str) -> list[Written]:
    """What a text holds, in order; what stands before its first head is a message without a role.

    A text without calls and results may be one message, whoever's: nothing follows from its parts.
    """
    heads = list(_Reader(text).heads()) if _MENTIONS.search(text) else []
    first = heads[0].start if heads else len(text)
    before = text[:first].strip()
    found: list[Written] = [WrittenMessage(role="", text=before)] if before else []
    for head, follows in zip_longest(heads, heads[1:]):
        found += _part(head, text[head.end : follows.start if follows else len(text)], follows)
    return found


class _Reader:
    """Finds the heads of a text. No text is looked at twice, but for a limited part in which there is no JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lost = 0
        """Characters that were read as JSON in vain; no more than the text has are."""
        self._failed = 0
        """How often: the library counts the lines before each error."""
        self._unclosed: set[str] = set()
        """Tags that no element ends with any more."""

    def heads(self) -> Iterator[_Head]:
        """Each head, in order."""
        at = 0
        for _ in range(_MOST_HEADS):
            found = _HEAD.search(self._text, at)
            if found is None:
                return
            head = self._head(found)
            if head is not None:
                yield head
            at = max(head.end if head else found.end(), found.start() + 1)

    def _head(self, found: re.Match[str]) -> _Head | None:
        """The head that begins here; None if it only looks like one."""
        kind, pattern = _EACH[int(str(found.lastgroup).removeprefix("_"))]
        groups = (pattern.match(self._text, found.start()) or found).groupdict()
        start, end, whole = found.start(), found.end(), tuple[Written, ...]()
        about = groups.get("who") or groups.get("role") or groups.get("role2") or ""
        match kind:
            case "json":
                value, end = self._json(end)
                whole = tuple(in_message(value))
            case "call":
                whole, end = self._call(end)
            case "call_tag":
                value, after = self._json(end)
                call = _with_attributes(call_in(value), about, value)
                whole, end = ((call,), after) if call.name else ((), end)
            case "result_tag":
                closed = self._closing(groups["tag"], end)
                if closed >= 0:
                    whole, end = (_result(about, self._text[end:closed]),), closed
        if not whole and kind in {"json", "call", "call_tag"}:
            # It is no call; the role before it is one all the same.
            role = _ROLE_ALONE.match(self._text, start)
            return _Head(kind="role", start=start, end=role.end(), about=role["role"]) if role else None
        return _Head(kind=kind, start=start, end=end, about=about, whole=whole)

    def _closing(self, tag: str, at: int) -> int:
        """Where the element ends; -1 if it does not."""
        if tag in self._unclosed:
            return -1
        closed = self._text.find(f"</{tag}>", at)
        if closed < 0:
            self._unclosed.add(tag)
        return closed

    def _call(self, at: int) -> tuple[tuple[Written, ...], int]:
        """The call whose name comes here, and where it ends; nothing if none does."""
        attributes = _ATTRIBUTES.match(self._text, at)
        if attributes is not None:
            named = dict(_ATTRIBUTE.findall(attributes[0]))
            value, end = self._json(_to_arguments(self._text, attributes.end()))
            call = call_in({**named, **({"arguments": value} if end > attributes.end() else {})})
            return ((call,), end) if call.name else ((), at)
        named_at = _NAMED.match(self._text, at)
        if named_at is None:
            value, end = self._json(_to_arguments(self._text, at))
            call = call_in(value)
            return ((call,), end) if call.name else ((), at)
        begin = named_at.end()
        value, end = self._json(begin)
        arguments = self._text[begin:end] if end > begin else "{}"
        id_ = (named_at["id"] or named_at["id2"] or named_at["id3"] or "").strip()
        return (WrittenCall(id=id_, name=named_at["name"], arguments=arguments),), end

    def _json(self, at: int) -> tuple[Json, int]:
        """The object that begins here, and where it ends; an empty one, and the place itself, if none does."""
        if not self._text.startswith("{", at) or self._lost > len(self._text) or self._failed > _MOST_FAILED:
            return {}, at
        try:
            value, end = _DECODER.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            self._lost += error.pos - at
            self._failed += 1
        except (ValueError, RecursionError):  # thousands of digits or brackets: no message that anybody writes
            self._lost = len(self._text) + 1
        else:
            return value, end
        return {}, at


# What follows the word for a call: its id in brackets, its name, its id, and what comes before its arguments.
_ID = r"(?:id[=:][ ]?)?"
_NAMED = re.compile(
    rf"[ \t:]{{0,3}}(?:[(\[#]{_ID}(?P<id>[\w.:-]{{1,160}})[)\]]?|(?P<id3>[\w.-]{{1,160}}):)?"
    r"(?:\*\*|`)?[ \t:]{0,3}\n?[\"'`*]{0,3}"
    r"(?P<name>[A-Za-z_][\w.-]{0,127})[\"'`*]{0,3}"
    rf"(?:[ \t]?[\[(]{_ID}(?P<id2>[\w.:-]{{1,160}})[\])])?\]?[ \t:]{{0,3}}\(?\s{{0,3}}"
    r"(?:with )?(?:arguments|args|input|parameters)?[ \t:=]{0,3}\s{0,3}(?:```(?:json)?\s{1,3})?(?=[{)\]\n]|\Z)",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"\b(id|call_id|tool_call_id|toolCallId|name|tool_name)[ ]?[=:][ ]?[\"'`]?([\w.:/-]{1,160})")
_ATTRIBUTES = re.compile(rf"[ \t:(\[]{{0,3}}(?:{_ATTRIBUTE.pattern}[\"'`]?[,;|]?\s{{0,3}}){{1,4}}")
_ARGUMENTS = re.compile(
    r"[\s\])>:]{0,4}(?:(?:arguments|args|input|parameters)[ ]?[=:]?\s{0,3})?(?:```(?:json)?\s{1,3})?"
)


def _to_arguments(text: str, at: int) -> int:
    """Where the arguments begin, if any come."""
    found = _ARGUMENTS.match(text, at)
    return found.end() if found else at


def _with_attributes(call: WrittenCall, about: str, value: Json) -> WrittenCall:
    """The call of an element: what its object does not say, its attributes do; then the object is its arguments."""
    named = call_in(dict(_ATTRIBUTE.findall(about)))
    if call.name or not named.name:
        return replace(call, id=call.id or named.id)
    return replace(named, arguments=json.dumps(value, ensure_ascii=False))


def _part(head: _Head, rest: str, follows: _Head | None) -> Iterator[Written]:
    """What a head and the text up to the next one, `follows`, hold; None: it is the last one."""
    if head.whole:
        yield from head.whole
        return
    if head.kind == "role":
        role = head.about.lower()
        text = rest.strip().removesuffix(f"</{head.about}>")
        # "Assistant:" at the end asks for the answer.
        if text:
            yield WrittenMessage(role=_ROLES.get(role, role), text=text)
        return
    # The role of a message that is spelled as JSON is no result of its own.
    if follows is None or follows.kind != "json" or rest.strip():
        yield _result(head.about, rest if follows else _CLOSING.sub("", rest))


# What a client asks at the end, in a paragraph of its own; it belongs to no result.
_CLOSING = re.compile(
    r"\n[ \t]{0,8}\n\s{0,8}(?:please|based on|continue|now|use|using|given|answer)\b[^\n]{0,400}\s{0,8}\Z",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```\w{0,16}\n(.*)\n```", re.DOTALL)
_NOT_NAMES = {
    "for",
    "of",
    "from",
    "by",
    "to",
    "the",
    "tool",
    "function",
    "call",
    "id",
    "name",
    "result",
    "tool_call_id",
}


def _result(about: str, text: str) -> WrittenResult:
    output = text.strip("\n").rstrip()
    fenced = _FENCE.fullmatch(output.strip())
    begin = about.find("({")
    arguments = about[begin + 1 : about.rfind(")")] if begin >= 0 else ""
    spoken = re.findall(r"[\w.:/-]+", about[:begin] if begin >= 0 else about)
    # The colon of `id: c` and the equals sign of `id=c` are no part of a name.
    names = (one.strip(":/.") for word in spoken for one in (word, word.rpartition(":")[2]))
    kept = dict.fromkeys(one for one in names if one and one.lower() not in {*_NOT_NAMES, *_ID_KEYS})
    return WrittenResult(names=tuple(kept), arguments=arguments, output=fenced[1] if fenced else output)


_ID_KEYS = ("call_id", "tool_use_id", "toolcallid", "tool_name")
