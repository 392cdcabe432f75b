"""Python packages for scripts: finds what a script needs, and installs it with pip in a folder.

It is not a virtual environment: starting its interpreter outside of the sandbox, as `pip --python`
does, would run code of the packages (.pth files, sitecustomize). Instead, the application's pip
downloads wheels into a staging folder, and files are moved: a package runs only in the sandbox.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, distributions
from pathlib import Path

from jarvis_desktop.core.code import LIBRARY
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import Fault, InputError, UnavailableError
from jarvis_desktop.core.i18n import tr

DISTRIBUTIONS = {
    "Bio": "biopython", "Crypto": "pycryptodome", "OpenSSL": "pyOpenSSL", "PIL": "pillow",
    "attr": "attrs", "bs4": "beautifulsoup4", "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil", "docx": "python-docx", "dotenv": "python-dotenv",
    "fitz": "PyMuPDF", "git": "GitPython", "github": "PyGithub", "igraph": "igraph",
    "jose": "python-jose", "jwt": "PyJWT", "magic": "python-magic", "mpl_toolkits": "matplotlib",
    "pkg_resources": "setuptools", "pptx": "python-pptx", "psycopg2": "psycopg2-binary",
    "pylab": "matplotlib", "pymupdf": "PyMuPDF", "pythoncom": "pywin32", "serial": "pyserial",
    "skimage": "scikit-image", "sklearn": "scikit-learn", "slugify": "python-slugify",
    "umap": "umap-learn", "usb": "pyusb", "win32api": "pywin32", "xlsxwriter": "XlsxWriter",
    "yaml": "PyYAML", "zmq": "pyzmq",
}  # fmt: skip
"""Modules whose distribution has another name; all others are assumed to have the same."""

SHIPPED = ("PIL", "openpyxl", "et_xmlfile", "pypdf")
"""Packages of the application that scripts may use: pictures, Excel and PDF."""
HELPER = "jarvis"
"""The module for tables, texts and charts, which every sandbox has."""

_CATCHES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def missing_from(source: str, site: Path) -> Sequence[str]:
    """The distributions of modules that a script imports and that are not in `site`. Nothing is
    imported. Imports whose failure the script handles do not count."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()  # running it shows what is wrong
    roots = dict.fromkeys(name.partition(".")[0] for name in _imported(tree))
    missing = (root for root in roots if not _is_there(root, site))
    return tuple(dict.fromkeys(distribution(root) for root in missing))


def shipped_packages() -> Sequence[Path]:
    """The folders of the application's packages that scripts may use, with the native libraries
    that come beside Pillow."""
    found: list[Path] = []
    for name in SHIPPED:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            folder = Path(spec.origin).parent
            libraries = folder.parent / "pillow.libs"
            found += [folder, libraries] if name == "PIL" and libraries.is_dir() else [folder]
    return found


def distribution(module: str) -> str:
    """The distribution to install for a module."""
    return DISTRIBUTIONS.get(module, module.replace("_", "-"))


def _is_there(root: str, site: Path) -> bool:
    if root in sys.stdlib_module_names or root in (LIBRARY, HELPER, "__main__", "", *SHIPPED):
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
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in _CATCHES) for kind in kinds
    )


TIMEOUT_S = 1200.0  # for one installation: some packages have a gigabyte
MAX_NAME_CHARS = 100
_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:==([A-Za-z0-9][\w.!+]*))?")
_TELLING = ("Collecting ", "Downloading ", "Installing ", "Successfully installed ")
_NO_NETWORK = (
    "NewConnectionError", "Max retries exceeded", "name resolution", "getaddrinfo failed",
    "Network is unreachable", "ConnectTimeout", "ReadTimeout", "ConnectionReset", "ProxyError",
    "SSLError",
)  # fmt: skip

WHERE_FROM = frozenset(
    f"PIP_{name}"
    for name in (
        *("INDEX_URL", "EXTRA_INDEX_URL", "NO_INDEX", "FIND_LINKS", "CONFIG_FILE"),
        *("PROXY", "TRUSTED_HOST", "CERT", "CLIENT_CERT", "KEYRING_PROVIDER"),
        *("CACHE_DIR", "NO_CACHE_DIR"),
    )
)

COMMON = (
    *("--no-input", "--disable-pip-version-check", "--no-color", "--progress-bar", "off"),
    *("--retries", "1", "--timeout", "15", "--only-binary", ":all:"),
)
"""Wheels only: building a package from source would run its code."""


