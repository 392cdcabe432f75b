"""The files that a turn made, copied to where the person wants them."""

from __future__ import annotations

import shutil
from pathlib import Path

from jarvis_desktop.cli import output
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.turn import Turn


def make_folder(folder: Path) -> None:
    """Before anything is done, so that no work is lost to a slip in its name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"The folder {folder} cannot be made: {output.reason(error)}.",
            hint="Give another one with --out.",
        ) from error


def copy_out(turn: Turn, folder: Path) -> bool:
    """Whether all of them could be copied; the answer is worth showing in any case."""
    problems = 0
    for artifact in turn.artifacts:
        if artifact.path is None:
            continue
        target = free_name(folder, Path(artifact.title).name or artifact.path.name)
        try:
            shutil.copyfile(artifact.path, target)
        except OSError as error:
            problems += 1
            output.note(f"failed  {target} cannot be written: {output.reason(error)}.")
        else:
            output.note(f"saved   {target}")
    return not problems


def free_name(folder: Path, name: str) -> Path:
    """A name in the folder that nothing has yet: photo.png, photo-2.png, ..."""
    target, number = folder / name, 1
    while target.exists():
        number += 1
        target = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
    return target
