"""The parameters of requests, version by version: what they may be, and which of them are gated or overlooked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_codex.protocol.params import FIELDS, INPUT_FIELDS, MAP, Field, list_of, one_of, tagged
from assay_codex.protocol.stored_params import FILTERS, STORED_FIELDS, TOOL_OUTPUT
from assay_codex.versions.marks import known, unknown
from assay_codex.versions.older_params import EFFORT, IMAGE, V1_FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay_codex.protocol.params import Table

_APPROVALS = "untrusted on-failure-0.150 on-request reject+0.105-0.115 granular+0.115 never"
_WITH_FIELDS = frozenset({"reject", "granular"})
_INPUTS = "text image localImage audio+0.150 localAudio+0.150 skill mention+0.93"

_RESUME = "initialTurnsPage+0.142"
_TURN = "toolOutput+0.160"
_FILTERS = "sourceKinds+0.92 cwd+0.105 searchTerm+0.105 sortDirection+0.125"
_SORTS = "created_at updated_at recency_at+0.142 section_position+0.150"

_STARTING = "ephemeral+0.90 dynamicTools+0.92 environments+0.125"

_GATED = "mock/experimentalMethod+0.95 collaborationMode/list+0.95 thread/sample+0.169 thread/sample/cancel+0.169"
_GATED_FIELDS: Mapping[str, str] = {
    "thread/start": """
        dynamicTools+0.95 environments+0.125 experimentalRawEvents+0.99 historyMode+0.150 mockExperimentalField+0.95
        permissions+0.134 projectId+0.150 runtimeWorkspaceRoots+0.134
    """,
    "thread/resume": "history+0.99 initialTurnsPage+0.169 path+0.99",
    "turn/start": """
        additionalContext+0.142 collaborationMode+0.99 environments+0.125 permissions+0.134
        responsesapiClientMetadata+0.125
    """,
}


def gated_methods(number: str) -> frozenset[str]:
    """Methods that need the capability experimentalApi."""
    return frozenset(known(_GATED, number))


def gated_fields(number: str) -> Mapping[str, tuple[str, ...]]:
    """By method, the parameters that need it."""
    fields = {method: known(marked, number) for method, marked in _GATED_FIELDS.items()}
    return {method: names for method, names in fields.items() if names}


def overlooked(number: str) -> frozenset[str]:
    """Parameters of thread/start that came later."""
    return unknown(_STARTING, number)


def params_of(number: str) -> Table:
    """What every method takes."""
    any_effort, files = known("any_effort+0.142", number), known("file_ids+0.160", number)
    names = known(_APPROVALS, number)
    approval = Field(one_of(*names, maps=bool(_WITH_FIELDS & {*names})))
    kinds = {kind: INPUT_FIELDS[kind] for kind in known(_INPUTS, number)}
    given = Field(list_of(tagged(kinds if files else {**kinds, "image": IMAGE}, "UserInput")), required=True)
    start = {name: field for name, field in FIELDS["thread/start"].items() if name not in overlooked(number)}
    turn = {**FIELDS["turn/start"], "input": given, "approvalPolicy": approval}
    turn |= dict.fromkeys(known(_TURN, number), TOOL_OUTPUT)
    resume = dict.fromkeys(known(_RESUME, number), Field(MAP))
    return {
        **FIELDS,
        **STORED_FIELDS,
        **V1_FIELDS,
        "thread/list": {
            **STORED_FIELDS["thread/list"],
            **{name: FILTERS[name] for name in known(_FILTERS, number)},
            "sortKey": Field(one_of(*known(_SORTS, number))),
        },
        "thread/start": {**start, "approvalPolicy": approval},
        "thread/resume": {**FIELDS["thread/resume"], "approvalPolicy": approval, **resume},
        "turn/start": turn if any_effort else {**turn, "effort": EFFORT},
        "turn/steer": {**FIELDS["turn/steer"], "input": given},
    }
