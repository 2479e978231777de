"""How an endpoint behaves: a value that whoever makes one gives. Times are in seconds, sizes in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_surfaces.answers.plan import AnswerSettings
from wireproof_surfaces.api_forms import key_fault

if TYPE_CHECKING:
    from wireproof_surfaces.surfaces.chat_dialect import OutputMode, StopPolicy


class UnsendableError(ValueError):
    """A setting names what no client could send; the message is one line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointSettings(AnswerSettings):
    """All of it; the defaults are OpenAI's behaviour where it has one."""

    api_key: str | None = None
    """The key that clients must send; None: any, or none."""
    models: tuple[str, ...] = ("codex",)
    """The names that `GET /v1/models` lists."""
    any_model: bool = True
    """Whether any other name is served, too."""
    unknown_models: tuple[str, ...] = ()
    """Names that are refused even so."""
    chatgpt_service: bool = True
    """Whether /backend-api/codex/responses and /models are served, as behind a login: with any token."""
    login_instructions: bool = False
    """Whether such a request must have instructions, as the service demanded until June 2026."""
    output_mode: OutputMode = "openai-json"
    """How chat answers write calls, where the request does not say."""
    stop_policy: StopPolicy = "burst"
    """Whether a stream of chat ends after its first call or holds all of them."""
    keepalive: float = 15.0
    """A silent stream gets a comment this often."""
    commit: float = 2.0
    """How long a stream's status line waits for the first output: a failure before it is an HTTP error."""
    idle_timeout: float = 300.0
    """A script that is silent for this long has failed."""
    max_body: int = 8_388_608
    """The largest body of a request."""
    max_streams: int | None = None
    """Answers under way at once; more requests get a 429. None: as many as come."""
    max_choices: int = 128
    """The largest `n`; 128 is OpenAI's."""
    responses_stored: int = 256
    """Responses kept for previous_response_id, and threads of messages."""
    threads: bool = True
    """Whether threads of messages are held; else they are refused, and clients send whole histories."""
    prefill: bool = True
    """Whether a last message of the assistant is taken as the beginning of the answer, as by models before 4.6."""
    journal: int = 200
    """How many requests the journal keeps, with at most 32 KiB of bytes and 256 times each; 6 MiB in all; 0: none."""
    ttft: str = ""
    """How long it takes to the first output, as `service.latency` reads it; empty: no time of its own."""
    itl: str = ""
    """The time between two pieces of text, likewise."""
    jitter: float = 0.0
    """By how much of itself each of these times may be longer or shorter, from 0 to 1."""
    chaos: float = 0.0
    """The share of requests that fail (`service.chaos`), from 0 to 1."""
    seed: int = 0
    """Another one gives other times, and lets other requests fail."""
    rpm: int | None = None
    """Requests a minute that each key may send; None: any number, and no headers that say so."""
    tpm: int | None = None
    """Tokens a minute, likewise."""
    as_proxies_do: bool = False
    """Whether it answers as the contract of proxies has it: chat's shape of tools is taken in Responses, a previous
    response that is not there is a 404, and a whole answer has all calls. OpenAI refuses the former two with 400, and
    heeds `parallel_tool_calls: false` in whole answers, too. And whether a stream of Messages fails where a script's
    arguments are no JSON object."""
    cors_origins: tuple[str, ...] = ("*",)
    """Origins of browser clients that are let in; * is any."""

    def __post_init__(self) -> None:
        """Refuse what no client could send: such a key, or no name of a model.

        Raises:
            UnsendableError: one of them is given.
        """
        if not (self.models and all(map(str.strip, self.models))):
            raise UnsendableError("the name of a model is empty")
        if self.api_key is not None and (fault := key_fault(self.api_key)):
            raise UnsendableError(fault)

    @property
    def wholes_obey(self) -> bool:
        """A whole answer has one call where the request allows one at a time, as OpenAI's has."""
        return not self.as_proxies_do

    @property
    def backend(self) -> str:
        """The name of the default model."""
        return self.models[0]
