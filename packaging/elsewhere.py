"""The folders of the packages for Windows and macOS, put together on any system.

Each has a Python of python-build-standalone, whose digests are in uv, and the libraries of
locked.py for that system. Nothing of it is run here; packaging/windows and packaging/macos have
what the system itself does with the folder. Standard library only.
"""

from __future__ import annotations

import io
import os
import plistlib
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from locked import MAC, MACOS, PYTHON, WINDOWS, TargetSystem, as_requirements, locked

ROOT = Path(__file__).resolve().parent.parent
BUNDLE = "JARVIS Desktop.app"
PYTHONS = {"windows": "windows-x86_64-none", "macos": "macos-aarch64-none"}
"""How uv names them."""
DISTLIB = "distlib==0.4.0"
"""It has the small programs that start a Python on Windows."""
COMMANDS = {
    "jarvis-desktop.exe": ("t64.exe", "python.exe"),
    "JARVIS.exe": ("w64.exe", "pythonw.exe"),
}
"""For a terminal and for the menu: distlib's starter, and the Python that it starts."""
START = "import sys\nfrom jarvis_desktop.__main__ import main\nsys.exit(main())\n"
NEEDLESS = (
    "EXTERNALLY-MANAGED",
    "Lib/EXTERNALLY-MANAGED",
    "Lib/test",
    "Lib/idlelib",
    "tcl",
    f"lib/python{PYTHON}/EXTERNALLY-MANAGED",
    f"lib/python{PYTHON}/test",
    f"lib/python{PYTHON}/idlelib",
    "share",
)
"""Of an interpreter: what nobody uses here, and what forbids uv to install an engine for it."""
DRAWN = ROOT / "packaging/linux/icons/512x512/apps/org.jarvisdesktop.JarvisDesktop.png"
SHIPPED = ("LICENSE", "CHANGELOG.md")


def windows(folder: Path, program: Path, version: str, uv: str) -> Path:
    """Make the folder that jarvis-desktop.iss packs, and return it. Raises OSError."""
    interpreter(WINDOWS, folder, uv)
    _fill(WINDOWS, folder / "Lib" / "site-packages", program, uv)
    with tempfile.TemporaryDirectory() as tools:
        _run(uv, "pip", "install", "--quiet", "--target", tools, DISTLIB)
        for name, (starter, python) in COMMANDS.items():
            made = (Path(tools) / "distlib" / starter).read_bytes() + _started_by(python)
            (folder / name).write_bytes(made)
    _draw(folder / "jarvis.ico", "ICO", sizes=[(size, size) for size in (16, 24, 32, 48, 64, 256)])
    _mark(folder, folder, version)
    return folder


def macos(bundle: Path, program: Path, version: str, uv: str) -> Path:
    """Make the bundle that build.sh completes on a Mac, and return it. Raises OSError."""
    resources = bundle / "Contents" / "Resources"
    python = resources / "python"
    interpreter(MAC, python, uv)
    _fill(MAC, python / "lib" / f"python{PYTHON}" / "site-packages", program, uv)
    (bundle / "Contents" / "Info.plist").write_bytes(information(version))
    for words in (ROOT / "packaging" / "macos").glob("*.lproj"):
        shutil.copytree(words, resources / words.name)
    # By what is beside Python the program knows how it is started.
    (python / "bin" / "jarvis-desktop").symlink_to("../../../MacOS/jarvis-desktop")
    _draw(resources / "jarvis.icns", "ICNS")
    _mark(python, resources, version)
    return bundle


def information(version: str) -> bytes:
    """Return Info.plist for a version."""
    told = plistlib.loads((ROOT / "packaging/macos/Info.plist").read_bytes())
    told |= {"CFBundleShortVersionString": version, "CFBundleVersion": version}
    return plistlib.dumps(told | {"LSMinimumSystemVersion": MACOS})


def interpreter(system: TargetSystem, folder: Path, uv: str) -> None:
    """Let uv download a Python for another system, compare its digest, and move it to `folder`."""
    with tempfile.TemporaryDirectory() as place:
        named = f"cpython-{PYTHON}-{PYTHONS[system.name]}"
        options = ("--no-bin", "--no-progress", "--install-dir", place)
        _run(uv, "python", "install", *options, named)
        (found,) = (path for path in Path(place).glob("cpython-*") if not path.is_symlink())
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(found, folder)
    for name in NEEDLESS:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _fill(system: TargetSystem, libraries: Path, program: Path, uv: str) -> None:
    """Install our wheel and the libraries of a system into a folder, by their digests."""
    libraries.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text(as_requirements(locked(system, uv)), "utf-8")
        into = ("--target", libraries, "--python-platform", system.platform, "--no-deps")
        common = ("pip", "install", "--quiet", "--python-version", PYTHON, "--link-mode", "copy")
        index = ("--index-strategy", "unsafe-best-match", "--only-binary", ":all:")
        _run(uv, *common, *into, *index, "--require-hashes", "-r", listed)
        _run(uv, *common, *into, program)
    # Scripts for another system, with the path of this one's Python.
    shutil.rmtree(libraries / "bin", ignore_errors=True)


def _started_by(python: str) -> bytes:
    """What distlib's starter reads at its own end: which Python, beside it, and what that runs."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo("__main__.py"), START)
    return f"#!<launcher_dir>\\{python} -I\r\n".encode() + packed.getvalue()


def _mark(prefix: Path, beside: Path, version: str) -> None:
    """Add the licence, and the file by which the program knows that an installer brought it."""
    (prefix / "bundle").write_text(f"{version}\n")
    for name in SHIPPED:
        shutil.copy(ROOT / name, beside)


def _draw(icon: Path, kind: str, **options: object) -> None:
    """Write the icon in the form of another system."""
    code = (
        "import sys; from PIL import Image; Image.open(sys.argv[1]).save(sys.argv[2], sys.argv[3]"
    )
    python = ROOT / ".venv" / "bin" / "python"
    _run(python, "-c", f"{code}, **{options!r})", DRAWN, icon, kind)


def _run(*command: str | Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, env=environment | {"MACOSX_DEPLOYMENT_TARGET": MACOS}, check=True)
