"""Assay certifies OpenAI-compatible proxies in front of coding agents.

What a program may use is listed in `__all__`; all else is internal and may change in any release. To certify a proxy:

    from assay import RunOptions, TargetOptions, plan

    certificate = plan(TargetOptions(url="http://127.0.0.1:8787/v1"), RunOptions()).certify()
    print(certificate.exit, certificate.unobserved)

`certify` does the same with a `Target` that runs already, and with scenarios and a `Catalogue` of one's own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.faces.plan import Plan, plan
    from assay.model.catalogue import Catalogue, Level, Requirement, load
    from assay.model.target import Target
    from assay.model.verdict import HarnessError, Outcome, Verdict
    from assay.results.certificate import Certificate, Exit
    from assay.results.certify import certify
    from assay.scenarios import SCENARIOS
    from assay.targets.kinds import OptionError
    from assay.targets.options import RunOptions, TargetOptions

__all__ = [
    "SCENARIOS",
    "Catalogue",
    "Certificate",
    "Exit",
    "HarnessError",
    "Level",
    "OptionError",
    "Outcome",
    "Plan",
    "Requirement",
    "RunOptions",
    "Target",
    "TargetOptions",
    "Verdict",
    "__version__",
    "certify",
    "load",
    "plan",
]

_HOMES = {
    "assay.faces.plan": ("Plan", "plan"),
    "assay.model.catalogue": ("Catalogue", "Level", "Requirement", "load"),
    "assay.model.target": ("Target",),
    "assay.model.verdict": ("HarnessError", "Outcome", "Verdict"),
    "assay.results.certificate": ("Certificate", "Exit"),
    "assay.results.certify": ("certify",),
    "assay.scenarios": ("SCENARIOS",),
    "assay.targets.kinds": ("OptionError",),
    "assay.targets.options": ("RunOptions", "TargetOptions"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever has this name)
    """Import what is asked for, when it is asked for.

    pytest imports this package in every session, for its plugin, and must not be slowed down by the engine.
    """
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 (it takes longer than all of `assay serve`'s own words)

        return version("assay")
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """The names that may be used."""
    return list(__all__)
