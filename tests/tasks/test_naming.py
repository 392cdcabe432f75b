from __future__ import annotations

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.images.classification import labels_of
from jarvis_desktop.tasks.images.detection import things_to_find
from jarvis_desktop.tasks.naming import asks_for_description, labels_named, named_things


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("find the red car in the picture", ["red car"]),
        ("is this a cat or a dog?", ["cat", "dog"]),
        ("cat, dog, bird", ["cat", "dog", "bird"]),
        ("which of cat, dog or horse is in photo.jpg ?", ["cat", "dog", "horse"]),
        ("does photo.jpg show a beach or a lake", ["beach", "lake"]),
        ("where is my blue umbrella in this photo?", ["blue umbrella"]),
        ("find all street signs and bicycles in street.jpg", ["street signs", "bicycles"]),
        ("which of these does the picture show: cat, dog or bird?", ["cat", "dog", "bird"]),
        ("sort the photo into indoor or outdoor", ["indoor", "outdoor"]),
        ("cut out the dog", ["dog"]),
        ("man in the moon in the picture", ["man in the moon"]),
        ("draw a box around the cat in the picture", ["cat"]),
        ("Cat, cat and Cat", ["Cat", "cat"]),
        ("find it", []),
        ("", []),
        ("x" * 100, []),
    ],
)
def test_names_are_read_out_of_a_request(words: str, names: list[str]):
    assert named_things(words) == names


def test_the_least_that_must_be_named():
    assert labels_of("is it a husky, a wolf or a dog") == ["husky", "wolf", "dog"]
    assert things_to_find("locate the traffic light of the photo") == ["traffic light"]
    with pytest.raises(InputError, match="at least two labels"):
        labels_of("is this a cat?")
    with pytest.raises(InputError, match="needs a name"):
        things_to_find("find it")


def test_a_long_list_of_names_is_cut():
    assert len(named_things(", ".join(f"thing {n}" for n in range(500)))) == 40


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("cut out the dogs", ["dog"]),
        ("the women and children", ["person"]),
        ("buses", ["bus"]),
        ("traffic lights", ["traffic light"]),
        ("lights", []),
        ("a couch", ["sofa, couch, lounge"]),
        ("cut out the sticker", []),
        ("", []),
    ],
)
def test_labels_of_an_expert_are_found_in_the_words(words: str, labels: list[str]):
    known = ["dog", "person", "bus", "traffic light", "sofa, couch, lounge"]
    assert labels_named(words, known) == labels


@pytest.mark.parametrize(
    ("question", "describes"),
    [
        ("describe this picture", True),
        ("Please describe it", True),
        ("what is in the picture?", True),
        ("what do you see", True),
        ("what does this photo show?", True),
        ("what is this?", True),
        ("what colour is the car in the picture?", False),
        ("who is in this photo", False),
        ("what is the man doing", False),
    ],
)
def test_a_wish_for_a_description_is_told_from_a_question(question: str, describes: bool):
    assert asks_for_description(question) is describes
