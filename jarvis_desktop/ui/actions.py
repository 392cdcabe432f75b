"""What a person may want done with a result; widgets say it here, the window does it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Actions(QObject):
    """One object that all widgets of a window share."""

    play = Signal(object)
    """Play this sound file (a Path), or stop it where it plays."""
    open_file = Signal(object)
    """Open this file (a Path) with its usual program."""
    show_folder = Signal(object)
    """Open the folder that holds this file (a Path)."""
    save_as = Signal(object)
    """Keep a copy of this Artifact where the person says."""
    enlarge = Signal(object)
    """Show this picture (an Artifact) large."""
    copy_text = Signal(str)
    """Put this text on the clipboard."""
    silence = Signal()
    """Stop speaking."""
    playing = Signal(object)
    """Told by the window: this sound file (a Path) plays now; None when nothing does."""
