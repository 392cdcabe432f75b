"""Which file of a library a system gets."""

from __future__ import annotations

import re

import locked
import pytest
from locked import CONSTRAINTS, ELSEWHERE, as_requirements, dependencies, read_lock

PLACE = "https://files.example/packages"


def entry(name: str, *files: str, kind: str = "wheels", digest: str = "a" * 64) -> str:
    """A package of a file of PEP 751."""
    lines = [
        f'{{ url = "{PLACE}/{file}", size = 7, hashes = {{ sha256 = "{digest}" }} }}'
        for file in files
    ]
    value = f"[{', '.join(lines)}]" if kind == "wheels" else lines[0]
    return f'[[packages]]\nname = "{name}"\nversion = "1.0"\n{kind} = {value}\n'


@pytest.mark.parametrize(
    "files",
    [
        ("a-1.0-cp313-cp313-linux_x86_64.whl", "a-1.0-py3-none-any.whl"),
        ("a-1.0-cp311-abi3-manylinux_2_28_x86_64.whl", "a-1.0-cp39-abi3-manylinux_2_34_x86_64.whl"),
        ("a-1.0-cp39-abi3-manylinux_2_34_x86_64.whl",
         "a-1.0-cp39-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"),
        ("a-1.0-cp313-cp313-macosx_14_0_arm64.whl", "a-1.0-cp313-cp313-macosx_11_0_arm64.whl"),
    ],
)  # fmt: skip
def test_the_best_file_is_taken(files: tuple[str, ...]) -> None:
    for order in (files, files[::-1]):
        (found,) = read_lock(entry("a", *order))
        assert found.file == files[0]
    assert as_requirements([found]) == f"a==1.0 --hash=sha256:{'a' * 64}\n"


def test_what_cannot_be_checked_or_must_be_compiled_is_refused() -> None:
    with pytest.raises(ValueError, match="a has no digest"):
        read_lock(entry("a", "a-1.0-py3-none-any.whl", digest=""))
    with pytest.raises(ValueError, match="a has no wheel"):
        read_lock(entry("a", "a-1.0.tar.gz", kind="sdist"))
    (found,) = read_lock(entry("xcffib", "xcffib-1.0.tar.gz", kind="sdist"))
    assert found.file == "xcffib-1.0.tar.gz"


def test_a_library_that_a_system_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Done:
        returncode, stderr = 1, "foo has no wheels with a matching platform tag\n"

    monkeypatch.setattr("subprocess.run", lambda command, **options: Done())
    with pytest.raises(OSError, match="macos cannot be had: foo has no wheels"):
        locked.locked(locked.MAC, "uv")


def test_a_library_is_pinned_in_one_place() -> None:
    pins = [
        re.findall(r"^([a-z0-9-]+)==\S+$", path.read_text("utf-8"), re.MULTILINE)
        for path in (CONSTRAINTS, ELSEWHERE)
    ]
    assert not {*pins[0]} & {*pins[1]}
    assert {"pywin32", "pyobjc-core"} <= {*pins[1]}
    named = {re.split(r"[^\w-]", line)[0].lower().replace("_", "-") for line in dependencies()}
    assert named <= {*pins[0]}
