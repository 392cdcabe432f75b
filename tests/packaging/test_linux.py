"""What Linux desktops and software centres read of the program, checked by their own tools."""

import configparser
import re
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from jarvis_desktop import __version__
from jarvis_desktop.app.ipc_client import FLAGS
from jarvis_desktop.paths import APP, APP_ID

ROOT = Path(__file__).parents[2]
LINUX = ROOT / "packaging" / "linux"
ENTRY = LINUX / f"{APP_ID}.desktop"
METAINFO = LINUX / f"{APP_ID}.metainfo.xml"
LANGUAGES = ("de", "zh_CN")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="its tools are of Linux")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """A tool that is missing fails here: on Linux the tests are set up with it."""
    assert shutil.which(command[0]), f"{command[0]} is missing: see packaging/system_packages.py"
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_entry_is_valid():
    done = run("desktop-file-validate", str(ENTRY))
    assert (done.returncode, done.stdout) == (0, "")


def test_what_software_centres_read_is_valid():
    done = run("appstreamcli", "validate", "--no-net", "--no-color", str(METAINFO))
    assert done.returncode == 0, done.stdout
    assert not re.search(r"^[EWI]:", done.stdout, re.MULTILINE), done.stdout


def test_an_installed_entry_is_valid(tmp_path, monkeypatch):
    from jarvis_desktop.platform import desktop

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "a folder with spaces"))
    monkeypatch.setattr(
        desktop, "command", lambda *arguments: ["/home/J. $mith/100%/jarvis", *arguments]
    )
    entry = desktop.install()[0]
    done = run("desktop-file-validate", str(entry))
    assert (done.returncode, done.stdout) == (0, "")


def entry() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(ENTRY, encoding="utf-8")
    return parser


def test_all_words_of_the_entry_are_translated():
    parser = entry()
    for section in parser.sections():
        for name in ("GenericName", "Comment", "Keywords"):
            if name in parser[section]:
                assert all(f"{name}[{code}]" in parser[section] for code in LANGUAGES)
        if section != "Desktop Entry":
            assert all(f"Name[{code}]" in parser[section] for code in LANGUAGES)


def test_its_actions_are_what_the_window_understands():
    parser = entry()
    main = parser["Desktop Entry"]
    assert main["Exec"] == f"{APP} %F"
    assert main["Icon"] == APP_ID
    actions = main["Actions"].rstrip(";").split(";")
    assert [f"Desktop Action {name}" for name in actions] == parser.sections()[1:]
    assert all(parser[f"Desktop Action {name}"]["Exec"] == f"{APP} --{name}" for name in actions)
    assert {f"--{name}" for name in actions} <= set(FLAGS)


def test_the_release_is_this_version():
    root = ET.parse(METAINFO).getroot()
    releases = [item.get("version") for item in root.iter("release")]
    assert releases[0] == __version__
    told = re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert set(told) <= set(releases)


def test_all_words_of_the_metainfo_are_translated():
    lang = "{http://www.w3.org/XML/1998/namespace}lang"
    root = ET.parse(METAINFO).getroot()
    for tag in ("summary", "p", "li"):
        codes = [item.get(lang) for item in root.iter(tag)]
        assert codes == [None, *LANGUAGES] * (len(codes) // 3)


def test_the_icons_are_those_that_the_script_draws(tmp_path):
    script = ROOT / "packaging" / "build_icons.py"
    done = run(sys.executable, str(script), str(tmp_path))
    drawn = [Path(line) for line in done.stdout.splitlines()]
    assert len(drawn) == 10
    for path in drawn:
        kept = LINUX / "icons" / path.relative_to(tmp_path)
        if path.suffix == ".png":
            assert size_of(kept) == size_of(path) == (int(path.parts[-3].split("x")[0]),) * 2
        else:
            assert kept.read_bytes() == path.read_bytes()
    assert len(list((LINUX / "icons").rglob("*.*"))) == len(drawn)


def size_of(picture: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height
