"""Highlights code in a separate process, which can be killed while a lexer is stuck."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.process.child import Child

if TYPE_CHECKING:
    from jarvis_desktop.ui.conversation.syntax_worker import Lines

REST = 5.0
"""Seconds without work after which the process ends."""
READ_SECONDS = 3.0
MOST_KEPT = 60
"""Texts whose colours are cached, so that scrolling back shows them at once."""


class CodeReader:
    """Lives on the engine; `known` may be called from any thread."""

    def __init__(self) -> None:
        self._child = Child("jarvis_desktop.ui.conversation.syntax_worker:make", name="code reader")
        self._asking = 0
        self._rest: asyncio.TimerHandle | None = None
        self._known: OrderedDict[tuple[str, str], Lines] = OrderedDict()

    def known(self, text: str, language: str) -> Lines | None:
        """The cached colours of a text."""
        return self._known.get((text, language))

    async def words(self, text: str, language: str) -> Lines:
        """The coloured words of a text: none, now and later, if lexing takes too long."""
        if (found := self.known(text, language)) is not None:
            return found
        self._asking += 1
        if self._rest:
            self._rest.cancel()
        try:
            found = await self._child.call(text, language, timeout=READ_SECONDS)
        except JarvisError:
            found = ()
        finally:
            self._asking -= 1
            if not self._asking:
                self._rest = asyncio.get_running_loop().call_later(REST, self._child.kill)
        self._known[text, language] = found
        if len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return found
