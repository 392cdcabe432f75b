"""Settings controls that are for one row alone: API keys, folders, autostart, reset, the network
test, the desktop, and the server for other programs."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QLineEdit, QPushButton, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.paths import Paths
from jarvis_desktop.platform import api_keys
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.mode_picker import ModeChoice
from jarvis_desktop.ui.quick import tray
from jarvis_desktop.ui.quick.floating_window import places_windows
from jarvis_desktop.ui.quick.overlay import UNSUPPORTED
from jarvis_desktop.ui.server_control import ServerState
from jarvis_desktop.ui.session import AppJobs
from jarvis_desktop.ui.settings.controls import Switch
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow, fields
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.forms import SettingsPanel, button, plain_field
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import FlowLayout, hbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.settings import Settings
    from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow


NO_CALLS = mark(
    "It may not make calls to Inference Providers: give it that permission at "
    "https://huggingface.co/settings/tokens."
)
KEYS_OFFLINE = mark(
    "The mode is “offline”, so nobody is asked. Choose another mode to test the key."
)
NO_ADDRESS = mark("Write the address of the service first: a key is kept for one address alone.")


class KeyPanel(SettingsPanel):
    """Shows whether there is a key, and sets, tests or removes it."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._hands = hands
        self._hub = row.key == "hub-key"
        self._jobs = AppJobs(hands.settings.session, self)
        name = tr(row.title)
        self.symbol = Symbol("skipped", "muted", size=16)
        self.state = Label(wrap=True)
        self.column.addLayout(hbox(self.symbol, (self.state, 1), spacing=theme.space()))
        self.field = plain_field(tr("Paste the key here"), name)
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setAccessibleDescription(tr(row.help))
        self.field.returnPressed.connect(self._keep)
        self.keep = button(tr("Keep"), tr("Keep the key: {name}", name=name), act=self._keep)
        self.keep.setEnabled(False)
        self.field.textChanged.connect(lambda text: self.keep.setEnabled(bool(text.strip())))
        self.column.addLayout(hbox((self.field, 1), self.keep, spacing=theme.space()))
        self.test = button(tr("Test"), tr("Test the key: {name}", name=name), act=self._test)
        self.remove = button(tr("Remove"), tr("Remove the key: {name}", name=name))
        self.remove.clicked.connect(self._remove)
        acts = FlowLayout(gap=theme.space())
        acts.addWidget(self.test)
        acts.addWidget(self.remove)
        self.column.addLayout(acts)
        self.message = Label(role="small", wrap=True)
        self.message.hide()
        self.column.addWidget(self.message)
        self.setFocusProxy(self.field)
        self._show(api_keys.KeyState())
        hands.settings.session.settled.connect(self._settled)

    def appear(self) -> None:
        """Check whether there is a key."""
        address = self._address
        if not address:
            self._show(api_keys.KeyState())
            self.state.setText(tr(NO_ADDRESS))
            self._invite(False)
            return

        self._jobs.start(
            "look", lambda app: asyncio.to_thread(api_keys.state, address), self._looked
        )

    def leave(self) -> None:
        """Forget what was typed and not saved."""
        self.field.clear()

    @property
    def _address(self) -> str:
        if self._hub:
            return api_keys.HUB
        settings = self._hands.settings.now
        return settings.llm.address if settings and settings.llm.provider != "ollama" else ""

    def _settled(self) -> None:
        if not self._hub and self.isVisible():
            self.appear()

    def _looked(self, outcome: Outcome) -> None:
        if isinstance(outcome.value, api_keys.KeyState):
            self._show(outcome.value)
        elif outcome.error:
            self.complain(str(outcome.error))

    def _show(self, state: api_keys.KeyState) -> None:
        there = state.kept or bool(state.variable)
        self.symbol.show_icon("done" if there else "skipped", "done" if there else "muted")
        if state.kept:
            self.state.setText(tr("Set: it is in the system’s keyring."))
        elif state.variable:
            self.state.setText(tr("Set by the variable {name} of the environment.",
                                  name=state.variable))  # fmt: skip
        else:
            self.state.setText(tr("Not set."))
        self.test.setVisible(there)
        self.remove.setVisible(state.kept)
        self.complain(state.trouble)
        self._invite(not state.trouble)

    def _invite(self, possible: bool) -> None:
        for widget in (self.field, self.keep):
            widget.setVisible(possible)

    def _keep(self) -> None:
        key, address = self.field.text().strip(), self._address
        if not key or not address:
            return

        async def keep(app: Application) -> api_keys.KeyState:
            if self._hub:
                await asyncio.to_thread(api_keys.keep_hub_key, key)
            else:
                await asyncio.to_thread(api_keys.keep, address, key)
            return await self._changed(app, address)

        def kept(outcome: Outcome) -> None:
            if outcome.value:
                self.field.clear()
            self._after(outcome, tr("The key is kept in the system’s keyring."))

        self._jobs.start("keep", keep, kept)

    def _remove(self) -> None:
        address = self._address

        async def remove(app: Application) -> api_keys.KeyState:
            await asyncio.to_thread(api_keys.forget, address)
            return await self._changed(app, address)

        self._jobs.start(
            "remove", remove, lambda outcome: self._after(outcome, tr("The key is deleted."))
        )

    async def _changed(self, app: Application, address: str) -> api_keys.KeyState:
        """Make everything use the new key."""
        app.api.forget_key()
        app.llms.choose(app.llms.wanted)
        for server in app.servers.values():
            server.forget_keys()
        return await asyncio.to_thread(api_keys.state, address)

    def _test(self) -> None:
        address = self._address

        self._show_message(tr("Asking…"))
        self._jobs.start(
            "test",
            lambda app: self._try(app, address),
            lambda outcome: self._after(outcome, str(outcome.value or "")),
        )

    async def _try(self, app: Application, address: str) -> str:
        """Ask the service, and return the result in words. Raises JarvisError."""
        if not app.policy.allows_downloads:
            raise InputError(tr(KEYS_OFFLINE))
        if self._hub:
            account = await app.api.account()
            message = tr("It is taken; it is that of {name}.", name=one_line(account.name))
            return message if account.may_call is not False else f"{message} {tr(NO_CALLS)}"
        from jarvis_desktop.llm.openai_compatible import listed

        found = await listed(address, key=api_keys.ApiKey(lambda: api_keys.key_for(address)))
        return tr("It is taken; the service has {count} LLMs.", count=len(found))

    def _after(self, outcome: Outcome, message: str) -> None:
        if isinstance(outcome.value, api_keys.KeyState):
            self._show(outcome.value)
        if outcome.value is None and not outcome.cancelled:
            self._show_message("")
            self.complain(str(outcome.error or unexpected()))
        else:
            self.complain("")
            self._show_message(message)

    def _show_message(self, words: str) -> None:
        self.message.show_or_hide(words)


