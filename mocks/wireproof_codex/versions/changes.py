"""Every change since the oldest version (`traits`): the one list from which each version is derived.

A change names the first version in which it was seen, what holds from there on, and what shows it: recordings
(`mocks/tests/recordings`; a test undoes each change and sees its recordings differ) or what was seen of the binaries.
Where versions were measured with gaps between them, the change may be older by some versions that were not run.

What came and went by name has tables of its own, marked with the first version that has a name (`marks`): methods,
notifications and fields in `names`, parameters in `params`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_codex.versions import failures as looks
from wireproof_codex.versions.traits import ExecTraits

if TYPE_CHECKING:
    from collections.abc import Mapping

Traits = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What holds from a version on: by group of `traits`, the fields that change."""

    first: str
    """The number of the first version in which it was seen."""
    recordings: tuple[str, ...] = ()
    """Recordings that differ without the change, as `VERSION/SCENARIO`: of `first`, or of the next version that was
    recorded with such a scenario. That the change is as old as `first` was then seen of the binary alone.
    """
    seen: str = ""
    """What was seen of the binaries where no recording holds it."""
    traits: Mapping[str, Traits]
    """A mapping (the causes of failures) is added to the one before; any other value takes its place."""


def _since(first: str, *recordings: str, seen: str = "", **traits: Traits) -> Change:
    return Change(first=first, recordings=recordings, seen=seen, traits=traits)


_KEY_0_169 = "API key configured - {key}\nAuthentication is checked when you send a request."
_NONE_FOUND = "no rollout found for thread id {id}"
_UNBEGUN = "thread {id} is not materialized yet; includeTurns is unavailable before first user message"

