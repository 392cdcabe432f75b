"""Run as a program: prints the seconds from its start until a window is painted.

first_paint.py bare: an empty PySide6 window.  first_paint.py ours: the window of JARVIS Desktop.
"""

import sys
import time

BEGUN = time.perf_counter()


def bare() -> None:
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QApplication, QMainWindow

    class Window(QMainWindow):
        def paintEvent(self, event: QPaintEvent) -> None:
            super().paintEvent(event)
            print(time.perf_counter() - BEGUN, flush=True)
            application.quit()

    application = QApplication([])
    window = Window()
    window.resize(1120, 780)
    window.show()
    application.exec()


def ours() -> None:
    from PySide6.QtWidgets import QApplication

    from jarvis_desktop.__main__ import main
    from jarvis_desktop.ui.main_window import MainWindow

    def painted(window: MainWindow) -> None:
        print(time.perf_counter() - BEGUN, flush=True)
        QApplication.quit()

    plain = MainWindow.__init__

    def watched(self: MainWindow, *args: object) -> None:
        plain(self, *args)  # type: ignore[arg-type]
        self.painted.connect(lambda: painted(self))

    MainWindow.__init__ = watched  # type: ignore[assignment,method-assign]
    sys.argv[1:] = []
    main()


if __name__ == "__main__":
    {"bare": bare, "ours": ours}[sys.argv[1]]()
