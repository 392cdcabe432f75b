from jarvis_desktop.core.expert import times_real_time


def test_more_than_four_cores_hardly_help_a_recogniser() -> None:
    assert times_real_time(8.0, 4) == 8.0
    assert times_real_time(8.0, 2) == 4.0
    assert times_real_time(8.0, 64) == 8.0
