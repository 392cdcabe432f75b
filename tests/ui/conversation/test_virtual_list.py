import random

from jarvis_desktop.ui.conversation.virtual_list import TurnHeights


def test_they_agree_with_plain_sums() -> None:
    chance = random.Random(1)
    plain = [chance.randint(1, 500) for _ in range(97)]
    heights = TurnHeights(plain)
    for _ in range(300):
        match chance.randint(0, 4):
            case 0:
                height = chance.randint(1, 500)
                plain.append(height)
                heights.append(height)
            case 1:
                index = chance.randrange(len(plain))
                plain.insert(index, 7)
                heights.insert(index, 7)
            case 2 if len(plain) > 2:
                index = chance.randrange(len(plain))
                del plain[index]
                heights.pop(index)
            case _:
                index = chance.randrange(len(plain))
                plain[index] = heights[index] = chance.randint(0, 500)
        assert len(heights) == len(plain)
        assert heights.total == sum(plain)
        index = chance.randrange(len(plain) + 1)
        assert heights.before(index) == sum(plain[:index])
        y = chance.randrange(-10, heights.total + 50)
        below = [number for number in range(len(plain)) if sum(plain[: number + 1]) > y]
        assert heights.at(y) == (below[0] if below else len(plain) - 1)


def test_there_may_be_none() -> None:
    assert TurnHeights().total == 0
    assert TurnHeights().at(5) == 0