CHANGES: tuple[Change, ...] = (
    _since(
        "0.92.0",
        "0.99.0/stored_b",
        "0.95.0/requests",
        stored={"unread_error": "thread not loaded: {id}", "legacy_shutdown": True},
    ),
    _since("0.94.0", "0.94.0/approval_rpcerror", commands={"hangs_on_error": False}),
    _since("0.95.0", "0.95.0/failures", failures={"causes": looks.CAUSES_0_95}, messages={"default_mode": "default"}),
    _since("0.97.0", "0.125.0/exec/json_usage_limit", failures={"causes": looks.CAUSES_0_97}),
    _since("0.97.0", "0.97.0/own_tools", tools={"mcp_output": "json"}),
    # 0.96.0 still takes `output`; 0.97.0 was not run.
    _since("0.98.0", "0.118.0/stored_a", calls={"answer_field": "contentItems"}),
    _since(
        "0.98.0",
        seen="0.98.0 to 0.113.0 send the model a list also for an output of one text",
        calls={"single_text": False},
    ),
    _since("0.98.0", "0.99.0/busy", turns={"reports_queued_input": True}),
    _since(
        "0.99.0",
        seen="0.99.0 leaves out the notifications that optOutNotificationMethods names",
        requests={"opt_out": True},
    ),
    _since(
        "0.99.0",
        seen="exec of 0.99.0 shows the beginning of a search, and takes --yolo outside a repository",
        exec={
            "begun_search": "empty",
            "searches_keep_ids": True,
            "needs_repository": False,
        },
    ),
    _since("0.99.0", "0.99.0/approval_cancel", counts={"context_window": 258_400}),
    # Without input the model is asked from 0.133.0 on alone: before, a proxy cannot continue after injected results so.
    _since("0.99.0", "0.99.0/busy", turns={"without_input": "hangs"}),
    _since("0.99.0", "0.169.0/ctx_then_next", compaction={"limit": 244_800}),
    _since(
        "0.99.0",
        "0.99.0/approval_cancel",
        "0.169.0/approval_onrequest_escalated_accept",
        commands={
            "shell": "/bin/bash",
            "unified_exec": True,
            "ends_declined_twice": False,
            "approval_order": ("older", "status"),
        },
    ),
    _since("0.99.0", "0.105.0/forks", stored={"before_first_turn": False, "no_turns_error": (-32600, _UNBEGUN)}),
    _since(
        "0.99.0",
        seen="the nextCursor of 0.99.0 has a time with colons",
        stored={"list_cursor": "%Y-%m-%dT%H:%M:%SZ|{id}"},
    ),
    _since(
        "0.100.0",
        seen="0.100.0 takes --listen; 0.99.0 ends with a usage error",
        transport={"listens": True},
    ),
    _since(
        "0.100.0",
        seen="of very many requests at once 0.100.0 refuses some and loses some; 0.89.0 answers all",
        transport={"overloads": True},
    ),
    _since("0.100.0", "0.100.0/text_turn", turns={"numbered_ids": False}),
    _since(
        "0.100.0", "0.101.0/failures", failures={"causes": looks.CAUSES_0_100, "incomplete": looks.INCOMPLETE_0_100}
    ),
    _since("0.105.0", seen="a warning is an item of exec --json on 0.105.0", exec={"reports_warnings": True}),
    _since("0.105.0", "0.105.0/approval_decline", messages={"status_before_thread": True}),
    _since("0.105.0", "0.105.0/approval_decline", messages={"empty_legacy_texts": True}),
    _since("0.105.0", "0.105.0/approval_decline", commands={"null_reasons": False}),
    _since("0.105.0", "0.105.0/forks", stored={"renumbers_turns": False, "reads_archived": True}),
    _since(
        "0.105.0",
        seen="thread/read of 0.105.0 does not call a turn completed that has no end",
        stored={"forgotten_statuses": frozenset({"failed"})},
    ),
    _since(
        "0.105.0",
        seen="thread/resume of an idle loaded thread on 0.105.0 does not load it again",
        stored={"reloads_on_resume": False},
    ),
    _since("0.106.0", "0.106.0/text_turn", messages={"unsent_items": frozenset()}),
    _since(
        "0.106.0",
        seen="0.106.0 refuses longer input with -32602, input_too_large",
        # 0.89.0 takes 2.2 MB.
        requests={"max_input_chars": 1_048_576},
    ),
    _since(
        "0.106.0",
        seen="0.106.0 cuts a citation block out of the deltas and the item",
        messages={"hides_citations": True},
    ),
    _since("0.106.0", "0.110.0/requests", stored={"closes_unsubscribed": True}),
    _since(
        "0.110.0",
        "0.110.0/approval_rpcerror",
        messages={"status_before_thread": False},
        turns={"start_order": ("task", "status", "turn")},
        commands={"splits": False},
    ),
    _since("0.110.0", "0.110.0/busy", turns={"when_busy": "silent"}),
    _since("0.110.0", seen="the head of exec of 0.110.0", exec={"summaries": "none", "memories": True}),
    _since(
        "0.113.0",
        seen="an interrupt during a call on 0.113.0 sends no item/completed for it",
        calls={"reports_cancelled": False},
    ),
    # As it was before 0.98.0.
    _since("0.114.0", "0.169.0/dyn_raw_events", calls={"single_text": True}),
    # v1 went with 0.110.0; its notifications lasted until 0.114.0.
    _since("0.115.0", "0.115.0/approval_cancel", messages={"legacy_events": False}),
    _since(
        "0.115.0",
        seen="0.115.0 sends no task_started: where a script asks for both families, it comes last",
        turns={"start_order": ("status", "turn", "task")},
    ),
    _since("0.115.0", "0.115.0/busy", requests={"config_error": "failed to load configuration"}),
    # From here on exec is a client of an app-server in its own process.
    _since(
        "0.117.0",
        "0.125.0/exec/json_search",
        "0.125.0/exec/human_command",
        "0.125.0/exec/human_lines",
        "0.125.0/exec/resume_unknown",
        "0.125.0/exec/last_message_failed",
        exec={
            "writes_items": True,
            "begun_search": "complete",
            "begins_unknown": False,
            "last_message_file": "at end, if any",
            "ends_message": True,
        },
    ),
    _since("0.117.0", seen="exec of 0.117.0 passes warnings over", exec={"reports_warnings": False}),
    _since("0.117.0", seen="SIGINT ends exec of 0.117.0 with status 1", exec={"interrupted_status": 1}),
    _since("0.118.0", "0.125.0/exec/stdin_and_prompt", exec={"appends_input": True}),
    _since("0.118.0", "0.118.0/busy", turns={"without_input": "refused"}),
    _since("0.118.0", "0.118.0/forks", stored={"ephemeral_forks": True}),
    _since("0.120.0", seen="codex mcp-server 0.120.0 refuses unknown methods", mcp_server={"answers_unknown": True}),
    _since(
        "0.121.0",
        seen="an answer cut off after a call: 0.121.0 waits for the call, then fails",
        calls={"fail_after_answers": True},
    ),
    # The recording is of a later version: of 0.121.0 the binary alone was seen.
    _since("0.121.0", "0.134.0/requests", stored={"closes_unsubscribed": False}),
    _since("0.121.0", seen="exec of 0.121.0 shows its whole usage with every refusal", exec={"usage": "whole"}),
    _since(
        "0.121.0",
        "0.121.0/own_tools",
        tools={"mcp_namespace": "mcp__{server}__", "mcp_output": "timed"},
    ),
    _since("0.122.0", "0.122.0/core", stored={"resends_counts": True}),
    _since("0.125.0", "0.125.0/approval_decline", commands={"approval_order": ("status", "start")}),
    _since("0.125.0", "0.169.0/experimental_gate", requests={"gates_empty_lists": True}),
    _since(
        "0.125.0",
        seen="turn/interrupt of 0.125.0 with an empty turnId is answered on an idle thread, too",
        requests={"interrupts_startup": True},
    ),
    _since("0.125.0", seen="the nextCursor of 0.125.0 is a time alone", stored={"list_cursor": "%Y-%m-%dT%H:%M:%SZ"}),
    _since("0.128.0", "0.169.0/forks", stored={"fork_starts_with_turns": False}),
    _since("0.128.0", "0.128.0/core", stored={"archived_error": None}),
    _since(
        "0.130.0",
        "0.169.0/exec/human_text",
        "0.169.0/exec/resume_unknown",
        exec={"is_preview": False, "session_error": f"{ExecTraits().session_error} (code -32600)"},
    ),
    _since("0.130.0", "0.169.0/approval_patch_heredoc_accept", commands={"whole_paths": False}),
    _since("0.131.0", "0.134.0/approval_cancel", counts={"early": False}),
    _since("0.133.0", "0.134.0/busy", turns={"without_input": "asks"}),
    _since(
        "0.134.0",
        seen="turn/steer of 0.134.0 without input says first that no turn runs, where none does; 0.125.0 does not",
        requests={"steers_with_input_alone": False},
    ),
    _since("0.134.0", seen="codex mcp-server 0.134.0 refuses unknown arguments", mcp_server={"strict": True}),
    _since("0.134.0", "0.134.0/requests", "0.134.0/busy", requests={"checks_tools": True, "checks_turn_id": True}),
    _since(
        "0.134.0",
        "0.169.0/exec/human_text",
        "0.169.0/exec/profile_unknown",
        exec={"memories": False, "knows_profiles": False},
    ),
    _since("0.136.0", "0.136.0/own_tools", tools={"mcp_namespace": "mcp__{server}"}),
    _since(
        "0.136.0",
        "0.169.0/forks",
        stored={"archived_error": "session {id} is archived. Run `codex unarchive {id}` to unarchive it first."},
    ),
    _since("0.140.0", seen="codex mcp-server 0.140.0 names no number", mcp_server={"shows_numbers": False}),
    _since("0.140.0", seen="0.140.0 takes --stdio; 0.134.0 ends with a usage error", transport={"takes_stdio": True}),
    _since("0.140.0", seen="a warning is an item of exec --json on 0.140.0", exec={"reports_warnings": True}),
    _since("0.140.0", "0.169.0/golden_proxy_tool_flow", turns={"raw_interrupt_note": True}),
    _since("0.142.0", seen="thread/compact/start on 0.142.0 sends raw items", compaction={"raw": True}),
    _since(
        "0.143.0",
        seen="the policies of codex mcp-server 0.143.0",
        mcp_server={"policies": ("untrusted", "on-request", "never")},
    ),
    _since("0.145.0", "0.150.0/busy", messages={"folder_is_root": False}),
    _since("0.145.0", "0.150.0/approval_badresult", messages={"emitted_at": True}),
    _since("0.146.0", "0.150.0/approval_badresult", turns={"ends_with_last_text": True}),
    # From here on no version answers with the id of a turn that never completes.
    _since("0.149.0", "0.150.0/busy", turns={"when_busy": "joins"}),
    _since(
        "0.149.0", seen="codex mcp-server of 0.149.1 sends no agent_message_delta", mcp_server={"older_deltas": False}
    ),
    _since(
        "0.149.0", seen="the policies of codex mcp-server 0.149.1", mcp_server={"policies": ("on-request", "never")}
    ),
    # Older versions pass an https URL on to the model's service.
    _since("0.150.0", "0.150.0/requests", requests={"remote_images": False}),
    _since("0.150.0", "0.150.0/approval_badresult", commands={"on_wrong_answer": "failed"}),
    _since(
        "0.150.0",
        seen="0.150.0 does not fail a turn whose model's service cannot be reached",
        # Even where the configuration sets both retry counts to 0.
        failures={"reconnects": True},
    ),
    _since(
        "0.150.0",
        "0.169.0/goals",
        "0.150.0/stored_a",
        stored={
            "empty_metadata_error": "thread metadata update must include at least one field",
            "forgotten_statuses": frozenset(),
            "unnamed_error": _NONE_FOUND,
        },
    ),
    _since("0.150.0", seen="thread/rollback on 0.150.0 sends deprecationNotice", stored={"deprecates_rollback": True}),
    _since(
        "0.151.0",
        "0.160.0/requests",
        "0.169.0/forks",
        "0.160.0/pages",
        stored={
            "paged": True,
            "before_first_turn": True,
            "no_turns_error": (-32601, "list_turns is not supported yet"),
        },
    ),
    _since("0.151.0", "0.151.0/own_tools", tools={"mcp_output": "items"}),
    _since("0.151.0", "0.151.0/core", messages={"pages_files_alone": True}, stored={"forks_previews": False}),
    _since("0.152.0", "0.152.1/own_tools", "0.169.0/exec/json_plan", "0.169.0/exec/human_plan", tools={"plans": False}),
    _since("0.153.0", "0.153.4/core", counts={"raw_metadata": True}),
    _since("0.155.0", "0.155.0/core", failures={"causes": looks.CAUSES_0_155}),
    _since("0.155.0", seen="codex 0.155.0 has no command mcp-server", mcp_server={"offered": False}),
    _since("0.155.0", seen="SIGTERM ends 0.155.0 with status 0", transport={"ends_on_sigterm": True}),
    _since("0.156.0", "0.160.0/requests", messages={"personality": None}),
    _since("0.158.0", "0.158.0/core", messages={"pages_files_alone": False}),
    _since(
        "0.160.0",
        seen="0.160.0 sends the queued input of a turn that fails",
        turns={"reports_input_after_failure": True},
    ),
    _since("0.160.0", "0.169.0/image_input", messages={"detail_before_url": False}),
    _since("0.160.0", "0.160.0/failures", failures={"causes": looks.CAUSES_0_160}),
    _since("0.161.0", "0.161.0/core", failures={"causes": looks.CAUSES_0_161}),
    _since("0.163.0", "0.169.0/dyn_noreply_interrupt", calls={"reports_cancelled": True}),
    _since("0.163.0", "0.169.0/failures", failures={"incomplete": looks.INCOMPLETE_0_163}),
    _since("0.163.0", "0.169.0/err_incomplete", counts={"incomplete_answers": True}),
    _since("0.163.0", seen="the folder of a turn is that of its thread on 0.163.0", messages={"moves_threads": True}),
    # The recording is of a later version: of 0.165.0 the binary alone was seen.
    _since("0.165.0", "0.169.0/dyn_parallel", calls={"one_by_one": False}),
    _since(
        "0.169.0",
        "0.169.0/exec/last_message_failed",
        "0.169.0/exec/last_message_folder",
        exec={"last_message_file": "at start"},
    ),
    _since("0.169.0", "0.169.0/exec/human_patch", exec={"repeats_diffs": False}),
    _since("0.169.0", seen="login status of 0.169.0 has other words for a key", exec={"key_login": _KEY_0_169}),
    _since("0.169.0", "0.169.0/failures", failures={"causes": looks.CAUSES_0_169}),
    _since("0.169.0", "0.169.0/forks", stored={"forks_previews": True}),
    # The request to the model that runs is cut off, and its message never completed.
    _since("0.169.0", "0.169.0/busy", turns={"when_busy": "steers"}),
    _since("0.169.0", seen="thread/compact/start on 0.169.0 sends no warning", compaction={"warns": False}),
    _since("0.169.0", "0.169.0/forks", stored={"list_cursor": "%Y-%m-%dT%H:%M:%SZ|{id}", "counts_new_forks": False}),
    _since(
        "0.171.0",
        seen="thread/inject_items of 0.171.0 expects a struct WrappedItem",
        requests={"item_type": "struct WrappedItem"},
    ),
)
"""In order; the later of two changes of a field holds."""

