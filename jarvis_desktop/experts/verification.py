"""Checks downloaded and imported files, converts pickles, and marks a complete expert.

Runs in a child process only. Of CTranslate2 weights it reads the table of contents: otherwise a
damaged file would only be noticed by a C++ library, on first use.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.model_files import MARKER, RECORD, digests, quiet_libraries

PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".msgpack", ".h5", ".ot")


def matches(path: Path, sha256: str, blob: str) -> bool:
    """Whether a file has the digest that the Hub states: SHA-256, or that of a git object."""
    if not (sha256 or blob):
        return True
    # Git names a file by the SHA-1 of its length and content; small files have nothing better.
    git = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, hashlib.sha256 if sha256 else lambda: git)
    return digest.hexdigest() == (sha256 or blob)


def finish(expert: Expert, folder: Path, *, revision: str, report: Report) -> None:
    """Rewrite pickled weights, and write the marker that makes the folder an installed expert."""
    if (folder / "pytorch_model.bin").is_file():
        report(None, tr("Rewriting the weights in the safe format"))
        _rewrite(folder)
    for leftover in folder.rglob("*.incomplete"):
        leftover.unlink()
    for path in sorted(folder.rglob("*.safetensors")):
        check_whole(expert, path)
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    names = [name for name in names if name != MARKER and not name.startswith(RECORD)]
    hashed = digests(folder, names, fresh=True)
    files = {
        name: {"size": (folder / name).stat().st_size, "sha256": digest}
        for name, digest in hashed.items()
    }
    marker = {
        "id": expert.id,
        "repo": expert.repo,
        "revision": revision,
        "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": files,
    }
    fresh = folder / f"{MARKER}.new"
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(marker, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / MARKER)


def is_inside(name: str) -> bool:
    """Whether a foreign file name stays inside the folder, on every system."""
    parts = PurePosixPath(name).parts
    return bool(parts) and not (
        name.startswith("/") or "\\" in name or ":" in name or ".." in parts or "\0" in name
    )


def is_pickle(name: str) -> bool:
    """Whether a file's format may carry code.

    "model.bin" is CTranslate2's format for recognisers, which holds numbers only.
    """
    path = PurePosixPath(name)
    return path.suffix in PICKLES and path.name != "model.bin"


def has_weights(names: Iterable[str]) -> bool:
    """Whether one of the files is in a format that holds an expert's weights."""
    return any(name.endswith((".safetensors", ".bin")) for name in names)


def files_of(expert: Expert, names: Iterable[str]) -> list[str]:
    """Return which files an expert needs, sorted.

    Pickles are left out if the same weights are there in a safe format.
    """
    wanted = [
        name
        for name in sorted(names)
        if any(fnmatchcase(name, pattern) for pattern in expert.files)
    ]
    safe = [name for name in wanted if not is_pickle(name)]
    return safe if has_weights(safe) else wanted


def pickles_only(expert: Expert, folder: str | None = None) -> UnavailableError:
    """Return the error for weights in a format that the user has not agreed to.

    `folder` is the source of an import, None for the Hub.
    """
    source = f" --from {shlex.quote(folder)}" if folder else ""
    return UnavailableError(
        tr(
            "The weights of {name} are only there as a pickle, a format that can carry code.",
            name=expert.id,
        ),
        hint=tr(
            "If you trust {repo}: jarvis-desktop experts pull {name}{source} --pickle.",
            repo=expert.repo,
            name=expert.id,
            source=source,
        ),
    )


def check_whole(expert: Expert, path: Path) -> None:
    """Refuse truncated weights: their header states the length."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np"):
            pass
    except SafetensorError as error:
        raise UnavailableError(
            tr(
                "The weights {file} of {name} are damaged or truncated.",
                file=path.name,
                name=expert.id,
            ),
            hint=tr("Get a complete copy of {repo}.", repo=expert.repo),
        ) from error


def _rewrite(folder: Path) -> None:
    """Replace pickled weights with safetensors, so that the pickle is read only this once."""
    quiet_libraries()
    import transformers

    # A progress bar would leave a semaphore behind if this process were killed.
    transformers.utils.logging.disable_progress_bar()
    # AutoConfig does not know some kinds, such as vocoders.
    written = json.loads((folder / "config.json").read_text("utf-8"))
    architecture = str((written.get("architectures") or ["none"])[0])
    kind: Any = getattr(transformers, architecture, None)
    known = isinstance(kind, type) and issubclass(kind, transformers.PreTrainedModel)
    if not known:
        raise UnavailableError(
            tr(
                "{name} is of an unknown kind ({architecture}).",
                name=folder.stem,
                architecture=architecture,
            )
        )
    network = kind.from_pretrained(
        folder,
        use_safetensors=False,
        weights_only=True,
        local_files_only=True,
        trust_remote_code=False,
    )
    network.save_pretrained(folder)
    (folder / "pytorch_model.bin").unlink()


OLDEST, NEWEST = 4, 6
"""The format versions that libraries of the last years have written."""
EMBEDDINGS = ("decoder/embeddings/weight", "decoder/embeddings_0/weight")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a CTranslate2 file contains."""

    kind: str
    """Such as WhisperSpec."""
    width: int
    """Of the decoder, in numbers per token; 0 without one."""


def contents(path: Path) -> Contents:
    """Read what a file contains. Raises InputError if it is damaged or of another format."""
    try:
        with path.open("rb") as file:
            return _contents(file, os.fstat(file.fileno()).st_size)
    except (EOFError, UnicodeDecodeError, struct.error) as error:
        raise InputError(
            tr("The weights {name} are damaged or truncated.", name=path.name),
            hint=tr("Get a complete copy, and compare its size with that of the original."),
        ) from error
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(
            tr("{name} cannot be read: {reason}.", name=path.name, reason=reason)
        ) from error


def _contents(file: BinaryIO, size: int) -> Contents:
    (version,) = _numbers(file, "<I")
    if not OLDEST <= version <= NEWEST:
        raise InputError(
            tr(
                "{name} holds no weights in the format of CTranslate2.",
                name=Path(file.name).name,
            ),
            hint=tr("Weights of PyTorch must be converted first: ct2-transformers-converter."),
        )
    kind = _word(file)
    _, count = _numbers(file, "<II")
    width = 0
    for _ in range(count):
        name = _word(file)
        (rank,) = _numbers(file, "<B")
        shape = _numbers(file, f"<{rank}I")
        _, length = _numbers(file, "<BI")
        if file.seek(length, os.SEEK_CUR) > size:
            raise EOFError
        if name in EMBEDDINGS and len(shape) == 2:
            width = shape[1]
    (others,) = _numbers(file, "<I")
    for _ in range(2 * others):
        _word(file)
    return Contents(kind, width)


def _word(file: BinaryIO) -> str:
    (length,) = _numbers(file, "<H")
    return _bytes(file, length).rstrip(b"\0").decode("utf-8")


def _numbers(file: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, _bytes(file, struct.calcsize(form)))


def _bytes(file: BinaryIO, length: int) -> bytes:
    read = file.read(length)
    if len(read) < length:
        raise EOFError
    return read
