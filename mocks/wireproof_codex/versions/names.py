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
    initialize server/diagnostics+0.148 userVerification/status+0.154 userVerification/enroll+0.154
    userVerification/delete+0.154 userVerification/verify+0.154 userVerification/cancel+0.155 thread/start
    thread/resume thread/fork thread/sample+0.164 thread/sample/cancel+0.164 thread/archive thread/delete+0.140
    thread/unsubscribe+0.106 thread/increment_elicitation+0.114 thread/decrement_elicitation+0.114
    thread/name/set+0.93 thread/prediction/request+0.161 thread/goal/set+0.128 thread/goal/get+0.128
    thread/goal/clear+0.128 thread/queue/add+0.148 thread/queue/list+0.148 thread/queue/update+0.148
    thread/queue/delete+0.148 thread/queue/reorder+0.148 thread/queue/start+0.148 thread/metadata/update+0.110
    thread/attachment/add+0.155 thread/attachment/list+0.155 thread/attachmentOwner/list+0.162
    thread/attachment/remove+0.155 thread/section/move+0.147 thread/settings/update+0.133
    thread/memoryMode/set+0.121 thread/memory/read+0.165 memory/status+0.155 memory/reset+0.121
    rollout/compress+0.156 thread/unarchive+0.92 thread/compact/start+0.96 thread/shellCommand+0.117
    thread/approveGuardianDeniedAction+0.124 thread/backgroundTerminals/clean+0.99
    thread/backgroundTerminals/list+0.140 thread/backgroundTerminals/terminate+0.140 thread/rollback-0.156
    thread/revert+0.148 thread/list project/list+0.149 project/read+0.149 project/create+0.149
    project/import+0.149 project/update+0.149 project/move+0.149 project/delete+0.149 threadSection/list+0.147
    threadSection/create+0.147 threadSection/update+0.147 threadSection/delete+0.147 thread/search+0.134
    thread/search/stream+0.171 thread/search/cancel+0.171 thread/search/stream/cancel+0.171
    thread/searchOccurrences+0.145 thread/loaded/list thread/read thread/readState/update+0.163
    thread/turns/list+0.122 thread/turns/items/list+0.130-0.143 thread/items/list+0.143 thread/items/read+0.163
    thread/guardianReview+0.167 thread/inject_items+0.121 thread/prepareApprovedPlan+0.169 skills/list
    skills/remote/read+0.95-0.104 skills/remote/write+0.95-0.104 skills/extraRoots/set+0.136 hooks/list+0.128
    marketplace/add+0.121 marketplace/remove+0.122 marketplace/upgrade+0.125 plugin/list+0.113 plugin/search+0.147
    plugin/installed+0.132 plugin/reconcile+0.153 plugin/read+0.115 skills/remote/list+0.104-0.116
    skills/remote/export+0.104-0.116 plugin/skill/read+0.129 plugin/share/save+0.129
    plugin/share/updateTargets+0.129 plugin/share/list+0.129 plugin/share/checkout+0.131 plugin/share/delete+0.129
    app/read+0.145 app/list+0.90 device/key/create+0.123-0.130 device/key/public+0.123-0.130
    device/key/sign+0.123-0.130 app/installed+0.145 fs/readFile+0.115 fs/writeFile+0.115 fs/createDirectory+0.115
    fs/getMetadata+0.115 fs/readDirectory+0.115 fs/remove+0.115 fs/copy+0.115 fs/watch+0.117 fs/unwatch+0.117
    skills/config/write plugin/install+0.110 plugin/uninstall+0.113 turn/start turn/settings/update+0.151
    turn/steer+0.99 turn/interrupt thread/realtime/start+0.106 thread/realtime/appendAudio+0.106
    thread/realtime/appendText+0.106 thread/realtime/appendSpeech+0.141 thread/realtime/stop+0.106
    thread/timeline/list+0.150 thread/realtime/list+0.171 thread/realtime/listVoices+0.120 review/start model/list
    account/gatewayOAuth/read+0.157 account/gatewayOAuth/login+0.157 account/gatewayOAuth/cancel+0.157
    modelProvider/list+0.169 modelProvider/config/write+0.169 modelProvider/default/set+0.171
    modelProvider/capabilities/read+0.128 experimentalFeature/list+0.99 permissionProfile/list+0.133
    experimentalFeature/enablement/set+0.117 remoteControl/enable+0.131 remoteControl/disable+0.131
    remoteControl/status/read+0.131 remoteControl/pairing/start+0.137 remoteControl/pairing/status+0.138
    remoteControl/client/list+0.137 remoteControl/client/revoke+0.137 collaborationMode/list
    mock/experimentalMethod+0.95 environment/add+0.131 environment/info+0.143 environment/status+0.145
    mcpServer/oauth/login config/mcpServer/reload mcpServerStatus/list mcpServer/resource/read+0.120
    mcpServer/event/stream/start+0.150 mcpServer/event/stream/stop+0.150 mcpServer/tool/call+0.121
    windowsSandbox/setupStart+0.105 windowsSandbox/readiness+0.129 account/login/start
    account/bedrock/discover+0.149 account/bedrock/setup+0.149 account/gcp/setup+0.166
    account/bedrock/checkGovCloudRequirements+0.161 account/login/cancel accountSession/list+0.166
    accountSession/switch+0.166 account/logout account/securitySetup/read+0.169 account/rateLimits/read
    account/rateLimitResetCredit/consume+0.141 account/usage/read+0.138 account/workspaceMessages/read+0.142
    account/sendAddCreditsNudgeEmail+0.122 feedback/upload feedback/save+0.164 command/exec
    command/exec/write+0.113 command/exec/terminate+0.113 command/exec/resize+0.113 process/spawn+0.129
    process/writeStdin+0.129 process/kill+0.129 process/resizePty+0.129 config/read
    externalAgentConfig/detect+0.105 externalAgentConfig/import+0.105
    externalAgentConfig/import/recordHistory+0.146 externalAgentConfig/import/readHistories+0.142
    config/value/write config/batchWrite configRequirements/read account/read newConversation-0.110
    getConversationSummary listConversations-0.110 resumeConversation-0.110 forkConversation-0.110
    archiveConversation-0.110 sendUserMessage-0.110 sendUserTurn-0.110 interruptConversation-0.110
    addConversationListener-0.110 removeConversationListener-0.110 gitDiffToRemote loginApiKey-0.110
    loginChatGpt-0.110 cancelLoginChatGpt-0.110 logoutChatGpt-0.110 getAuthStatus getUserSavedConfig-0.110
    setDefaultModel-0.110 getUserAgent-0.110 userInfo-0.110 fuzzyFileSearch fuzzyFileSearch/sessionStart+0.104
    fuzzyFileSearch/sessionUpdate+0.104 fuzzyFileSearch/sessionStop+0.104 execOneOffCommand-0.110