NAMES = (
    mark("Conversations"),
    mark("Files of conversations"),
    mark("Goals and code of agent mode"),
    mark("Experts that were fetched"),
    mark("List of the Hub"),
    mark("Settings"),
    mark("Logs"),
)


def places(paths: Paths) -> tuple[tuple[Path, ...], ...]:
    """The files and folders of each of NAMES; the first one can be opened."""
    history = paths.database
    return (
        (history, *(history.with_name(f"{history.name}-{end}") for end in ("wal", "shm"))),
        (paths.artifacts,),
        (paths.goals, paths.code_library, paths.packages),
        (paths.weights,),
        (paths.hub_index,),
        (paths.config,),
        (paths.logs,),
    )


def size_of(paths: Iterable[Path]) -> int:
    """The size of files and folders in bytes, without following links. Slow."""
    total, waiting = 0, list(paths)
    while waiting:
        path = waiting.pop()
        with suppress(OSError):  # it is gone, or not ours to look into
            if path.is_dir() and not path.is_symlink():
                waiting += path.iterdir()
            else:
                total += path.lstat().st_size
    return total


class FolderPanel(SettingsPanel):
    """Where the data of each kind is stored, and its size."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._session = hands.settings.session
        self._actions = hands.context.actions
        self._jobs = AppJobs(self._session, self)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.space("two"))
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        self.column.addLayout(grid)
        self.sizes: list[Label] = []
        self.where: list[ElidedLabel] = []
        self.opens: list[IconButton] = []
        self._first: list[Path] = []
        middle = Qt.TextElideMode.ElideMiddle
        for number, name in enumerate(NAMES):
            where = ElidedLabel(role="small", mode=middle)
            size = Label("…", role="small")
            size.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
            show = IconButton("folder", tr("Open the folder: {name}", name=tr(name)), kind="icon")
            show.setEnabled(False)
            show.clicked.connect(lambda _=False, number=number: self._open(number))
            words = Label(tr(name), wrap=True)
            for column, widget in enumerate((words, where, size, show)):
                grid.addWidget(widget, number, column)
            self.where.append(where)
            self.sizes.append(size)
            self.opens.append(show)

    def appear(self) -> None:
        """Measure the sizes again."""

        async def count(app: Application) -> list[int]:
            return [await asyncio.to_thread(size_of, each) for each in places(app.paths)]

        app = self._session.app
        if app and self._jobs.start("count", count, self._counted):
            self._first = [each[0] for each in places(app.paths)]
            for path, where, show in zip(self._first, self.where, self.opens, strict=True):
                where.show_text(one_line(tilde(path), limit=300))
                show.setEnabled(True)

    def _counted(self, outcome: Outcome) -> None:
        for label, size in zip(self.sizes, outcome.value or (), strict=False):
            label.setText(labels.size(size) if size else tr("empty"))

    def _open(self, number: int) -> None:
        path = self._first[number]
        act = self._actions.show_folder if path.suffix == ".db" else self._actions.open_file
        act.emit(path)


def tilde(path: Path) -> str:
    """A path with the home folder as "~"."""
    home = str(Path.home())
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text


class ModeControl(ModeChoice):
    """The four modes, as in the header."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__()
        self.setAccessibleName(tr(row.title))

    def leave(self) -> None:
        """Drop an unanswered question."""
        self.withdraw()


