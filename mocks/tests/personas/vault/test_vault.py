from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wireproof_mocks.personas.vault.vault import NotFoundError, NotReadableError, Vault, folded

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "the secret outside"
ATTEMPTS = 300


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    """A vault beside a secret, with links out of it, a pipe, and hidden files."""
    root = tmp_path_factory.mktemp("root")
    (root / "secret.md").write_text(SECRET)
    (root / "out").mkdir()
    (root / "out" / "secret.md").write_text(SECRET)
    folder = root / "vault"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "Note.md").write_text("inside")
    (folder / "a" / "b" / "Deep.md").write_text("inside")
    (folder / "link.md").symlink_to(root / "secret.md")
    (folder / "relative.md").symlink_to("../secret.md")
    (folder / "linked").symlink_to(root / "out")
    (folder / "a" / "up").symlink_to("../..")
    (folder / "loop").symlink_to("loop")
    (folder / ".hidden.md").write_text("hidden " + SECRET)
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "secret.md").write_text(SECRET)
    os.mkfifo(folder / "pipe.md")
    return Vault(folder=folder)


def test_a_file_is_read(vault: Vault) -> None:
    assert vault.read("Note.md") == "inside"
    assert vault.read("a/b/Deep.md") == "inside"


def test_notes_are_listed_by_path_without_links_pipes_and_hidden_ones(vault: Vault) -> None:
    assert [note.path for note in vault.notes()] == ["Note.md", "a/b/Deep.md"]
    assert [note.basename for note in vault.notes()] == ["Note", "Deep"]


STEPS = st.sampled_from([
    "..", ".", "", "a", "b", "link.md", "relative.md", "linked", "up", "loop", "secret.md", "vault", "out", "Note.md",
    ".obsidian", ".hidden.md", "pipe.md", "~", "%2e%2e", "..%2f", "%2e%2e%2fsecret.md", "..\\", "..\\secret.md", "..;",
    "\uff0e\uff0e", "\u2025", "..\u200b", "\u202e..", "\u0301..", "..\u0000", "\ud800", "CON", "NUL", "nul.md", "COM1",
    "dev", "null", "stdin", "proc", "self", "root", "etc", "passwd", "C:", "\\\\?\\C:", "file:", "x" * 300,
])  # fmt: skip
HEADS = st.sampled_from(
    ["", "/", "//", "./", "../", "../../", "/dev/", "/proc/self/root/", "file:///", "~/", "C:/", "\\"]
)


@st.composite
def escapes(draw: st.DrawFn) -> str:
    """A path that tries to leave a vault, or just any."""
    steps = draw(st.lists(st.one_of(STEPS, st.text(max_size=8)), min_size=1, max_size=6))
    return draw(HEADS) + draw(st.sampled_from(["/", "//", "\\", "/./", "/../"])).join(steps)


@settings(max_examples=ATTEMPTS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=escapes())
def test_no_path_leads_out_of_the_vault(vault: Vault, path: str) -> None:
    try:
        text = vault.read(path)
    except (NotFoundError, NotReadableError):
        return
    assert text == "inside"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md", "a/../../secret.md", "link.md", "relative.md", "linked/secret.md", "a/up/secret.md", "loop",
        ".hidden.md", ".obsidian/secret.md", "pipe.md", "a", "", "/", ".", "..", "./Note.md", "Note.md/",
        "a//b/Deep.md",
        "Note.md/x", "/dev/null", "/etc/passwd", "%2e%2e/secret.md", "Note.md\0", "\ud800.md", "x" * 300, "x/" * 3000,
        "CON", "missing.md",
    ],
)  # fmt: skip
def test_what_is_no_file_of_the_vault_is_not_found(vault: Vault, path: str) -> None:
    with pytest.raises(NotFoundError):
        vault.read(path)


def test_an_absolute_path_of_the_vault_itself_is_not_found(vault: Vault) -> None:
    with pytest.raises(NotFoundError):
        vault.read(str(vault.folder / "Note.md"))


def test_a_file_that_is_not_utf8_says_where(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes("Grüße".encode("latin-1"))
    vault = Vault(folder=tmp_path)
    with pytest.raises(NotReadableError, match="not UTF-8 text, see byte 2"):
        vault.read("latin.md")
    assert [(note.path, note.text) for note in vault.notes()] == [("latin.md", None)]


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "note.md").write_text("x")

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(NotReadableError, match="permission denied"):
        Vault(folder=tmp_path).read("note.md")


def test_a_folder_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "vault", tmp_path / "outside"
    (folder / "a").mkdir(parents=True)
    outside.mkdir()
    (outside / "n.md").write_text(SECRET)
    (folder / "a" / "n.md").write_text("inside")
    vault = Vault(folder=folder)
    assert [note.text for note in vault.notes()] == ["inside"]
    shutil.rmtree(folder / "a")
    (folder / "a").symlink_to(outside)
    with pytest.raises(NotFoundError):
        vault.read("a/n.md")
    assert list(vault.notes()) == []


def test_only_what_has_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.md").write_text(name)
    vault = Vault(folder=tmp_path)
    assert len(list(vault.notes())) == 3
    read: list[str] = []
    really = Vault.read

    def noted(vault: Vault, path: str) -> str:
        read.append(path)
        return really(vault, path)

    monkeypatch.setattr(Vault, "read", noted)
    list(vault.notes())
    assert read == []
    (tmp_path / "two.md").write_text("two, and more")
    (tmp_path / "three.md").unlink()
    (tmp_path / "four.md").write_text("four")
    assert {note.path: note.text for note in vault.notes()} == {
        "four.md": "four", "one.md": "one", "two.md": "two, and more"
    }  # fmt: skip
    assert read == ["four.md", "two.md"]


def test_a_name_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    assert list(Vault(folder=tmp_path).notes()) == []


@given(st.text())
def test_folding_keeps_every_character_in_its_place(text: str) -> None:
    assert len(folded(text)) == len(text)


@pytest.mark.parametrize(("text", "low"), [("ABC Ä", "abc ä"), ("İx", "İx"), ("STRASSE", "strasse")])
def test_folding_makes_letters_small(text: str, low: str) -> None:
    assert folded(text) == low