# The gaps (0.91, 0.102, 0.103, 0.108, 0.109, 0.112, 0.119, 0.126, 0.127, 0.168, 0.170) were never stable there.
_STABLE = """
    0.89.0 0.90.0 0.92.0 0.93.0 0.94.0 0.95.0 0.96.0 0.97.0 0.98.0 0.99.0 0.100.0 0.101.0 0.104.0 0.105.0 0.106.0
    0.107.0 0.110.0 0.111.0 0.113.0 0.114.0 0.115.0 0.116.0 0.117.0 0.118.0 0.120.0 0.121.0 0.122.0 0.123.0 0.124.0
    0.125.0 0.128.0 0.129.0 0.130.0 0.131.0 0.132.0 0.133.0 0.134.0 0.135.0 0.136.0 0.137.0 0.138.0 0.139.0 0.140.0
    0.141.0 0.142.0 0.142.1 0.142.2 0.142.3 0.142.4 0.142.5 0.143.0 0.144.0 0.144.1 0.144.2 0.144.3 0.144.4 0.144.5
    0.144.6 0.145.0 0.146.0 0.146.1 0.147.0 0.148.0 0.149.0 0.149.1 0.150.0 0.150.1 0.151.0 0.152.0 0.152.1 0.153.0
    0.153.1 0.153.2 0.153.3 0.153.4 0.154.0 0.155.0 0.155.1 0.156.0 0.156.1 0.157.0 0.157.1 0.158.0 0.159.0 0.159.1
    0.159.2 0.159.3 0.160.0 0.160.1 0.161.0 0.162.0 0.162.1 0.163.0 0.164.0 0.165.0 0.166.0 0.167.2 0.169.0 0.171.0
"""
STABLE = _STABLE.split()
"""Every stable version from the oldest to the newest that is played, as published on npm."""

_UNRECORDED = """
    0.142.1 0.142.2 0.142.3 0.142.4 0.142.5 0.144.0 0.144.1 0.144.2 0.144.3 0.144.4 0.144.5 0.146.1 0.149.0 0.150.1
    0.152.0 0.153.0 0.153.1 0.153.2 0.153.3 0.155.1 0.156.0 0.157.0 0.159.0 0.159.1 0.159.2 0.160.1 0.162.0
"""
RECORDED = [number for number in STABLE if number not in _UNRECORDED.split()]
"""Those of which sessions were recorded. Every other one is played as the newest of these that is not newer than it,
with the changes that were seen of binaries in between.
"""
