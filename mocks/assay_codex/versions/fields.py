"""The fields and notifications that not every version has, with the versions that have them (`marks`).

Fields are listed by their place in a message, as `forms` names it; those that every version has are not listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_codex.versions.marks import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay_codex.versions.forms import Forms

_OPENED = """
    serviceTier+0.110 disabledPluginIds+0.160 runtimeWorkspaceRoots+0.134 instructionSources+0.125
    approvalsReviewer+0.115 permissionProfile+0.125-0.134 activePermissionProfile+0.134 multiAgentMode+0.142
"""
_THREAD = """
    environments+0.160 extra+0.150 sessionId+0.134 forkedFromId+0.125 attachedToThreadId+0.169 parentThreadId+0.142
    ephemeral+0.107 section+0.150 sectionEnteredAt+0.150 projectId+0.150 historyMode+0.150 model+0.160
    reasoningEffort+0.160 recencyAt+0.142 status+0.105 originator+0.160 canAcceptDirectInput+0.150
    threadSource+0.134 agentNickname+0.105 agentRole+0.105 name+0.105 daybreakEnabled+0.160
"""
_TURN = "rootTurnId+0.169 itemsView+0.134 startedAt+0.125 completedAt+0.125 durationMs+0.125"
_READ_ONLY = "access+0.100-0.134 networkAccess+0.110"
_AGENT_MESSAGE = "moderation+0.169 phase+0.105 memoryCitation+0.118 delivery+0.150 questions+0.160"
_COMMAND = "pluginId+0.150 scriptPath+0.150 source+0.118"
_COUNTS = "cacheWriteInputTokens+0.145"
_PASSED = "internal_chat_message_metadata_passthrough"
_TIMES = "startedAtMs+0.169 completedAtMs+0.169"

FIELDS: Mapping[str, str] = {
    "initialize": "codexHome+0.118 platformFamily+0.115 platformOs+0.115",
    "thread/start": _OPENED,
    "thread/resume": f"""
        {_OPENED} collaborationMode+0.160 initialTurnsPage+0.142 turnsBackwardsCursor+0.150 itemsBackwardsCursor+0.150
    """,
    "thread/fork": _OPENED,
    "thread/unarchive": "",
    "thread/rollback": "",
    "modelProvider/capabilities/read": "namespaceTools-0.169",
    "configRequirements/read": "supportsIndependentSpeedModes+0.169",
    "thread/revert": "",
    "thread/metadata/update": "",
    "thread/read": "readState+0.169",
    "thread/list": "readStates+0.169 backwardsCursor+0.125",
    "account/read": "userId+0.169 workspaceRouting+0.169",
    ".thread": _THREAD,
    ".turns": _TURN,
    # Empty, so that `.sandbox/readOnly` is looked into: only places of the table are.
    ".sandbox": "",
    ".sandbox/readOnly": _READ_ONLY,
    "thread/settings/updated": "",
    ".threadSettings": "disabledPluginIds+0.160 environments+0.169 multiAgentMode+0.142",
    ".sandboxPolicy": "",
    ".sandboxPolicy/readOnly": _READ_ONLY,
    ".turn": _TURN,
    ".error": "misalignment+0.160",
    "item/started": "startedAtMs+0.134",
    "item/completed": "contentTokenCount+0.169 completedAtMs+0.134",
    "item/tool/call": "namespace+0.125",
    # 0.169.0 takes `decline`, too, which its availableDecisions do not list.
    "item/commandExecution/requestApproval": """
        kind+0.150 startedAtMs+0.134 environmentId+0.142 availableDecisions+0.106
    """,
    "item/tool/requestUserInput": "isBlocking+0.150 autoResolutionMs+0.142",
    ".questions": "isOther+0.92 isSecret+0.93",
    "execCommandApproval": "approvalId+0.104",
    "item/fileChange/requestApproval": "startedAtMs+0.134",
    ".item": _TIMES,
    ".items": _TIMES,
    ".item/userMessage": "clientId+0.142",
    ".item/agentMessage": _AGENT_MESSAGE,
    ".items/agentMessage": _AGENT_MESSAGE,
    ".items/userMessage": "clientId+0.142",
    ".items/commandExecution": _COMMAND,
    ".items/dynamicToolCall": "namespace+0.125",
    ".item/commandExecution": _COMMAND,
    ".item/dynamicToolCall": "namespace+0.125",
    "raw": f"{_PASSED}+0.145",
    "raw user": f"id+0.150 {_PASSED}+0.145",
    "raw assistant": f"status+0.163 id+0.142 {_PASSED}+0.145",
    "raw/function_call": "status+0.163 id+0.142",
    "raw/function_call_output": "id+0.150",
    "raw/reasoning": "id+0.142",
    f".{_PASSED}": "create_time+0.150 content_item_kinds+0.150",
    "rawResponse/completed": "usageMetadata+0.153",
    ".content": "",  # empty for the same reason, as are .tokenUsage and .msg
    ".content/output_text": "annotations+0.163",
    ".content/image": "detail+0.134",
    ".content/localImage": "detail+0.134",
    ".tokenUsage": "",
    ".total": _COUNTS,
    ".last": _COUNTS,
    ".rateLimits": """
        limitId+0.100 limitName+0.100 normalModelSlug+0.160 individualLimit+0.142 spendControlReached+0.150
        rateLimitReachedType+0.125
    """,
    "model/list": "",
    ".data": """
        upgrade+0.95 upgradeInfo+0.107 availabilityNux+0.107 modelSpecialty+0.150 hidden+0.104 inputModalities+0.95
        supportsPersonality+0.92 multiAgentVersion+0.150 additionalSpeedTiers+0.125 serviceTiers+0.134
        defaultServiceTier+0.134 availableAccessPrograms+0.160 allowed+0.150
    """,
    ".msg": "",
    ".msg/task_started": "turn_id+0.100 collaboration_mode_kind+0.93",
    ".msg/turn_aborted": "turn_id+0.100",
    ".msg/task_complete": "turn_id+0.100",
    ".msg/exec_approval_request": "available_decisions+0.106",
    ".msg/agent_message": "phase+0.105",
    ".item/AgentMessage": "phase+0.105",
    ".rate_limits": "limit_id+0.100 limit_name+0.100",
}

NOTIFICATIONS = """
    remoteControl/status/changed+0.134 thread/status/changed+0.105 thread/readState/changed+0.169
    thread/settings/updated+0.134 thread/archived+0.104 thread/unarchived+0.105 thread/closed+0.106
    thread/deleted+0.142 thread/goal/cleared+0.134 thread/goal/updated+0.134 thread/reverted+0.150
    thread/compacted-0.125 warning+0.125 serverRequest/resolved+0.107 rawResponse/completed+0.145
    codex/event/dynamic_tool_call_response+0.106
"""


def hidden_fields(number: str) -> Forms:
    """By place, the fields that the version does not have."""
    return {place: unknown(fields, number) for place, fields in FIELDS.items()}
