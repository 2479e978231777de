"""Unary procedures: what they answer, and how their bodies stand in each content type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from google.protobuf import json_format

from wireproof_cursor.wire.framing import CONNECT, GRPC_WEB, Family, FramingError, envelope, one_message
from wireproof_cursor_protos import agent_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from google.protobuf.message import Message

M = TypeVar("M", bound="Message")


@dataclass(frozen=True, kw_only=True, slots=True)
class Codec:
    """How the body of a unary call is read and written."""

    decode: Callable[[bytes], bytes] | None
    """The encoded message in a body; None if the body is JSON."""
    encode: Callable[[bytes], bytes]
    """The body with an encoded message."""

    def read(self, body: bytes, into: M) -> M:
        """The message in a body.

        Raises:
            ValueError: the body is not framed, or no JSON.
            google.protobuf.message.DecodeError: the message cannot be decoded.
        """
        if self.decode is None:
            try:
                json_format.Parse(body or b"{}", into, ignore_unknown_fields=True)
            except json_format.ParseError as error:
                raise FramingError(str(error)) from error
            return into
        into.ParseFromString(self.decode(body))
        return into

    def write(self, message: Message) -> bytes:
        """The body with a message."""
        data = json_format.MessageToJson(message).encode() if self.decode is None else message.SerializeToString()
        return self.encode(data)


def _framed(family: Family) -> Codec:
    # An empty body is an empty message: clients send both for a procedure that takes none.
    return Codec(
        decode=lambda body: one_message(body) if body else b"",
        encode=lambda data: envelope(data) + family.end(None),
    )


def _as_it_is(data: bytes) -> bytes:
    return data


CODECS: Mapping[str, Codec] = {
    "application/proto": Codec(decode=_as_it_is, encode=_as_it_is),
    "application/json": Codec(decode=None, encode=_as_it_is),
    GRPC_WEB.content_type: _framed(GRPC_WEB),
    CONNECT.content_type: _framed(CONNECT),
}
"""The codecs by content type."""


def _model(model_id: str, name: str, *, thinks: bool = False, aliases: tuple[str, ...] = ()) -> pb.ModelDetails:
    details = pb.ModelDetails(
        model_id=model_id, display_model_id=model_id, display_name=name, display_name_short=name, aliases=aliases
    )
    if thinks:
        details.thinking_details.SetInParent()
    return details


MODELS = (
    _model("mock-large", "Mock Large", aliases=("auto", "default")),
    _model("mock-small", "Mock Small"),
    _model("mock-thinking", "Mock Thinking", thinks=True),
)
"""The models that are listed; a run may name any other, too."""


def _models(codec: Codec, body: bytes) -> Message:
    asked = codec.read(body, pb.GetUsableModelsRequest())
    custom = [_model(model_id, model_id) for model_id in asked.custom_model_ids]
    return pb.GetUsableModelsResponse(models=[*MODELS, *custom])


def _default_model(codec: Codec, body: bytes) -> Message:
    codec.read(body, pb.GetDefaultModelForCliRequest())
    return pb.GetDefaultModelForCliResponse(model=MODELS[0])


_LONGEST_NAME = 40


def _name(codec: Codec, body: bytes) -> Message:
    asked = codec.read(body, pb.NameAgentRequest())
    first = asked.user_message.strip().partition("\n")[0]
    return pb.NameAgentResponse(name=first[:_LONGEST_NAME] or "New agent")


PROCEDURES: Mapping[str, Callable[[Codec, bytes], Message]] = {
    "/agent.v1.AgentService/GetUsableModels": _models,
    "/aiserver.v1.AiService/GetUsableModels": _models,
    "/agent.v1.AgentService/GetDefaultModelForCli": _default_model,
    "/aiserver.v1.AiService/GetDefaultModelForCli": _default_model,
    "/agent.v1.AgentService/NameAgent": _name,
}
"""The unary procedures by path, BidiAppend aside."""