class AutostartSwitch(Switch):
    """Whether JARVIS starts with the session, which the system stores, not our file."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(row)
        self._hands = hands
        self._on = False
        self._asked = 0
        self.setEnabled(False)
        self.changed.connect(self._turn)

    def appear(self) -> None:
        """Ask the system."""

        async def look(app: Application) -> bool:
            from jarvis_desktop.platform import desktop

            return await asyncio.to_thread(desktop.is_autostarted)

        self._ask(look)

    def _turn(self, on: bool) -> None:
        async def turn(app: Application) -> bool:
            from jarvis_desktop.platform import desktop

            await asyncio.to_thread(desktop.set_autostart, on)
            return await asyncio.to_thread(desktop.is_autostarted)

        self.setEnabled(False)
        self._ask(turn)

    def _ask(self, work: Callable[[Application], Coroutine[Any, Any, bool]]) -> None:
        self._asked += 1
        asked = self._asked
        self._hands.settings.session.run(work, lambda outcome: self._show_result(asked, outcome))

    def _show_result(self, asked: int, outcome: Outcome) -> None:
        if asked != self._asked:
            return  # it was asked again since
        self.setEnabled(True)
        if outcome.value is None:
            self._hands.settings.failed.emit(str(outcome.error or unexpected()))
            self.show_value(self._on)
        else:
            self._on = outcome.value
            self.show_value(self._on)


class ResetAll(SettingsPanel):
    """Restores all defaults after a confirmation."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._settings = hands.settings
        line = hbox(spacing=theme.space())
        self.ask = button(tr("Reset all settings…"))
        self.yes = button(tr("Reset all"), kind="risk")
        self.no = button(tr("Keep them"))
        self.message = Label(role="small", wrap=True)
        for widget in (self.ask, self.yes, self.no):
            line.addWidget(widget)
        line.addWidget(self.message, 1)
        self.column.addLayout(line)
        self.ask.clicked.connect(lambda: self._show(asking=True))
        self.no.clicked.connect(lambda: self._show(asking=False))
        self.yes.clicked.connect(self._reset)
        self.setFocusProxy(self.ask)
        self._show(asking=False)

    def leave(self) -> None:
        """Drop the question."""
        self._show(asking=False)

    def _show(self, *, asking: bool) -> None:
        focused = self.yes.hasFocus() or self.no.hasFocus() or self.ask.hasFocus()
        self.ask.setVisible(not asking)
        for widget in (self.yes, self.no):
            widget.setVisible(asking)
        count = len(self._changed())
        self.message.setText(
            tr("{count} settings differ from their defaults.", count=count) if asking else ""
        )
        if focused:
            (self.no if asking else self.ask).setFocus()

    def _changed(self) -> list[str]:
        now = self._settings.now
        return [key for key, field in fields().items() if now and field.of(now) != field.default]

    def _reset(self) -> None:
        for key in self._changed():
            self._settings.change(key, None)
        self._settings.write()
        self._show(asking=False)


