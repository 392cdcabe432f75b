"""The main window: puts the parts together and says what happens when one of them speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from PySide6.QtCore import QEvent, QSettings, QSize, QUrl, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDesktopServices,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QKeySequence,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui import theme
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.composer import Composer
from jarvis_desktop.ui.conversation_view import WIDEST, ConversationView
from jarvis_desktop.ui.filing import Filing, dropped_files
from jarvis_desktop.ui.header import Header
from jarvis_desktop.ui.llm_notice import LLMNotice
from jarvis_desktop.ui.llm_watch import LLMWatch, Look, described
from jarvis_desktop.ui.notices import Banner
from jarvis_desktop.ui.overlays import DropZone, Viewer
from jarvis_desktop.ui.resuming import ResumeNotice
from jarvis_desktop.ui.session import Exchange, Session
from jarvis_desktop.ui.sidebar import Listing, Sidebar
from jarvis_desktop.ui.spoken_answers import SpokenAnswers
from jarvis_desktop.ui.talking import Talker
from jarvis_desktop.ui.voice_parts import VoiceParts
from jarvis_desktop.ui.welcome import Welcome

SIZE = QSize(1120, 780)
OLLAMA = "https://ollama.com/download"
NARROW = 760
"""Pixels; a narrower window leaves the side list out."""


class MainWindow(QMainWindow):
    """The window of JARVIS Desktop."""

    painted = Signal()
    """It is on the screen for the first time."""

    def __init__(self, session: Session, settings: Path) -> None:
        """`settings` is the file in which the window's place and its switches are kept."""
        super().__init__()
        self.session = session
        self._settings = QSettings(str(settings), QSettings.Format.IniFormat)
        self._seen = False
        self._viewer: Viewer | None = None
        self.wishes = Actions(self)
        self.filing = Filing(self)
        self.talker = Talker(session.engine, self)
        self.llms = LLMWatch(session, self)
        self.setWindowTitle("JARVIS Desktop")
        self.setMinimumSize(460, 420)
        self.setAcceptDrops(True)
        self._build()
        self._connect_session()
        self._connect_parts()
        self._connect_llms()
        self._restore()
        self.composer.field.setFocus()

    def _build(self) -> None:
        self._central = central = QWidget()
        central.setObjectName("stage")
        row = QHBoxLayout(central)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.sidebar = Sidebar()
        row.addWidget(self.sidebar)
        right = QVBoxLayout()
        right.setSpacing(0)
        row.addLayout(right, 1)
        self.header = Header()
        right.addWidget(self.header)
        self.banner = Banner()
        self.llm_notice, self.resume_notice = LLMNotice(), ResumeNotice(self.session)
        held = QVBoxLayout()
        held.setContentsMargins(theme.space("three"), theme.space(), theme.space("three"), 0)
        held.addWidget(self.banner)
        for notice in (self.resume_notice, self.llm_notice):
            notice.setMaximumWidth(WIDEST)
            row = QHBoxLayout()
            row.addStretch(1)
            row.addWidget(notice, 1000)
            row.addStretch(1)
            held.addLayout(row)
        right.addLayout(held)
        self.welcome = Welcome()
        self.conversation = ConversationView(self.wishes)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.welcome)
        self.stack.addWidget(self.conversation)
        right.addWidget(self.stack, 1)
        self.composer = Composer(self.talker)
        self.composer.setMaximumWidth(WIDEST)
        self.spoken = SpokenAnswers(
            self.session,
            self.talker,
            conversation=self.conversation,
            composer=self.composer,
            parent=self,
        )
        self.voice = VoiceParts(self, self.session, self.talker, self.header, self.composer)
        foot = QHBoxLayout()
        foot.setContentsMargins(*[theme.space("two")] * 4)
        foot.addStretch(1)
        foot.addWidget(self.composer, 1000)
        foot.addStretch(1)
        right.addLayout(foot)
        self.setCentralWidget(central)
        self.drop_zone = DropZone(central)

    def _connect_session(self) -> None:
        session = self.session
        session.ready.connect(self._ready)
        session.added.connect(self._added)
        session.changed.connect(self.conversation.refresh)
        session.switched.connect(self._switched)
        session.listed.connect(self._listed)
        session.busy_changed.connect(self.composer.show_busy)
        session.stops_next.connect(self.composer.show_stop)
        session.asked.connect(self._asked)
        session.playing.connect(self.wishes.playing)
        session.rang.connect(self._rang)
        session.failed.connect(self.banner.say)

    def _connect_parts(self) -> None:
        self.composer.sent.connect(self.send)
        self.composer.stop_wanted.connect(self.session.stop)
        self.composer.files_wanted.connect(self.filing.choose)
        self.composer.goal_wanted.connect(self._goal_wanted)
        self.welcome.chosen.connect(self.send)
        self.welcome.voice_wanted.connect(self.voice.open_page)
        self.sidebar.opened.connect(self.session.open_conversation)
        self.sidebar.new_wanted.connect(self._new_conversation)
        self.sidebar.searched.connect(self.session.refresh_list)
        self.header.explained.connect(lambda text: self.banner.say(text, calm=True))
        self.spoken.late.connect(lambda text: self.banner.say(text, calm=True))
        wishes = self.wishes
        wishes.play.connect(self.session.play)
        wishes.silence.connect(self.session.silence)
        filing = self.filing
        filing.chosen.connect(self.add_files)
        filing.copied.connect(self.session.save_copy)
        filing.failed.connect(self.banner.say)
        wishes.open_file.connect(filing.open)
        wishes.show_folder.connect(lambda path: filing.open(path.parent))
        wishes.save_as.connect(filing.save_as)
        wishes.enlarge.connect(self._enlarge)
        wishes.copy_text.connect(lambda text: QGuiApplication.clipboard().setText(text))
        for keys, act in (
            ("Esc", self._escape),
            ("Ctrl+N", self._new_conversation),
            ("Ctrl+F", self.sidebar.search.setFocus),
            ("Ctrl+L", self.composer.field.setFocus),
            ("Ctrl+G", self.composer.goal.toggle),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(act)

    def _connect_llms(self) -> None:
        watch, notice = self.llms, self.llm_notice
        watch.looked.connect(self._looked)
        watch.progressed.connect(notice.advance)
        watch.fetched.connect(self._fetched)
        notice.fetch_wanted.connect(watch.fetch)
        notice.stop_wanted.connect(watch.stop)
        notice.page_wanted.connect(lambda: QDesktopServices.openUrl(QUrl(OLLAMA)))
        notice.later.clicked.connect(self.composer.field.setFocus)
        self.header.llm_wanted.connect(lambda: watch.look(wanted=True))

    def send(self, request: Request) -> None:
        """Send a request, to be answered aloud if the switch says so."""
        self.banner.hide()
        speak = self.header.speak.isChecked()
        given = replace(request, speak=speak)
        self.session.send(given, review_plan=self.header.review.isChecked())
        if not self.talker.held:  # who loses the keyboard counts as having let go
            self.composer.field.setFocus()

    def add_files(self, files: Sequence[Path]) -> None:
        """Attach files to the next request."""
        self.composer.add_files(files)

    # What the session says

    def _ready(self, app: App) -> None:
        self.header.show_mode(app.mode)

    def _added(self, exchange: Exchange) -> None:
        self.stack.setCurrentWidget(self.conversation)
        self.conversation.append(exchange)
        self._show_title()

    def _switched(self) -> None:
        entries = self.session.open.entries
        self.conversation.show_entries(entries)
        self.spoken.refresh()
        self.composer.goal.setChecked(self.session.open.goal)
        self.stack.setCurrentWidget(self.conversation if entries else self.welcome)
        self._show_title()
        self.composer.field.setFocus()

    def _show_title(self) -> None:
        entries = self.session.open.entries
        self.header.show_title(one_line(entries[0].turn.text) if entries else "")

    def _looked(self, look: Look) -> None:
        self.header.show_llm(look.used, look.reason)
        if self.llms.fetching:
            return
        if look.missing:
            self.llm_notice.offer(look.missing)
        elif look.used:
            self.llm_notice.hide()
        elif look.wanted:
            self.banner.say(look.reason, calm=True)

    def _fetched(self, outcome: Outcome) -> None:
        self.llm_notice.end(outcome)
        if outcome.value:
            self.banner.say(f"{described(outcome.value)} is ready. It is used now.", calm=True)

    def _listed(self, conversations: Sequence[Listing]) -> None:
        self.sidebar.show_list(conversations, date.today(), chosen=self.session.open.id)

    def _asked(self, exchange: Exchange) -> None:
        self.conversation.refresh(exchange)
        self.conversation.draw_now()
        self.spoken.asked(exchange)
        view = self.conversation.view(exchange)
        if view and view.panel:
            self.conversation.to_end()
            # Never under the fingers of one who types; a button that loses it counts as let go.
            if not self.composer.field.toPlainText() and not self.talker.held:
                view.panel.take_focus()
        elif exchange.question:
            self.banner.say(
                f"Another conversation waits for an answer: {exchange.question.text}", calm=True
            )
        elif not self.talker.held:
            self.composer.field.setFocus()

    def _rang(self, timer: Timer) -> None:
        label = one_line(timer.label)
        self.banner.say(f"The timer is up: {label}" if label else "The timer is up.", calm=True)
        QApplication.alert(self)

    # What the person wants

    def _new_conversation(self) -> None:
        self.session.new_conversation()
        self.composer.field.setFocus()

    def _goal_wanted(self, wanted: bool) -> None:
        self.session.open.goal = wanted
        self.composer.field.setFocus()

    def _escape(self) -> None:
        if self._viewer and self._viewer.isVisible():
            self._viewer.leave()
        elif not self.voice.escape() and not any(
            panel.refuse() for panel in self.conversation.panels()
        ):
            self.session.stop()

    def _enlarge(self, artifact: Artifact) -> None:
        self._viewer = Viewer(self._central, artifact, self.wishes)
        self._viewer.destroyed.connect(self._viewer_gone)

    def _viewer_gone(self) -> None:
        self._viewer = None

    # What Qt says

    def changeEvent(self, change: QEvent) -> None:
        """Look for an LLM where one comes back, perhaps from having installed it."""
        super().changeEvent(change)
        if change.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.llms.look(wanted=self.llm_notice.isVisible())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Invite what can be attached or typed."""
        if dropped_files(event.mimeData()):
            self.drop_zone.appear()
            event.acceptProposedAction()
        elif event.mimeData().hasText():
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Take the invitation back."""
        self.drop_zone.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        """Attach files, take over text."""
        self.drop_zone.hide()
        if files := dropped_files(event.mimeData()):
            self.add_files(files)
        else:
            self.composer.field.insertPlainText(event.mimeData().text())
        event.acceptProposedAction()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell of the first time."""
        super().paintEvent(event)
        if not self._seen:
            self._seen = True
            self.painted.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make room where there is little."""
        super().resizeEvent(event)
        self.sidebar.setVisible(event.size().width() >= NARROW)
        if self._viewer:
            self._viewer.setGeometry(self._central.rect())

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the window's place and its switches."""
        self._settings.setValue("geometry", self.saveGeometry())
        self._settings.setValue("speak", self.header.speak.isChecked())
        self._settings.setValue("review", self.header.review.isChecked())
        self._settings.sync()
        self.voice.close()
        super().closeEvent(event)

    def _restore(self) -> None:
        geometry = self._settings.value("geometry")
        if geometry is None or not self.restoreGeometry(geometry):
            self.resize(SIZE)
        self.header.speak.setChecked(bool(self._settings.value("speak", True, type=bool)))
        self.header.review.setChecked(bool(self._settings.value("review", False, type=bool)))
