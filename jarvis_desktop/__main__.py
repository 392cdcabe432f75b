"""Chooses the window or the command line. Spawned processes import this file again, so that
nothing but the choice itself may be here."""

from __future__ import annotations

import sys


def main() -> int:
    """The entry point of `jarvis-desktop`."""
    if sys.argv[1:2] == ["talk"]:  # a key is bound to it: it must be quick
        from jarvis_desktop.cli.talk import main as talk

        return talk(sys.argv[2:])
    import multiprocessing

    multiprocessing.freeze_support()
    from jarvis_desktop.desktop import has_no_display
    from jarvis_desktop.keys import hide

    hide()  # before there is any process that would inherit them

    if len(sys.argv) == 1 and not has_no_display():
        from jarvis_desktop.ui.app import run

        return run()
    from jarvis_desktop.cli.main import main as command_line

    return command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
