"""The grammar of templates: text in which `{user_text}` and `{tool_result}` stand for what was asked.

`{{` and `}}` are braces. Any other brace, and any other name, is a mistake.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from wireproof_scripts.json_text import parse_json
from wireproof_scripts.kinds import END, Kind, is_unicode

PLACEHOLDERS = ("user_text", "tool_result")
_GRAMMAR = rf"([^{{}}]|\{{\{{|\}}\}}|\{{({'|'.join(PLACEHOLDERS)})\}})*"
_TEMPLATE = re.compile(_GRAMMAR)
_PART = re.compile(r"\{\{|\}\}|\{(\w+)\}")


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders replaced, once: what is filled in is not read again."""
    return _PART.sub(lambda found: values[found[1]] if found[1] else found[0][0], text)


def is_template(text: str) -> bool:
    """Whether all braces of a text are doubled, or around a placeholder."""
    return _TEMPLATE.fullmatch(text) is not None and is_unicode(text)


def texts_in(arguments: str) -> Iterator[str]:
    """The texts of a call's arguments; all of it if it is no JSON."""
    try:
        data = parse_json(arguments)
    except ValueError:
        yield arguments
    else:
        yield from _texts(data)


def _texts(data: object) -> Iterator[str]:
    match data:
        case str():
            yield data
        case list():
            yield from (text for one in data for text in _texts(one))
        case dict():
            yield from (text for one in data.values() for text in _texts(one))


EXPECTED = "text whose braces are {user_text}, {tool_result}, {{ or }}"
TemplateText = Annotated[
    str,
    Kind(
        expected=EXPECTED,
        read=lambda value: value if isinstance(value, str) and is_template(value) else None,
        schema={"type": "string", "pattern": f"^{_GRAMMAR}{END}"},
    ),
]
