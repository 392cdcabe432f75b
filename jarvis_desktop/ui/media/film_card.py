"""A film."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.media.file_line import FileLine, Trouble
from jarvis_desktop.ui.media.film_window import FilmWindow
from jarvis_desktop.ui.media.found import Film, Peaks
from jarvis_desktop.ui.media.screen import TALLEST, WIDEST, Frames, Screen, picture_of
from jarvis_desktop.ui.media.sound_card import Controls
from jarvis_desktop.ui.media.transport import Transport

LISTENED = 1800.0
"""Seconds of a film whose sound is listened to for its waves: hours of one keep a core busy."""


class FilmCard(QFrame):
    """Plays, with its sound where there is one."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        self.setObjectName("card")
        self._name = name = one_line(artifact.title)
        self.window_of_film: FilmWindow | None = None
        self._path, self._media = artifact.path, actions.media
        self.transport = Transport(actions.media.sounds, artifact.path, self)
        self.transport.shows = True
        self.canvas = Screen()
        self.frames = Frames(actions.media, self.transport, artifact.path, self.canvas)
        self.line = FileLine(artifact, actions)
        self.trouble = Trouble(artifact, actions)
        self.controls = Controls(self.transport, name, waves=False, kind="icon")
        self.mute = IconButton("speaker", tr("Mute {file}", file=name), tip=tr("Mute"))
        self.mute.setCheckable(True)
        self.mute.toggled.connect(self._mute)
        self.mute.hide()
        self.whole = IconButton(
            "whole", tr("Full screen: {file}", file=name), tip=tr("Full screen (F)")
        )
        self.whole.clicked.connect(self._change_size)
        self._bar = QWidget()
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setSpacing(theme.space("half"))
        bar.addWidget(self.controls.button)
        bar.addWidget(self.controls, 1)
        bar.addWidget(self.mute)
        bar.addWidget(self.whole)
        self._bar.setEnabled(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.space(), theme.space(), theme.space(), theme.space())
        layout.setSpacing(theme.space("half"))
        self._row = QHBoxLayout()
        self._row.addWidget(self.canvas, 1)
        layout.addLayout(self._row)
        layout.addWidget(self._bar)
        layout.addWidget(self.trouble)
        layout.addWidget(self.line)
        self.setMaximumWidth(WIDEST + 2 * theme.space() + 2)
        self.canvas.seen.connect(self._look)
        self.canvas.clicked.connect(self._clicked)
        self.canvas.double_clicked.connect(self._change_size)
        self.frames.came.connect(self.canvas.show_picture)
        self.frames.failed.connect(self._give_up)
        self.transport.failed.connect(lambda reason: self.trouble.say(reason, final=False))
        self.transport.changed.connect(self._changed)
        self.canvas.show_sign("")

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the file."""
        self.line.deeds.menu(self, event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """F shows it over the whole screen."""
        if event.key() == Qt.Key.Key_F and not event.modifiers():
            self._change_size()
        else:
            super().keyPressEvent(event)

    def _change_size(self) -> None:
        if self.window_of_film:
            self.window_of_film.close()
        elif self._bar.isEnabled():
            self.window_of_film = FilmWindow(self, self.canvas, self._bar, self._name)
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
        box = (WIDEST, TALLEST)
        ratio = self.devicePixelRatioF()
        size = [round(side * ratio) for side in box]
        self._media.look(self, "film", self._path, *size, then=self._described)

    def _described(self, outcome: Outcome) -> None:
        if outcome.error:
            self._give_up(outcome.error.message)
        elif isinstance(film := outcome.value, Film):
            self.transport.sound = film.sound
            self.mute.setVisible(film.sound > 0)
            self.controls.show_length(film.length)
            self.line.show_facts(f"{film.width} × {film.height}")
            self.canvas.show_proportions(film.poster.width, film.poster.height)
            self.canvas.show_picture(picture_of(film.poster))
            self.canvas.show_sign("play")
            self._bar.setEnabled(True)
            if film.sound > 0 and 0 < film.length <= LISTENED:
                self.controls.timeline.show_waves(None)
                then = partial(self._heard, film)
                self._media.look(self, "peaks", self._path, then=then)

    def _heard(self, film: Film, outcome: Outcome) -> None:
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
