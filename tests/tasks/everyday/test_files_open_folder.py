from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday.files import FOLDERS, OPEN_FOLDER, folder_path, open_folder
from tests.tasks.calls import FakeServices, call_of, quiet


async def test_opens_the_home_folder(tmp_path: Path, home: Path):
    parts = FakeServices()
    await open_folder(call_of(OPEN_FOLDER.type, tmp_path, folder="home"), quiet, parts.services())
    assert parts.desktop.opened == [home]


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_folder_has_its_own_place(folder: str):
    assert [folder_path(other) for other in FOLDERS].count(folder_path(folder)) == 1


async def test_a_folder_that_is_not_there(tmp_path: Path, home: Path):
    with pytest.raises(InputError, match="no music folder"):
        await open_folder(
            call_of(OPEN_FOLDER.type, tmp_path, folder="music"), quiet, FakeServices().services()
        )
