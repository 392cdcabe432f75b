"""All groups of the settings, in the order in which they are listed."""

from __future__ import annotations

from jarvis_desktop.core.wording import mark
from jarvis_desktop.translations import LANGUAGES
from jarvis_desktop.ui.desktop.desktop_panel import DesktopPanel
from jarvis_desktop.ui.settings import groups_work
from jarvis_desktop.ui.settings.groups_voice import KEYS, VOICE
from jarvis_desktop.ui.settings.rows import Card, Group, Option, Row
from jarvis_desktop.ui.settings.special import AutostartSwitch

APPEARANCE = Group(
    "appearance",
    mark("Appearance"),
    "appearance",
    (
        Card(
            rows=(
                Row(
                    "window.theme",
                    mark("Colours"),
                    mark("High contrast is dark or light, as your system is."),
                    words=mark("theme dark light mode night contrast accessibility"),
                    options=(
                        Option("system", mark("As the system")),
                        Option("light", mark("Light")),
                        Option("dark", mark("Dark")),
                        Option("contrast", mark("High contrast")),
                    ),
                ),
                Row(
                    "window.text_size",
                    mark("Text size"),
                    mark("Of everything in this window."),
                    words=mark("font zoom scale larger accessibility"),
                    unit=mark("{value} %"),
                    slides=0.1,
                    factor=100,
                ),
                Row(
                    "window.motion",
                    mark("Motion"),
                    mark("Off, nothing moves that need not."),
                    words=mark("animation accessibility reduce"),
                ),
                Row(
                    "window.language",
                    mark("Language"),
                    mark("Of this window; what you say and write may be in any."),
                    words=mark("translation locale English Deutsch 中文"),
                    options=(
                        Option("", mark("The system’s")),
                        *(Option(code, name) for code, name in LANGUAGES.items()),
                    ),
                ),
            )
        ),
    ),
)
DESKTOP = Group(
    "desktop",
    mark("Desktop"),
    "desktop",
    (
        Card(
            rows=(
                Row(
                    "window.tray",
                    mark("Stay in the tray"),
                    mark("Closing the window leaves JARVIS running there, where there is a tray."),
                    words=mark("background icon close minimise"),
                ),
                Row(
                    "autostart",
                    mark("Start with the session"),
                    mark("JARVIS is there when you log in."),
                    words=mark("autostart boot login"),
                    make=AutostartSwitch,
                ),
                Row(
                    "window.start_hidden",
                    mark("Start hidden"),
                    mark("In the tray alone, without the window."),
                    words=mark("background minimised"),
                ),
                Row(
                    "window.overlay",
                    mark("Show that JARVIS listens"),
                    mark("A small sign above all windows, while this one is not in front."),
                    words=mark("overlay recording indicator"),
                ),
                Row(
                    "window.notify",
                    mark("Notifications"),
                    mark("Of long work that ended and of timers, while JARVIS is not in front."),
                    words=mark("alerts messages popup"),
                ),
                Row(
                    "desktop",
                    mark("This desktop"),
                    mark("What it can do for JARVIS, and whether it knows JARVIS by name."),
                    words=mark("menu entry install portal tray"),
                    make=DesktopPanel,
                    whole=True,
                ),
            )
        ),
    ),
)
GROUPS = (
    groups_work.PRIVACY,
    VOICE,
    KEYS,
    groups_work.PLANNING,
    groups_work.EXPERTS,
    groups_work.KEYS,
    APPEARANCE,
    DESKTOP,
    groups_work.HISTORY,
    groups_work.DATA,
    groups_work.NETWORK,
)
