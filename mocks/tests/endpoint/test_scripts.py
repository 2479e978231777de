"""Where an endpoint's scripts come from: files that are looked at now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_endpoint.scripts import LONGEST, SPARED, now_and_then, scripts_of
from wireproof_scripts.files.errors import ScriptError

if TYPE_CHECKING:
    from pathlib import Path


class Looks:
    """Counts the looks, on a clock on which each takes some seconds."""

    def __init__(self, takes: float) -> None:
        self.now = 100.0
        self.count = 0
        self._takes = takes

    def look(self) -> dict[str, object]:
        self.count += 1
        self.now += self._takes
        return {"looked": self.count}


def test_files_are_not_looked_at_again_until_many_times_as_long_has_passed() -> None:
    looks = Looks(0.0005)
    scripts = now_and_then(looks.look, lambda: looks.now)  # type: ignore[arg-type]
    first = scripts()
    looks.now += 0.0005 * SPARED * 0.9
    assert scripts() is first
    looks.now += 0.0005 * SPARED * 0.2
    assert scripts() is not first
    assert looks.count == 2


def test_files_that_take_long_are_looked_at_again_soon_all_the_same() -> None:
    looks = Looks(3.0)
    scripts = now_and_then(looks.look, lambda: looks.now)  # type: ignore[arg-type]
    scripts()
    looks.now += LONGEST * 1.01
    scripts()
    assert looks.count == 2


def test_a_change_of_a_file_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "scripts.json"
    path.write_text('[{"name": "one", "parts": [[{"say": ["a"]}]]}]')
    scripts = scripts_of(path)
    before = scripts()
    assert not isinstance(before, ScriptError)
    assert "one" in before
    path.write_text("broken")
    while not isinstance(found := scripts(), ScriptError):
        pass
    assert "no JSON" in str(found)
