from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Kind, kind_of_name


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("photo.JPG", Kind.IMAGE),
        (Path("/a.b/memo.wav"), Kind.AUDIO),
        ("clip.mp4", Kind.VIDEO),
        ("sums.csv", Kind.TABLE),
        ("report.final.pdf", Kind.DOCUMENT),
        ("README", None),
        ("tool.exe", None),
    ],
)
def test_the_name_promises_a_kind(name: str | Path, kind: Kind | None):
    assert kind_of_name(name) == kind
