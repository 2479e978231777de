"""Plain requests as a scenario."""

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Need, PlainScenario, Request


def plain(
    name: str,
    title: str,
    exercises: tuple[str, ...],
    *requests: Request,
    dialects: tuple[Dialect, ...] = tuple(Dialect),
    alone: bool = False,
    behind_upstreams: bool = False,
    needs: tuple[Need, ...] = (),
) -> PlainScenario:
    """A scenario of these requests, sent one after the other."""
    return PlainScenario(
        name=name,
        title=title,
        requests=requests,
        exercises=exercises,
        dialects=dialects,
        alone=alone,
        behind_upstreams=behind_upstreams,
        needs=needs,
    )
