"""What is switched off in `codex app-server`, so that it is a model and nothing else. Pure.

A client of the proxy has tools of its own, and no user there approves commands. So the shell, patches, search, plans,
agents and questions to the user are taken away as far as the version allows: what stays of them (`update_plan`,
`view_image` and MCP resources in old versions, `apply_patch` with some models) runs in a read-only sandbox and may ask
for nothing. Nor does the model see the folder, the skills or the project documents of the machine that it runs on.

A version ignores keys that it does not know. MCP servers stay on: the user has configured them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

QUIET = (
    "features.plugins=false",  # 0.169.0 else runs `git ls-remote` at its start
    "features.apps=false",
    "features.remote_models=false",
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
)
"""Nothing on the network but the model: 0.89.0 else waits three seconds for a list of models in each thread."""

TOOLLESS = (
    "features.shell_tool=false",
    "features.view_image=false",  # `tools.view_image` has no effect in 0.169.0
    "features.image_generation=false",
    "features.goals=false",  # else get_goal, create_goal and update_goal
    "features.multi_agent=false",  # before 0.150; from then on see THREAD
    "features.shell_snapshot=false",
    'web_search="disabled"',
    "tools.experimental_request_user_input.enabled=false",
)

NO_MACHINE_CONTEXT = (
    "skills.include_instructions=false",
    "include_permissions_instructions=false",
    "include_environment_context=false",
    "project_doc_max_bytes=0",  # AGENTS.md
)

FAST = ("features.unbounded_connection_retries=false",)
"""A model that cannot be reached is reported at once; else Codex retries without end and reports nothing."""

ARGUMENTS: tuple[str, ...] = tuple(
    argument for override in (*QUIET, *TOOLLESS, *NO_MACHINE_CONTEXT, *FAST) for argument in ("-c", override)
)
"""What follows `app-server` on the command line."""

THREAD: Mapping[tuple[int, int], Mapping[str, Any]] = {(0, 150): {"agents.enabled": False}}
"""What a thread is given from a version on: those before take the key for the name of an agent, and fail."""


def thread_config(version: tuple[int, int]) -> Mapping[str, Any]:
    """The `config` of thread/start for this version."""
    return {key: value for since, config in THREAD.items() if version >= since for key, value in config.items()}
