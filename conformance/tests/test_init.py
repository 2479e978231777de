from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version

import pytest

import wireproof
from wireproof.results.certify import certify


@pytest.mark.parametrize("name", wireproof.__all__)
def test_every_public_name_is_there_and_has_a_docstring(name: str) -> None:
    found = getattr(wireproof, name)
    assert name in dir(wireproof)
    if callable(found):
        assert found.__doc__
        assert found.__module__.startswith("wireproof.")


def test_the_names_are_those_of_the_modules() -> None:
    assert wireproof.certify is certify
    assert wireproof.__version__ == version("wireproof")
    assert sorted(wireproof.__all__) == sorted(set(wireproof.__all__))


def test_the_docstring_shows_only_public_names() -> None:
    [line] = re.findall(r"from wireproof import (.*)", wireproof.__doc__ or "")
    assert set(line.split(", ")) <= set(wireproof.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'wireproof' has no attribute 'certifi'"):
        _ = wireproof.certifi


def test_to_import_the_package_imports_nothing_else_of_it() -> None:
    code = "import sys, wireproof; print(sorted(name for name in sys.modules if name.startswith('wireproof.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
