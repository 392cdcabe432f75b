"""File actions: open, save, copy and drag a file that is shown, and the widgets that offer them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QContextMenuEvent, QDrag, QGuiApplication, QImage, QMouseEvent, QPixmap
from PySide6.QtWidgets import QAbstractButton, QApplication, QFrame, QMenu, QPushButton, QWidget

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.widgets import icons, labels, theme
from jarvis_desktop.ui.widgets.forms import reword
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.images import PictureLoader
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox


def mime_data(path: Path, image: QImage | None = None, text: str = "") -> QMimeData:
    """The data of a drag or the clipboard: the file, and its picture or text."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    if image is not None and not image.isNull():
        data.setImageData(image)
    if text:
        data.setText(text)
    return data


MAX_CLIPBOARD_PICTURE = QSize(8000, 8000)
DRAG_ICON_PX = 96


@dataclass(frozen=True, slots=True)
class FileAction:
    """An icon, a name and what happens."""

    icon: str
    name: str  # marked for translation
    act: Callable[[], None]


class FileActions(QObject):
    """The actions of one file; lives as long as the widget that shows it."""

    def __init__(self, artifact: Artifact, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.artifact = artifact
        self.text = ""  # text for the clipboard besides the file
        self._actions = actions
        self.all = (
            FileAction("open", mark("Open"), lambda: actions.open(self, artifact)),
            FileAction("folder", mark("Show in folder"), self._show),
            FileAction("save", mark("Save a copy"), lambda: actions.save_as.emit(artifact)),
            FileAction("copy", mark("Copy"), self.copy),
        )
        self.use = FileAction("attach", mark("Use in the next request"), self._use)

    def copy(self) -> None:
        """Copy the file; a picture also as a picture, a table as text."""
        self._actions.media.hand_out(self, self.artifact, then=lambda _: self._put())

    def menu(self, parent: QWidget, at: QPoint, *more: FileAction) -> None:
        """Show a menu of all actions, after those in `more`."""
        menu = QMenu(parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in (*more, self.use, *self.all):
            made = menu.addAction(icons.icon(action.icon, "muted"), tr(action.name))
            made.triggered.connect(action.act)
        menu.popup(at)

    def drag(self, widget: QWidget, picture: QImage) -> None:
        """Start a drag of the file."""
        path = self.artifact.path
        assert path is not None
        drag = QDrag(widget)
        drag.setMimeData(mime_data(self._actions.media.handed(path), picture, self.text))
        held = QPixmap.fromImage(picture) if not picture.isNull() else None
        drag.setPixmap(
            held.scaled(DRAG_ICON_PX, DRAG_ICON_PX, Qt.AspectRatioMode.KeepAspectRatio)
            if held
            else icons.pixmap(icons.FOR_KIND[self.artifact.kind], "accent", size=32)
        )
        drag.exec(Qt.DropAction.CopyAction)

    def get_ready(self) -> None:
        """Prepare the copy for a drag that may follow."""
        self._actions.media.hand_out(self, self.artifact)

    def _show(self) -> None:
        self._actions.show_folder.emit(self.artifact.source or self.artifact.path)

    def _use(self) -> None:
        """Attach the file under its display name."""

        def attach(paths: list[Path]) -> None:
            self._actions.attach.emit(paths[0])

        self._actions.media.hand_out(self, self.artifact, then=attach)

    def _put(self) -> None:
        path = self.artifact.path
        if path and self.artifact.kind is Kind.IMAGE:
            PictureLoader(path, MAX_CLIPBOARD_PICTURE, self).ready.connect(
                lambda image, _: self._put_with(image)
            )
        else:
            self._put_with(QImage())

    def _put_with(self, image: QImage) -> None:
        path = self.artifact.path
        assert path is not None
        data = mime_data(self._actions.media.handed(path), image, self.text)
        QGuiApplication.clipboard().setMimeData(data)


class DragOut(QObject):
    """Lets a widget that shows a file be dragged out of the window."""

    def __init__(
        self,
        widget: QWidget,
        file_actions: FileActions,
        picture: Callable[[], QImage] = QImage,
        may: Callable[[], bool] = lambda: True,
    ) -> None:
        """`picture` returns the drag icon; `may` returns whether a drag is possible now."""
        super().__init__(widget)
        self._widget, self._file_actions, self._picture, self._may = (
            widget,
            file_actions,
            picture,
            may,
        )
        self._from: QPoint | None = None
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Start the drag once the mouse has moved far enough."""
        if not isinstance(event, QMouseEvent):
            return False
        if event.type() == QEvent.Type.MouseButtonPress:
            if event.button() == Qt.MouseButton.LeftButton and self._may():
                self._from = event.position().toPoint()
                self._file_actions.get_ready()
        elif event.type() == QEvent.Type.MouseButtonRelease:
            self._from = None
        elif event.type() == QEvent.Type.MouseMove and self._from is not None:
            way = (event.position().toPoint() - self._from).manhattanLength()
            if way >= QApplication.startDragDistance():
                self._from = None
                if isinstance(self._widget, QAbstractButton):
                    self._widget.setDown(False)
                self._file_actions.drag(self._widget, self._picture())
                return True
        return False


COPIED_MS = 1500  # milliseconds in which a button shows that it has copied


class FileLine(QWidget):
    """A file's name, facts and actions: the footer of every card. The name can be dragged."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        self.file_actions = FileActions(artifact, actions, self)
        self._facts: list[str] = []
        self._size = ""
        name = one_line(artifact.title)
        layout = hbox(parent=self, spacing=theme.space("half"))
        self.words = QWidget()
        self.words.setCursor(Qt.CursorShape.OpenHandCursor)
        words = vbox(parent=self.words, spacing=0)
        self.facts = ElidedLabel(role="small")
        for label in (ElidedLabel(name, mode=Qt.TextElideMode.ElideMiddle), self.facts):
            # a label follows the direction of its text, not of the window
            side = (
                Qt.AlignmentFlag.AlignLeft if self.isLeftToRight() else Qt.AlignmentFlag.AlignRight
            )
            label.setAlignment(
                side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
            )
            words.addWidget(label)
        layout.addWidget(self.words, 1)
        for action in self.file_actions.all:
            layout.addWidget(self._button(action, name))
        DragOut(self.words, self.file_actions)
        if artifact.path:
            actions.media.size(self, artifact.path, self._show_size)

    def show_facts(self, *facts: str) -> None:
        """Show further facts about the file."""
        self._facts = [fact for fact in facts if fact]
        self._draw()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.file_actions.menu(self, event.globalPos())

    def _button(self, action: FileAction, name: str) -> IconButton:
        label = tr(action.name)
        button = IconButton(action.icon, tr("{deed}: {file}", deed=label, file=name), tip=label)
        button.clicked.connect(action.act)
        if action.icon == "copy":
            button.clicked.connect(lambda: self._thank(button, button.accessibleName()))
        return button

    def _thank(self, button: IconButton, name: str) -> None:
        button.show_icon("done", tr("Copied"))
        QTimer.singleShot(COPIED_MS, button, lambda: button.show_icon("copy", name, tip=tr("Copy")))

    def _show_size(self, count: int) -> None:
        self._size = labels.size(count)
        self._draw()

    def _draw(self) -> None:
        self.facts.show_text(" · ".join((*self._facts, *([self._size] if self._size else []))))


class FileError(QWidget):
    """Why a file cannot be shown here, and a button that opens it elsewhere."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        self.words = Label(role="warning", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = vbox(
            self.words, parent=self, margins=(0, 0, 0, theme.space("half")), spacing=theme.space()
        )
        self.other = QPushButton(tr("Open with another program"))
        name = one_line(artifact.title)
        self.other.setAccessibleName(tr("Open {file} with another program", file=name))
        self.other.clicked.connect(lambda: actions.open(self, artifact))
        layout.addWidget(self.other, alignment=Qt.AlignmentFlag.AlignLeading)
        self.hide()

    def say(self, reason: str, *, final: bool = True) -> None:
        """Show the reason; `final` if nothing can be shown at all."""
        reword(self.words, one_line(reason, limit=300))
        self.other.setVisible(final)
        self.show()


class FileCard(QFrame):
    """A file that the window cannot show."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("card")
        symbol = Symbol(icons.FOR_KIND[artifact.kind], size=20)
        layout = hbox(
            symbol,
            parent=self,
            margins=(12, theme.space(), theme.space(), theme.space()),
            spacing=12,
        )
        self.line = FileLine(artifact, actions)
        layout.addWidget(self.line, 1)
        DragOut(symbol, self.line.file_actions)
