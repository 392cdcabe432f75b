"""The result of an expert on screen: a card for each kind of artifact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QEnterEvent,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QPushButton,
    QSizePolicy,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.assistant.answer_writer import MAX_MATERIAL_CHARS
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.media.file_actions import DragOut, FileAction, FileCard, FileError, FileLine
from jarvis_desktop.ui.media.playback import Playback, Timeline
from jarvis_desktop.ui.media.previews import Peaks, TablePreview, VideoInfo
from jarvis_desktop.ui.media.video import (
    MAX_HEIGHT,
    MAX_WIDTH,
    SCRIM,
    FrameLoader,
    VideoCanvas,
    VideoWindow,
    frame_image,
)
from jarvis_desktop.ui.widgets import icons, labels, theme
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.images import PictureLoader
from jarvis_desktop.ui.widgets.labels import FIRST_CHARACTERS, ElidedLabel, Label, LongText
from jarvis_desktop.ui.widgets.layout import discard, hbox, vbox
from jarvis_desktop.ui.widgets.motion import fade_in

MAX_THUMBNAIL = QSize(380, 280)
PLACEHOLDER = QSize(240, 160)  # pixels reserved until the image is read
MIN_THUMBNAIL = 96
MIN_LINE_WIDTH = 300  # pixels of the line below, so that a name can be read


class Thumbnail(QPushButton):
    """The picture as a button."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("kind", "thumbnail")
        self.setAccessibleName(tr("Show {file} large", file=name))
        self.setToolTip(tr("Show large"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._size = PLACEHOLDER
        self._picture = QPixmap()
        self.tag = ""  # a word in its corner

    def show_picture(self, image: QImage) -> None:
        """Show an image."""
        ratio = self.devicePixelRatioF()
        self._picture = QPixmap.fromImage(image)
        self._picture.setDevicePixelRatio(ratio)
        size = self._picture.deviceIndependentSize().toSize()
        self._size = size.expandedTo(QSize(MIN_THUMBNAIL, MIN_THUMBNAIL))
        self.setIcon(self._picture)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return self._size

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        radius = theme.tokens().radius["medium"]
        frame = QPainterPath()
        frame.addRoundedRect(QRectF(self.rect()), radius, radius)
        painter.setClipPath(frame)
        painter.fillRect(self.rect(), theme.colour("sunken"))
        place = QRectF(QPointF(), self._picture.deviceIndependentSize())
        place.moveCenter(QRectF(self.rect()).center())
        painter.drawPixmap(place.toRect(), self._picture)
        if self.tag:
            self._paint_tag(painter)
        painter.setClipping(False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        marked = self.hasFocus() or self.underMouse()
        width = 2 if marked else 1
        painter.setPen(QPen(theme.colour("accent" if marked else "border"), width))
        half = width / 2
        painter.drawRoundedRect(
            QRectF(self.rect()).adjusted(half, half, -half, -half), radius - half, radius - half
        )

    def _paint_tag(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        size = metrics.size(0, self.tag) + QSize(12, 4)
        top = self.height() - size.height() - theme.space()
        place = QRectF(theme.space(), top, size.width(), size.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(SCRIM)
        painter.drawRoundedRect(place, 5, 5)
        painter.setPen(Qt.GlobalColor.white)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self.tag)


class ImageCard(QWidget):
    """A thumbnail; a click enlarges it, and it can be dragged elsewhere."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        self._image = QImage()
        self.thumbnail = Thumbnail(one_line(artifact.title))
        self._enlarge = FileAction(
            "image", mark("Show large"), lambda: actions.enlarge.emit(artifact)
        )
        self.thumbnail.clicked.connect(self._enlarge.act)
        layout = vbox(
            (self.thumbnail, Qt.AlignmentFlag.AlignLeading),
            parent=self,
            spacing=theme.space("half"),
        )
        self.trouble = FileError(artifact, actions)
        layout.addWidget(self.trouble)
        self.line = FileLine(artifact, actions)
        self.line.setMaximumWidth(MAX_THUMBNAIL.width())
        layout.addWidget(self.line)
        DragOut(self.thumbnail, self.line.file_actions, lambda: self._image)
        box = MAX_THUMBNAIL * self.devicePixelRatioF()
        self._reading = PictureLoader(artifact.path, box, self)
        self._reading.ready.connect(self._show_picture)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.line.file_actions.menu(self, event.globalPos(), self._enlarge)

    def _show_picture(self, image: QImage, reason: str) -> None:
        if reason:
            self.thumbnail.hide()
            self.trouble.say(reason)
            return
        self._image = image
        size = self._reading.size
        self.thumbnail.tag = "GIF" if self._reading.moves else ""
        self.thumbnail.show_picture(image)
        self.line.setMaximumWidth(max(self.thumbnail.sizeHint().width(), MIN_LINE_WIDTH))
        self.line.show_facts(f"{size.width()} × {size.height()}")


class PlayerControls(QWidget):
    """The timeline and time of a Playback, and its button, which is placed elsewhere."""

    def __init__(self, transport: Playback, name: str, *, waves: bool, kind: str) -> None:
        super().__init__()
        self._transport, self._name = transport, name
        self._went_on = False
        colour = "on_accent" if kind == "round" else "muted"
        self.button = IconButton("play", tr("Play"), kind=kind, colour=colour, act=transport.toggle)
        self.timeline = Timeline(tr("Position in {file}", file=name), waves=waves)
        self.timeline.sought.connect(transport.seek)
        self.timeline.held.connect(self._hold)
        self.time = Label(role="small")
        self.time.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        hbox((self.timeline, 1), self.time, parent=self, spacing=theme.space())
        transport.changed.connect(self._show_button)
        transport.moved.connect(self.show_time)
        self._show_button()

    def show_length(self, seconds: float) -> None:
        """Set the length in seconds."""
        self._transport.length = seconds
        self.timeline.show_length(seconds)
        self.show_time()

    def show_time(self) -> None:
        """Show the current position."""
        at = self._transport.position
        self.timeline.show_place(at)
        parts = [labels.clock(at)]
        if self._transport.length:
            parts.append(labels.clock(self._transport.length + 0.5))
        shown = " / ".join(parts)
        if shown != self.time.text():
            self.time.setText(shown)
            # reserve the final width, so that nothing moves
            widest = " / ".join([parts[-1]] * len(parts))
            self.time.setMinimumWidth(self.time.fontMetrics().horizontalAdvance(widest))

    def _show_button(self) -> None:
        if self._transport.playing:
            name = tr("Pause {file}", file=self._name)
            self.button.show_icon("pause", name, tip=tr("Pause"))
        else:
            self.button.show_icon("play", tr("Play {file}", file=self._name), tip=tr("Play"))

    def _hold(self, held: bool) -> None:
        """Pause while the timeline is dragged."""
        if held:
            self._went_on = self._transport.playing
            self._transport.pause()
        elif self._went_on:
            self._transport.play()


class SoundCard(QFrame):
    """A sound with its waveform."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        self.setObjectName("card")
        self._path, self._media = artifact.path, actions.media
        self.transport = Playback(actions.media.sounds, artifact.path, self)
        self.controls = PlayerControls(
            self.transport, one_line(artifact.title), waves=True, kind="round"
        )
        self.button = self.controls.button
        self.line = FileLine(artifact, actions)
        self.trouble = FileError(artifact, actions)
        layout = QGridLayout(self)
        layout.setContentsMargins(12, theme.space(), theme.space(), 12)
        layout.setHorizontalSpacing(12)
        layout.setVerticalSpacing(theme.space("half"))
        layout.addWidget(self.button, 0, 0)
        layout.addWidget(self.line, 0, 1)
        layout.addWidget(self.controls, 1, 0, 1, 2)
        layout.addWidget(self.trouble, 2, 0, 1, 2)
        layout.setColumnStretch(1, 1)
        self.controls.timeline.seen.connect(self._listen)
        self.transport.failed.connect(lambda reason: self.trouble.say(reason, final=False))
        self.transport.changed.connect(self._changed)

    def _listen(self) -> None:
        self._media.look(self, "peaks", self._path, then=self._heard)

    def _heard(self, outcome: Outcome) -> None:
        if outcome.error:
            self.button.setEnabled(False)
            self.controls.hide()
            self.trouble.say(outcome.error.message)
        elif outcome.value:
            self.controls.timeline.show_peaks(outcome.value)
            self.controls.show_length(outcome.value.length)

    def _changed(self) -> None:
        if self.transport.playing:
            self.trouble.hide()


MAX_WAVEFORM_S = 1800.0
"""Seconds of video whose sound is analysed for its waveform: hours of it would keep a core busy."""


class VideoCard(QFrame):
    """A video with its sound."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        self.setObjectName("card")
        self._name = name = one_line(artifact.title)
        self.window_of_film: VideoWindow | None = None
        self._path, self._media = artifact.path, actions.media
        self.transport = Playback(actions.media.sounds, artifact.path, self)
        self.transport.shows = True
        self.canvas = VideoCanvas()
        self.frames = FrameLoader(actions.media, self.transport, artifact.path, self.canvas)
        self.line = FileLine(artifact, actions)
        self.trouble = FileError(artifact, actions)
        self.controls = PlayerControls(self.transport, name, waves=False, kind="icon")
        self.mute = IconButton("speaker", tr("Mute {file}", file=name), tip=tr("Mute"))
        self.mute.setCheckable(True)
        self.mute.toggled.connect(self._mute)
        self.mute.hide()
        self.whole = IconButton(
            "whole", tr("Full screen: {file}", file=name), tip=tr("Full screen (F)")
        )
        self.whole.clicked.connect(self._change_size)
        self._bar = QWidget()
        hbox(
            self.controls.button,
            (self.controls, 1),
            self.mute,
            self.whole,
            parent=self._bar,
            spacing=theme.space("half"),
        )
        self._bar.setEnabled(False)
        self._row = hbox((self.canvas, 1))
        vbox(
            self._row,
            self._bar,
            self.trouble,
            self.line,
            parent=self,
            margins=theme.space(),
            spacing=theme.space("half"),
        )
        self.setMaximumWidth(MAX_WIDTH + 2 * theme.space() + 2)
        self.canvas.seen.connect(self._look)
        self.canvas.clicked.connect(self._clicked)
        self.canvas.double_clicked.connect(self._change_size)
        self.frames.came.connect(self.canvas.show_picture)
        self.frames.failed.connect(self._give_up)
        self.transport.failed.connect(lambda reason: self.trouble.say(reason, final=False))
        self.transport.changed.connect(self._changed)
        self.canvas.show_sign("")

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.line.file_actions.menu(self, event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """F toggles full screen."""
        if event.key() == Qt.Key.Key_F and not event.modifiers():
            self._change_size()
        else:
            super().keyPressEvent(event)

    def _change_size(self) -> None:
        if self.window_of_film:
            self.window_of_film.close()
        elif self._bar.isEnabled():
            self.window_of_film = VideoWindow(self, self.canvas, self._bar, self._name)
            self.window_of_film.left.connect(self._take_back)
            self.window_of_film.showFullScreen()
            self.controls.button.setFocus()

    def _take_back(self) -> None:
        window, self.window_of_film = self.window_of_film, None
        if window is None:
            return
        self.canvas.fill(False)
        self._row.addWidget(self.canvas, 1)
        column = self.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(1, self._bar)
        window.deleteLater()
        self.whole.setFocus()

    def _look(self) -> None:
        box = (MAX_WIDTH, MAX_HEIGHT)
        ratio = self.devicePixelRatioF()
        size = [round(side * ratio) for side in box]
        self._media.look(self, "film", self._path, *size, then=self._described)

    def _described(self, outcome: Outcome) -> None:
        if outcome.error:
            self._give_up(outcome.error.message)
        elif isinstance(film := outcome.value, VideoInfo):
            self.transport.sound = film.sound
            self.mute.setVisible(film.sound > 0)
            self.controls.show_length(film.length)
            self.line.show_facts(f"{film.width} × {film.height}")
            self.canvas.show_proportions(film.poster.width, film.poster.height)
            self.canvas.show_picture(frame_image(film.poster))
            self.canvas.show_sign("play")
            self._bar.setEnabled(True)
            if film.sound > 0 and 0 < film.length <= MAX_WAVEFORM_S:
                self.controls.timeline.show_waves(None)
                then = partial(self._heard, film)
                self._media.look(self, "peaks", self._path, then=then)

    def _heard(self, film: VideoInfo, outcome: Outcome) -> None:
        if isinstance(heard := outcome.value, Peaks):  # its sound may end before its pictures do
            share = heard.share * min(1.0, heard.length / film.length)
            self.controls.timeline.show_waves(replace(heard, share=share))

    def _give_up(self, reason: str) -> None:
        if self.window_of_film:
            self.window_of_film.close()
        self.canvas.hide()
        self._bar.hide()
        self.trouble.say(reason)

    def _clicked(self) -> None:
        if self._bar.isEnabled():
            self.transport.toggle()

    def _mute(self, muted: bool) -> None:
        self.transport.mute(muted)
        self.mute.show_icon(
            "silent" if muted else "speaker", self.mute.accessibleName(), tip=tr("Mute")
        )

    def _changed(self) -> None:
        self.canvas.show_sign("" if self.transport.playing else "play")
        if self.transport.playing:
            self.trouble.hide()


class TextCard(QFrame):
    """A text that can be selected and copied."""

    def __init__(
        self, artifact: Artifact, actions: Actions, *, first: int = FIRST_CHARACTERS
    ) -> None:
        """`first` is the number of characters shown at first."""
        super().__init__()
        self.setObjectName("card")
        self._text = artifact.text or ""
        text = LongText(tr("Result"), first=first)
        text.show_text(self._text.rstrip("\n"))
        words = vbox(spacing=theme.space("half"))
        if artifact.name:
            words.addWidget(ElidedLabel(artifact.title, role="strong"))
        words.addWidget(text)
        layout = hbox((words, 1), parent=self, margins=(theme.space("two"), 12, theme.space(), 12))
        self.save = IconButton("save", tr("Save as a file"))
        self.save.clicked.connect(
            lambda: actions.save_text.emit(artifact.name or tr("Text") + ".txt", self._text)
        )
        copy = IconButton("copy", tr("Copy this text"))
        copy.clicked.connect(lambda: actions.copy_text.emit(self._text))
        for each in (self.save, copy):
            layout.addWidget(each, alignment=Qt.AlignmentFlag.AlignTop)


VISIBLE_ROWS = 8
MAX_COLUMN_PX = 260
CELL_PADDING_PX = 32
MEASURED_ROWS = 40  # rows that are measured for the width of a column

Index = QModelIndex | QPersistentModelIndex


class PreviewRows(QAbstractTableModel):
    """The model of a Preview."""

    def __init__(self, preview: TablePreview, parent: QObject) -> None:
        super().__init__(parent)
        self._preview = preview

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        return 0 if parent.isValid() else len(self._preview.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        return 0 if parent.isValid() else len(self._preview.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        cell = self._preview.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell
        if role == Qt.ItemDataRole.TextAlignmentRole and is_number(cell):
            return Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(
        self, section: int, side: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole and side == Qt.Orientation.Horizontal:
            cells = [row[section] for row in self._preview.rows[:MEASURED_ROWS] if row[section]]
            numbers = bool(cells) and all(map(is_number, cells))
            side_of_text = (
                Qt.AlignmentFlag.AlignTrailing if numbers else Qt.AlignmentFlag.AlignLeading
            )
            return side_of_text | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if side == Qt.Orientation.Vertical:
            return section + 1
        return self._preview.columns[section] or str(section + 1)


class PreviewTable(QTableView):
    """Shows the rows; leaves scrolling to the conversation unless it has the keyboard."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName("grid")
        self.setAccessibleName(name)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().setHighlightSections(False)
        self.verticalHeader().setHighlightSections(False)

    def show_preview(self, preview: TablePreview) -> None:
        """Show the rows, as many as fit."""
        self.setModel(PreviewRows(preview, self))
        head, metrics = self.horizontalHeader(), self.fontMetrics()
        row = metrics.height() + 8
        self.verticalHeader().setDefaultSectionSize(row)
        for column in range(len(preview.columns)):
            cells = [line[column][:80] for line in preview.rows[:MEASURED_ROWS]]
            width = max(metrics.horizontalAdvance(cell) for cell in cells) + CELL_PADDING_PX
            width = max(width, head.sectionSizeHint(column))
            self.setColumnWidth(column, min(width, MAX_COLUMN_PX))
        head.setStretchLastSection(True)
        shown = max(1, min(len(preview.rows), VISIBLE_ROWS))
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(head.sizeHint().height() + shown * row + bar)

    def chosen(self) -> str:
        """The selected cells as tab-separated text."""
        rows: dict[int, list[str]] = {}
        for index in sorted(self.selectedIndexes(), key=lambda each: (each.row(), each.column())):
            rows.setdefault(index.row(), []).append(str(index.data()))
        return "\n".join("\t".join(row) for row in rows.values())

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class TableCard(QFrame):
    """The file, and its first rows as a grid."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        self.setObjectName("card")
        self._path, self._actions, self._seen = artifact.path, actions, False
        self.line = FileLine(artifact, actions)
        self.grid = PreviewTable(tr("Rows of {file}", file=one_line(artifact.title)))
        self.grid.hide()
        self.trouble = FileError(artifact, actions)
        self.note = Label(role="small", wrap=True)
        self.note.hide()
        head = hbox(
            Symbol(icons.FOR_KIND[artifact.kind], size=20),
            (self.line, 1),
            margins=(12, theme.space(), theme.space(), 0),
            spacing=12,
        )
        foot = vbox(self.note, self.trouble, margins=(12, 0, 12, theme.space()))
        vbox(head, self.grid, foot, parent=self, margins=1, spacing=theme.space())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Read the file once the card is visible."""
        super().paintEvent(event)
        if not self._seen:
            self._seen = True
            self._actions.media.look(self, "table", self._path, then=self._found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and (chosen := self.grid.chosen()):
            self._actions.copy_text.emit(chosen)
        else:
            super().keyPressEvent(event)

    def _found(self, outcome: Outcome) -> None:
        preview = outcome.value
        if outcome.error:
            self.trouble.say(outcome.error.message)
        elif isinstance(preview, TablePreview):
            rows = (preview.columns, *preview.rows) if any(preview.columns) else preview.rows
            self.line.file_actions.text = "\n".join("\t".join(row) for row in rows)
            columns = trn("{count} column", "{count} columns", len(preview.columns))
            if preview.more:
                self.note.setText(tr("The first {count} rows.", count=len(preview.rows)))
                self.note.show()
                self.line.show_facts(columns)
            else:
                count = trn("{count} row", "{count} rows", len(preview.rows))
                self.line.show_facts(count, columns)
            self.grid.show_preview(preview)
            self.grid.show()


def is_number(cell: str) -> bool:
    """Whether a cell is aligned like a number."""
    digits = sum(letter.isdigit() for letter in cell)
    return digits > 0 and digits * 2 >= len(cell) and not any(map(str.isalpha, cell))


_cards = {
    Kind.IMAGE: ImageCard,
    Kind.AUDIO: SoundCard,
    Kind.VIDEO: VideoCard,
    Kind.TABLE: TableCard,
}


def card(artifact: Artifact, actions: Actions, *, cut: bool = False) -> QWidget:
    """The widget for one result; `cut` shows only the beginning of a text at first."""
    if artifact.path is None:
        first = MAX_MATERIAL_CHARS if cut else FIRST_CHARACTERS
        return TextCard(artifact, actions, first=first)
    return _cards.get(artifact.kind, FileCard)(artifact, actions)


class ResultCards(QWidget):
    """The cards of results, one below the other; hidden while there are none."""

    def __init__(self, actions: Actions, *, most: int) -> None:
        """`most` results get a card."""
        super().__init__()
        self._actions, self._most = actions, most
        self._cards: dict[Artifact, QWidget] = {}
        self._column = vbox(parent=self, spacing=theme.space())
        self.hide()

    def __len__(self) -> int:
        return len(self._cards)

    def __bool__(self) -> bool:
        return True  # as for every other widget

    def show_results(self, artifacts: Sequence[Artifact], *, cut: bool = False) -> None:
        """Show these results; cards that are there already stay. `cut` shows only the beginning
        of a new text."""
        wanted = artifacts[: self._most]
        for artifact in self._cards.keys() - set(wanted):
            discard(self._cards.pop(artifact))
        for artifact in wanted:
            if artifact not in self._cards:
                self._cards[artifact] = card(artifact, self._actions, cut=cut)
                self._column.addWidget(self._cards[artifact])
                if self.isVisible():
                    self._cards[artifact].show()
                    fade_in(self._cards[artifact])
        if self._cards and self.isHidden():
            self.show()
            fade_in(self)
        self.setVisible(bool(self._cards))
