"""Asks whether Ollama runs, and which LLMs it has."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

LOOPBACK = "http://127.0.0.1:11434"
CLOUD = (":cloud", "-cloud")
"""How names end of LLMs that Ollama only passes on to its makers' computers."""


@dataclass(frozen=True, slots=True)
class InstalledLLM:
    """One LLM that Ollama lists."""

    name: str
    size: int
    """In bytes; 0 where Ollama does not say."""

    @property
    def is_local(self) -> bool:
        """Whether it runs on this computer; Ollama offers others under the same address."""
        return not self.name.endswith(CLOUD)


@dataclass(frozen=True, slots=True)
class OllamaStatus:
    """What was found; where it does not run, `reason` says so in a sentence."""

    running: bool
    llms: tuple[InstalledLLM, ...] = ()
    reason: str = ""


async def status(host: str | None = None, *, timeout: float = 2.0) -> OllamaStatus:
    """Whether Ollama answers, within `timeout` seconds in all.

    Only this computer is asked, whatever OLLAMA_HOST says, unless a host is given.
    """
    import httpx
    import ollama

    address = host or LOOPBACK
    # A proxy of the environment knows nothing of this computer's own addresses.
    client = ollama.AsyncClient(address, timeout=timeout, trust_env=False, follow_redirects=False)
    try:
        async with asyncio.timeout(timeout):
            listed = await client.list()
    except (TimeoutError, httpx.TimeoutException):
        return OllamaStatus(False, reason=f"Ollama at {address} does not answer.")
    except (ConnectionError, httpx.TransportError, httpx.InvalidURL, OSError):
        return OllamaStatus(False, reason=f"Ollama does not run at {address}.")
    except (ollama.ResponseError, ValueError, TypeError):
        return OllamaStatus(False, reason=f"What answers at {address} is not Ollama.")
    found = [InstalledLLM(each.model, int(each.size or 0)) for each in listed.models if each.model]
    return OllamaStatus(True, tuple(sorted(found, key=lambda llm: llm.name)))
