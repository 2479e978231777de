"""Wireproof certifies OpenAI-compatible proxies in front of coding agents.

What a program may use is listed in `__all__`; all else is internal and may change in any release. To certify a proxy:

    from wireproof import RunOptions, TargetOptions, plan

    certificate = plan(TargetOptions(url="http://127.0.0.1:8787/v1"), RunOptions()).certify()
    print(certificate.exit, certificate.unobserved)

`certify` does the same with a `Target` that runs already, and with scenarios and a `Catalogue` of one's own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wireproof.cli.plan import RunPlan, plan
    from wireproof.model.catalogue import Catalogue, Level, Requirement, load
    from wireproof.model.target import Target
    from wireproof.model.verdict import HarnessError, Outcome, Verdict
    from wireproof.results.certificate import Certificate, ExitStatus
    from wireproof.results.certify import certify
    from wireproof.scenarios import SCENARIOS
    from wireproof.targets.kinds import OptionError
    from wireproof.targets.options import RunOptions, TargetOptions

__all__ = [
    "SCENARIOS",
    "Catalogue",
    "Certificate",
    "ExitStatus",
    "HarnessError",
    "Level",
    "OptionError",
    "Outcome",
    "Requirement",
    "RunOptions",
    "RunPlan",
    "Target",
    "TargetOptions",
    "Verdict",
    "__version__",
    "certify",
    "load",
    "plan",
]

_HOMES = {
    "wireproof.cli.plan": ("RunPlan", "plan"),
    "wireproof.model.catalogue": ("Catalogue", "Level", "Requirement", "load"),
    "wireproof.model.target": ("Target",),
    "wireproof.model.verdict": ("HarnessError", "Outcome", "Verdict"),
    "wireproof.results.certificate": ("Certificate", "ExitStatus"),
    "wireproof.results.certify": ("certify",),
    "wireproof.scenarios": ("SCENARIOS",),
    "wireproof.targets.kinds": ("OptionError",),
    "wireproof.targets.options": ("RunOptions", "TargetOptions"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever has this name)
    """Import what is asked for, when it is asked for.

    pytest imports this package in every session, for its plugin, and must not be slowed down by the engine.
    """
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 (it takes longer than all of `wireproof serve`'s own words)

        return version("wireproof")
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """The names that may be used."""
    return list(__all__)
