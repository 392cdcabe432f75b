"""The window, built with Qt.

Importing PySide6 replaces Python's `__import__` to support `from __feature__ import`. Nothing here
uses that. It takes a third of the import time and 48 MB, and inspects modules that another thread
is still importing, which breaks some of them. So the original function is put back.
"""

import builtins

import PySide6.QtCore as _puts_its_own  # noqa: F401

builtins.__import__ = vars(builtins).get("__orig_import__", builtins.__import__)
