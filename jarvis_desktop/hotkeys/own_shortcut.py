"""How a person binds a key to a command of JARVIS themselves, which every desktop can."""

from __future__ import annotations

import os

from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.hotkeys.keys import Combination
from jarvis_desktop.hotkeys.shortcut import TALK, Shortcut

COMMAND = TALK.command
ANYWHERE = mark("Bind a key to the command {command} in the keyboard settings of the desktop.")
PLACES = {
    "gnome": mark(
        "Bind a key to the command {command} in Settings > Keyboard > View and Customise "
        "Shortcuts > Custom Shortcuts."
    ),
    "kde": mark(
        "Bind a key to the command {command} in System Settings > Keyboard > Shortcuts > "
        "Add New > Command or Script."
    ),
    "sway": mark("Put this line into the settings of sway: {line}"),
    "hyprland": mark("Put this line into the settings of Hyprland: {line}"),
}
"""By the name of the desktop in XDG_CURRENT_DESKTOP."""


def advice(combination: Combination | None, shortcut: Shortcut = TALK) -> str:
    """What to do in this desktop, in a sentence; a key is proposed where there is one."""
    desktops = os.environ.get("XDG_CURRENT_DESKTOP", "").lower().split(":")
    here = next((name for name in PLACES if name in desktops), "")
    modifiers = combination.modifiers if combination else ("Ctrl", "Alt")
    keysym = combination.key.keysym if combination else "space"
    lines = {
        "sway": "bindsym --no-repeat {} exec {}".format(
            "+".join((*(_sway.get(name, name) for name in modifiers), keysym)), shortcut.command
        ),
        "hyprland": "bind = {}, {}, exec, {}".format(
            " ".join(name.upper() for name in modifiers), keysym, shortcut.command
        ),
    }
    told = PLACES.get(here, ANYWHERE)
    return tr(told, command=shortcut.command, line=lines.get(here, ""))


_sway = {"Alt": "Mod1", "Super": "Mod4"}
