"""The versions of the app-server that the mock can be: what differs between them, as data.

What a version does otherwise is a field here, never a branch on a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay_mocks.codex.failures import CAUSES, CAUSES_0_89, INCOMPLETE, INCOMPLETE_0_89, Cause
from assay_mocks.codex.older_params import OLDER_FIELDS
from assay_mocks.codex.params import FIELDS, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay_mocks.codex.forms import Forms


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version of `codex app-server`.

    `methods`: every request it accepts, in the order in which it lists them. `params`: what their parameters must be.
    `gated`: methods that need the capability experimentalApi, `gated_fields` the parameters that do, by method.
    `opt_out`: clients can mute notifications. `max_input_chars`: the longest user input, None for any.
    `remote_images`: images may be named by URLs that are to be fetched. `ignored`: parameters of thread/start that came
    later, and are overlooked.

    `forms`: the fields it tells where it tells fewer than the newest. `unsent`: notifications that it does not know.
    `emitted_at`: notifications carry `emittedAtMs`. `double`: every event is told in the older family too.
    `counts_first`: token counts and limits are told when the model begins to answer, not when it fails.
    `summaries`: turn/completed holds the last text. `context_window`: the most tokens, None if it knows none.
    `citations`: those in the model's text are kept from the client.

    `counted_turns`: turns of a thread are numbered from 0, interrupts and overrides with them. `checks_turn_id`:
    turn/interrupt must name the turn that runs. `steers`: turn/start on a busy thread is answered with the running
    turn. `answers_nothing`: the model is asked although a turn has no input.

    `causes`, `incomplete`: how failures look. `bad_config`: how a wrong configuration is told.
    """

    number: str
    methods: tuple[str, ...]
    params: Table
    gated: frozenset[str] = frozenset()
    gated_fields: Mapping[str, tuple[str, ...]]
    opt_out: bool
    max_input_chars: int | None
    remote_images: bool
    ignored: frozenset[str] = frozenset()

    forms: Forms
    unsent: frozenset[str] = frozenset()
    emitted_at: bool
    double: bool
    counts_first: bool
    summaries: bool
    context_window: int | None
    citations: bool

    counted_turns: bool
    checks_turn_id: bool
    steers: bool
    answers_nothing: bool

    causes: Mapping[str, Cause]
    incomplete: Mapping[str, Cause]
    bad_config: str


_METHODS_0_169 = """
    initialize server/diagnostics userVerification/status userVerification/enroll userVerification/delete
    userVerification/verify userVerification/cancel thread/start thread/resume thread/fork thread/sample
    thread/sample/cancel thread/archive thread/delete thread/unsubscribe thread/increment_elicitation
    thread/decrement_elicitation thread/name/set thread/prediction/request thread/goal/set thread/goal/get
    thread/goal/clear thread/queue/add thread/queue/list thread/queue/update thread/queue/delete
    thread/queue/reorder thread/queue/start thread/metadata/update thread/attachment/add thread/attachment/list
    thread/attachmentOwner/list thread/attachment/remove thread/section/move thread/settings/update
    thread/memoryMode/set thread/memory/read memory/status memory/reset rollout/compress thread/unarchive
    thread/compact/start thread/shellCommand thread/approveGuardianDeniedAction thread/backgroundTerminals/clean
    thread/backgroundTerminals/list thread/backgroundTerminals/terminate thread/revert thread/list project/list
    project/read project/create project/import project/update project/move project/delete threadSection/list
    threadSection/create threadSection/update threadSection/delete thread/search thread/searchOccurrences
    thread/loaded/list thread/read thread/readState/update thread/turns/list thread/items/list thread/items/read
    thread/guardianReview thread/inject_items thread/prepareApprovedPlan skills/list skills/extraRoots/set
    hooks/list marketplace/add marketplace/remove marketplace/upgrade plugin/list plugin/search plugin/installed
    plugin/reconcile plugin/read plugin/skill/read plugin/share/save plugin/share/updateTargets plugin/share/list
    plugin/share/checkout plugin/share/delete app/read app/list app/installed fs/readFile fs/writeFile
    fs/createDirectory fs/getMetadata fs/readDirectory fs/remove fs/copy fs/watch fs/unwatch skills/config/write
    plugin/install plugin/uninstall turn/start turn/settings/update turn/steer turn/interrupt thread/realtime/start
    thread/realtime/appendAudio thread/realtime/appendText thread/realtime/appendSpeech thread/realtime/stop
    thread/timeline/list thread/realtime/listVoices review/start model/list account/gatewayOAuth/read
    account/gatewayOAuth/login account/gatewayOAuth/cancel modelProvider/list modelProvider/config/write
    modelProvider/capabilities/read experimentalFeature/list permissionProfile/list
    experimentalFeature/enablement/set remoteControl/enable remoteControl/disable remoteControl/status/read
    remoteControl/pairing/start remoteControl/pairing/status remoteControl/client/list remoteControl/client/revoke
    collaborationMode/list mock/experimentalMethod environment/add environment/info environment/status
    mcpServer/oauth/login config/mcpServer/reload mcpServerStatus/list mcpServer/resource/read
    mcpServer/event/stream/start mcpServer/event/stream/stop mcpServer/tool/call windowsSandbox/setupStart
    windowsSandbox/readiness account/login/start account/bedrock/discover account/bedrock/setup account/gcp/setup
    account/bedrock/checkGovCloudRequirements account/login/cancel accountSession/list accountSession/switch
    account/logout account/securitySetup/read account/rateLimits/read account/rateLimitResetCredit/consume
    account/usage/read account/workspaceMessages/read account/sendAddCreditsNudgeEmail feedback/upload feedback/save
    command/exec command/exec/write command/exec/terminate command/exec/resize process/spawn process/writeStdin
    process/kill process/resizePty config/read externalAgentConfig/detect externalAgentConfig/import
    externalAgentConfig/import/recordHistory externalAgentConfig/import/readHistories config/value/write
    config/batchWrite configRequirements/read account/read getConversationSummary gitDiffToRemote getAuthStatus
    fuzzyFileSearch fuzzyFileSearch/sessionStart fuzzyFileSearch/sessionUpdate fuzzyFileSearch/sessionStop
"""

