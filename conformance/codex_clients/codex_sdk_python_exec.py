"""codex-sdk-python: its client of `codex exec`, which starts one for every turn."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

from codex_sdk import Codex, CodexOptions, ThreadOptions, TurnOptions  # type: ignore[import-untyped]
from codex_sdk.exceptions import CodexError  # type: ignore[import-untyped]
from play import SCHEMA, Asked, Turn, main


async def play(asked: Asked) -> Turn:
    """One turn on a thread of its own."""
    turn = Turn()
    codex = Codex(CodexOptions(codex_path_override=asked.codex))
    thread = codex.start_thread(ThreadOptions(skip_git_repo_check=True))
    try:
        result = await thread.run(asked.prompt, TurnOptions(output_schema=SCHEMA) if asked.structured else None)
    except CodexError as error:
        turn.end, turn.error = "failed", str(error)
        return turn
    turn.text, turn.pieces, turn.end = result.final_response, [result.final_response], "completed"
    turn.ran = [item.command for item in result.items if item.type == "command_execution"]
    turn.usage = [result.usage.input_tokens, result.usage.output_tokens]
    return turn


if __name__ == "__main__":
    main(play)
