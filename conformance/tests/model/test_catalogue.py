from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.catalogue import CatalogueError, UnknownRequirementError, load, measured_lines, read
from wireproof.model.dialect import CHATS, Dialect
from wireproof.model.requirement import Citation, Harm, Level, Requirement
from wireproof.model.rows import ID, schema
from wireproof.model.scenario import Mode
from wireproof.reading.schemas import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = Path(__file__).parents[1] / "sources"
ROWS = load().requirements
CITED = [pytest.param(cited, id=f"{row.id}-{cited.seed}-{cited.line}") for row in ROWS for cited in row.source]
EXCLUDED = [pytest.param(one.source, id=f"excluded-{one.source.seed}-{one.source.line}") for one in load().excluded]
CLIENTS = {
    "openai-python",
    "openai-python .stream",
    "the loop of OpenAI's function-calling guide",
    "langchain-openai",
    "pydantic-ai",
    "openai-agents",
    "litellm",
    "instructor",
    "llm",
    "openai-node",
    "openai-node .stream",
    "openai-node runTools",
    "@ai-sdk/openai",
    "@ai-sdk/openai-compatible",
    "@langchain/openai",
    "Obsidian Copilot",
    "Obsidian Copilot 3.0 to 3.1.5",
    "opencode",
    "codex",
    "anthropic",
    "@anthropic-ai/sdk",
    "@ai-sdk/anthropic",
    "langchain-anthropic",
    "Claude Code",
}
RIGHT: dict[str, Any] = {
    "level": "MUST",
    "text": "A proxy answers.",
    "hint": "Answer.",
    "dialects": ["openai-json"],
    "harm": "error",
    "compat": False,
    "source": [{"seed": "004", "line": 1, "quote": "Story"}],
}
INDEX = 'date = "2026-11-21"\nseeds = { "004" = "A story" }\nfiles = ["http"]\n'
WRONG = [
    ("level", "MAY", "one of MUST, SHOULD"),
    ("text", "No full stop", "one sentence"),
    ("hint", " ", "what to do"),
    ("modes", [], "a list of stream, whole"),
    ("modes", ["stream", "stream"], "a list of stream, whole"),
    ("modes", ["loud"], "a list of stream, whole"),
    ("modes", "stream", "a list of stream, whole"),
    ("dialects", ["openly"], 'one of "all", "openai", "chat", or a list of openai-json'),
    ("dialects", "openly", 'one of "all", "openai", "chat", or a list of openai-json'),
    ("dialects", [], 'one of "all", "openai", "chat", or a list of openai-json'),
    ("dialects", ["chat"], 'one of "all", "openai", "chat", or a list of openai-json'),
    ("judged", "yes", "one of always, calls, exercised"),
    ("stage", "shape", "one of target, error, form, content"),
    ("invariant", "yes", "true or false"),
    ("spoils", ["words"], "parts of an answer that are lost"),
    ("spoils", "text", "parts of an answer that are lost"),
    ("needs", ["words"], "parts of an answer that are there where it is judged"),
    ("harmless", True, "unknown field 'harmless'"),
    ("on_failure", 1, "true or false"),
    ("arguments", "both", "one of incremental, cumulative"),
    ("facets", ["words"], "a list of events, text"),
    ("alike", [], "true or false"),
    ("at_crash", "", "true or false"),
    ("harm", "much", "one of calls, text, hang, error, form"),
    ("compat", "yes", "true or false"),
    ("compat", True, "compat is true without a reason"),
    ("compat_why", "No full stop", "one sentence"),
    ("compat_why", "A reason for nothing.", "compat_why gives a reason for compat, and compat is not true"),
    ("breaks", ["openai-node: exception"], "breaks gives a reason for compat, and compat is not true"),
    ("breaks", ["openai-node"], "client: effect"),
    ("breaks", [7], "client: effect"),
    ("source", [], "at least one"),
    ("source", ["004:1"], "at least one"),
    ("source", [{"seed": "004", "line": 0, "quote": "x"}], "counted from 1"),
    ("source", [{"seed": "004", "line": True, "quote": "x"}], "counted from 1"),
    ("source", [{"seed": "004", "line": 1, "quote": ""}], "words that stand"),
    ("source", [{"seed": "004", "line": 1}], "quote is missing"),
    ("source", [{"seed": "004", "line": 1, "quote": "x", "page": 2}], "unknown field 'page'"),
]


def toml(value: Any) -> str:
    """A JSON value as TOML: inline tables differ from JSON objects in the sign after the key."""
    match value:
        case dict():
            return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case _:
            return json.dumps(value)


def row(**changes: Any) -> str:
    fields = {**RIGHT, **changes}
    return "\n".join(["[http.auth.missing]", *(f"{key} = {toml(value)}" for key, value in fields.items())])


