"""What can differ between two versions of `codex app-server`, grouped by subject.

A difference is a field here, never a branch on a version's number. Its default is what the oldest version does, 0.89.0;
`changes` says when it changed, and `version` puts the values of one version together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.protocol.params import Parameters
    from wireproof_codex.versions.failures import FailureCause
    from wireproof_codex.versions.forms import Forms

StartStep = Literal["turn", "task", "status"]
ApprovalStep = Literal["start", "older", "status"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestTraits:
    """Which requests a version accepts, and what it refuses in them."""

    methods: tuple[str, ...]
    """Every method it accepts, in the order in which its error for an unknown method lists them."""
    params: Parameters
    """The parameters that it reads of each method, with their checks."""
    gated_methods: frozenset[str]
    """Methods that need the capability `experimentalApi`."""
    gated_params: Mapping[str, tuple[str, ...]]
    """By method, the parameters that need it."""
    gates_empty_lists: bool = False
    """An empty list in such a parameter needs it, too."""
    opt_out: bool = False
    """`capabilities.optOutNotificationMethods` of initialize is followed."""
    checks_tools: bool = False
    """thread/start refuses tools with a name that the model's service does not take, a name twice, or no schema."""
    # Without the check, a late interrupt of one turn ends the next one.
    checks_turn_id: bool = False
    """turn/interrupt must name the running turn; before, it interrupted whatever ran."""
    interrupts_startup: bool = False
    """turn/interrupt with an empty `turnId` is answered also where no turn runs, and interrupts whatever runs."""
    steers_with_input_alone: bool = True
    """turn/steer refuses empty input before it looks for the turn; else after."""
    item_type: str = "internally tagged enum ResponseItem"
    """What thread/inject_items expects of an item, as its error names it."""
    # Characters, not bytes: the error's data counts them as `actual_chars`.
    max_input_chars: int | None = None
    """The longest user input in characters; None: any."""
    remote_images: bool = True
    """The URL of an image may be one that must be fetched; else only `data:`."""
    config_error: str = "error deriving config"
    """How the error of an unknown model provider begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TransportTraits:
    """How clients reach a version."""

    listens: bool = False
    """It takes the option `--listen`."""
    takes_stdio: bool = False
    """It takes the option `--stdio`."""
    # 0.169.0 never answered some 2 700 of 5 000 requests in one write, so every client needs a timeout.
    ends_on_sigterm: bool = False
    """SIGTERM ends the process with status 0; else the signal itself does."""
    overloads: bool = False
    """Of very many requests at once some are refused with -32001 and some are never answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageTraits:
    """What a version's notifications and results hold."""

    # Messages are built with the fields of all versions; these are then left out.
    hidden: Forms
    """By place in a message, the fields that it does not have (`forms`)."""
    unsent: frozenset[str]
    """Notifications that it does not have."""
    # 0.92.0 to 0.105.0 send item/tool/call without an item.
    unsent_items: frozenset[str] = frozenset({"dynamicToolCall"})
    """Types of items for which it sends no item/started and item/completed."""
    emitted_at: bool = False
    """Every notification has `emittedAtMs` beside `params`."""
    # One delta of text is three lines then, which a proxy must count once (shapes.f).
    legacy_events: bool = True
    """Everything is also sent as the older family of notifications, `codex/event/*`."""
    empty_legacy_texts: bool = False
    """The older family also sends a text that is empty."""
    status_before_thread: bool = False
    """thread/status/changed of a new thread comes before the answer of thread/start."""
    detail_before_url: bool = True
    """In an image, the key `detail` stands before `url`."""
    folder_is_root: bool = True
    """`runtimeWorkspaceRoots` of a thread without environments names its folder; else it is empty."""
    default_mode: str = "custom"
    """The name of the collaboration mode that is on unless a turn names another."""
    pages_files_alone: bool = False
    """Ephemeral threads, and those that began with a history of the client's, have the older history mode."""
    moves_threads: bool = False
    """The folder of a thread is that of its last turn; else the one that it began in."""
    personality: str | None = "pragmatic"
    """`personality` of a thread."""
    hides_citations: bool = False
    """Memory citations in the model's text are cut out of what clients are sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnTraits:
    """How turns start, run and end."""

    start_order: tuple[StartStep, ...] = ("turn", "task", "status")
    """The order of turn/started, the older family's task_started and thread/status/changed."""
    # No keys for a client: each thread has a turn `0`.
    numbered_ids: bool = True
    """Turn ids count from 0 in each thread, and interrupts and overrides use up a number; else they are UUIDs."""
    # Whatever a version does, a proxy must let the turns of one thread follow each other.
    when_busy: Literal["queues", "silent", "joins", "steers"] = "queues"
    """What turn/start does while a turn runs.

    `queues`: a new turn starts, its input goes to the running one, and it never ends; `silent`: the same without
    turn/started; `joins`: the input goes to the running turn, whose id is answered; `steers`: that, and the model's
    answer is cut short.
    """
    reports_queued_input: bool = False
    """Input that reaches a running turn is sent as a userMessage item."""
    reports_input_after_failure: bool = False
    """Queued input is still sent as an item when the turn ahead of it fails."""
    without_input: Literal["completes", "hangs", "refused", "asks"] = "completes"
    """What a turn with `input: []` does: it completes without the model, never ends, is refused, or asks the model."""
    ends_with_last_text: bool = False
    """turn/completed holds the last agentMessage of a turn that completed."""
    raw_interrupt_note: bool = False
    """The note for the model that it was interrupted is also sent as a raw item."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CountTraits:
    """When token counts and rate limits are sent."""

    early: bool = True
    """They are sent when the model begins to answer, from the second turn on first those of the turn before, and when
    its answer is over; else when its calls are answered, and when the turn fails.
    """
    raw_metadata: bool = False
    """rawResponse/completed has the counts as the model's service sent them, too; else null."""
    incomplete_answers: bool = False
    """The tokens of an answer that ended at its length limit are counted."""
    context_window: int | None = None
    """`modelContextWindow`; None: unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CallTraits:
    """Calls of the client's tools."""

    # 0.92.0 to 0.96.0 take `output`; older ones have no tools of the client.
    answer_field: Literal["output", "contentItems"] = "output"
    """The field of an item/tool/call answer that holds the output."""
    single_text: bool = True
    """The model gets an output of one text as a string, not as a list of one."""
    # In between, the client may answer calls of an answer that is already lost.
    # A client that gathers the calls of an answer before it runs them waits without end then.
    one_by_one: bool = True
    """The client is asked for one call at a time: the next one comes when it has answered; else for all at once."""
    fail_after_answers: bool = False
    """A model's answer that breaks off after a call fails the turn when the call is answered; else at once."""
    reports_cancelled: bool = True
    """A call that an interrupt cancels ends with item/completed, status failed; else only the model is informed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnToolTraits:
    """Plans, and tools of MCP servers."""

    plans: bool = True
    """The model is offered `update_plan`, where nothing is known of the model; else the call is refused."""
    mcp_namespace: str = ""
    """The namespace of the tools of a server; "" where each is a function `mcp__SERVER__TOOL`."""
    mcp_output: Literal["sorted", "json", "timed", "items"] = "sorted"
    """The result of such a tool for the model: JSON, with its keys sorted or not; the time and JSON; or items."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Commands:
    """Commands, file changes and the approvals they need."""

    shell: str = "bash"
    """The program that runs commands."""
    splits: bool = True
    """`commandActions` has an entry for each part of a command."""
    unified_exec: bool = False
    """A command is a process of its own: its output comes in item/completed, not as outputDelta."""
    null_reasons: bool = True
    """A request for approval without a reason has `reason: null`; else the field is left out."""
    whole_paths: bool = True
    """turn/diff/updated names files by absolute paths."""
    approval_order: tuple[ApprovalStep, ...] = ("start", "older", "status")
    """What precedes the request for approval of a command: item/started, the older family's request, the status."""
    ends_declined_twice: bool = True
    """A declined item has two item/completed: declined, then failed."""
    # A client must decline, never answer with an error.
    hangs_on_error: bool = True
    """An error as the answer to a request for approval leaves the turn waiting without end."""
    on_wrong_answer: Literal["declined", "failed"] = "declined"
    """The status of an item whose request for approval was answered with an unknown decision."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecTraits:
    """What `codex exec` takes, writes and ends with."""

    # The library behind it is the same in both; only what is written of its notifications is not.
    writes_items: bool = False
    """People are shown item by item; else what the older family of notifications says."""
    is_preview: bool = True
    """The head calls it a research preview."""
    repeats_diffs: bool = True
    """People are shown a diff each time it is sent; else when it has changed."""
    begun_search: Literal["complete", "empty"] = "complete"
    """Whether the beginning of a search already says what is searched for."""
    searches_keep_ids: bool = False
    """A web search has the id that the model's service gave it, and its action."""
    reports_warnings: bool = False
    """A warning of the app-server is an item of type error."""
    # A client that gives a prompt and leaves stdin open waits without end.
    appends_input: bool = False
    """Stdin is read and appended, where a prompt is given as well."""
    needs_repository: bool = True
    """Running without a sandbox needs a repository as well."""
    begins_unknown: bool = True
    """A session that is not found is begun; else it is an error."""
    session_error: str = "Error: thread/resume: thread/resume failed: no rollout found for thread id {id}"
    """The error for such a session."""
    knows_profiles: bool = True
    """A profile that is not defined is an error."""
    last_message_file: Literal["at end", "at end, if any", "at start"] = "at end"
    """When the file of the last message is written: at the end, also without a message; if there is one; or opened
    before the run, which fails where it cannot be."""
    ends_message: bool = False
    """The last message on stdout is ended by a line feed of its own."""
    interrupted_status: int = 0
    """The exit status after SIGINT."""
    summaries: str = "auto"
    """`reasoning summaries` in the head, where nothing sets them."""
    memories: bool = False
    """The sandbox may write into the folder of memories."""
    usage: Literal["used", "whole"] = "used"
    """The usage that a refusal of the command line shows: with the options that were given, or all of it."""
    key_login: str = "Logged in using an API key - {key}"
    """What `login status` says of a key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class McpServerTraits:
    """`codex mcp-server`."""

    offered: bool = True
    """There is such a command; else the word is a prompt for the terminal, and without one an error."""
    strict: bool = False
    """`codex` refuses arguments that it does not know, and has no profile."""
    shows_numbers: bool = True
    """The error for a number in the place of a text names it."""
    policies: tuple[str, ...] = ("untrusted", "on-failure", "on-request", "never")
    """The approval policies that `codex` takes."""
    older_deltas: bool = True
    """Text and thoughts also come as agent_message_delta and agent_reasoning_delta."""
    answers_unknown: bool = False
    """A request of an unknown method is refused; else it is never answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompactionTraits:
    """Summing up a conversation that fills the context window."""

    limit: int | None = None
    """The number of tokens from which it happens; None: never."""
    raw: bool = False
    """The summary is also sent as raw items."""
    warns: bool = True
    """A `warning` says that long threads lose accuracy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failures:
    """How failures of the model's service look."""

    # Only an interrupt ends such a turn.
    reconnects: bool = False
    """A service that cannot be reached is tried again and again; the turn does not fail."""
    causes: Mapping[str, FailureCause]
    """The failure of a turn, by the cause that a script names."""
    incomplete: Mapping[str, FailureCause]
    """The failure of a turn whose answer the model left incomplete, by its reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredTraits:
    """Threads that are kept: reading, resuming, listing, forking, closing and deleting them."""

    renumbers_turns: bool = True
    """Stored turns get new ids."""
    forgotten_statuses: frozenset[str] = frozenset({"failed", "inProgress"})
    """Stored turns with one of these statuses are read as completed."""
    before_first_turn: bool = True
    """A thread is stored before its first turn."""
    no_turns_error: tuple[int, str] | None = None
    """Code and text that refuse the turns of a thread without any; None: there are none."""
    reloads_on_resume: bool = True
    """thread/resume of an idle loaded thread loads it again."""
    reads_archived: bool = False
    """thread/read finds archived threads."""
    paged: bool = False
    """Histories are paginated: turns and items are read in pages, for which answers hold cursors; a stored turn keeps
    all its items as they were; and a thread of which a fork is left cannot be deleted, since the fork refers to it.
    """
    resends_counts: bool = False
    """thread/resume and thread/fork are followed by the token counts of the thread."""
    counts_new_forks: bool = True
    """That includes a fork that was not loaded."""
    fork_starts_with_turns: bool = True
    """thread/started of a fork holds its turns."""
    ephemeral_forks: bool = False
    """thread/fork follows `ephemeral`."""
    forks_previews: bool = True
    """A fork has the preview of its source."""
    deprecates_rollback: bool = False
    """thread/rollback is followed by deprecationNotice."""
    legacy_shutdown: bool = False
    """The older family sends shutdown_complete when a thread is archived."""
    closes_unsubscribed: bool = False
    """thread/unsubscribe of the last subscriber closes the thread."""
    list_cursor: str = "%Y-%m-%dT%H-%M-%S|{id}"
    """The cursor after a page of threads, as `strftime` writes it."""
    empty_metadata_error: str = "gitInfo must include at least one field"
    """How thread/metadata/update refuses to change nothing."""
    unread_error: str = "no rollout found for thread id {id}"
    """How thread/read refuses a thread that it does not find."""
    archived_error: str | None = "no rollout found for thread id {id}"
    """How thread/resume refuses an archived thread; None: it resumes it."""
    unnamed_error: str = "thread not found: {id}"
    """How thread/name/set refuses a thread that it does not find."""
