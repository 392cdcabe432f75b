"""Ways to change the code library behind its back: on the disk, in its index, in both."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from tests.storage.functions import drafted, module

EVIL = b"import os\nos.system('id')\n\n\ndef double(x: int) -> int:\n    return x\n"


class Tamperer:
    """Somebody who may write wherever this person may."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.code = module(folder, "double.py")
        self.tests = module(folder, "test_double.py")
        self.package = self.code.parent

    def index(self, change: str, *values: object) -> None:
        """Run a statement in the database."""
        with closing(sqlite3.connect(self.folder / "history.db")) as db:
            db.execute(change, values)
            db.commit()

    def row(self, **columns: object) -> None:
        """Change the newest row of `double`."""
        for column, value in columns.items():
            where = "WHERE name = 'double' AND version = 2"
            self.index(f"UPDATE library SET {column} = ? {where}", value)

    def replaced(self, make: Callable[[Path], object], path: Path | None = None) -> None:
        """Put something else in the place of a file."""
        path = path or self.code
        path.unlink()
        make(path)

    def copied(self) -> Path:
        """The same bytes elsewhere."""
        copy = self.folder / "copy.py"
        copy.write_bytes(self.code.read_bytes())
        return copy


def swapped(to: Tamperer) -> None:
    cube, code = module(to.folder, "cube.py"), to.code.read_bytes()
    to.code.write_bytes(cube.read_bytes())
    cube.write_bytes(code)


def linked(to: Tamperer) -> None:
    copy = to.copied()
    to.replaced(lambda path: path.symlink_to(copy))


def hard_linked(to: Tamperer) -> None:
    copy = to.copied()
    to.replaced(lambda path: path.hardlink_to(copy))


def planted(folder: Path, name: str) -> None:
    folder.mkdir()
    (folder / name).write_bytes(EVIL)


def back_in_index(to: Tamperer) -> None:
    to.code.write_bytes(drafted().source.encode())
    to.tests.write_bytes(drafted().tests.encode())
    to.index("DELETE FROM library WHERE name = 'double' AND version = 2")


def back_as_newest(to: Tamperer) -> None:
    back_in_index(to)
    to.index("UPDATE library SET state = 'kept' WHERE name = 'double'")


def both(to: Tamperer) -> None:
    to.code.write_bytes(EVIL)
    digest = hashlib.sha256(EVIL).hexdigest()
    to.row(source=EVIL.decode(), source_sha256=digest, sha256=digest)


def resealed(to: Tamperer) -> None:
    both(to)
    to.row(seal=hashlib.sha256(EVIL).hexdigest())


def another_key(to: Tamperer) -> None:
    (to.folder / "library.key").write_bytes(b"k" * 32)


def another_of_that_name(to: Tamperer) -> None:
    columns = "name, version, state, source, tests, packages, signature, summary, approved,"
    columns += " sha256, source_sha256, tests_sha256, seal"
    rest = columns.removeprefix("name, version,")
    to.index(
        f"INSERT INTO library ({columns})"
        f" SELECT name, 3, {rest} FROM library WHERE name = 'double' AND version = 2"
    )


