"""Sets of numbers stored as half-open spans: packet numbers that arrived, bytes of a message that arrived or were
acknowledged."""

from __future__ import annotations


class Spans:
    """Ascending, never adjacent."""

    def __init__(self, numbers: list[int] | None = None) -> None:
        self.items: list[tuple[int, int]] = []
        for number in numbers or []:
            self.add(number, number + 1)

    def add(self, start: int, end: int) -> None:
        at = len(self.items)
        while at and self.items[at - 1][0] > end:
            at -= 1
        first = at
        while first and self.items[first - 1][1] >= start:
            first -= 1
        if first < at:
            start, end = min(start, self.items[first][0]), max(end, self.items[at - 1][1])
        self.items[first:at] = [(start, end)]

    def __contains__(self, number: int) -> bool:
        return any(start <= number < end for start, end in reversed(self.items))

    def covers(self, start: int, end: int) -> bool:
        return any(a <= start and end <= b for a, b in self.items)

    def ranges(self) -> list[tuple[int, int]]:
        """In the form of ACK: both ends included, the highest first."""
        return [(start, end - 1) for start, end in reversed(self.items)]
