"""Opens one of the person's folders in the file manager."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import platformdirs

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition, Services

FOLDERS = ("downloads", "documents", "pictures", "music", "videos", "desktop", "home")

TYPE = TaskType(
    name="open-folder",
    summary="Opens one of the person's folders.",
    ports=(),
    gives=(Kind.TEXT,),
    acts=True,
    guarded=True,
    options=(Option("folder", "which folder", "home", choices=FOLDERS),),
    cues=(
        "folder", "open my downloads", "open downloads", "downloads folder", "my documents",
        "documents folder", "pictures folder", "my pictures", "music folder", "my music",
        "videos folder", "my videos", "home folder", "desktop folder", "open my desktop",
        "directory", "file manager", "show my files", "open my files",
    ),
)  # fmt: skip


async def open_it(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Open the folder. Raises InputError where there is none of that name."""
    folder = call.words("folder")
    path = path_of(folder)
    if not path.is_dir():
        raise InputError(tr("There is no {folder} folder at {path}.", folder=folder, path=path))
    services.desktop.open(path)
    return [text_artifact(f"Opened {path}.")]


def path_of(folder: str) -> Path:
    """Where that folder is for this person on this system; it need not exist."""
    match folder:
        case "downloads":
            return platformdirs.user_downloads_path()
        case "documents":
            return platformdirs.user_documents_path()
        case "pictures":
            return platformdirs.user_pictures_path()
        case "music":
            return platformdirs.user_music_path()
        case "videos":
            return platformdirs.user_videos_path()
        case "desktop":
            return platformdirs.user_desktop_path()
        case _:
            return Path.home()


DEFINITION = Definition(TYPE, skill=open_it, note="the desktop's file manager")
