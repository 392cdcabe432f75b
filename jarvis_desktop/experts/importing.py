"""Imports an expert's files from a folder or ZIP file, for example from a USB stick.

All reading of foreign content runs in a child process. Which expert a source holds is determined by
names and by the table of contents of its weights.
"""

from __future__ import annotations

import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.experts.verification import (
    check_whole,
    contents,
    files_of,
    finish,
    has_weights,
    is_inside,
    is_pickle,
    matches,
    pickles_only,
)

HUB_CACHE_PREFIX = "models--"
"""The prefix of folders in the Hub's own cache, such as models--Systran--faster-whisper-base."""

WHISPER = "WhisperSpec"
DECODER_WIDTHS = {384: "whisper-tiny", 512: "whisper-base", 768: "whisper-small"}
"""The decoder width of each recogniser in the catalogue, by which their weights are identified."""
MAX_SIZE_FACTOR = 3
"""How many times the listed size: weights may have 32 bits where the catalogue lists 16."""
REQUIRED_FILES = ("config.json", "tokenizer.json", "vocabulary.*")
"""Files without which CTranslate2 weights are useless."""


@contextmanager
def opened(path: Path) -> Iterator[_Folder | _Zip]:
    """Open a folder or ZIP file; in the Hub's cache, the current snapshot.

    Raises InputError if it is neither.
    """
    if path.is_dir():
        yield _Folder(_with_files(path))
        return
    if not path.is_file():
        raise InputError(
            tr("There is no folder {path}.", path=path), hint=tr("A ZIP file will do as well.")
        )
    try:
        with zipfile.ZipFile(path) as file:
            yield _Zip(file)
    except (zipfile.BadZipFile, struct.error, zlib.error, EOFError) as error:
        raise InputError(
            tr("{name} is damaged or not a ZIP file.", name=path.name),
            hint=tr("Give a folder or a ZIP file."),
        ) from error
    except (RuntimeError, NotImplementedError) as error:
        raise InputError(
            tr("{name} is locked or packed in a way that cannot be opened here.", name=path.name),
            hint=tr("Unpack it, and give the folder."),
        ) from error


def chosen_of(expert: Expert, source: _Folder | _Zip, path: Path) -> tuple[str, ...]:
    """Return which files are an expert's. Raises InputError if they are incomplete."""
    chosen = files_of(expert, source.sizes)
    if has_weights(chosen) and not any(map(is_pickle, chosen)):
        _check_complete(expert, chosen, path)
        return tuple(chosen)
    if not any(name.endswith(".bin") for name in chosen):
        raise InputError(
            tr("{path} holds no weights of {name}.", path=path, name=expert.id),
            hint=tr(
                "It must hold the files of {repo}: {names}.",
                repo=expert.repo,
                names=", ".join(expert.files),
            ),
        )
    if not expert.pickled:
        raise pickles_only(expert, str(path))
    return tuple(chosen)


def take_over(expert: Expert, folder: Path, path: Path, *, dry: bool) -> int:
    """Copy an expert's files and mark them, unless `dry`; return their size in bytes.

    Raises InputError or UnavailableError if they belong to another expert, are damaged, or cannot
    be read; nothing is left of them then.
    """
    with opened(path) as source:
        chosen = chosen_of(expert, source, path)
        size = sum(source.sizes[name] for name in chosen)
        if expert.download_mb and size > MAX_SIZE_FACTOR * expert.download_mb * MB:
            raise InputError(
                tr("{path} is far larger than {name} can be.", path=path, name=expert.id)
            )
        if not dry:
            try:
                _copy(expert, folder, source, chosen)
            except OSError as error:
                shutil.rmtree(folder, ignore_errors=True)
                reason = (error.strerror or "unknown reason").lower()
                raise InputError(
                    tr("{path} cannot be copied: {reason}.", path=path, reason=reason)
                ) from error
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        elif isinstance(source, _Folder):  # before much is deleted to make room
            for name in chosen:
                check(expert, source.root / name)
        return size


def check(expert: Expert, path: Path) -> None:
    """Refuse weights that are truncated, damaged, or another expert's."""
    if path.suffix == ".safetensors":
        check_whole(expert, path)
    elif path.name == "model.bin":
        found = contents(path)
        other = DECODER_WIDTHS.get(found.width) if found.kind == WHISPER else None
        if expert.id in DECODER_WIDTHS.values() and other != expert.id:
            raise InputError(
                tr("These weights are not those of {name}.", name=expert.id),
                hint=tr("They are those of {other}.", other=other) if other else "",
            )


