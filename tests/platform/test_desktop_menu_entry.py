"""JARVIS among the programs of a Linux desktop, for one person."""

import sys

import pytest

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.paths import APP_ID
from jarvis_desktop.platform import desktop
from jarvis_desktop.platform.desktop import command, exec_line

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have other menus")


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "system"))
    monkeypatch.setenv("PATH", "/nowhere")  # no program of the desktop's is there
    return folder


def entry(data):
    return data / "applications" / f"{APP_ID}.desktop"


def test_it_is_put_into_the_menu_and_taken_out_again(data):
    assert not desktop.is_installed()
    written = desktop.install()
    assert desktop.is_installed()
    assert entry(data) in written
    assert all(path.is_file() for path in written)
    icons = data / "icons" / "hicolor"
    assert (icons / "scalable" / "apps" / f"{APP_ID}.svg").is_file()
    assert (icons / "48x48" / "apps" / f"{APP_ID}.png").is_file()
    assert desktop.install() == written  # once more is no harm
    assert set(desktop.remove()) == set(written)
    assert not desktop.is_installed()
    assert [path for path in data.rglob("*") if path.is_file()] == []
    assert desktop.remove() == []


def test_each_of_its_lines_starts_this_jarvis(data):
    desktop.install()
    lines = [line for line in entry(data).read_text().splitlines() if line.startswith("Exec=")]
    program = exec_line(command())
    assert lines == [f"Exec={program} {rest}" for rest in ("%F", "--new", "--quick", "--talk")]


def test_what_a_package_brought_is_not_removed(data):
    entry(data).parent.mkdir(parents=True)
    entry(data).write_text("[Desktop Entry]\nType=Application\n")
    assert desktop.remove() == []
    assert entry(data).exists()


def test_one_of_the_whole_system_counts_as_installed(data, tmp_path):
    entry(tmp_path / "system").parent.mkdir(parents=True)
    entry(tmp_path / "system").write_text("")
    assert desktop.is_installed()


def test_a_relative_folder_is_not_believed(monkeypatch, home):
    monkeypatch.setenv("XDG_DATA_HOME", "somewhere")
    assert desktop.install()[0].is_relative_to(home / ".local" / "share")


@pytest.mark.parametrize("act", [desktop.install, desktop.remove])
def test_why_it_cannot_be_done_is_told(act, data):
    if act is desktop.install:
        data.write_text("")
    else:
        entry(data).parent.mkdir(parents=True)
        entry(data).write_text(desktop.OWN_MARK)
        (data / "icons" / "hicolor" / "48x48" / "apps" / f"{APP_ID}.png").mkdir(parents=True)
    with pytest.raises(StorageError, match="menu"):
        act()


def test_programs_of_the_desktop_are_asked_to_look(data, monkeypatch, tmp_path):
    tool = tmp_path / "bin" / "update-desktop-database"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/told\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    desktop.install()
    assert (tmp_path / "told").read_text() == f"-q {data}/applications\n"
    tool.write_text("not a program")
    desktop.install()  # one that is broken is no obstacle
