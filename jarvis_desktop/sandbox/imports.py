"""Which packages a script needs: from what it imports to what is installed under other names."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from jarvis_desktop.core.code import LIBRARY

DISTRIBUTIONS = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "github": "PyGithub",
    "igraph": "igraph",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "pkg_resources": "setuptools",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "pylab": "matplotlib",
    "pymupdf": "PyMuPDF",
    "pythoncom": "pywin32",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "umap": "umap-learn",
    "usb": "pyusb",
    "win32api": "pywin32",
    "xlsxwriter": "XlsxWriter",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
"""Modules whose distribution has another name. All others are taken to be called alike."""

_CATCHES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def missing_from(source: str, site: Path) -> Sequence[str]:
    """The distributions of the modules that a script imports and that are not in `site`.

    Nothing is imported. An import that the script itself is ready to do without is not counted.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()  # running it tells what is wrong
    roots = dict.fromkeys(name.partition(".")[0] for name in _imported(tree))
    missing = (root for root in roots if not _is_there(root, site))
    return tuple(dict.fromkeys(distribution(root) for root in missing))


def distribution(module: str) -> str:
    """What to install for a module."""
    return DISTRIBUTIONS.get(module, module.replace("_", "-"))


def _is_there(root: str, site: Path) -> bool:
    if root in sys.stdlib_module_names or root in (LIBRARY, "__main__", ""):
        return True
    return PathFinder.find_spec(root, [str(site)]) is not None


def _imported(tree: ast.AST) -> Iterator[str]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        guarded = isinstance(node, ast.Try) and any(map(_catches, node.handlers))
        skipped = set(map(id, node.body)) if guarded and isinstance(node, ast.Try) else set()
        waiting += [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]


def _catches(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches an import that fails."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in _CATCHES) for kind in kinds
    )