def folder(tmp_path: Path, **contents: str) -> Path:
    for stem, text in {"catalogue": INDEX, "http": row(), "excluded": "", **contents}.items():
        (tmp_path / f"{stem}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def raw_rows() -> Iterator[Any]:
    """Each row as its TOML says it, with what was measured: found by a way of its own, a table with a text."""
    package = Path(__file__).parents[2] / "wireproof" / "requirements"
    measured = measured_lines(tomllib.loads((package / "measured.toml").read_text(encoding="utf-8")))
    pending = [
        ("", tomllib.loads((package / f"{stem}.toml").read_text(encoding="utf-8"))) for stem in load_index(package)
    ]
    while pending:
        name, table = pending.pop()
        if isinstance(table.get("text"), str):
            lines = [*measured.get(name, []), *table.get("breaks", [])]
            yield table | ({"breaks": lines} if lines else {})
        else:
            pending += [(f"{name}.{key}".lstrip("."), one) for key, one in table.items() if isinstance(one, dict)]


def load_index(package: Path) -> list[str]:
    files: list[str] = tomllib.loads((package / "catalogue.toml").read_text(encoding="utf-8"))["files"]
    return files


@pytest.mark.each("cited", [*CITED, *EXCLUDED])
def test_every_quote_stands_at_its_line(cited: Citation) -> None:
    (file,) = SOURCES.glob(f"{cited.seed}.*")
    lines = file.read_text(encoding="utf-8").split("\n")
    assert cited.quote in lines[cited.line - 1]


@pytest.mark.each("one", ROWS, ids=lambda one: one.id)
def test_every_row_says_what_it_must(one: Any) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(\.[a-z0-9-]+)+", one.id)
    assert not re.search(r"[.!?]\s+[A-Z]", one.text), "one sentence"
    assert one.text[0].isupper()
    assert one.hint.endswith(".")


def test_ids_are_unique_and_stand_in_the_order_of_the_files() -> None:
    ids = [one.id for one in ROWS]
    assert len(ids) == len(set(ids))
    assert ids[0] == "target.alive"
    surfaces = [one.rsplit(".", 1)[0].split(".")[0:2] for one in ids]
    assert surfaces.index(["chat", "whole"]) < surfaces.index(["chat", "stream"])
    assert ids[-1].startswith("client.")
    assert list(load().by_id) == ids


def test_whole_rows_are_of_whole_answers_and_stream_rows_of_streams() -> None:
    modes = {
        "chat.whole.": (Mode.WHOLE,),
        "chat.stream.": (Mode.STREAM,),
        "target.": tuple(Mode),
        "http.": tuple(Mode),
        "param.": tuple(Mode),
        "turn.": tuple(Mode),
        "agent.": tuple(Mode),
        "xml.": tuple(Mode),
        "mode.": tuple(Mode),
        "textual.": tuple(Mode),
        "shapes.": tuple(Mode),
        "responses.whole.": (Mode.WHOLE,),
        "responses.stream.": (Mode.STREAM,),
        "responses.": tuple(Mode),
        "messages.whole.": (Mode.WHOLE,),
        "messages.stream.": (Mode.STREAM,),
        "messages.": tuple(Mode),
        "client.": tuple(Mode),
    }
    # A whole answer with a call has no text to keep; a refusal is no stream; what a proxy runs by itself is its own
    # affair, however it answers. Half a whole answer is no JSON, and nobody leaves in its midst.
    odd = {
        "textual.prefix-kept": (Mode.STREAM,),
        "mode.invalid": (Mode.WHOLE,),
        "agent.scratch-only": (Mode.WHOLE,),
        # A stream is compared with the whole answer of its own surface.
        "turn.surface-parity": (Mode.WHOLE,),
        "client.cut-is-no-answer": (Mode.STREAM,),
        "client.closes": (Mode.STREAM,),
    }
    for one in ROWS:
        wanted = next(wanted for prefix, wanted in modes.items() if one.id.startswith(prefix))
        assert one.modes == odd.get(one.id, wanted), one.id


def test_rows_of_blocks_are_of_the_dialect_that_has_them() -> None:
    blocks = [one for one in ROWS if one.id.startswith(("xml.", "chat.stream.xml-"))]
    assert blocks
    assert {one.dialects for one in blocks} == {(Dialect.OBSIDIAN_XML,)}


def test_breaks_name_only_clients_that_were_measured_and_each_effect_once() -> None:
    for one in ROWS:
        seen = set()
        for line in one.breaks:
            clients, effect = line.split(": ", 1)
            for client in clients.split(", "):
                assert client in CLIENTS, one.id
                assert (client, effect) not in seen, one.id
                seen.add((client, effect))


@pytest.mark.parametrize("level", Level)
def test_a_must_says_how_it_harms_and_a_should_may(tmp_path: Path, level: Level) -> None:
    for key in ("harm", "compat"):
        less = {name: value for name, value in {**RIGHT, "level": level.value}.items() if name != key}
        text = "\n".join(["[http.auth.missing]", *(f"{name} = {toml(value)}" for name, value in less.items())])
        refused = [] if level is Level.SHOULD else [f"the body: {key} is missing"]
        assert errors("wireproof/requirement", less) == refused
        if refused:
            with pytest.raises(
                CatalogueError, match=rf"missing: {key} is missing; it must be .* \(every MUST says it\)"
            ):
                read(folder(tmp_path, http=text))
        else:
            assert read(folder(tmp_path, http=text)).requirements[0].level is Level.SHOULD


@pytest.mark.parametrize(
    "reason", [{"breaks": ["codex: exception"]}, {"compat_why": "A call is lost."}], ids=["measured", "reasoned"]
)
def test_a_mark_of_compat_has_a_reason(tmp_path: Path, reason: dict[str, Any]) -> None:
    (found,) = read(folder(tmp_path, http=row(compat=True, **reason))).requirements
    assert found.compat
    assert errors("wireproof/requirement", {**RIGHT, "compat": True, **reason}) == []


def test_every_row_of_the_catalogue_says_its_mark_and_harm() -> None:
    assert [table["text"] for table in raw_rows() if not {"compat", "harm"} <= table.keys()] == []


def test_what_harms_no_client_is_listed_as_form_or_as_an_error() -> None:
    assert {one.harm for one in ROWS if not one.compat} == {Harm.FORM, Harm.ERROR}


def test_no_sentence_is_both_required_and_excluded() -> None:
    cited = {source.quote for one in ROWS for source in one.source}
    assert not cited & {one.source.quote for one in load().excluded}


def test_every_row_and_exclusion_fits_the_published_schema() -> None:
    tables = list(raw_rows())
    assert len(tables) == len(ROWS)
    assert [problem for table in tables for problem in errors("wireproof/requirement", table)] == []


def test_the_catalogue_is_read_once() -> None:
    assert load() is load()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", load().date)


def test_a_row_is_found_by_its_id() -> None:
    assert load().find("chat.stream.keepalive").level is Level.SHOULD
    assert load().find("chat.stream.role-first").level is Level.MUST


def test_an_unknown_id_gets_the_close_ones() -> None:
    with pytest.raises(
        UnknownRequirementError, match=r"'chat.stream.rolefirst'; did you mean chat\.stream\.role-first"
    ):
        load().find("chat.stream.rolefirst")


def test_an_unknown_id_that_is_close_to_nothing_gets_no_advice() -> None:
    with pytest.raises(UnknownRequirementError, match=r"^no requirement 'zzz'$"):
        load().find("zzz")


def test_a_right_folder_is_read(tmp_path: Path) -> None:
    entry = 'seed = "004"\nline = 1\nquote = "Story"\nreason = "Logs."\n'
    catalogue = read(folder(tmp_path, excluded=f"[[excluded]]\n{entry}"))
    assert catalogue.find("http.auth.missing").modes == (Mode.STREAM, Mode.WHOLE)
    assert catalogue.find("http.auth.missing").source == (Citation(seed="004", line=1, quote="Story"),)
    assert [one.reason for one in catalogue.excluded] == ["Logs."]


@pytest.mark.parametrize(("field", "value", "rule"), WRONG, ids=[f"{field}-{value!r:.40}" for field, value, _ in WRONG])
def test_a_wrong_field_is_refused_with_file_id_and_rule(tmp_path: Path, field: str, value: Any, rule: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        read(folder(tmp_path, http=row(**{field: value})))
    assert str(caught.value).startswith("http.toml: http.auth.missing: ")
    assert rule in str(caught.value)


@pytest.mark.parametrize(("field", "value", "rule"), WRONG, ids=[f"{field}-{value!r:.40}" for field, value, _ in WRONG])
def test_the_schema_refuses_what_the_loader_refuses(field: str, value: Any, rule: str) -> None:
    assert rule
    assert errors("wireproof/requirement", {**RIGHT, field: value}) != []


@pytest.mark.parametrize("field", RIGHT)
def test_loader_and_schema_want_every_field(tmp_path: Path, field: str) -> None:
    less = {key: value for key, value in RIGHT.items() if key != field}
    text = "\n".join(["[http.auth.missing]", *(f"{key} = {toml(value)}" for key, value in less.items())])
    with pytest.raises(CatalogueError, match=rf"^http\.toml: http\.auth\.missing: {field} is missing; it must be \S"):
        read(folder(tmp_path, http=text))
    assert errors("wireproof/requirement", less) == [f"the body: {field} is missing"]


BROKEN_FOLDERS = {
    "an unknown field gets the close one": ({"http": row(hints="x")}, "unknown field 'hints'; did you mean hint?"),
    "an unknown field far from all": ({"http": row(zzz="x")}, "http.toml: http.auth.missing: unknown field 'zzz'"),
    "a capital in an id": ({"http": row().replace("auth", "Auth")}, "http.toml: http.Auth.missing: an id is"),
    "an id of one word": ({"http": row().replace("http.auth.missing", "http")}, "http.toml: http: an id is"),
    "a field outside a row": ({"http": "level = 1"}, "http.toml: level: stands outside a row"),
    "an empty row": ({"http": "[http.auth.missing]"}, "http.toml: http.auth.missing: level is missing"),
    "no TOML": ({"http": "[["}, "http.toml: not TOML: "),
    "the same id twice": (
        {"catalogue": INDEX.replace('"http"', '"http", "more"'), "more": row()},
        "more.toml: http.auth.missing: an earlier file has this id",
    ),
    "a file that is not there": (
        {"catalogue": INDEX.replace('"http"', '"http", "gone"')},
        "gone.toml: there is no such file",
    ),
    "a file that is not listed": ({"stray": row()}, "stray.toml: catalogue.toml does not list it"),
    "a date that is none": ({"catalogue": INDEX.replace("2026-11-21", "2026-13-01")}, "catalogue.toml: date is"),
    "no date": ({"catalogue": 'files = ["http"]'}, "catalogue.toml: date is missing"),
    "a text that is not listed": (
        {"http": row(source=[{"seed": "005", "line": 1, "quote": "x"}])},
        "http.toml: http.auth.missing: source: seed is '005'; it must be one of 004",
    ),
    "an exclusion from a text that is not listed": (
        {"excluded": '[[excluded]]\nseed = "005"\nline = 1\nquote = "x"\nreason = "Logs."\n'},
        "excluded.toml: entry 1: seed is '005'; it must be one of 004",
    ),
    "an exclusion without a reason": (
        {"excluded": '[[excluded]]\nseed = "004"\nline = 1\nquote = "Story"\n'},
        "excluded.toml: entry 1: reason is missing",
    ),
}


@pytest.mark.parametrize(("contents", "message"), BROKEN_FOLDERS.values(), ids=BROKEN_FOLDERS)
def test_a_broken_folder_is_refused_with_the_place(tmp_path: Path, contents: dict[str, str], message: str) -> None:
    with pytest.raises(CatalogueError, match=re.escape(message)):
        read(folder(tmp_path, **contents))


def test_the_published_schema_is_the_one_of_the_loader() -> None:
    path = Path(__file__).parents[3] / "schemas" / "wireproof" / "requirement.json"
    assert json.loads(path.read_text(encoding="utf-8")) == schema(), "run python tools/generate.py"
    assert schema()["$defs"]["id"]["pattern"] == f"^{ID.pattern}$"


def test_a_row_can_set_every_field_of_a_requirement() -> None:
    fields = {field.name for field in dataclasses.fields(Requirement)}
    assert schema()["properties"].keys() == fields - {"id"}
    needed = {field.name for field in dataclasses.fields(Requirement) if field.default is dataclasses.MISSING}
    assert set(schema()["required"]) == needed - {"id"} | {"dialects"}


def test_what_a_row_does_not_set_has_the_default(tmp_path: Path) -> None:
    (found,) = read(folder(tmp_path)).requirements
    assert found == Requirement(
        id="http.auth.missing", level=Level.MUST, text="A proxy answers.", hint="Answer.", harm=Harm.ERROR,
        dialects=(Dialect.OPENAI_JSON,), source=(Citation(seed="004", line=1, quote="Story"),),
    )  # fmt: skip


@pytest.mark.parametrize(("said", "wanted"), [("all", tuple(Dialect)), ("chat", CHATS)])
def test_a_group_of_dialects_has_a_word(tmp_path: Path, said: str, wanted: tuple[Dialect, ...]) -> None:
    (found,) = read(folder(tmp_path, http=row(dialects=said))).requirements
    assert found.dialects == wanted
    assert errors("wireproof/requirement", {**RIGHT, "dialects": said}) == []


def test_a_row_of_a_group_says_its_word() -> None:
    listed = [table["dialects"] for table in raw_rows() if isinstance(table["dialects"], list)]
    assert not {tuple(Dialect), CHATS} & {tuple(map(Dialect, names)) for names in listed}


def test_a_catalogue_is_extended_by_rows_of_ones_own(tmp_path: Path) -> None:
    mine = read(folder(tmp_path, http=row().replace("http.auth", "my.auth"))).requirements
    extended = load().extended(*mine)
    assert extended.requirements == (*ROWS, *mine)
    assert extended.date == load().date
    with pytest.raises(CatalogueError, match=r"^my\.auth\.missing: the catalogue has this id already"):
        extended.extended(*mine)
