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
        query = pb.InteractionQuery(id=len(self._asked) + 1)
        _QUERIES[step.kind](query, step.text)
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
        if given != _RESPONSES[asked]:
            return f"interaction_response {response.id} answers {asked} with {given or 'nothing'}"
        return ""


def _ask_question(query: pb.InteractionQuery, text: str) -> None:
    args: Any = pb.AskQuestionArgs(questions=[pb.AskQuestionArgs.Question(id="1", prompt=text)])
    query.ask_question_interaction_query.args.CopyFrom(args)


def _search_web(query: pb.InteractionQuery, text: str) -> None:
    query.web_search_request_query.args.search_term = text


def _switch_mode(query: pb.InteractionQuery, text: str) -> None:
    query.switch_mode_request_query.args.target_mode_id = text


def _search_exa(query: pb.InteractionQuery, text: str) -> None:
    query.exa_search_request_query.args.query = text


def _fetch_exa(query: pb.InteractionQuery, text: str) -> None:
    query.exa_fetch_request_query.args.ids.append(text)


_QUERIES: Mapping[str, Callable[[pb.InteractionQuery, str], None]] = {
    "web-search": _search_web,
    "ask-question": _ask_question,
    "switch-mode": _switch_mode,
    "exa-search": _search_exa,
    "exa-fetch": _fetch_exa,
}
_RESPONSES: Mapping[str, str] = {
    "web_search_request_query": "web_search_request_response",
    "ask_question_interaction_query": "ask_question_interaction_response",
    "switch_mode_request_query": "switch_mode_request_response",
    "exa_search_request_query": "exa_search_request_response",
    "exa_fetch_request_query": "exa_fetch_request_response",
}
