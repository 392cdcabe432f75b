"""Where things are: the person's data, and the files shipped in `resources/` and `models/`.

The log: a small file that is rotated, for the window and the command line alike."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP = "jarvis-desktop"
APP_ID = "org.jarvisdesktop.JarvisDesktop"


@dataclass(frozen=True, slots=True)
class Paths:
    """The person's folders. JARVIS_DESKTOP_HOME puts all of them under one folder."""

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
        """The files of conversations that are not to be kept, while they are open."""
        return self.data / "unkept"

    @property
    def goals(self) -> Path:
        """A folder for each goal of agent mode that code works on."""
        return self.data / "goals"

    @property
    def code_library(self) -> Path:
        """The functions of the code library."""
        return self.data / "library"

    @property
    def packages(self) -> Path:
        """The environment of Python packages that code uses."""
        return self.data / "packages"

    @property
    def weights(self) -> Path:
        """Weights of experts that were fetched."""
        return self.cache / "experts"

    @property
    def hub_index(self) -> Path:
        """What the Hub lists."""
        return self.cache / "hub.db"


def user_paths() -> Paths:
    """The folders of this person on this system; none of them need exist yet."""
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
    """Where the socket of the running instance lies; it need not exist yet."""
    if home := os.environ.get("JARVIS_DESKTOP_HOME"):
        return Path(home).expanduser().absolute() / "run"
    try:
        # Without a session there is none: a safe one among the temporary files serves as well, and
        # that it does concerns nobody.
        with warnings.catch_warnings(action="ignore"):
            return platformdirs.user_runtime_path(APP)
    except PermissionError:  # somebody else took its name
        return platformdirs.user_data_path(APP) / "run"


def shipped(*parts: str) -> Path:
    """A shipped file or folder, such as shipped("models", "experts").

    In a frozen app they lie in the bundle, in a wheel beside this file, in a checkout beside the
    package.
    """
    package = Path(__file__).parent
    bundle = Path(getattr(sys, "_MEIPASS", package / "_data"))
    for root in (bundle, package / "_data", package.parent):
        if (path := root.joinpath(*parts)).exists():
            return path
    return package.parent.joinpath(*parts)


def usual_folders() -> tuple[Path, ...]:
    """Where a file that is only named is looked for, after the folder of the request."""
    return (
        platformdirs.user_downloads_path(),
        platformdirs.user_documents_path(),
        platformdirs.user_pictures_path(),
        platformdirs.user_music_path(),
        platformdirs.user_videos_path(),
        platformdirs.user_desktop_path(),
        Path.home(),
    )


def log_to_file(paths: Paths) -> None:
    """Send the log to a small rotating file; nothing a person said or gave is written there."""
    # A log that cannot be written, on a full disk, must not fill the terminal with tracebacks.
    logging.raiseExceptions = False
    try:
        paths.logs.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            paths.logs / "jarvis-desktop.log", maxBytes=1_000_000, backupCount=2, encoding="utf-8"
        )
    except OSError:
        # Without a log everything else still works, and what does not will say so itself.
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in ("httpx", "httpcore"):
        # They log whole addresses, which may hold a password.
        logging.getLogger(name).setLevel(logging.WARNING)
