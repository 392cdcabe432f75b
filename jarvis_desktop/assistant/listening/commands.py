"""What another process may tell the running JARVIS about talking: `jarvis-desktop talk`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from functools import partial

from jarvis_desktop.assistant.listening.talk import Talk
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.core.wording import tr

Answering = Callable[[Mapping[str, object]], Awaitable[Mapping[str, object]]]


def answering(talk: Talk, status: Callable[[], HotkeyStatus]) -> Answering:
    """Carries out {"do": "talk", "action": "start"} and such, and tells how things stand then.

    Actions are start, hold, stop, toggle, cancel and status. What it gives raises InputError on any
    other command.
    """
    acts: dict[object, Callable[[], object]] = {
        "start": talk.start,
        "hold": partial(talk.start, held=True),
        "stop": talk.stop,
        "toggle": talk.toggle,
        "cancel": talk.cancel,
        "status": lambda: None,
    }

    async def answer(command: Mapping[str, object]) -> Mapping[str, object]:
        action = command.get("action")
        if command.get("do") != "talk" or not isinstance(action, str) or action not in acts:
            raise InputError(tr("This JARVIS does not know the command."))
        acts[action]()
        return {"state": talk.state, "hotkey": asdict(status())}

    return answer
