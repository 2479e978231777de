"""What HTTP clients are made with that send to a target."""

from __future__ import annotations

import os
import ssl
from functools import cache
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from wireproof.targets.kinds import OptionError
from wireproof.targets.validity import is_local

if TYPE_CHECKING:
    from collections.abc import Sequence


class NoCookies(CookieJar):
    """A jar that stays empty: what one answer sets changes no later request, which a transcript would not show.

    What a target sets need not even be what a request can carry.
    """

    def make_cookies(self, response: Any, request: Any) -> Sequence[Any]:  # noqa: ANN401
        """None of those that a response sets."""
        del response, request
        return ()


def settings(url: str) -> dict[str, Any]:
    """What each client of httpx is made with that sends to a URL.

    A proxy of the environment (HTTPS_PROXY) may be the only way to a remote target. To one on this machine it would be
    a third party that buffers streams and answers 502 for a target that is down.
    """
    return {"trust_env": not is_local(url), "verify": verify_for(url), "cookies": NoCookies()}


def client_of(url: str, *, kept: int = 0) -> httpx.AsyncClient:
    """The client of all exchanges of a run, or with `kept` connections that of one scenario which uses them again."""
    limits = httpx.Limits(
        # `jobs` bounds the exchanges; a second bound here could only let a request wait inside its time limit.
        max_connections=None,
        # Each exchange has a connection of its own. A server may close an idle one at the very moment when the next
        # request is written to it, which would look like an answer that was cut off; and a client that leaves must
        # close its connection, not give it back.
        max_keepalive_connections=kept,
    )
    return httpx.AsyncClient(limits=limits, **settings(url))


def verify_for(url: str) -> ssl.SSLContext | bool:
    """What httpx verifies the server at a URL by; True: the authorities of the environment, else the usual ones.

    Those are for https. To load them takes longer than many requests, so a client that sends to this machine by plain
    http does without; it would accept no certificate at all. For https on this machine the environment must be able to
    name them: no usual authority signs such a certificate. Its proxies are left out there (`settings`).
    """
    if not is_local(url):
        return True
    return _no_authority() if urlsplit(url).scheme == "http" else httpx.create_ssl_context()


@cache
def _no_authority() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


_PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
_AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")


def check_environment(url: str) -> None:
    """Refuse a usable URL that the environment lets no request be sent to.

    Raises:
        OptionError: the message says why, and which variables say so.
    """
    try:
        for proxy in () if is_local(url) else getproxies().values():
            _ = urlsplit(proxy).port  # httpx takes any number, and fails at the first request
        httpx.Client(**settings(url)).close()
    except ImportError:
        more = "a SOCKS proxy needs more: python -m pip install 'httpx[socks]'"
        raise _cannot_be_asked(url, more, _PROXIES) from None
    # Before ValueError, which some of ssl's errors are, too.
    except OSError as error:
        raise _cannot_be_asked(url, str(error), _AUTHORITIES) from error
    except (ValueError, httpx.InvalidURL) as error:
        raise _cannot_be_asked(url, str(error), _PROXIES) from error


_REMEDIES = {
    "CERTIFICATE_VERIFY_FAILED": "SSL_CERT_FILE=FILE names the authorities to trust",
    "WRONG_VERSION_NUMBER": "most likely it serves http:// there",
}


def with_remedy(said: str) -> str:
    """Why a connection failed, and behind it what would be right, where that is known."""
    return "; ".join([said, *(remedy for sign, remedy in _REMEDIES.items() if sign in said)])


def past_proxies() -> dict[str, str]:
    """This environment, for a program that is to reach servers on this machine without a proxy between."""
    environment = dict(os.environ)
    said = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if getproxies() and said != "*":
        # Some programs read the one, some the other.
        environment["no_proxy"] = environment["NO_PROXY"] = ",".join(filter(None, [said, "127.0.0.1", "localhost"]))
    return environment


def _cannot_be_asked(url: str, why: str, variables: Sequence[str]) -> OptionError:
    given = [name for name in variables if os.environ.get(name) or os.environ.get(name.lower())]
    return OptionError(f"{url} cannot be asked: {why} (the environment sets {', '.join(given)})")
