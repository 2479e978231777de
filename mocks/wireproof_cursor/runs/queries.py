"""Questions to the user: what is asked by number, and what the client answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_cursor_protos import agent_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_scripts.steps.cursor import Query


class Queries:
    """The queries of one run, numbered from 1."""

    def __init__(self) -> None:
        self._asked: dict[int, str] = {}
        self._answers: dict[int, pb.InteractionResponse] = {}

    @property
    def unanswered(self) -> list[int]:
        """The numbers of those that the client has not answered."""
        return [number for number in self._asked if number not in self._answers]

    def ask(self, step: Query) -> pb.AgentServerMessage:
        """Number a query."""
        query = pb.InteractionQuery(id=len(self._asked) + 1, **_QUERIES[step.kind](step.text))
        self._asked[query.id] = str(query.WhichOneof("query"))
        return pb.AgentServerMessage(interaction_query=query)

    def answered(self, response: pb.InteractionResponse) -> str:
        """Take an answer; what is wrong with it, "" if nothing is."""
        asked, given = self._asked.get(response.id), response.WhichOneof("result")
        if asked is None:
            return f"interaction_response {response.id}: no query has that id"
        if response.id in self._answers:
            return f"interaction_response {response.id}: the query was answered already"
        self._answers[response.id] = response
        if given != f"{asked.removesuffix('query')}response":
            return f"interaction_response {response.id} answers {asked} with {given or 'nothing'}"
        return ""


_QUERIES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "web-search": lambda text: {"web_search_request_query": {"args": {"search_term": text}}},
    "ask-question": lambda text: {
        "ask_question_interaction_query": {"args": {"questions": [{"id": "1", "prompt": text}]}}
    },
    "switch-mode": lambda text: {"switch_mode_request_query": {"args": {"target_mode_id": text}}},
    "exa-search": lambda text: {"exa_search_request_query": {"args": {"query": text}}},
    "exa-fetch": lambda text: {"exa_fetch_request_query": {"args": {"ids": [text]}}},
}
"""The members of a query, by the kind of the step."""
