"""The client's store of blobs, as the service uses it: what it asks for and sends, and what was answered.

A blob is named by its SHA-256. The store is the client's: the service keeps nothing of it but what one request needs.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from wireproof_cursor_protos import agent_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Mapping


def blob_id(data: bytes) -> bytes:
    """The name of a blob."""
    return hashlib.sha256(data).digest()


class Blobs:
    """The blobs of one request. Messages are numbered from 0, apart from those of execs."""

    def __init__(self) -> None:
        self._number = 0
        self._asked: dict[int, pb.KvServerMessage] = {}
        self._found: dict[bytes, bytes | None] = {}

    @property
    def found(self) -> Mapping[bytes, bytes | None]:
        """The blobs that the client was asked for or sent, None for those that it does not have."""
        return self._found

    @property
    def unanswered(self) -> list[int]:
        """The numbers of the messages that the client has not answered."""
        return list(self._asked)

    def get(self, name: bytes) -> pb.AgentServerMessage:
        """Ask for a blob."""
        return self._ask(pb.KvServerMessage(get_blob_args=pb.GetBlobArgs(blob_id=name)))

    def set(self, data: bytes) -> pb.AgentServerMessage:
        """Have the client keep a blob."""
        return self._ask(pb.KvServerMessage(set_blob_args=pb.SetBlobArgs(blob_id=blob_id(data), blob_data=data)))

    def _ask(self, message: pb.KvServerMessage) -> pb.AgentServerMessage:
        message.id = self._number
        self._asked[self._number] = message
        self._number += 1
        return pb.AgentServerMessage(kv_server_message=message)

    def answered(self, answer: pb.KvClientMessage) -> str:
        """Take an answer; what is wrong with it, "" if nothing is."""
        asked = self._asked.get(answer.id)
        if asked is None:
            known = "it was answered already" if answer.id < self._number else "no message of the service has that id"
            return f"kv_client_message {answer.id}: {known}"
        wanted, given = asked.WhichOneof("message"), answer.WhichOneof("message")
        if _ANSWERS[str(wanted)] != given:
            return f"kv_client_message {answer.id} answers {wanted} with {given or 'nothing'}"
        del self._asked[answer.id]
        return self._take(asked, answer)

    def _take(self, asked: pb.KvServerMessage, answer: pb.KvClientMessage) -> str:
        if asked.HasField("set_blob_args"):
            self._found[asked.set_blob_args.blob_id] = asked.set_blob_args.blob_data
            if answer.set_blob_result.HasField("error"):
                return f"kv_client_message {answer.id}: the blob was not kept: {answer.set_blob_result.error.message}"
            return ""
        name, result = asked.get_blob_args.blob_id, answer.get_blob_result
        if not result.HasField("blob_data") and self._found.get(name) is not None:
            return f"kv_client_message {answer.id}: the client was sent this blob, and has not kept it"
        self._found[name] = result.blob_data if result.HasField("blob_data") else None
        if result.HasField("blob_data") and blob_id(result.blob_data) != name:
            return f"kv_client_message {answer.id}: the blob is not the one asked for, by its SHA-256"
        return ""


_ANSWERS: Mapping[str, str] = {"get_blob_args": "get_blob_result", "set_blob_args": "set_blob_result"}
