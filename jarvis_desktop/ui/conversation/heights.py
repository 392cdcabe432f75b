"""Where each of many things of different heights begins, in steps that grow with the logarithm of
their number (Fenwick, "A new data structure for cumulative frequency tables", 1994)."""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """Heights in pixels, one below the other."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._sums: list[int] = []
        self._add_up()

    def _add_up(self) -> None:
        self._sums = [0, *self._heights]
        for place in range(1, len(self._sums)):
            parent = place + (place & -place)
            if parent < len(self._sums):
                self._sums[parent] += self._sums[place]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        by = height - self._heights[index]
        self._heights[index] = height
        place = index + 1
        while by and place < len(self._sums):
            self._sums[place] += by
            place += place & -place

    def append(self, height: int) -> None:
        """Put one more below."""
        place = len(self._sums)
        self._heights.append(height)
        begins = place - (place & -place)
        self._sums.append(height + self.before(place - 1) - self.before(begins))

    def insert(self, index: int, height: int) -> None:
        """Put one between others."""
        self._heights.insert(index, height)
        self._add_up()

    def pop(self, index: int) -> None:
        """Take one away."""
        del self._heights[index]
        self._add_up()

    def before(self, index: int) -> int:
        """Where that one begins: the sum of those above."""
        total = 0
        while index:
            total += self._sums[index]
            index -= index & -index
        return total

    @property
    def total(self) -> int:
        """The sum of all."""
        return self.before(len(self._heights))

    def at(self, y: int) -> int:
        """Which one lies at that place; the first or the last where none does."""
        index, step = 0, 1 << len(self._heights).bit_length()
        while step:
            if index + step < len(self._sums) and self._sums[index + step] <= y:
                index += step
                y -= self._sums[index]
            step >>= 1
        return max(0, min(index, len(self._heights) - 1))
