"""A request's messages and tools, in no surface's and no backend's format.

Leading system and developer messages are the developer text. Trailing user messages are the turn's input. Everything
between is history, in order, with its roles. It may end with a tool result; then the input is empty, and the model
continues from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Role = Literal["system", "developer", "user", "assistant"]


@value(frozen=True, slots=True)
class TextPart:
    """Text of a message."""

    text: str


@value(frozen=True, slots=True)
class ImagePart:
    """An image of a message: a `data:` URL, or an address if the backend takes those."""

    url: str


@value(frozen=True, slots=True)
class FilePart:
    """A file of a message: a `data:` URL, or an address. Only what asks for the rules of all parts gets one."""

    url: str
    name: str | None = None

    @property
    def member(self) -> str:
        """The member of an `input_file` that holds the URL."""
        return "file_data" if self.url.startswith("data:") else "file_url"


Part = TextPart | ImagePart | FilePart


@value(frozen=True, kw_only=True, slots=True)
class Message:
    """A message."""

    role: Role
    parts: tuple[Part, ...]


@value(frozen=True, kw_only=True, slots=True)
class AssistantCall:
    """A tool call that the assistant made; `arguments` is opaque text."""

    id: str
    name: str
    arguments: str


@value(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """What the tool answered to the call with this id; `images`, and files among them, come after the text."""

    id: str
    output: str
    images: tuple[ImagePart | FilePart, ...] = ()
    failed: bool = False
    """Whether the client says that the tool has failed."""

    @property
    def labelled_output(self) -> str:
        """The output, with a failure marked in it: for backends without a member for that."""
        return f"Error: {self.output}" if self.failed else self.output


Item = Message | AssistantCall | ToolResult


@value(frozen=True, kw_only=True, slots=True)
class Tool:
    """A declared tool; `parameters` is its JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    format: Mapping[str, Any] | None = None
    """Of a custom tool, which is called with a text: which texts, as Responses declare it. None: it is a function."""


@value(frozen=True, kw_only=True, slots=True)
class ToolChoice:
    """Which of the tools that a request declares are called."""

    calls: bool = True
    """Whether calls may reach the client at all."""
    names: Collection[str] | None = None
    """The tools that were chosen; None: all."""
    forced: bool = False
    """Whether one of these must be called."""
    single: bool = False
    """Whether one call at most is asked for."""

    def offered(self, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """The tools that the model may call, of those that are declared: none, those that were chosen, or all."""
        # Codex cannot be made to call a tool (it always asks with "auto"), so what was named is offered alone.
        return tuple([tool for tool in tools if self.calls and (self.names is None or tool.name in self.names)])

    def demanded(self, tools: Sequence[Tool]) -> tuple[str, ...]:
        """The names of the tools of which one must be called; none where the model may answer as it likes."""
        return tuple(tool.name for tool in self.offered(tools)) if self.forced else ()


@value(frozen=True, kw_only=True, slots=True)
class Conversation:
    """All that a backend needs for one turn."""

    developer: str | None = None
    history: tuple[Item, ...] = ()
    input: tuple[Part, ...] = ()
    tools: tuple[Tool, ...] = ()
    tools_in_text: bool = False
    """Whether the developer text declares the tools, so that the backend must not declare them again."""
    model: str | None = None
    """None: the backend's own default."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the answer's text must match."""

    def size(self) -> int:
        """Bytes of text the model is given, for estimates where no usage is reported."""
        texts = [self.developer or "", *[_text(part) for part in self.input]]
        for item in self.history:
            match item:
                case Message():
                    texts += [_text(part) for part in item.parts]
                case AssistantCall():
                    texts += [item.name, item.arguments]
                case ToolResult():
                    texts.append(item.output)
        # replace: half a surrogate pair, which JSON can spell, has no UTF-8.
        return sum([len(text) if text.isascii() else len(text.encode(errors="replace")) for text in texts])


def custom_names(tools: Sequence[Tool]) -> frozenset[str]:
    """The names of the custom tools among these."""
    return frozenset(tool.name for tool in tools if tool.format is not None)


def _text(part: Part) -> str:
    return part.text if isinstance(part, TextPart) else ""


def converse(
    items: Sequence[Item],
    *,
    tools: tuple[Tool, ...] = (),
    model: str | None = None,
    schema: Mapping[str, Any] | None = None,
) -> Conversation:
    """Divide a request's items into developer text, history and input."""
    # Only what leads is developer text; later instructions keep their place in the history (turn.system-prompt).
    begin, end = 0, len(items)
    texts: list[str] = []
    while begin < end and isinstance(said := items[begin], Message) and said.role in {"system", "developer"}:
        texts.append("".join([_text(part) for part in said.parts]))
        begin += 1
    # A turn's input is what the user said last; backends take it apart from the history.
    while begin < end and isinstance(said := items[end - 1], Message) and said.role == "user":
        end -= 1
    return Conversation(
        # None, not "": Codex honours an empty developer text.
        developer="\n\n".join(texts) if texts else None,
        history=tuple(items[begin:end]),
        input=tuple([part for message in items[end:] if isinstance(message, Message) for part in message.parts]),
        tools=tools,
        model=model,
        schema=schema,
    )
