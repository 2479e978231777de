"""Names that came and went, with the versions that have them (`marks`): requests, notifications, fields of messages.

Requests are all that `codex app-server` has ever accepted; each version names those it has when it is asked for
something else, and their order never changed. Of notifications and fields only those are listed that not every version
has: fields by their place in a message, as `forms` names it. Parameters of requests have their checks beside them
(`params`). `mocks/tests/codex/versions/test_names.py` says what shows each mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_codex.versions.marks import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.versions.forms import Forms

# In order, as the error that lists them is compared with the real one word for word. 0.169.0 accepts more than its
# schema has (187, not 184): getAuthStatus, getConversationSummary and gitDiffToRemote are of v1, and still served.
METHODS = """
    initialize server/diagnostics+0.150 userVerification/status+0.160 userVerification/enroll+0.160
    userVerification/delete+0.160 userVerification/verify+0.160 userVerification/cancel+0.160 thread/start
    thread/resume thread/fork thread/sample+0.169 thread/sample/cancel+0.169 thread/archive thread/delete+0.142
    thread/unsubscribe+0.106 thread/increment_elicitation+0.114 thread/decrement_elicitation+0.114
    thread/name/set+0.93 thread/prediction/request+0.169 thread/goal/set+0.134 thread/goal/get+0.134
    thread/goal/clear+0.134 thread/queue/add+0.150 thread/queue/list+0.150 thread/queue/update+0.150
    thread/queue/delete+0.150 thread/queue/reorder+0.150 thread/queue/start+0.150 thread/metadata/update+0.110
    thread/attachment/add+0.160 thread/attachment/list+0.160 thread/attachmentOwner/list+0.169
    thread/attachment/remove+0.160 thread/section/move+0.150 thread/settings/update+0.134
    thread/memoryMode/set+0.125 thread/memory/read+0.169 memory/status+0.160 memory/reset+0.125
    rollout/compress+0.160 thread/unarchive+0.92 thread/compact/start+0.96 thread/shellCommand+0.118
    thread/approveGuardianDeniedAction+0.125 thread/backgroundTerminals/clean+0.99
    thread/backgroundTerminals/list+0.142 thread/backgroundTerminals/terminate+0.142 thread/rollback-0.160
    thread/revert+0.150 thread/list project/list+0.150 project/read+0.150 project/create+0.150
    project/import+0.150 project/update+0.150 project/move+0.150 project/delete+0.150 threadSection/list+0.150
    threadSection/create+0.150 threadSection/update+0.150 threadSection/delete+0.150 thread/search+0.134
    thread/searchOccurrences+0.150 thread/loaded/list thread/read thread/readState/update+0.169
    thread/turns/list+0.125 thread/turns/items/list+0.134-0.150 thread/items/list+0.150 thread/items/read+0.169
    thread/guardianReview+0.169 thread/inject_items+0.125 thread/prepareApprovedPlan+0.169 skills/list
    skills/remote/read+0.95-0.104 skills/remote/write+0.95-0.104 skills/extraRoots/set+0.142 hooks/list+0.134
    marketplace/add+0.125 marketplace/remove+0.125 marketplace/upgrade+0.125 plugin/list+0.113 plugin/search+0.150
    plugin/installed+0.134 plugin/reconcile+0.160 plugin/read+0.115 skills/remote/list+0.104-0.118
    skills/remote/export+0.104-0.118 plugin/skill/read+0.134 plugin/share/save+0.134
    plugin/share/updateTargets+0.134 plugin/share/list+0.134 plugin/share/checkout+0.134 plugin/share/delete+0.134
    app/read+0.150 app/list+0.90 device/key/create+0.125-0.134 device/key/public+0.125-0.134
    device/key/sign+0.125-0.134 app/installed+0.150 fs/readFile+0.115 fs/writeFile+0.115 fs/createDirectory+0.115
    fs/getMetadata+0.115 fs/readDirectory+0.115 fs/remove+0.115 fs/copy+0.115 fs/watch+0.118 fs/unwatch+0.118
    skills/config/write plugin/install+0.110 plugin/uninstall+0.113 turn/start turn/settings/update+0.160
    turn/steer+0.99 turn/interrupt thread/realtime/start+0.106 thread/realtime/appendAudio+0.106
    thread/realtime/appendText+0.106 thread/realtime/appendSpeech+0.142 thread/realtime/stop+0.106
    thread/timeline/list+0.150 thread/realtime/listVoices+0.125 review/start model/list
    account/gatewayOAuth/read+0.160 account/gatewayOAuth/login+0.160 account/gatewayOAuth/cancel+0.160
    modelProvider/list+0.169 modelProvider/config/write+0.169 modelProvider/capabilities/read+0.134
    experimentalFeature/list+0.99 permissionProfile/list+0.134 experimentalFeature/enablement/set+0.118
    remoteControl/enable+0.134 remoteControl/disable+0.134 remoteControl/status/read+0.134
    remoteControl/pairing/start+0.142 remoteControl/pairing/status+0.142 remoteControl/client/list+0.142
    remoteControl/client/revoke+0.142 collaborationMode/list mock/experimentalMethod+0.95 environment/add+0.134
    environment/info+0.150 environment/status+0.150 mcpServer/oauth/login config/mcpServer/reload
    mcpServerStatus/list mcpServer/resource/read+0.125 mcpServer/event/stream/start+0.150
    mcpServer/event/stream/stop+0.150 mcpServer/tool/call+0.125 windowsSandbox/setupStart+0.105
    windowsSandbox/readiness+0.134 account/login/start account/bedrock/discover+0.150 account/bedrock/setup+0.150
    account/gcp/setup+0.169 account/bedrock/checkGovCloudRequirements+0.169 account/login/cancel
    accountSession/list+0.169 accountSession/switch+0.169 account/logout account/securitySetup/read+0.169
    account/rateLimits/read account/rateLimitResetCredit/consume+0.142 account/usage/read+0.142
    account/workspaceMessages/read+0.142 account/sendAddCreditsNudgeEmail+0.125 feedback/upload
    feedback/save+0.169 command/exec command/exec/write+0.113 command/exec/terminate+0.113
    command/exec/resize+0.113 process/spawn+0.134 process/writeStdin+0.134 process/kill+0.134
    process/resizePty+0.134 config/read externalAgentConfig/detect+0.105 externalAgentConfig/import+0.105
    externalAgentConfig/import/recordHistory+0.150 externalAgentConfig/import/readHistories+0.142
    config/value/write config/batchWrite configRequirements/read account/read newConversation-0.110
    getConversationSummary listConversations-0.110 resumeConversation-0.110 forkConversation-0.110
    archiveConversation-0.110 sendUserMessage-0.110 sendUserTurn-0.110 interruptConversation-0.110
    addConversationListener-0.110 removeConversationListener-0.110 gitDiffToRemote loginApiKey-0.110
    loginChatGpt-0.110 cancelLoginChatGpt-0.110 logoutChatGpt-0.110 getAuthStatus getUserSavedConfig-0.110
    setDefaultModel-0.110 getUserAgent-0.110 userInfo-0.110 fuzzyFileSearch fuzzyFileSearch/sessionStart+0.104
    fuzzyFileSearch/sessionUpdate+0.104 fuzzyFileSearch/sessionStop+0.104 execOneOffCommand-0.110
"""

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
