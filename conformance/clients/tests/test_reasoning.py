"""What real clients make of a script's reasoning: each program (`../reasoning_*`) goes all its client's ways to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clients import gone, serving

PROGRAMS = {"reasoning_ai_sdk.mjs": 4, "reasoning_openai_node.mjs": 2}
"""Program → how many ways it goes."""
SCRIPT = """
- name: thought
  when: aloud
  parts: [[{think: {text: "Hm, so.", pieces: ["Hm, ", so.], in_chat: true}}, {say: [Forty, " two."]}]]
"""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: Path(program).stem)
def test_a_client_has_the_reasoning_beside_the_text(program: str, tmp_path: Path) -> None:
    file = tmp_path / "scripts.yaml"
    file.write_text(SCRIPT, encoding="utf-8")
    with serving("--scripts", str(file)) as url:
        results = gone(program, url)
    right = {"text": "Forty two.", "reasoning": "Hm, so."}
    assert {way: result for way, result in results.items() if result != right} == {}
    assert len(results) == PROGRAMS[program]