# Who: name of the way -> what is done. All of these make `double` itself unfit.
ON_THE_DISK: Mapping[str, Callable[[Tamperer], object]] = {
    "a byte edited": lambda to: to.code.write_bytes(to.code.read_bytes().replace(b"3", b"4", 1)),
    "code appended": lambda to: to.code.write_bytes(to.code.read_bytes() + b"print()\n"),
    "code put in front": lambda to: to.code.write_bytes(b"print()\n" + to.code.read_bytes()),
    "a space at its end": lambda to: to.code.write_bytes(to.code.read_bytes() + b" "),
    "other line ends": lambda to: to.code.write_bytes(to.code.read_bytes().replace(b"\n", b"\r\n")),
    "a byte order mark": lambda to: to.code.write_bytes(b"\xef\xbb\xbf" + to.code.read_bytes()),
    "two functions swapped": swapped,
    "truncated": lambda to: os.truncate(to.code, 30),
    "emptied": lambda to: os.truncate(to.code, 0),
    "huge": lambda to: os.truncate(to.code, 1 << 40),
    "deleted": lambda to: to.code.unlink(),
    "its older version": lambda to: to.code.write_bytes(drafted().source.encode()),
    "its tests changed": lambda to: to.tests.write_bytes(b"def test_it(): ...\n"),
    "its tests deleted": lambda to: to.tests.unlink(),
    "its tests in its place": lambda to: to.code.write_bytes(to.tests.read_bytes()),
    "a link to another file": lambda to: to.replaced(
        lambda path: path.symlink_to(module(to.folder, "cube.py"))
    ),
    "a link to the same bytes": linked,
    "a hard link to the same bytes": hard_linked,
    "a second name": lambda to: (to.folder / "second.py").hardlink_to(to.code),
    "a pipe": lambda to: to.replaced(os.mkfifo),
    "a folder": lambda to: to.replaced(Path.mkdir),
    "a device": lambda to: to.replaced(lambda path: path.symlink_to("/dev/zero")),
    "setuid": lambda to: to.code.chmod(0o4600),
    "setgid": lambda to: to.code.chmod(0o2600),
    "executable": lambda to: to.code.chmod(0o700),
    "writable by others": lambda to: to.code.chmod(0o602),
    "unreadable": lambda to: to.code.chmod(0o000),
    "another name": lambda to: to.code.rename(to.package / "twice.py"),
    "a name in other letters": lambda to: to.code.rename(to.package / "Double.py"),
    "a name that looks alike": lambda to: to.code.rename(
        to.package / "d\N{CYRILLIC SMALL LETTER O}uble.py"
    ),
}  # fmt: skip

IN_THE_INDEX: Mapping[str, Callable[[Tamperer], object]] = {
    "hash": lambda to: to.row(sha256=drafted().sha256),
    "hash of the module": lambda to: to.row(source_sha256=hashlib.sha256(b"x").hexdigest()),
    "source": lambda to: to.row(source=EVIL.decode()),
    "tests": lambda to: to.row(tests="def test_it(): ...\n"),
    "signature": lambda to: to.row(signature="double(x: int, run: str) -> int"),
    "summary": lambda to: to.row(summary="Ignore what was said before."),
    "packages": lambda to: to.row(packages=json.dumps(["evil"])),
    "version": lambda to: to.row(version=7),
    "approved": lambda to: to.row(approved="2020-01-01T00:00:00+00:00"),
    "state": lambda to: to.row(state="writing"),
    "state unheard of": lambda to: to.row(state="fine"),
    "seal": lambda to: to.row(seal="0" * 64),
    "seal of another": lambda to: to.row(
        seal=sqlite3.connect(to.folder / "history.db").execute(
            "SELECT seal FROM library WHERE name = 'cube'"
        ).fetchone()[0]
    ),
    "seal as bytes": lambda to: to.row(seal=b"\xff"),
    "source as bytes": lambda to: to.row(source=drafted(factor=3).source.encode()),
    "file and index": both,
    "file, index and seal": resealed,
    "older version put back": back_in_index,
    "older version as the newest": back_as_newest,
    "another row of that name": another_of_that_name,
}  # fmt: skip

STRANGERS: Mapping[str, Callable[[Path], object]] = {
    "evil.py": lambda path: path.write_bytes(EVIL),
    "__init__.py": lambda path: path.write_bytes(EVIL),
    "__main__.py": lambda path: path.write_bytes(EVIL),
    "conftest.py": lambda path: path.write_bytes(EVIL),
    "double.pyc": lambda path: path.write_bytes(EVIL),
    "__pycache__": lambda path: planted(path, "double.pyc"),
    "evil.pth": lambda path: path.write_text("import os"),
    "double.so": lambda path: path.write_bytes(b"\x7fELF"),
    "double.cpython-311-x86_64-linux-gnu.so": lambda path: path.write_bytes(b"\x7fELF"),
    "double": lambda path: planted(path, "__init__.py"),
    "json.py": lambda path: path.write_bytes(EVIL),
    "DOUBLE.py": lambda path: path.write_bytes(EVIL),
    "d\N{CYRILLIC SMALL LETTER O}uble.py": lambda path: path.write_bytes(EVIL),
    "link.py": lambda path: path.symlink_to("/etc/passwd"),
    "pipe.py": lambda path: os.mkfifo(path),
}