class PipPackages:
    """Implements Packages in one folder."""

    def __init__(
        self,
        folder: Path,
        *,
        site: Path | None = None,
        network: Callable[[], bool] = lambda: True,
        seconds: float = TIMEOUT_S,
    ) -> None:
        """`site` is where packages are installed, by default `folder`/site. If `network` returns
        False, nothing is installed."""
        self._folder = folder
        self._network = network
        self._seconds = seconds
        self._lock = asyncio.Lock()
        self._pip: asyncio.subprocess.Process | None = None
        self.site = site or folder / "site"

    def withdraw(self) -> None:
        """Abort a running installation if the network is no longer allowed."""
        if self._pip and not self._network():
            with suppress(ProcessLookupError):
                self._pip.kill()

    def missing(self, source: str) -> Sequence[str]:
        """See Packages."""
        return missing_from(source, self.site)

    async def install(self, names: Sequence[str], report: Callable[[str], None]) -> None:
        """See Packages."""
        wanted = [_check_name(name) for name in names]
        if not wanted:
            return
        if not self._network():
            raise _offline()
        pip = _pip()
        async with self._lock:
            with self._staging() as staging:
                try:
                    async with asyncio.timeout(self._seconds):
                        found = await self._resolve(pip, wanted, staging, report)
                        if found:
                            target = ("--no-deps", "--target", str(staging / "new"))
                            await self._run(pip, (*target, *found), staging, report)
                            await asyncio.to_thread(_move, staging / "new", self.site)
                except TimeoutError as error:
                    raise UnavailableError(
                        tr(
                            "The packages were not installed within {seconds:.0f} minutes.",
                            seconds=self._seconds / 60,
                        ),
                        retryable=True,
                        fault=Fault.TIMEOUT,
                    ) from error
                except OSError as error:
                    raise _write_error(error) from error

    @contextmanager
    def _staging(self) -> Iterator[Path]:
        """A temporary folder on the same disk."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.site.mkdir(mode=0o700, parents=True, exist_ok=True)
            staging = Path(tempfile.mkdtemp(prefix="new-", dir=self._folder))
        except OSError as error:
            raise _write_error(error) from error
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    async def _resolve(
        self,
        pip: Sequence[str],
        wanted: Sequence[str],
        staging: Path,
        report: Callable[[str], None],
    ) -> Sequence[str]:
        """Everything to install, as NAME==VERSION; installed packages keep their versions."""
        there = await asyncio.to_thread(_installed_packages, self.site)
        asked = {_plain(name.partition("==")[0]) for name in wanted}
        kept = [f"{name}=={of.version}" for name, of in there.items() if name not in asked]
        constraints, told = staging / "constraints.txt", staging / "report.json"
        constraints.write_text("\n".join(kept), "utf-8")
        trial = ("--dry-run", "--ignore-installed", "--report", str(told))
        arguments = (*trial, "--constraint", str(constraints), *wanted)
        await self._run(pip, arguments, staging, report)
        try:
            items = [item["metadata"] for item in json.loads(told.read_bytes())["install"]]
            found = {_plain(item["name"]): str(item["version"]) for item in items}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UnavailableError(tr("pip did not say what it would install.")) from error
        new = {
            name: version
            for name, version in found.items()
            if name not in there or there[name].version != version
        }
        return [_check_name(f"{name}=={version}") for name, version in new.items()]

    async def _run(
        self, pip: Sequence[str], arguments: Sequence[str], cwd: Path, report: Callable[[str], None]
    ) -> None:
        """Run pip in an empty folder, because a name could match a file elsewhere. Raises
        UnavailableError with the reason."""
        # If cancelled while it starts a process, asyncio may wait forever.
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *pip,
                "install",
                *COMMON,
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=_environment(),
                cwd=cwd,
                limit=1 << 20,
            )
        )
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(_kill)
            raise
        except OSError as error:
            raise UnavailableError(
                tr("pip could not be started: {strerror}.", strerror=error.strerror)
            ) from error
        assert process.stdout is not None
        told: list[str] = []
        self._pip = process
        try:
            async for line in process.stdout:
                text = line.decode("utf-8", "replace").strip()
                told.append(text[:1000])
                del told[:-200]
                if text.startswith(_TELLING):
                    report(one_line(text, limit=120))
            code = await process.wait()
        finally:
            self._pip = None
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await asyncio.shield(asyncio.ensure_future(process.wait()))
        if code != 0:
            raise _offline() if not self._network() else _refusal(told)


def _offline() -> UnavailableError:
    return UnavailableError(
        tr("Packages cannot be installed without a network."),
        hint=tr("Choose a mode other than offline, or do without it."),
    )


def _kill(starting: asyncio.Future[asyncio.subprocess.Process]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        with suppress(ProcessLookupError):
            starting.result().kill()


def _check_name(name: str) -> str:
    """The name of a package, with or without a version. Raises InputError."""
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise InputError(tr("{name} is not the name of a package.", name=one_line(name)))
    return name


def _plain(name: str) -> str:
    """A name as the registry compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _pip() -> Sequence[str]:
    """The pip of the application's Python, or the one bundled with it. Raises UnavailableError."""
    if getattr(sys, "frozen", False):
        raise UnavailableError(
            tr("This application was built without a Python that can install packages."),
            hint=tr("Install it with pip to use code that needs packages."),
        )
    if importlib.util.find_spec("pip") is not None:
        return sys.executable, "-I", "-m", "pip"
    with suppress(ImportError):
        import ensurepip

        bundled = sorted(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"))
        if bundled:
            return sys.executable, "-I", str(bundled[-1] / "pip")
    raise UnavailableError(
        tr("pip is missing, so packages cannot be installed."),
        hint=tr("Install pip beside this application, and try again."),
    )


def _environment() -> Mapping[str, str]:
    """The application's environment. Of pip's settings, only those about where packages come from
    are kept: how they are installed is not the user's choice."""
    mine = {
        key: value
        for key, value in os.environ.items()
        if key in WHERE_FROM or not key.startswith(("PYTHON", "PIP_"))
    }
    return {
        **mine,
        "PIP_USER": "0",
        "PIP_REQUIRE_VIRTUALENV": "0",
        "PIP_ROOT_USER_ACTION": "ignore",
    }


def _installed_packages(site: Path) -> Mapping[str, Distribution]:
    found = {}
    for item in distributions(path=[str(site)]):
        if name := item.metadata["Name"]:
            found[_plain(name)] = item
    return found


def _move(new: Path, site: Path) -> None:
    """Move the installed files to their place; the metadata that marks them installed is last."""
    shutil.rmtree(new / "bin", ignore_errors=True)
    there = _installed_packages(site)
    for name in _installed_packages(new):
        if name in there:
            _remove(there[name], site)
    entries = sorted(new.iterdir(), key=lambda path: path.name.endswith(".dist-info"))
    for entry in entries:
        _merge(entry, site / entry.name)


def _merge(source: Path, target: Path) -> None:
    if source.is_dir() and target.is_dir():
        for entry in source.iterdir():
            _merge(entry, target / entry.name)
    else:
        source.replace(target)


def _remove(old: Distribution, site: Path) -> None:
    for file in old.files or ():
        path = Path(os.path.normpath(site / file))
        if path.is_relative_to(site):  # the metadata may name any path
            with suppress(OSError):
                path.unlink()
                # Remove folders that are left empty.
                for folder in path.relative_to(site).parents[:-1]:
                    (site / folder).rmdir()


def _refusal(told: Sequence[str]) -> UnavailableError:
    words = "\n".join(told)
    if any(sign in words for sign in _NO_NETWORK):
        return UnavailableError(
            tr("The packages could not be downloaded: the package index cannot be reached."),
            hint=tr("Check the network, and try again."),
            retryable=True,
            fault=Fault.NETWORK,
        )
    if "No space left" in words or "not enough space" in words:
        return UnavailableError(tr("The disk is full, so no package was installed."))
    if "ResolutionImpossible" in words:
        return UnavailableError(
            tr("The packages conflict with each other or with those that are installed."),
            hint=tr("Name other versions, or do without one."),
        )
    if found := re.search(r"No matching distribution found for (\S+)", words):
        return UnavailableError(
            tr("There is no package {found} that can be installed here.", found=one_line(found[1])),
            hint=tr("Check its name. Packages that must be built from source are not installed."),
            fault=Fault.GONE,
        )
    errors = [line.partition(":")[2].strip() for line in told if line.startswith("ERROR:")]
    reason = one_line(errors[-1], limit=200) if errors else "pip gave no reason"
    return UnavailableError(tr("The packages were not installed: {reason}", reason=reason))


def _write_error(error: OSError) -> UnavailableError:
    return UnavailableError(
        tr(
            "The packages cannot be written to their folder: {strerror}.",
            strerror=error.strerror or "it is in use",
        ),
        hint=tr("Make sure that the disk has room and the folder is writable."),
    )
