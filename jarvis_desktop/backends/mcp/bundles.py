"""MCP servers in a file (.mcpb): a zip of a program, `manifest.json`, and the settings it needs.

A bundle is a program that runs with the user's rights, so it is unpacked only after its command was
shown. The folder it goes to is named by its digest: another version is another command, and what
the user agreed to for the old one does not hold for it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal
from zipfile import BadZipFile, ZipFile, ZipInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_desktop.backends.mcp.servers import McpServer, checked
from jarvis_desktop.core.display import one_line, readable_size
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.safe_delete import remove

SUFFIXES = (".mcpb", ".dxt")
MANIFEST = "manifest.json"
MAX_FILES = 50_000
MAX_BYTES = 1_000_000_000
"""Of all files together, unpacked."""
MAX_MANIFEST = 1_000_000
_variable = re.compile(r"\$\{([^}]*)\}")
_windows = re.compile(r'[<>:"|?*\x00-\x1f]')

SettingValue = str | list[str]
"""What the user sets; several for a setting that is `multiple`."""


class BundleSetting(BaseModel):
    """A value that the user is asked for."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["string", "number", "boolean", "directory", "file"] = "string"
    title: str = ""
    description: str = ""
    required: bool = False
    default: bool | int | float | str | list[str] | None = None
    multiple: bool = False
    sensitive: bool = False
    min: float | None = None
    max: float | None = None


class _Launch(BaseModel):
    model_config = ConfigDict(extra="ignore")

    command: str | None = None
    args: list[str] | None = None
    env: dict[str, str] | None = None


class _Config(_Launch):
    platform_overrides: dict[str, _Launch] = Field(default_factory=dict)