def link(place: str, words: str) -> Callable[[SettingsRow, RowContext], QWidget]:
    """A control that opens another page."""

    def make(row: SettingsRow, hands: RowContext) -> QPushButton:
        return button(tr(words), act=lambda: hands.context.actions.go.emit(place, ""))

    return make


PLACE = "https://huggingface.co/robots.txt"
TEST_TIMEOUT_S = 10.0
OFFLINE = mark("The mode is “offline”, so nothing is reached. Choose another mode to try it.")


class NetworkPanel(SettingsPanel):
    """Requests a small page of the Hub and shows the result."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._settings = hands.settings
        self._jobs = AppJobs(hands.settings.session, self)
        self.test = button(tr("Test"), tr("Test the network"), act=self._test)
        self.message = Label(role="small", wrap=True)
        self.column.addLayout(hbox(self.test, (self.message, 1), spacing=theme.space()))
        self.setFocusProxy(self.test)

    def _test(self) -> None:
        if "test" not in self._jobs:
            self._settings.write()
            self.complain("")
            if self._jobs.start("test", self._ask, self._asked):
                self.message.setText(tr("Asking…"))

    async def _ask(self, app: Application) -> float:
        import httpx

        await self._settings.taken_up()
        if not app.policy.allows_downloads:
            raise InputError(tr(OFFLINE))
        begun = time.monotonic()
        try:
            async with httpx.AsyncClient(timeout=TEST_TIMEOUT_S) as client:
                await client.get(PLACE)
        except (httpx.HTTPError, OSError) as error:
            raise UnavailableError(
                tr("The Hub was not reached: {reason}.", reason=_reason(error)),
                hint=tr("Look at the proxy, and at the network of this computer."),
            ) from error
        return time.monotonic() - begun

    def _asked(self, outcome: Outcome) -> None:
        self.message.setText("")
        if outcome.value is not None:
            took = labels.seconds(outcome.value)
            self.message.setText(tr("The Hugging Face Hub was reached, in {time}.", time=took))
        elif not outcome.cancelled:
            self.complain(str(outcome.error or unexpected()))


def _reason(error: Exception) -> str:
    return one_line(str(error) or type(error).__name__, limit=160).rstrip(".")


HAS_TRAY = mark("This desktop has a tray.")
LISTED = mark("JARVIS is in the menu of this desktop.")
UNLISTED = mark(
    "JARVIS is not in the menu of this desktop. Some desktops lend keys only to programs that are."
)


class DesktopPanel(SettingsPanel):
    """What this desktop supports, checked whenever it is shown."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._session = hands.settings.session
        self.tray = Label(role="small", wrap=True)
        self.overlay = Label(role="small", wrap=True)
        self.menu = Label(role="small", wrap=True)
        self.put = button(tr("Put it there"), act=self._put)
        self.put.setAccessibleName(tr("Put JARVIS into the menu of this desktop"))
        self.put.hide()
        line = hbox((self.menu, 1), self.put, spacing=theme.space())
        self.column.addWidget(self.tray)
        self.column.addWidget(self.overlay)
        self.column.addLayout(line)

    def appear(self) -> None:
        """Check what is available."""
        self.tray.setText(tr(HAS_TRAY if tray.is_available() else tray.NO_TRAY))
        self.overlay.show_or_hide("" if places_windows() else tr(UNSUPPORTED))
        if sys.platform == "linux":
            self._ask(install=False)

    def _put(self) -> None:
        self.put.setEnabled(False)
        self._ask(install=True)

    def _ask(self, *, install: bool) -> None:
        def look() -> bool:
            from jarvis_desktop.platform import desktop

            if install:
                desktop.install()
            return desktop.is_installed()

        self._session.engine.run(lambda: asyncio.to_thread(look), self._looked)

    def _looked(self, outcome: Outcome) -> None:
        self.put.setEnabled(True)
        self.complain(str(outcome.error or ""))
        if isinstance(outcome.value, bool):
            self.menu.setText(tr(LISTED if outcome.value else UNLISTED))
            self.put.setVisible(not outcome.value)


