"""Paths of the user's data and of shipped files, and the log file."""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.i18n import tr

APP = "jarvis-desktop"
APP_ID = "org.jarvisdesktop.JarvisDesktop"


@dataclass(frozen=True, slots=True)
class Paths:
    """The user's folders. JARVIS_DESKTOP_HOME puts all of them in one folder."""

    config: Path
    data: Path
    cache: Path
    logs: Path

    @property
    def settings(self) -> Path:
        """The settings file."""
        return self.config / "settings.toml"

    @property
    def database(self) -> Path:
        """The history."""
        return self.data / "history.db"

    @property
    def artifacts(self) -> Path:
        """The content-hashed files of the history."""
        return self.data / "artifacts"

    @property
    def private_files(self) -> Path:
        """The files of open private conversations."""
        return self.data / "unkept"

    @property
    def goals(self) -> Path:
        """One folder for each goal of agent mode with code."""
        return self.data / "goals"

    @property
    def code_library(self) -> Path:
        """The functions of the code library."""
        return self.data / "library"

    @property
    def packages(self) -> Path:
        """The environment of Python packages for code."""
        return self.data / "packages"

    @property
    def engines(self) -> Path:
        """The libraries that run experts, a folder for each version."""
        return self.data / "engines"

    @property
    def updates(self) -> Path:
        """What is downloaded to update the program."""
        return self.data / "updates"

    @property
    def mcp_servers(self) -> Path:
        """The MCP servers, in the form that other programs share."""
        return self.config / "mcp.json"

    @property
    def mcp_tools(self) -> Path:
        """What MCP servers offered when last seen, and what the user agreed to."""
        return self.data / "mcp-tools.json"

    @property
    def mcp_bundles(self) -> Path:
        """MCP servers that came as a file, each in a folder."""
        return self.data / "mcp-bundles"

    @property
    def machines(self) -> Path:
        """The user's other machines, whose experts are used here."""
        return self.config / "machines.json"

    @property
    def endpoints(self) -> Path:
        """Addresses that do single tasks."""
        return self.config / "endpoints.json"

    @property
    def paired(self) -> Path:
        """The certificate of this machine, and the computers that may use its experts."""
        return self.data / "paired"

    @property
    def weights(self) -> Path:
        """Downloaded weights of experts."""
        return self.cache / "experts"

    @property
    def hub_index(self) -> Path:
        """The index of the Hub."""
        return self.cache / "hub.db"


def user_paths() -> Paths:
    """Return the user's folders on this system; they need not exist yet."""
    if home := os.environ.get("JARVIS_DESKTOP_HOME"):
        root = Path(home).expanduser().absolute()
        return Paths(root / "config", root / "data", root / "cache", root / "logs")
    return Paths(
        platformdirs.user_config_path(APP),
        platformdirs.user_data_path(APP),
        platformdirs.user_cache_path(APP),
        platformdirs.user_log_path(APP),
    )


def run_folder() -> Path:
    """Return the folder for the socket of the running instance; it need not exist yet."""
    if home := os.environ.get("JARVIS_DESKTOP_HOME"):
        return Path(home).expanduser().absolute() / "run"
    try:
        # Without a session it falls back to a safe temporary folder, with a needless warning.
        with warnings.catch_warnings(action="ignore"):
            return platformdirs.user_runtime_path(APP)
    except PermissionError:  # another user has taken its name
        return platformdirs.user_data_path(APP) / "run"


def shipped(*parts: str) -> Path:
    """Return a shipped file or folder, such as shipped("models", "experts").

    It is in the bundle of a frozen app, beside this file in a wheel, or beside the package in a
    checkout.
    """
    package = Path(__file__).parent
    bundle = Path(getattr(sys, "_MEIPASS", package / "_data"))
    for root in (bundle, package / "_data", package.parent):
        if (path := root.joinpath(*parts)).exists():
            return path
    return package.parent.joinpath(*parts)


def usual_folders() -> tuple[Path, ...]:
    """Return the folders to search for a file by name, after the folder of the request."""
    return (
        platformdirs.user_downloads_path(),
        platformdirs.user_documents_path(),
        platformdirs.user_pictures_path(),
        platformdirs.user_music_path(),
        platformdirs.user_videos_path(),
        platformdirs.user_desktop_path(),
        Path.home(),
    )


def replace_text(path: Path, text: str, *, durable: bool = False) -> None:
    """Replace a small file atomically: readers see the old text or the new one.

    `durable` waits until the text is on the disk. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    if path.exists():
        fresh.chmod(path.stat().st_mode & 0o777)
    fresh.replace(path)


def save_json(path: Path, document: object) -> None:
    """Replace a small file by a document, durably. Raises StorageError."""
    save_text(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def save_text(path: Path, text: str) -> None:
    """Replace a small file, durably. Raises StorageError."""
    try:
        replace_text(path, text, durable=True)
    except OSError as error:
        raise StorageError(
            tr("{path} could not be written: {error}.", path=path, error=error.strerror or error)
        ) from error


def log_to_file(paths: Paths) -> None:
    """Log to a small rotating file. Nothing that the user said or gave is logged."""
    # A log that cannot be written, on a full disk, must not fill the terminal with tracebacks.
    logging.raiseExceptions = False
    try:
        paths.logs.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            paths.logs / "jarvis-desktop.log", maxBytes=1_000_000, backupCount=2, encoding="utf-8"
        )
    except OSError:
        # Everything else works without a log.
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in ("httpx", "httpcore"):
        # They log whole addresses, which may contain a password.
        logging.getLogger(name).setLevel(logging.WARNING)