class _Program(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: Literal["node", "python", "binary", "uv"]
    entry_point: str = ""
    mcp_config: _Config = Field(default_factory=_Config)


class _Compatibility(BaseModel):
    model_config = ConfigDict(extra="ignore")

    platforms: list[str] = Field(default_factory=list)


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str = Field(min_length=1, max_length=200)
    display_name: str = ""
    version: str = ""
    description: str = ""
    server: _Program
    user_config: dict[str, BundleSetting] = Field(default_factory=dict, max_length=100)
    compatibility: _Compatibility = Field(default_factory=_Compatibility)


@dataclass(frozen=True, slots=True)
class McpBundle:
    """A bundle that was inspected, but not unpacked."""

    path: Path
    manifest: _Manifest
    digest: str
    size: int
    """Bytes of its files."""

    @property
    def name(self) -> str:
        """The name that the server gets."""
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", self.manifest.name).strip("-._")[:40]
        return plain or "bundle"

    @property
    def about(self) -> str:
        """What it says of itself, in a line."""
        shown = self.manifest.display_name or self.manifest.name
        told = f"{shown} {self.manifest.version}: {self.manifest.description}"
        return f"{one_line(told, limit=300)} ({readable_size(self.size)})"

    @property
    def settings(self) -> Mapping[str, BundleSetting]:
        """What the user is asked for."""
        return self.manifest.user_config

    def folder(self, root: Path) -> Path:
        """The folder that it is unpacked into."""
        return root / self.name / self.digest[:12]

    def server(self, root: Path, values: Mapping[str, SettingValue]) -> McpServer:
        """Return the server as it will run. Raises InputError if a value is missing or wrong, or if
        the bundle is not for this system."""
        folder, program = self.folder(root), self.manifest.server
        platforms = self.manifest.compatibility.platforms
        if platforms and sys.platform not in platforms:
            raise InputError(
                tr(
                    "{name} is made for {systems}, not for this system.",
                    name=self.name,
                    systems=one_line(", ".join(platforms)),
                )
            )
        launch = program.mcp_config
        override = launch.platform_overrides.get(sys.platform, _Launch())
        command = override.command or launch.command or ""
        args = launch.args if override.args is None else override.args
        env = {**(launch.env or {}), **(override.env or {})}
        if not command and program.type == "uv":
            command, args = "uv", ["run", "--directory", "${__dirname}", program.entry_point]
        if not command:
            raise InputError(tr("{name} does not say what to start.", name=self.name))
        given = {key: self._value(key, each, values) for key, each in self.settings.items()}
        secret = {key for key, each in self.settings.items() if each.sensitive}
        fill = _Filling(self.name, folder, given)
        return checked(
            McpServer(
                self.name,
                _found(fill.text(command, secret), folder, self),
                tuple(piece for each in args or () for piece in fill.pieces(each, secret)),
                str(folder),
                env={key: fill.text(value) for key, value in env.items()},
            )
        )

    def _value(
        self, key: str, setting: BundleSetting, values: Mapping[str, SettingValue]
    ) -> SettingValue:
        value = values.get(key)
        if value is None or value in ("", []):
            if setting.required and setting.default in (None, "", []):
                raise InputError(
                    tr("{name} needs {setting}.", name=self.name, setting=one_line(key)),
                    hint=tr("Give it with: --set {setting}=VALUE", setting=one_line(key)),
                )
            return default_of(setting)
        for each in value if isinstance(value, list) else [value]:
            self._check(key, setting, each)
        if setting.type in ("directory", "file"):
            if isinstance(value, list):
                return [str(Path(each).expanduser()) for each in value]
            return str(Path(value).expanduser())
        return value

    def _check(self, key: str, setting: BundleSetting, value: str) -> None:
        def wrong(why: str) -> InputError:
            return InputError(tr("“{setting}” {why}.", setting=one_line(key), why=why))

        if setting.type == "boolean" and value not in ("true", "false"):
            raise wrong(tr("is “true” or “false”"))
        if setting.type == "number":
            try:
                number = float(value)
            except ValueError:
                raise wrong(tr("is a number")) from None
            low = -float("inf") if setting.min is None else setting.min
            high = float("inf") if setting.max is None else setting.max
            if not low <= number <= high:
                raise wrong(tr("is from {low:g} to {high:g}", low=low, high=high))
        if setting.type == "directory" and not Path(value).expanduser().is_dir():
            raise wrong(tr("is a folder that exists"))
        if setting.type == "file" and not Path(value).expanduser().is_file():
            raise wrong(tr("is a file that exists"))
        if setting.sensitive and "${" in value:
            raise wrong(tr("cannot contain a dollar sign before a brace"))


def default_of(setting: BundleSetting) -> SettingValue:
    """Return the value of a setting that the user leaves out."""
    default = setting.default
    if default is None:
        return [] if setting.multiple else ""
    if isinstance(default, bool):
        return "true" if default else "false"
    places = _places()

    def filled(text: str) -> str:
        return _variable.sub(lambda match: places.get(match[1], match[0]), text)

    return [filled(each) for each in default] if isinstance(default, list) else filled(str(default))


@dataclass(frozen=True, slots=True)
class _Filling:
    """Puts values into the command line."""

    name: str
    folder: Path
    given: Mapping[str, SettingValue]

    def pieces(self, text: str, secret: set[str]) -> list[str]:
        """Return an argument; several if it stands for a list of values, none if it is empty."""
        match = _variable.fullmatch(text)
        key = match[1].removeprefix("user_config.") if match else ""
        value = self.given.get(key) if match and match[1].startswith("user_config.") else None
        if isinstance(value, list):
            return value
        filled = self.text(text, secret)
        return [filled] if filled or not match else []

    def text(self, text: str, secret: set[str] | None = None) -> str:
        """Return a text with its variables replaced. A secret must not be on the command line,
        which all programs can see."""
        places = {"__dirname": str(self.folder), **_places()}

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name in places:
                return places[name]
            key = name.removeprefix("user_config.")
            if key == name or key not in self.given:
                raise InputError(
                    tr(
                        "{name} uses ${{{variable}}}, which JARVIS does not know.",
                        name=self.name,
                        variable=one_line(name),
                    )
                )
            if secret and key in secret:
                raise InputError(
                    tr(
                        "{name} puts {setting} on the command line, where other programs see it.",
                        name=self.name,
                        setting=one_line(key),
                    )
                )
            found = self.given[key]
            return ",".join(found) if isinstance(found, list) else found

        return _variable.sub(value, text)


def _places() -> dict[str, str]:
    home = Path.home()
    return {
        "HOME": str(home),
        "DESKTOP": str(home / "Desktop"),
        "DOCUMENTS": str(home / "Documents"),
        "DOWNLOADS": str(home / "Downloads"),
        "pathSeparator": os.sep,
        "/": os.sep,
    }


def _found(command: str, folder: Path, bundle: McpBundle) -> str:
    """The program to start: of the bundle itself, or one that is installed."""
    own = (folder / command).resolve()
    if own.is_relative_to(folder.resolve()):
        within = own.relative_to(folder.resolve()).as_posix()
        with ZipFile(bundle.path) as archive:
            for name in (within, f"{within}.exe") if os.name == "nt" else (within,):
                if name in archive.namelist():
                    return str(folder / name)
    if command in ("python", "python3"):
        return shutil.which(command) or shutil.which("python3") or sys.executable
    if command in ("uv", "uvx") and not shutil.which(command):
        from uv import find_uv_bin

        beside = Path(find_uv_bin()).with_name(command)
        return str(beside) if beside.exists() else command
    # Any other path would depend on the folder that this program is in.
    plain = Path(command).name == command and shutil.which(command)
    if not Path(command).is_absolute() and not plain:
        raise InputError(
            tr(
                "{name} needs the program {command}, which is not installed.",
                name=bundle.name,
                command=one_line(command),
            )
        )
    return command


def read_bundle(path: Path) -> McpBundle:
    """Inspect a bundle without unpacking it. Raises InputError."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        with ZipFile(path) as archive:
            size = _inspect(archive, path)
            if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST:
                raise _wrong(path, tr("its manifest is too large"))
            manifest = _Manifest.model_validate(json.loads(archive.read(MANIFEST)))
    except OSError as error:
        told = tr("{path} cannot be read: {error}.", path=path, error=error.strerror or error)
        raise InputError(told) from error
    except (BadZipFile, NotImplementedError, RuntimeError) as error:
        raise _wrong(path, tr("it is not a zip file that can be read")) from error
    except KeyError as error:
        raise _wrong(path, tr("it has no manifest.json")) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = one_line(".".join(map(str, first["loc"])))
        raise _wrong(path, f"{where}: {first['msg'].lower()}") from error
    except (ValueError, RecursionError) as error:
        raise _wrong(path, tr("its manifest is not JSON")) from error
    return McpBundle(path, manifest, digest, size)


def unpack(bundle: McpBundle, root: Path) -> Path:
    """Unpack a bundle and return its folder; older versions of it are removed. Raises InputError,
    StorageError."""
    folder = bundle.folder(root)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(dir=folder.parent, prefix="unpacking-"))
        try:
            with ZipFile(bundle.path) as archive:
                _inspect(archive, bundle.path)
                for entry in archive.infolist():
                    _extract(archive, entry, staged)
            remove(folder)
            staged.rename(folder)
        finally:
            remove(staged)
        for other in folder.parent.iterdir():
            if other != folder:
                remove(other)
    except (BadZipFile, EOFError, RuntimeError, NotImplementedError) as error:
        raise _wrong(bundle.path, tr("a file in it is damaged")) from error
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(
            tr("{path} could not be written: {error}.", path=folder, error=reason)
        ) from error
    return folder


def _extract(archive: ZipFile, entry: ZipInfo, folder: Path) -> None:
    to = folder / entry.filename
    if entry.is_dir():
        to.mkdir(parents=True, exist_ok=True)
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    left = entry.file_size  # what the directory promised, whatever the data expands to
    with archive.open(entry) as source, to.open("xb") as target:
        while piece := source.read(1 << 20):
            left -= len(piece)
            if left < 0:
                raise BadZipFile("more bytes than promised")
            target.write(piece)
    executable = (entry.external_attr >> 16) & 0o111
    to.chmod(0o755 if executable else 0o644)


def _inspect(archive: ZipFile, path: Path) -> int:
    """Check the list of files, and return their bytes. Raises InputError."""
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries)
    if len(entries) > MAX_FILES or size > MAX_BYTES:
        raise _wrong(path, tr("it has more than {most}", most=readable_size(MAX_BYTES)))
    seen: set[str] = set()
    for entry in entries:
        name = PurePosixPath(entry.filename)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        strange = (
            name.is_absolute()
            or ".." in name.parts
            or "\\" in entry.filename
            or _windows.search(entry.filename)
            or kind not in (0, stat.S_IFREG, stat.S_IFDIR)
            or entry.filename.casefold() in seen
            or entry.flag_bits & 1  # encrypted
        )
        if strange:
            reason = tr("it has a file named {name}", name=one_line(entry.filename))
            raise _wrong(path, reason)
        seen.add(entry.filename.casefold())
    return size


def _wrong(path: Path, why: str) -> InputError:
    return InputError(tr("{path} is not a usable bundle: {why}.", path=path.name, why=why))
