"""What a request says and what it is about: its words, heard where they were spoken, its files, and
all that is known beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jarvis_desktop.assistant.intake import Intake
from jarvis_desktop.assistant.live import Live
from jarvis_desktop.assistant.memory import Memory
from jarvis_desktop.assistant.planning import reading
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.events import Attached, Noted, Transcribed
from jarvis_desktop.core.hearing import Transcript
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.turn import Conversation, Request
from jarvis_desktop.core.voice import Recogniser
from jarvis_desktop.core.wording import tr

MOST_NAMES = 10
LONGEST_REQUEST = 200_000
"""Characters; a longer text belongs in a file."""


class Understanding:
    """Takes in what a person said and gave."""

    def __init__(self, intake: Intake, recogniser: Recogniser, memory: Memory) -> None:
        self._intake = intake
        self._recogniser = recogniser
        self._memory = memory
        self.names: tuple[str, ...] = ()
        """Of the files that were given lately, without their endings, the newest first: words that
        the person may say."""

    async def of(
        self,
        request: Request,
        known: Conversation,
        live: Live,
        *,
        inventory: Sequence[TaskType],
        links: bool = True,
    ) -> tuple[str, Context]:
        """What is asked, a file's name in the place of each address, and what is known beside it.

        Without `links` the addresses stay as they are, and nothing is fetched for them.

        Raises JarvisError where the words cannot be heard, or a file cannot be had or used.
        """
        text = request.text.strip()
        if len(text) > LONGEST_REQUEST:
            raise InputError(
                tr(
                    "The text is {text:,} characters long; the most is {longest_request:,}.",
                    text=len(text),
                    longest_request=LONGEST_REQUEST,
                ),
                hint=tr("Put it in a file and give the file."),
            )
        attachments = await self._intake.given(request)
        audio = Artifact(Kind.AUDIO, path=request.audio) if request.audio else None
        if request.heard:
            text = _shown(request.heard, live)
        elif not text and audio is None:
            audio, attachments = _spoken(attachments)
        if attachments:
            live.show(Attached(attachments))
        if audio is not None:
            text = await self._listen(audio, live)
        # Names and addresses in a pasted text are content: no file is fetched for them.
        instruction, _ = reading.split(text, inventory)
        named = await self._intake.named(instruction, request, attachments)
        linked = await self._intake.linked(instruction, (*attachments, *named)) if links else {}
        if named or linked:
            attachments = (*attachments, *named, *linked.values())
            live.show(Attached(attachments))
        for written in sorted(linked, key=len, reverse=True):  # one may begin another
            text = text.replace(written, linked[written].title)
        given = (Path(item.name).stem for item in reversed(attachments) if item.name)
        self.names = tuple(dict.fromkeys((*given, *self.names)))[:MOST_NAMES]
        context = await self._memory.context(
            known, attachments, folder=request.folder, trace=live.trace
        )
        return text, context

    async def _listen(self, audio: Artifact, live: Live) -> str:
        def report(fraction: float | None, message: str) -> None:
            """Speech is quick enough to need no progress of its own."""

        assert audio.path is not None
        try:
            heard = await self._recogniser.transcribe(audio.path, report)
        except InputError as error:
            # The store's name for it means nothing to the person who gave the file.
            message = error.message.replace(audio.path.name, audio.title)
            raise InputError(message, hint=error.hint) from error
        return _shown(heard, live)


def _shown(heard: Transcript, live: Live) -> str:
    """Its words, and what to know about them, once the person sees both."""
    live.show(Transcribed(heard.text, heard.engine))
    if heard.note:
        live.show(Noted(heard.note))
    return heard.text


def _spoken(attachments: tuple[Artifact, ...]) -> tuple[Artifact | None, tuple[Artifact, ...]]:
    """With no words at all, the one recording among the files is the request."""
    recordings = [item for item in attachments if item.kind is Kind.AUDIO]
    if len(recordings) != 1:
        return None, attachments
    rest = tuple(item for item in attachments if item is not recordings[0])
    return recordings[0], rest
