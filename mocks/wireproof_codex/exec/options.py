"""The command line of `codex exec`, read as codex reads it, refused in its words.

Which options there are depends on the version (`_OPTIONS`, marked as in `versions.marks`). The texts of refusals are
those of clap, the library that codex reads its command line with.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_codex.settings import CodexUsageError, RefusedError
from wireproof_codex.versions.marks import known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_codex.versions.version import Version


_OPTIONS = """
    -c,--config=<key=value> --enable=<FEATURE> --disable=<FEATURE> -i,--image=<FILE> -m,--model=<MODEL> --oss
    --local-provider=<OSS_PROVIDER> -p,--profile=<CONFIG_PROFILE> -s,--sandbox=<SANDBOX_MODE> --full-auto-0.147
    --dangerously-bypass-approvals-and-sandbox --yolo -C,--cd=<DIR> --skip-git-repo-check --add-dir=<DIR>
    --output-schema=<FILE> --color=<COLOR> --json --experimental-json -o,--output-last-message=<FILE> -h,--help
    -V,--version --ephemeral+0.99 --ignore-user-config+0.125 --ignore-rules+0.125
    --dangerously-bypass-hook-trust+0.134 --strict-config+0.134 --approve-for-me+0.147 --worktree+0.169
    --thread-source=<SOURCE>+0.169 --cyber-access-program=<PROGRAM>+0.169 --trust+0.169 --remote=<ADDR>+0.171
    --remote-auth-token-env=<ENV_VAR>+0.171