V0_169 = Version(
    number="0.169.0",
    methods=tuple(_METHODS_0_169.split()),
    gated=frozenset({"mock/experimentalMethod", "collaborationMode/list", "thread/sample", "thread/sample/cancel"}),
    gated_fields={
        "thread/start": (
            "dynamicTools",
            "environments",
            "experimentalRawEvents",
            "historyMode",
            "mockExperimentalField",
            "permissions",
            "projectId",
            "runtimeWorkspaceRoots",
        ),
        "thread/resume": ("history", "initialTurnsPage", "path"),
        "turn/start": (
            "additionalContext",
            "collaborationMode",
            "environments",
            "permissions",
            "responsesapiClientMetadata",
        ),
    },
    params=FIELDS,
    opt_out=True,
    max_input_chars=1_048_576,
    remote_images=False,
    forms={},
    emitted_at=True,
    double=False,
    counts_first=False,
    summaries=True,
    context_window=258_400,
    citations=True,
    counted_turns=False,
    checks_turn_id=True,
    steers=True,
    answers_nothing=True,
    causes=CAUSES,
    incomplete=INCOMPLETE,
    bad_config="failed to load configuration",
)

_METHODS_0_89 = """
    initialize thread/start thread/resume thread/fork thread/archive thread/rollback thread/list thread/loaded/list
    thread/read skills/list skills/config/write turn/start turn/interrupt review/start model/list
    collaborationMode/list mcpServer/oauth/login config/mcpServer/reload mcpServerStatus/list account/login/start
    account/login/cancel account/logout account/rateLimits/read feedback/upload command/exec config/read
    config/value/write config/batchWrite configRequirements/read account/read newConversation getConversationSummary
    listConversations resumeConversation forkConversation archiveConversation sendUserMessage sendUserTurn
    interruptConversation addConversationListener removeConversationListener gitDiffToRemote loginApiKey loginChatGpt
    cancelLoginChatGpt logoutChatGpt getAuthStatus getUserSavedConfig setDefaultModel getUserAgent userInfo
    fuzzyFileSearch execOneOffCommand
"""
_THREAD_0_89 = ("thread", "model", "modelProvider", "cwd", "approvalPolicy", "sandbox", "reasoningEffort")
_COUNTS_0_89 = ("totalTokens", "inputTokens", "cachedInputTokens", "outputTokens", "reasoningOutputTokens")

V0_89 = Version(
    number="0.89.0",
    methods=tuple(_METHODS_0_89.split()),
    params=OLDER_FIELDS,
    gated_fields={},
    opt_out=False,
    max_input_chars=None,
    remote_images=True,
    ignored=frozenset({"ephemeral", "dynamicTools", "environments"}),
    forms={
        "initialize": ("userAgent",),
        "thread/start": _THREAD_0_89,
        "thread/resume": _THREAD_0_89,
        "thread/list": ("data", "nextCursor"),
        "account/read": ("account", "requiresOpenaiAuth"),
        ".thread": (
            "id",
            "preview",
            "modelProvider",
            "createdAt",
            "updatedAt",
            "path",
            "cwd",
            "cliVersion",
            "source",
            "gitInfo",
            "turns",
        ),
        ".sandbox/readOnly": ("type",),
        ".sandbox": (),
        ".turn": ("id", "items", "status", "error"),
        ".error": ("message", "codexErrorInfo", "additionalDetails"),
        "item/started": ("item", "threadId", "turnId"),
        "item/completed": ("item", "threadId", "turnId"),
        ".item/userMessage": ("type", "id", "content"),
        ".item/agentMessage": ("type", "id", "text"),
        ".item/reasoning": ("type", "id", "summary", "content"),
        ".item/message": ("type", "role", "content"),
        ".item/function_call": ("type", "name", "arguments", "call_id"),
        ".item/function_call_output": ("type", "call_id", "output"),
        ".item": (),
        ".msg": (),
        ".content/output_text": ("type", "text"),
        ".content/image": ("type", "url"),
        ".content": (),
        ".tokenUsage": ("total", "last", "modelContextWindow"),
        ".total": _COUNTS_0_89,
        ".last": _COUNTS_0_89,
        ".rateLimits": ("primary", "secondary", "credits", "planType"),
        "model/list": ("data", "nextCursor"),
        ".data": (
            "id",
            "model",
            "displayName",
            "description",
            "supportedReasoningEfforts",
            "defaultReasoningEffort",
            "isDefault",
        ),
    },
    unsent=frozenset(
        {
            "remoteControl/status/changed",
            "thread/status/changed",
            "thread/readState/changed",
            "thread/settings/updated",
            "thread/archived",
            "rawResponse/completed",
        }
    ),
    emitted_at=False,
    double=True,
    counts_first=True,
    summaries=False,
    context_window=None,
    citations=False,
    counted_turns=True,
    checks_turn_id=False,
    steers=False,
    answers_nothing=False,
    causes=CAUSES_0_89,
    incomplete=INCOMPLETE_0_89,
    bad_config="error deriving config",
)

VERSIONS: Mapping[str, Version] = {version.number: version for version in (V0_89, V0_169)}
NEWEST = V0_169
