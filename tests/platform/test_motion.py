"""Whether the desktop wants motion, by its portal."""

from __future__ import annotations

import pytest

from jarvis_desktop.platform.desktop import wants_motion
from tests.portal import Portal

pytestmark = pytest.mark.usefixtures("bus")
NEW, GNOME, KDE = (
    ("org.freedesktop.appearance", "reduced-motion"),
    ("org.gnome.desktop.interface", "enable-animations"),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor"),
)


@pytest.mark.parametrize(
    ("settings", "moves"),
    [
        ({}, True),
        ({NEW: ("u", 0), GNOME: ("b", True), KDE: ("s", "1.5")}, True),
        ({NEW: ("u", 1)}, False),
        ({NEW: ("u", 0), GNOME: ("b", False)}, False),
        ({KDE: ("s", "0")}, False),
        ({KDE: ("s", "fast")}, True),
    ],
)
async def test_the_desktop_is_asked(
    settings: dict[tuple[str, str], tuple[str, object]], moves: bool
) -> None:
    portal = Portal(settings=settings)
    await portal.start()
    assert await wants_motion() is moves
    await portal.stop()


async def test_without_a_portal_or_a_bus_there_is_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await wants_motion()
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    assert await wants_motion()