"""
"""Every option: its names, what its value is called, and the versions that have it."""
_OF_RESUME = "--last --all"
_NOT_AFTER_RESUME = frozenset(
    {"--oss", "--local-provider", "--profile", "--sandbox", "--cd", "--add-dir", "--color", "--version"}
    | {"--approve-for-me"}
)
"""Options that must stand before `resume`."""
_AFTER_RESUME_SINCE = "--output-last-message+0.110 --output-schema+0.134"
_REPEATED = frozenset({"--config", "--enable", "--disable", "--image", "--add-dir"})
_ALIASES = {"--yolo": "--dangerously-bypass-approvals-and-sandbox", "--experimental-json": "--json"}
_VALUES: Mapping[str, tuple[str, ...]] = {
    "--sandbox": ("read-only", "workspace-write", "danger-full-access"),
    "--color": ("always", "never", "auto"),
}
_UNPLAYED = frozenset({"review", "fork", "help"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Resumed:
    """The session to go on with."""

    name: str | None
    """Its id or name; None: the last one, if `last`, else a new one is begun."""
    last: bool
    anywhere: bool
    """The last one of all folders, not only of this one."""


def _misused(text: str) -> RefusedError:
    return RefusedError(text, 2)  # clap's exit status


class ExecOptions:
    """What one run of a version was asked for: `"--json" in options`, `options.one("--model")`.

    Raises:
        RefusedError: codex would refuse it.
        CodexUsageError: a command of `exec` that the mock does not have.
    """

    def __init__(self, arguments: Sequence[str], version: Version) -> None:
        self._number = version.number
        self._whole_usage = version.exec.usage == "whole"
        self._shown: dict[str, str] = {}
        self._names: dict[str, tuple[str, str]] = {}
        for entry in known(_OPTIONS, self._number):
            names, _, value = entry.partition("=")
            full = names.split(",")[-1]
            self._names |= dict.fromkeys(names.split(","), (full, value))
        self._given: defaultdict[str, list[str]] = defaultdict(list)
        self._words: list[str] = []
        self._resumes = False
        self._read(list(arguments))

    def __contains__(self, name: str) -> bool:
        """Whether the option was given, by its full name."""
        return name in self._given

    def one(self, name: str) -> str | None:
        """The value of an option, None if it was not given."""
        return self._given[name][0] if name in self else None

    @property
    def images(self) -> list[str]:
        """Files of images."""
        return self._given.get("--image", [])

    @property
    def overrides(self) -> list[str]:
        """`key=value` of each `-c`, in order, then of the features that are turned on and off."""
        features = {"--enable": "true", "--disable": "false"}
        turned = [f"features.{name}={to}" for option, to in features.items() for name in self._given.get(option, ())]
        return [*self._given.get("--config", ()), *turned]

    @property
    def prompt(self) -> str | None:
        """The argument; `-` and None: it is read from stdin."""
        # `resume --last TEXT` has no id before the text.
        words = self._words if not self._resumes or "--last" in self else self._words[1:]
        return words[0] if words else None

    @property
    def resumed(self) -> Resumed | None:
        """The session to go on with, None for a new one."""
        if not self._resumes:
            return None
        last = "--last" in self
        name = self._words[0] if self._words and not last else None
        return Resumed(name=name, last=last, anywhere="--all" in self)

    # Reading

    def _read(self, rest: list[str]) -> None:
        while rest:
            argument = rest.pop(0)
            if argument == "--":
                for word in rest:
                    self._word(word)
                return
            if argument.startswith("-") and argument != "-":
                self._option(argument, rest)
            elif not self._words and not self._resumes and argument == "resume":
                self._resume()
            elif not self._words and not self._resumes and argument in _UNPLAYED:
                raise CodexUsageError(f"wireproof-codex does not play `exec {argument}`")
            else:
                self._word(argument)

    def _resume(self) -> None:
        self._resumes = True
        self._names |= {name: (name, "") for name in _OF_RESUME.split()}
        later = {entry.partition("+")[0] for entry in _AFTER_RESUME_SINCE.split()}
        missing = _NOT_AFTER_RESUME | (later - set(known(_AFTER_RESUME_SINCE, self._number)))
        self._names = {name: to for name, to in self._names.items() if to[0] not in missing}

    def _word(self, word: str) -> None:
        if len(self._words) == (2 if self._resumes else 1):
            raise self._unexpected(word)
        self._words.append(word)

    def _option(self, argument: str, rest: list[str]) -> None:
        name, value = self._split(argument)
        if name not in self._names:
            raise self._unexpected(name, tip=True)
        full, wants = self._names[name]
        full = _ALIASES.get(full, full)
        if not wants:
            if value is not None:
                raise _misused(
                    f"error: unexpected value '{value}' for '{name}' found; no more were expected\n\n{self._usage}"
                )
            self._note(full, "")
            return
        shown = f"{full} {wants}"
        if value is None and rest and not (rest[0].startswith("-") and rest[0] != "-"):
            value = rest.pop(0)
        if value is None:
            several = "..." if full == "--image" and not self._resumes else ""
            raise _misused(f"error: a value is required for '{shown}{several}' but none was supplied\n\n{_MORE}")
        if value not in _VALUES.get(full, (value,)):
            possible = ", ".join(_VALUES[full])
            raise _misused(f"error: invalid value '{value}' for '{shown}'\n  [possible values: {possible}]\n\n{_MORE}")
        if full == "--image":
            self._take_images(value, rest)
        else:
            self._note(full, value, shown)

    def _split(self, argument: str) -> tuple[str, str | None]:
        """The name of an option and the value that is written to it."""
        if argument.startswith("--"):
            name, equals, value = argument.partition("=")
            return name, value if equals else None
        attached = argument[2:].removeprefix("=")
        return argument[:2], attached or None

    def _take_images(self, value: str, rest: list[str]) -> None:
        # Not after `resume`; before it, `--image a.png "the text"` takes the text for a second image.
        values = [value]
        while rest and not rest[0].startswith("-") and not self._resumes:
            values.append(rest.pop(0))
        self._shown["--image"] = "--image <FILE>..."
        for part in values:
            self._given["--image"] += part.split(",")

    def _note(self, full: str, value: str, shown: str = "") -> None:
        if full in self._given and full not in _REPEATED:
            raise _misused(f"error: the argument '{shown or full}' cannot be used multiple times\n\n{self._usage}")
        self._given[full].append(value)
        self._shown[full] = shown or full

    def _unexpected(self, name: str, *, tip: bool = False) -> RefusedError:
        tipped = f"  tip: to pass '{name}' as a value, use '-- {name}'\n\n" if tip else ""
        usage = self._usage if tip else self._full_usage
        return _misused(f"error: unexpected argument '{name}' found\n\n{tipped}{usage}")

    @property
    def _usage(self) -> str:
        if self._given and not self._resumes and not self._whole_usage:
            used = " ".join(self._shown[name] for name in self._given)
            return f"Usage: codex exec {used} [PROMPT]\n\n{_MORE}"
        return self._full_usage

    @property
    def _full_usage(self) -> str:
        if self._resumes:
            return f"Usage: codex exec resume [OPTIONS] [SESSION_ID] [PROMPT]\n\n{_MORE}"
        (usage,) = known(_USAGES, self._number)
        return _USAGE_LINES[usage] + _MORE


_MORE = "For more information, try '--help'.\n"
_USAGES = "one-0.121 two+0.121"
_USAGE_LINES = {
    "one": "Usage: codex exec [OPTIONS] [PROMPT] [COMMAND]\n\n",
    "two": "Usage: codex exec [OPTIONS] [PROMPT]\n       codex exec [OPTIONS] <COMMAND> [ARGS]\n\n",
}
