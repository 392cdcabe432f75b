"""Asks a server of LLMs for an answer and reads it line by line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from jarvis_desktop.llm.failures import NO_CREDIT, refusal, sentences
from jarvis_desktop.llm.server import USUAL, Patience, Server

if TYPE_CHECKING:
    import httpx

BUSY = (429, 503)
"""A full queue, a limit that is reached, an LLM that is still being loaded."""
LOADING = 503
"""The one of them that may last as long as the first line."""
WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further try at a busy server."""
LONGEST_WAIT = 20.0
"""A server that asks for more than these seconds is not waited for."""

SHORTEST_KEY = 12
"""Characters; less keeps nobody out."""

Sleep = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Post:
    """A request to one LLM of a server."""

    server: Server
    path: str
    name: str
    """What the server calls the LLM."""
    patience: Patience = USUAL
    key: str = field(default="", repr=False)
    """Sent as a bearer token, and taken out of all that the server says in errors."""
    sleep: Sleep = asyncio.sleep

    async def lines(self, body: Mapping[str, Any]) -> AsyncGenerator[str, None]:
        """The lines of the answer that are not empty. Closing the iterator closes the connection.

        A busy server is asked again a few times, and one that still loads the LLM as long as the
        first line is waited for. Raises Refused where the request is at fault,
        otherwise UnavailableError and ExpertError.
        """
        with sentences(self.server):
            async with self.server.client(self.patience) as client:
                response = await self._accepted(client, body)
                lines, patience = response.aiter_lines(), self.patience.first
                try:
                    while True:
                        async with asyncio.timeout(patience):
                            line = await anext(lines, None)
                        if line is None:
                            return
                        patience = self.patience.between
                        if line:
                            yield line
                finally:
                    await response.aclose()

    async def _accepted(self, client: httpx.AsyncClient, body: Mapping[str, Any]) -> httpx.Response:
        """The response with status 200 whose body is still to be read."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        left = self.patience.first
        for tries, wait in enumerate(chain(WAITS, repeat(WAITS[-1]))):
            request = client.build_request("POST", self.path, json=body, headers=headers)
            async with asyncio.timeout(self.patience.first):
                response = await client.send(request, stream=True)
                if response.status_code == 200:
                    return response
                text = (await response.aread()).decode(errors="replace")
            asked = _seconds(response.headers.get("Retry-After", ""))
            wait = asked or wait
            left -= wait
            over = left < 0 if response.status_code == LOADING else tries == len(WAITS)
            hopeless = over or wait > LONGEST_WAIT or NO_CREDIT in text
            if response.status_code not in BUSY or hopeless:
                break
            await self.sleep(wait)
        words = self.without_key(text)
        raise refusal(self.server, response.status_code, words, name=self.name, wait=asked)

    def without_key(self, text: str) -> str:
        """The text with the key taken out; what stands in for one, such as "none", may stay."""
        return text.replace(self.key, "…") if len(self.key) >= SHORTEST_KEY else text


def _seconds(retry_after: str) -> float:
    """What the header says; 0 where it says nothing, or a date, which no LLM server uses."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0
