"""What the pytest fixture `wireproof_endpoint` gives: an endpoint for one test, on a socket only if its URL is read.

    def test_my_client(wireproof_endpoint):
        wireproof_endpoint.play({"name": "greeting", "when": "hello", "parts": [[{"say": ["Hi ", "there."]}]]})
        client = OpenAI(base_url=wireproof_endpoint.url, api_key=wireproof_endpoint.key)
        ...
        assert wireproof_endpoint.requests.one().script == "greeting"

Each test has its own, also under pytest-xdist. `wireproof.pytest_plugin.plugin` defines the fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import ExitStack

    from wireproof_endpoint.in_process import Transport
    from wireproof_endpoint.journal.requests import SeenRequests
    from wireproof_endpoint.scripts import Given
    from wireproof_scripts.steps import Script

KEY = "wireproof"


class EndpointFixture:
    """What the fixture gives to a test."""

    key = KEY
    """A key that does. Any other does, too, and none, until `require_key` is called."""

    def __init__(self, stack: ExitStack, judge: Callable[[SeenRequests], Sequence[Any]] = lambda _: ()) -> None:
        """`judge` says what the client did wrong whose requests these are."""
        from wireproof_endpoint.in_process import Transport, endpoint_of  # noqa: PLC0415 - see the head

        self._stack = stack
        self._judge = judge
        self._scripts: dict[str, Script] = {}
        self._endpoint = endpoint_of(lambda: self._scripts)
        self._url: str | None = None
        self.transport: Transport = Transport(self._endpoint)
        """For clients of httpx or httpx2, sync or async, as their `transport`."""

    def play(self, scripts: Given) -> None:
        """Answer by these scripts from now on, besides those before: files, or scripts in the form of a file.

        A request that no script matches is refused then; without any script the default answers.

        Raises:
            ScriptError: a script cannot be read.
        """
        from wireproof_endpoint.scripts import scripts_in  # noqa: PLC0415

        self._scripts |= scripts_in(scripts)

    def require_key(self, key: str = KEY) -> None:
        """Refuse every other key from now on, with 401, to test what the client makes of that."""
        self.key = key
        self._endpoint.require_key(key)

    @property
    def unchosen(self) -> tuple[str, ...]:
        """The scripts of this test that no request has chosen so far: `assert not wireproof_endpoint.unchosen`."""
        return self._endpoint.answerer.unchosen()

    @property
    def url(self) -> str:
        """The base URL of the endpoint on a loopback port, which it listens at from now on to the end of the test."""
        from wireproof_endpoint.serving import running  # noqa: PLC0415

        if self._url is None:
            self._url = self._stack.enter_context(running(self._endpoint))
        return self._url

    @property
    def requests(self) -> SeenRequests:
        """What was asked so far, oldest first: a list with `where`, `one`, `calls` and `call`."""
        return self.transport.requests

    @property
    def findings(self) -> Sequence[Any]:
        """What the client did wrong so far, by the rows `client.*`: `assert not wireproof_endpoint.findings`.

        Each has `requirement`, `level`, `request` (its number), `seen`, `place`, `text` and `hint`, and is printed as
        these.
        """
        return self._judge(self.requests)

    def assert_all_played(self) -> None:
        """Assert that each script answered something.

        Raises:
            AssertionError: naming those that did not, and what came.
        """
        played = {entry.script for entry in self.requests}
        left = [name for name in self._scripts if name not in played]
        if left:
            raise AssertionError(f"no request was answered by {', '.join(left)}; {self.requests}")
