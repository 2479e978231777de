from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version

import pytest

import assay
from assay.results.certify import certify


@pytest.mark.parametrize("name", assay.__all__)
def test_every_public_name_is_there_and_has_a_docstring(name: str) -> None:
    found = getattr(assay, name)
    assert name in dir(assay)
    if callable(found):
        assert found.__doc__
        assert found.__module__.startswith("assay.")


def test_the_names_are_those_of_the_modules() -> None:
    assert assay.certify is certify
    assert assay.__version__ == version("assay")
    assert sorted(assay.__all__) == sorted(set(assay.__all__))


def test_the_docstring_shows_only_public_names() -> None:
    [line] = re.findall(r"from assay import (.*)", assay.__doc__ or "")
    assert set(line.split(", ")) <= set(assay.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'assay' has no attribute 'certifi'"):
        _ = assay.certifi


def test_to_import_the_package_imports_nothing_else_of_it() -> None:
    code = "import sys, assay; print(sorted(name for name in sys.modules if name.startswith('assay.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