def identified(path: Path, experts: Iterable[Expert]) -> Expert:
    """Identify which expert a folder or ZIP file holds. Raises InputError if that is unclear."""
    known = {expert.id: expert for expert in experts}
    with opened(path) as source:
        files = tuple(source.sizes)
        names = [path.stem if path.is_file() else path.name]
        if isinstance(source, _Folder):
            names += [part for part in source.root.parts if part.startswith(HUB_CACHE_PREFIX)]
            if (model := source.root / "model.bin").is_file():
                found = contents(model)
                names.insert(
                    0, DECODER_WIDTHS.get(found.width, "") if found.kind == WHISPER else ""
                )
    for name in filter(None, names):
        repo = name.removeprefix(HUB_CACHE_PREFIX).replace("--", "/", 1).casefold()
        for expert in known.values():
            if repo in (
                expert.id,
                expert.repo.casefold(),
                PurePosixPath(expert.repo.casefold()).name,
            ):
                return expert
    if any(file.endswith(".gguf") for file in files):
        raise InputError(
            tr("{name} contains an LLM for a server such as llama.cpp.", name=path.name or path),
            hint=tr("Start the server with it, and then choose it: jarvis-desktop llm list."),
        )
    raise InputError(
        tr("It is unclear which expert {name} contains.", name=path.name or path),
        hint=tr("Name it: --as NAME. jarvis-desktop experts list shows the names."),
    )


def _check_complete(expert: Expert, names: Iterable[str], path: Path) -> None:
    here = set(names)
    if "model.bin" not in here:
        return
    missing = [each for each in REQUIRED_FILES if not any(fnmatchcase(name, each) for name in here)]
    if missing:
        raise InputError(
            tr(
                "{path} lacks {names} of {name}.",
                path=path,
                names=" and ".join(missing),
                name=expert.id,
            ),
            hint=tr("Copy all files of {repo}.", repo=expert.repo),
        )


def _copy(expert: Expert, folder: Path, source: _Folder | _Zip, chosen: Iterable[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name in chosen:
        to = folder / name
        if not to.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                tr("{file} would be outside the folder of {name}.", file=name, name=expert.id)
            )
        to.parent.mkdir(parents=True, exist_ok=True)
        source.copy(name, to)
        check(expert, to)
    finish(expert, folder, revision=expert.revision, report=lambda fraction, words: None)


@dataclass(frozen=True, slots=True)
class _Folder:
    root: Path

    @property
    def sizes(self) -> Mapping[str, int]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.stat().st_size for path in files}

    def copy(self, name: str, to: Path) -> None:
        path = self.root / name
        # The Hub's cache links to files that are named by their digests.
        digest = path.readlink().name if path.is_symlink() else ""
        shutil.copyfile(path, to)
        sha256, blob = (digest, "") if len(digest) == 64 else ("", digest)
        if len(digest) in (40, 64) and not matches(to, sha256, blob):
            raise InputError(
                tr("{name} is damaged: it does not match its digest.", name=path.name),
                hint=tr("Copy it again from its source."),
            )


@dataclass(frozen=True, slots=True)
class _Zip:
    file: zipfile.ZipFile
    _members: dict[str, zipfile.ZipInfo] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in self.file.infolist():
            link = stat.S_ISLNK(each.external_attr >> 16)
            if is_inside(each.filename) and not each.is_dir() and not link:
                self._members[each.filename] = each
        # Most archives contain the folder as well.
        tops = {name.partition("/")[0] for name in self._members}
        if len(tops) == 1 and all("/" in name for name in self._members):
            for name in tuple(self._members):
                each = self._members.pop(name)
                inner = name.partition("/")[2]
                if is_inside(inner):  # "top//etc/x" would be "/etc/x"
                    self._members[inner] = each

    @property
    def sizes(self) -> Mapping[str, int]:
        return {name: each.file_size for name, each in self._members.items()}

    def copy(self, name: str, to: Path) -> None:
        with self.file.open(self._members[name]) as packed, to.open("wb") as file:
            shutil.copyfileobj(packed, file, 1 << 20)


def _with_files(folder: Path) -> Path:
    """The current snapshot of a folder in the Hub's cache, else the folder itself."""
    inner = [each for each in folder.glob(f"{HUB_CACHE_PREFIX}*") if each.is_dir()]
    if len(inner) == 1:
        folder = inner[0]
    snapshots = [each for each in folder.glob("snapshots/*") if each.is_dir()]
    if not snapshots:
        return folder
    try:
        current = (folder / "refs" / "main").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        current = ""
    chosen = [each for each in snapshots if each.name == current]
    return (chosen or sorted(snapshots, key=lambda each: each.stat().st_mtime))[-1]
