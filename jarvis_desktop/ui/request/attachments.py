"""The files of the next request: dropped, pasted or chosen, inspected on the engine, shown as
chips."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPixmap,
)
from PySide6.QtWidgets import QFrame, QWidget

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.storage.file_inspection import (
    MAX_FILES,
    FileInspection,
    InspectedFile,
    look_over,
)
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.widgets import icons, labels, theme
from jarvis_desktop.ui.widgets.banners import DropZone
from jarvis_desktop.ui.widgets.forms import PICTURES, holds_picture
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.images import PictureLoader
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import FlowLayout, discard, hbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.ui.pending_turn import OpenConversation, PendingTurn
    from jarvis_desktop.ui.session import WindowSession

    Look = Callable[[Application], Coroutine[None, None, FileInspection]]

MAX_PASTED_BYTES = 64 * 1024 * 1024
MAX_DROPPED_CHARS = 1_000_000
DISK_TIMEOUT_S = 5.0  # seconds until a disk that does not answer is given up: it may only be busy
MAX_REASONS = 3  # reasons shown at once; further ones are only counted


class FileOffers(QObject):
    """Inspects files before they are attached, without blocking this thread."""

    offered = Signal(object)  # the InspectedFiles that can be used
    typed = Signal(str)  # a text, or addresses, for the field
    refused = Signal(str)  # why something cannot be used
    looking = Signal(bool)  # whether an inspection is running

    def __init__(self, session: WindowSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._under_way = 0
        self._early: list[Look] = []  # inspections requested before the application was ready
        self._drawn: dict[Path, Path] = {}  # pasted pictures, and the folders created for them
        session.ready.connect(self._ready)
        session.failed.connect(self._give_up)
        session.changed.connect(self._ended)
        session.forgotten.connect(self._forgotten)

    def take(self, held: QMimeData, *, room: int) -> bool:
        """Take data if there is `room` for more files. Return False if none of it can be used."""
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
        """Inspect these files and folders."""

        async def look(app: Application) -> FileInspection:
            try:
                async with asyncio.timeout(DISK_TIMEOUT_S):
                    return await _aside(partial(look_over, files, app.store.look_at, room=room))
            except TimeoutError:
                names = one_line(", ".join(path.name for path in files[:MAX_REASONS]), limit=120)
                return FileInspection(
                    refused=(tr("The disk with {names} does not respond.", names=names),)
                )

        self._begin(look)

    def take_over(self, other: FileOffers) -> None:
        """Adopt the temporary pictures of another instance."""
        self._drawn, other._drawn = other._drawn, {}

    def forget(self, path: Path) -> None:
        """Forget a file; a temporary picture is deleted."""
        folder = self._drawn.pop(path, None)
        app = self._session.app
        if folder and app:
            self._session.engine.call(app.store.discard, folder)

    def _keep(self, content: bytes | QImage, suffix: str, *, room: int) -> None:
        """Save a pasted picture as a file."""
        from jarvis_desktop.storage.file_inspection import look_over

        async def keep(app: Application) -> FileInspection:
            def write() -> FileInspection:
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

    def _ready(self, app: Application) -> None:
        early, self._early = self._early, []
        for look in early:
            self._session.engine.run(partial(look, app), self._looked)

    def _give_up(self) -> None:
        """Drop the pending inspections if the application failed to start."""
        if self._early and self._session.broken:
            self._under_way -= len(self._early)
            self._early = []
            self.looking.emit(self._under_way > 0)

    def _looked(self, outcome: Outcome) -> None:
        self._under_way -= 1
        offer: FileInspection | None = outcome.value
        if offer and offer.files:
            self.offered.emit(offer.files)
        reasons = offer.refused if offer else (str(outcome.error),) if outcome.error else ()
        if reasons:
            more = len(reasons) - MAX_REASONS
            words = [*reasons[:MAX_REASONS]]
            if more > 0:
                words.append(
                    trn("{count} more cannot be used.", "{count} more cannot be used.", more)
                )
            self.refused.emit(" ".join(words))
        self.looking.emit(self._under_way > 0)

    def _ended(self, pending: PendingTurn) -> None:
        drawn = [path for path in pending.request.files if path in self._drawn]
        if pending.turn.status is None or not drawn:
            return
        # A turn that never started shows no copies, and may have been sent again.
        turns = [pending.turn, *(entry.turn for entry in pending.place.entries)]
        shown = {item.path for turn in turns for item in turn.attachments}
        for path in drawn:
            if path not in shown:
                self.forget(path)

    def _forgotten(self, place: OpenConversation) -> None:
        for pending in place.entries:
            for path in pending.request.files:
                self.forget(path)


def local_files(held: QMimeData) -> list[Path]:
    """The local files in the data."""
    return [Path(url.toLocalFile()) for url in held.urls() if url.isLocalFile()]


def accepts(held: QMimeData) -> bool:
    """Whether any of the data can be used."""
    return held.hasUrls() or held.hasText() or holds_picture(held)


def _picture(held: QMimeData) -> tuple[bytes | QImage, str] | None:
    """A picture: its undecoded bytes, or the image held by this process."""
    for name, suffix in PICTURES.items():
        if held.hasFormat(name):
            content = bytes(held.data(name).data())
            if 0 < len(content) <= MAX_PASTED_BYTES:
                return content, suffix
    image = held.imageData()
    return (image, "png") if isinstance(image, QImage) and not image.isNull() else None


def _text(held: QMimeData) -> str:
    """Web addresses, separated by spaces, or the plain text."""
    urls = [url for url in held.urls() if url.scheme() in ("http", "https")]
    if urls:
        return " ".join(url.toString(url.ComponentFormattingOption.FullyEncoded) for url in urls)
    return held.text()[:MAX_DROPPED_CHARS]


async def _aside(look: Callable[[], FileInspection]) -> FileInspection:
    """Run `look` in its own thread: a disk that never answers must not occupy a pool thread."""
    found = Future[FileInspection]()
    found.set_running_or_notify_cancel()  # it may be late, but is never cancelled

    def work() -> None:
        try:
            found.set_result(look())
        except Exception as error:  # noqa: BLE001 - it is raised in the waiting task
            found.set_exception(error)

    threading.Thread(target=work, name="look", daemon=True).start()
    return await asyncio.wrap_future(found)


THUMBNAIL_PX = 28


class AttachmentChip(QFrame):
    """A file's kind or thumbnail, its name and size, and optionally a remove button."""

    removed = Signal(object)  # the path

    def __init__(self, artifact: Artifact, *, size: str = "", removable: bool = False) -> None:
        """`size` is formatted for display."""
        super().__init__()
        self.setObjectName("chip")
        self.artifact = artifact
        self._opened: Callable[[], object] = lambda: None
        name = one_line(artifact.title)
        kind = tr(labels.KINDS[artifact.kind])
        parts = (name, kind, size) if size else (name, kind)
        self.setAccessibleName(", ".join(parts))
        self._symbol = Symbol(icons.FOR_KIND[artifact.kind], size=20)
        self._symbol.setFixedSize(THUMBNAIL_PX, THUMBNAIL_PX)
        self._symbol.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = hbox(
            self._symbol,
            ElidedLabel(name, mode=Qt.TextElideMode.ElideMiddle, widest=280),
            parent=self,
            margins=(6, 4, 8, 4),
            spacing=theme.space(),
        )
        if size:
            layout.addWidget(Label(size, role="small"))
        if removable:
            button = IconButton(
                "close", tr("Remove {name}", name=name), kind="tiny", tip=tr("Remove")
            )
            button.setIconSize(QSize(14, 14))
            button.clicked.connect(self._remove)
            layout.addWidget(button)
        if artifact.kind is Kind.IMAGE and artifact.path is not None:
            ratio = self.devicePixelRatioF()
            box = QSize(THUMBNAIL_PX, THUMBNAIL_PX) * (2 * ratio)
            PictureLoader(artifact.path, box, self).ready.connect(self._show_picture)

    def _show_picture(self, image: QImage, reason: str) -> None:
        if reason:
            return
        ratio = self.devicePixelRatioF()
        side = round(THUMBNAIL_PX * ratio)
        filled = image.scaled(
            side,
            side,
            Qt.AspectRatioMode.KeepAspectRatioByExpanding,
            Qt.TransformationMode.SmoothTransformation,
        )
        left, top = (filled.width() - side) // 2, (filled.height() - side) // 2
        picture = QPixmap.fromImage(filled.copy(left, top, side, side))
        picture.setDevicePixelRatio(ratio)
        self._symbol.show_picture(picture)

    def let_open(self, opened: Callable[[], object]) -> None:
        """Call `opened` for a click, Enter or Space; the file can be reached with Tab."""
        self._opened = opened
        self.setProperty("opens", True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(tr("Open"))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self._opened()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._opened()
        else:
            super().keyPressEvent(event)

    def _remove(self) -> None:
        self.removed.emit(self.artifact.path)


class FileChip(AttachmentChip):
    """A file that is about to be sent."""

    def __init__(self, offered: InspectedFile) -> None:
        self.offered = offered
        path = offered.path
        artifact = Artifact(offered.kind, path=path, name=path.name or str(path))
        super().__init__(artifact, size=labels.size(offered.size), removable=True)


def uninspected(path: Path) -> Artifact:
    """An artifact for a file that has not been inspected yet."""
    return Artifact(labels.kind_of(path), path=path, name=path.name or str(path))


MAX_CHIPS = 6  # chips that are shown; further ones are counted


class Attachments(QWidget):
    """The attached files as a row of chips, hidden while it is empty."""

    changed = Signal()  # the files changed, or `looks` did
    typed = Signal(str)  # a text or addresses that belong in the field
    refused = Signal(str)  # why something cannot be attached

    def __init__(self, session: WindowSession) -> None:
        super().__init__()
        self._chips: dict[Path, FileChip] = {}
        self._flow = FlowLayout(self)
        self._offering = FileOffers(session, self)
        self._offering.offered.connect(self._attach)
        self._offering.looking.connect(self._show_looking)
        self._offering.typed.connect(self.typed)
        self._offering.refused.connect(self.refused)
        self.looks = False  # whether an inspection that may add files is running
        self.more = Label(role="small")
        self.clear_all = IconButton(
            "close", tr("Remove all files"), kind="quiet", text=tr("Remove all"), act=self._drop_all
        )
        self._show()

    def files(self) -> tuple[Path, ...]:
        """The files, in the order in which they were added."""
        return tuple(self._chips)

    def take(self, held: QMimeData) -> bool:
        """Take dropped or pasted data. Return False if none of it can be used."""
        return self._offering.take(held, room=MAX_FILES - len(self._chips))

    def offer(self, files: Sequence[Path]) -> None:
        """Attach files, and those in folders, after inspecting them."""
        self._offering.offer(files, room=MAX_FILES - len(self._chips))

    def take_over(self, other: Attachments) -> None:
        """Move the files of another instance here."""
        self._offering.take_over(other._offering)
        self._attach([chip.offered for chip in other._chips.values()])
        other.clear()

    def clear(self) -> None:
        """Remove all files, after they were sent."""
        for path in self.files():
            self._remove(path)
        self._show()

    def _attach(self, files: Sequence[InspectedFile]) -> None:
        for offered in files:
            if offered.path not in self._chips and len(self._chips) < MAX_FILES:
                chip = FileChip(offered)
                chip.removed.connect(self._drop)
                self._chips[offered.path] = chip
        self._show()

    def _drop(self, path: Path) -> None:
        self._remove(path)
        self._offering.forget(path)
        self._show()

    def _drop_all(self) -> None:
        for path in self.files():
            self._offering.forget(path)
        self.clear()

    def _remove(self, path: Path) -> None:
        chip = self._chips.pop(path)
        self._flow.removeWidget(chip)
        discard(chip)

    def _show_looking(self, looking: bool) -> None:
        self.looks = looking
        self.changed.emit()

    def _show(self) -> None:
        chips = list(self._chips.values())
        while self._flow.takeAt(0):
            pass
        more = max(0, len(chips) - MAX_CHIPS)
        self.more.setText(trn("and {count} more", "and {count} more", more))
        for widget in (*chips, self.more, self.clear_all):
            self._flow.addWidget(widget)
        for index, chip in enumerate(chips):
            chip.setVisible(index < MAX_CHIPS)
        self.more.setVisible(more > 0)
        self.clear_all.setVisible(len(chips) > 1)
        self.setVisible(bool(chips))
        self.changed.emit()


class DropTarget(QObject):
    """Shows the drop zone while usable data is dragged over a window, and takes the drop."""

    def __init__(self, window: QWidget, zone: DropZone, take: Callable[[QMimeData], bool]) -> None:
        """`take` returns False if it cannot use the data."""
        super().__init__(window)
        self._zone = zone
        self._take = take
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent):
            if accepts(event.mimeData()):
                self._zone.appear()
                event.acceptProposedAction()
            return True
        if event.type() == QEvent.Type.DragLeave:
            self._zone.hide()
            return True
        if isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            self._zone.hide()
            if self._take(event.mimeData()):
                event.acceptProposedAction()
            return True
        return super().eventFilter(watched, event)
