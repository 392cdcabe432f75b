"""What is dropped, pasted or chosen, on its way into a request: files are looked over on the engine
before they are attached, and what cannot be used is told with its reason."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QImage

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr, trn
from jarvis_desktop.storage.offers import Offer, look_over
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.look.fields import PICTURES, holds_picture

if TYPE_CHECKING:
    from jarvis_desktop.ui.session import Exchange, Open, Session

    Look = Callable[[App], Coroutine[None, None, Offer]]

LARGEST = 64 * 1024 * 1024
"""Bytes of a picture that is not a file."""
LONGEST = 1_000_000
"""Characters of a text that is dropped."""
PATIENCE = 0.95
"""Seconds until a disk that does not answer is given up."""
TOLD = 3
"""Reasons that are told at once; the others are counted."""


class Offering(QObject):
    """One for each place that takes files. Nothing here waits, and no file is touched here."""

    offered = Signal(object)
    """Carries the Offered files that can be used."""
    typed = Signal(str)
    """Carries a text, or addresses, for the field."""
    refused = Signal(str)
    """Carries why something cannot be used."""
    looking = Signal(bool)
    """Whether something is looked over now."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._under_way = 0
        self._early: list[Look] = []
        """What came before there was an application that looks."""
        self._drawn: dict[Path, Path] = {}
        """Pictures that were no files, and the folders made for them."""
        session.ready.connect(self._ready)
        session.failed.connect(self._give_up)
        session.changed.connect(self._ended)
        session.forgotten.connect(self._forgotten)

    def take(self, held: QMimeData, *, room: int) -> bool:
        """Take what is dropped or pasted, into a request with room for so many files more; False
        where there is nothing that can be used."""
        if files := local_files(held):
            self.offer(files, room=room)
        elif (picture := _picture(held)) and (held.hasUrls() or not held.text().strip()):
            self._keep(*picture, room=room)
        elif text := _text(held):
            self.typed.emit(text)
        else:
            return False
        return True

    def offer(self, files: Sequence[Path], *, room: int) -> None:
        """Look these files and folders over."""

        async def look(app: App) -> Offer:
            try:
                async with asyncio.timeout(PATIENCE):
                    return await _aside(partial(look_over, files, app.store.look_at, room=room))
            except TimeoutError:
                names = one_line(", ".join(path.name for path in files[:TOLD]), limit=120)
                return Offer(refused=(tr("The disk of {names} does not answer.", names=names),))

        self._begin(look)

    def take_over(self, other: Offering) -> None:
        """Know what another one knew of the pictures that it made files of."""
        self._drawn, other._drawn = other._drawn, {}

    def forget(self, path: Path) -> None:
        """It is not wanted any more; a picture that was kept for it goes."""
        folder = self._drawn.pop(path, None)
        app = self._session.app
        if folder and app:
            self._session.engine.call(app.store.discard, folder)

    def _keep(self, content: bytes | QImage, suffix: str, *, room: int) -> None:
        """Make a file of a picture that is none."""
        from jarvis_desktop.storage.offers import look_over

        async def keep(app: App) -> Offer:
            def write() -> Offer:
                folder = app.store.workdir()
                path = folder / f"{tr('picture')}.{suffix}"
                if isinstance(content, QImage):
                    content.save(str(path))
                else:
                    path.write_bytes(content)
                self._drawn[path] = folder
                return look_over([path], app.store.look_at, room=room)

            return await asyncio.to_thread(write)

        self._begin(keep)

    def _begin(self, look: Look) -> None:
        if self._session.broken:
            self.refused.emit(self._session.broken)
            return
        self._under_way += 1
        self.looking.emit(True)
        app = self._session.app
        if app is None:
            self._early.append(look)
        else:
            self._session.engine.run(lambda: look(app), self._looked)

    def _ready(self, app: App) -> None:
        early, self._early = self._early, []
        for look in early:
            self._session.engine.run(partial(look, app), self._looked)

    def _give_up(self) -> None:
        """Nobody will look, where there is no application and will be none."""
        if self._early and self._session.broken:
            self._under_way -= len(self._early)
            self._early = []
            self.looking.emit(self._under_way > 0)

    def _looked(self, outcome: Outcome) -> None:
        self._under_way -= 1
        offer: Offer | None = outcome.value
        if offer and offer.files:
            self.offered.emit(offer.files)
        reasons = offer.refused if offer else (str(outcome.error),) if outcome.error else ()
        if reasons:
            more = len(reasons) - TOLD
            words = [*reasons[:TOLD]]
            if more > 0:
                words.append(trn("{count} more is no use.", "{count} more are no use.", more))
            self.refused.emit(" ".join(words))
        self.looking.emit(self._under_way > 0)

    def _ended(self, exchange: Exchange) -> None:
        drawn = [path for path in exchange.request.files if path in self._drawn]
        if exchange.turn.status is None or not drawn:
            return
        # One that never began shows no copies, and may have been sent again.
        turns = [exchange.turn, *(entry.turn for entry in exchange.place.entries)]
        shown = {item.path for turn in turns for item in turn.attachments}
        for path in drawn:
            if path not in shown:
                self.forget(path)

    def _forgotten(self, place: Open) -> None:
        for exchange in place.entries:
            for path in exchange.request.files:
                self.forget(path)


def local_files(held: QMimeData) -> list[Path]:
    """The local files among what is held out."""
    return [Path(url.toLocalFile()) for url in held.urls() if url.isLocalFile()]


def accepts(held: QMimeData) -> bool:
    """Whether there is anything in it that can be used."""
    return held.hasUrls() or held.hasText() or holds_picture(held)


def _picture(held: QMimeData) -> tuple[bytes | QImage, str] | None:
    """A picture as its bytes, which nobody has looked into, or as it is in this process."""
    for name, suffix in PICTURES.items():
        if held.hasFormat(name):
            content = bytes(held.data(name).data())
            if 0 < len(content) <= LARGEST:
                return content, suffix
    image = held.imageData()
    return (image, "png") if isinstance(image, QImage) and not image.isNull() else None


def _text(held: QMimeData) -> str:
    """Addresses, one after the other, or the plain text."""
    urls = [url for url in held.urls() if url.scheme() in ("http", "https")]
    if urls:
        return " ".join(url.toString(url.ComponentFormattingOption.FullyEncoded) for url in urls)
    return held.text()[:LONGEST]


async def _aside(look: Callable[[], Offer]) -> Offer:
    """What `look` gives, in a thread of its own: one that waits for a disk for ever would take a
    place of those that everything else is done in."""
    found = Future[Offer]()
    found.set_running_or_notify_cancel()  # it may be late, but is not called off

    def work() -> None:
        try:
            found.set_result(look())
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            found.set_exception(error)

    threading.Thread(target=work, name="look", daemon=True).start()
    return await asyncio.wrap_future(found)
