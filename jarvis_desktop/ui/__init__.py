"""All of Qt.

PySide6 puts a function of its own in the place of Python's `__import__`, which reads and keeps the
source of every module that is imported from then on, for the sake of `from __feature__ import`.
Nobody here uses that; it costs a third of the time to import, 48 MB, and it looks into modules
that another thread has not yet finished, some of which cannot bear it.
"""

import builtins

import PySide6.QtCore as _puts_its_own  # noqa: F401

builtins.__import__ = vars(builtins).get("__orig_import__", builtins.__import__)
