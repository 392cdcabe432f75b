"""How a person binds a key to `jarvis-desktop talk` themselves, which every desktop can."""

from __future__ import annotations

import os

from jarvis_desktop.hotkeys.keys import Combination

COMMAND = "jarvis-desktop talk toggle"


def advice(combination: Combination | None) -> str:
    """What to do in this desktop, in a sentence; a key is proposed where there is one."""
    desktops = os.environ.get("XDG_CURRENT_DESKTOP", "").lower().split(":")
    for name, words in _words(combination).items():
        if name in desktops:
            return words
    return f"Bind a key to the command {COMMAND} in the keyboard settings of the desktop."


def _words(combination: Combination | None) -> dict[str, str]:
    modifiers = combination.modifiers if combination else ("Ctrl", "Alt")
    keysym = combination.key.keysym if combination else "space"
    sway = "+".join((*(_sway.get(name, name) for name in modifiers), keysym))
    hyprland = f"{' '.join(name.upper() for name in modifiers)}, {keysym}"
    return {
        "gnome": f"Bind a key to the command {COMMAND} in Settings > Keyboard > View and Customise "
        "Shortcuts > Custom Shortcuts.",
        "kde": f"Bind a key to the command {COMMAND} in System Settings > Keyboard > Shortcuts > "
        "Add New > Command or Script.",
        "sway": "Put this line into the settings of sway: "
        f"bindsym --no-repeat {sway} exec {COMMAND}",
        "hyprland": "Put this line into the settings of Hyprland: "
        f"bind = {hyprland}, exec, {COMMAND}",
    }


_sway = {"Alt": "Mod1", "Super": "Mod4"}