OFF = mark("Off.")
STARTS = mark("Starting…")
RUNS = mark("Running.")


class ServerPanel(SettingsPanel):
    """Shows whether the server runs; its address and token can be copied."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._settings = hands.settings
        self._server = hands.settings.session.server
        self._jobs = AppJobs(hands.settings.session, self)
        self.symbol = Symbol("skipped", "muted", size=16)
        self.words = Label(wrap=True)
        self.column.addLayout(hbox(self.symbol, (self.words, 1), spacing=theme.space()))
        self.address = _Field(tr("Address"))
        self.token = _Field(tr("Token"))
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.copy_address = button(tr("Copy"), tr("Copy the address"))
        self.copy_token = button(tr("Copy"), tr("Copy the token"))
        self.renew = button(tr("New token"), tr("Make a new token; the old one is then worthless"))
        self.copy_address.clicked.connect(lambda: _copy(self._server.state.address))
        self.copy_token.clicked.connect(lambda: _copy(self._server.state.token))
        self.renew.clicked.connect(self._renew)
        lines = (
            hbox((self.address, 1), self.copy_address, spacing=theme.space()),
            hbox((self.token, 1), self.copy_token, self.renew, spacing=theme.space()),
        )
        for line in lines:
            self.column.addLayout(line)
        self._server.changed.connect(self._show)
        hands.settings.session.settled.connect(self._settled)
        self._show(self._server.state)

    def _settled(self, settings: Settings) -> None:
        self._show(self._server.state)

    def _show(self, state: ServerState) -> None:
        now = self._settings.now
        on = bool(now and now.server.on)
        runs = bool(state.address)
        self.symbol.show_icon("done" if runs else "skipped", "done" if runs else "muted")
        self.words.setText(tr(RUNS if runs else STARTS if on and not state.trouble else OFF))
        self.complain(state.trouble if on else "")
        self.address.setText(state.address)
        self.token.setText(state.token)
        self.token.home(False)
        shown = (self.address, self.token, self.copy_address, self.copy_token, self.renew)
        for widget in shown:
            widget.setVisible(runs)

    def _renew(self) -> None:
        async def renew(app: Application) -> None:
            from jarvis_desktop.server.access import new_token

            await asyncio.to_thread(new_token)

        def renewed(outcome: Outcome) -> None:
            if outcome.error:
                self.complain(str(outcome.error or unexpected()))
            elif not outcome.cancelled:
                self._server.restart()

        self._jobs.start("renew", renew, renewed)


class _Field(QLineEdit):
    """Words that can be selected, not changed."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("role", "plain")
        self.setAccessibleName(name)


def _copy(words: str) -> None:
    QGuiApplication.clipboard().setText(words)
