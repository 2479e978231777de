"""SDKs of `codex app-server` and `codex exec` that others wrote work on the mock unchanged: a text, a tool, a failure …

Each knows nothing but where `codex` is: a program of that name, which starts `wireproof-codex`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sdks import HERE, OLDEST, SDKS, Printed, Sdk, installed

from wireproof.targets.launch import executable

AT_ONCE = 4
"""So many client programs run side by side."""

PIECES = ["Grüße", " — 日本語", " 😀", "\nend"]
CASES = [(sdk, version) for sdk in SDKS for version in sdk.versions]
Played = Callable[[Sdk, str], Mapping[str, Printed]]


def each_that_plays(name: str) -> pytest.MarkDecorator:
    """Every SDK that can play it, with every version that it works with."""
    cases = {f"{sdk.name}-{version}": (sdk, version) for sdk, version in CASES if name in sdk.plays}
    return pytest.mark.parametrize(("sdk", "version"), cases.values(), ids=cases.keys())


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """What became of everything that an SDK plays with a version of codex; all of them play once, several at a time."""
    installed()
    bins = tmp_path_factory.mktemp("bin")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        playing = {case: pool.submit(case[0].play, _codex(bins / case[1], case[1])) for case in CASES}
        yield lambda sdk, version: playing[sdk, version].result()


def _codex(folder: Path, version: str) -> Path:
    """An executable `codex` of this version. It takes nothing from its environment: some clients do not pass it on."""
    folder.mkdir(exist_ok=True)
    codex, mock = folder / "codex", Path(executable("wireproof-codex")).resolve()
    codex.write_text(f'#!/bin/sh\nexec "{mock}" --scripts "{HERE}/scripts.yaml" --codex-version {version} "$@"\n')
    codex.chmod(0o755)
    return codex


@each_that_plays("text")
def test_a_text_comes_whole_and_in_its_pieces(sdk: Sdk, version: str, played: Played) -> None:
    printed = played(sdk, version)["text"]
    pieces = PIECES if sdk.streams else ["".join(PIECES)]
    assert (printed["text"], printed["pieces"], printed["end"]) == ("".join(PIECES), pieces, "completed")
    assert printed["error"] is None
    assert not sdk.counts or printed["usage"] == [11, 7]


@each_that_plays("tool")
def test_a_tool_is_run_where_the_version_has_tools_and_the_turn_goes_on(sdk: Sdk, version: str, played: Played) -> None:
    printed = played(sdk, version)["tool"]
    assert printed["ran"] == ([] if version == OLDEST else [{"city": "Zürich"}])
    assert (printed["text"], printed["end"]) == ("It is sunny.", "completed")
    assert printed["usage"] == [50, 7]


@each_that_plays("interrupt")
def test_a_turn_is_interrupted_after_its_first_words(sdk: Sdk, version: str, played: Played) -> None:
    printed = played(sdk, version)["interrupt"]
    assert printed["end"] == "interrupted"
    assert printed["pieces"][0] == "Wait"


@each_that_plays("failure")
def test_a_turn_that_fails_is_reported_as_one(sdk: Sdk, version: str, played: Played) -> None:
    printed = played(sdk, version)["failure"]
    assert printed["end"] == "failed"
    assert printed["error"] == ("exceeded retry limit, last status: 429 Too Many Requests" if sdk.reasons else None)


@each_that_plays("mistake")
def test_what_is_wrong_with_a_marker_reaches_whoever_wrote_it(sdk: Sdk, version: str, played: Played) -> None:
    printed = played(sdk, version)["mistake"]
    assert printed["end"] == "failed"
    wanted = "The marker asks for the script sdk/txt, which does not exist; did you mean sdk/text"
    assert printed["error"].startswith(wanted)


@each_that_plays("command")
def test_a_command_is_run_and_the_turn_goes_on(sdk: Sdk, version: str, played: Played) -> None:
    printed = played(sdk, version)["command"]
    assert (printed["text"], printed["end"], printed["error"]) == ("It is listed.", "completed", None)
    assert len(printed["ran"]) == sdk.shows_commands
    assert all("ls" in command for command in printed["ran"])
    assert printed["usage"] == [50, 7]


@each_that_plays("structured")
def test_the_answer_matches_the_schema_of_the_client(sdk: Sdk, version: str, played: Played) -> None:
    printed = played(sdk, version)["structured"]
    assert (json.loads(printed["text"]), printed["end"]) == ({"city": "Zürich"}, "completed")