"""

_OPENED = """
    serviceTier+0.110 disabledPluginIds+0.156 runtimeWorkspaceRoots+0.131 instructionSources+0.121
    approvalsReviewer+0.115 permissionProfile+0.124-0.131 activePermissionProfile+0.128 multiAgentMode+0.142
"""
_THREAD = """
    environments+0.154 extra+0.143 sessionId+0.129 forkedFromId+0.120 attachedToThreadId+0.169
    parentThreadId+0.137 ephemeral+0.107 isPinned+0.146-0.147 section+0.147 sectionEnteredAt+0.147 projectId+0.149
    historyMode+0.143 model+0.153 reasoningEffort+0.153 recencyAt+0.142 status+0.105 originator+0.154
    canAcceptDirectInput+0.145 threadSource+0.129 agentNickname+0.105 agentRole+0.105 name+0.105
    daybreakEnabled+0.154
"""
_TURN = "rootTurnId+0.162 itemsView+0.129 startedAt+0.120 completedAt+0.120 durationMs+0.120"
_READ_ONLY = "access+0.100-0.128 networkAccess+0.110"
_AGENT_MESSAGE = "moderation+0.169 phase+0.105 memoryCitation+0.116 delivery+0.149 questions+0.153"
_COMMAND = "pluginId+0.150 scriptPath+0.150 source+0.118"
_MCP_CALL = "environmentId+0.171 appContext+0.142 mcpAppUi+0.156 pluginId+0.133 readOnlyHint+0.147"
_SEARCH = "action+0.94 results+0.145"
_COUNTS = "cacheWriteInputTokens+0.145"
_PASSED = "internal_chat_message_metadata_passthrough"
_TIMES = "startedAtMs+0.166 completedAtMs+0.166"

FIELDS: Mapping[str, str] = {
    "initialize": "codexHome+0.117 platformFamily+0.115 platformOs+0.115",
    "thread/start": _OPENED,
    "thread/resume": f"""
        {_OPENED} collaborationMode+0.156 initialTurnsPage+0.136 turnsBackwardsCursor+0.145 itemsBackwardsCursor+0.145
    """,
    "thread/fork": _OPENED,
    "thread/unarchive": "",
    "thread/rollback": "",
    "modelProvider/capabilities/read": "namespaceTools-0.169",
    "configRequirements/read": "supportsIndependentSpeedModes+0.169",
    "thread/revert": "",
    "thread/metadata/update": "",
    "thread/read": "readState+0.163",
    "thread/list": "readStates+0.163 backwardsCursor+0.122",
    "account/read": "userId+0.169 workspaceRouting+0.169",
    ".thread": _THREAD,
    ".turns": _TURN,
    # Empty, so that `.sandbox/readOnly` is looked into: only places of the table are.
    ".sandbox": "",
    ".sandbox/readOnly": _READ_ONLY,
    "remoteControl/status/changed": "serverName+0.131 installationId+0.131",
    "thread/settings/updated": "",
    ".threadSettings": "disabledPluginIds+0.156 environments+0.169 multiAgentMode+0.142",
    ".sandboxPolicy": "",
    ".sandboxPolicy/readOnly": _READ_ONLY,
    ".turn": _TURN,
    ".error": "misalignment+0.151",
    "item/started": "startedAtMs+0.129",
    "item/completed": "contentTokenCount+0.169 completedAtMs+0.129",
    "item/tool/call": "namespace+0.123",
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
    ".item/userMessage": "clientId+0.136",
    ".item/agentMessage": _AGENT_MESSAGE,
    ".items/agentMessage": _AGENT_MESSAGE,
    ".items/userMessage": "clientId+0.136",
    ".items/commandExecution": _COMMAND,
    ".items/dynamicToolCall": "namespace+0.125",
    ".item/commandExecution": _COMMAND,
    ".item/dynamicToolCall": "namespace+0.123",
    ".item/mcpToolCall": _MCP_CALL,
    ".items/mcpToolCall": _MCP_CALL,
    ".item/webSearch": _SEARCH,
    ".items/webSearch": _SEARCH,
    ".item/WebSearch": "action+0.94",
    ".msg/web_search_end": "action+0.94",
    ".result": "_meta+0.120",
    "raw": f"{_PASSED}+0.143",
    "raw user": f"id+0.146 {_PASSED}+0.143",
    "raw assistant": f"status+0.163 id+0.142 {_PASSED}+0.143",
    "raw/function_call": "status+0.163 id+0.142",
    "raw/function_call_output": "id+0.146",
    "raw/reasoning": "id+0.142",
    "raw/web_search_call": "id+0.142",
    f".{_PASSED}": "create_time+0.148 content_item_kinds+0.150 content_item_metadata+0.164",
    "rawResponse/completed": "usageMetadata+0.151",
    ".content": "",  # empty for the same reason, as are .tokenUsage and .msg
    ".content/output_text": "annotations+0.163",
    ".content/image": "detail+0.134",
    ".content/localImage": "detail+0.134",
    ".tokenUsage": "",
    ".total": _COUNTS,
    ".last": _COUNTS,
    ".rateLimits": """
        limitId+0.100 limitName+0.100 normalModelSlug+0.154 individualLimit+0.137 spendControlReached+0.145
        rateLimitReachedType+0.122
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
    remoteControl/status/changed+0.128 thread/status/changed+0.105 thread/readState/changed+0.163
    thread/settings/updated+0.133 thread/archived+0.104 thread/unarchived+0.105 thread/closed+0.106
    thread/deleted+0.142 thread/goal/cleared+0.133 thread/goal/updated+0.134 thread/reverted+0.150
    thread/compacted-0.121 warning+0.122 serverRequest/resolved+0.107 rawResponse/completed+0.145
    codex/event/dynamic_tool_call_response+0.106 codex/event/web_search_begin+0.94
"""


def hidden_fields(number: str) -> Forms:
    """By place, the fields that the version does not have."""
    return {place: unknown(fields, number) for place, fields in FIELDS.items()}
