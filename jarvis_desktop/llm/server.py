"""Where a server of LLMs listens, and how long it is waited for."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.offline import is_here

if TYPE_CHECKING:
    import ssl

    import httpx


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server may say nothing, in seconds."""

    connect: float = 5.0
    first: float = 300.0
    """Until the first line: it may have to read an LLM from a slow disk, and a long prompt."""
    between: float = 60.0
    """Between two lines of an answer."""


USUAL = Patience()


@dataclass(frozen=True, slots=True)
class Server:
    """One server, and what a person is told of it. Raises UnavailableError on a bad address."""

    program: str
    """Begins a sentence, such as "Ollama"."""
    kind: str
    """What it is not where something else answers, such as "an OpenAI-compatible server"."""
    address: str
    """A URL; the names of the endpoints are put behind it."""
    start: str
    """What to do where it does not run, in a sentence."""
    obtain: str
    """What to do where it lacks an LLM, in a sentence; {name} is the LLM's place."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.address)
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            # Not quoted: it may hold a password.
            raise UnavailableError(
                tr("The address of {kind} is not one that can be used.", kind=self.kind),
                hint=tr("It has the form http://127.0.0.1:8080."),
            )

    @property
    def host(self) -> str:
        """Host and port alone: an address may hold a password."""
        return urlsplit(self.address).netloc.rpartition("@")[2]

    @property
    def remote(self) -> bool:
        """Whether what is sent there leaves this computer."""
        return is_remote(self.address)

    def client(self, patience: Patience) -> httpx.AsyncClient:
        """An HTTP client of this server. It follows no redirects: they could lead anywhere."""
        import httpx

        return httpx.AsyncClient(
            base_url=self.address,
            follow_redirects=False,
            # A proxy of the environment knows nothing of this computer's own addresses.
            trust_env=self.remote,
            verify=_certificates(self.remote),
            timeout=httpx.Timeout(patience.first, connect=patience.connect),
        )


@functools.cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """Whom to trust, read once: for each request anew it would take a twentieth of a second."""
    import httpx

    return httpx.create_ssl_context(trust_env=trust_env)


def is_remote(address: str) -> bool:
    """Whether what is sent to a URL leaves this computer."""
    return not is_here(urlsplit(address).hostname or "")
