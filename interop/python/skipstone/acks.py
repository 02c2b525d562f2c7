"""Received packets (WIRE.md, section 4.1): replays, when an ACK is due, and its content."""

from __future__ import annotations

from .frames import FURTHER_MAX, Ack, Frame, Repaired
from .numbers import bits_for
from .spans import Spans

KEPT = 256
"""Maximum number of ranges that are remembered; packets below them count as replays."""
WAITING_MAX = 32
RANGES_QUIET = 8
"""Beyond this number of ranges, or of unacknowledged own packets, a side that sends only ACKs requests one (section
10.1)."""
UNACKNOWLEDGED_QUIET = 1_000


class Received:
    """The packet numbers of one direction."""

    def __init__(self) -> None:
        self.spans = Spans()
        self.floor = 0
        self.repaired: set[int] = set()
        self.waiting = 0
        self.due: float | None = None
        self.largest_at = 0.0

    def next(self) -> int:
        """The reference of section 3."""
        return self.spans.items[-1][1] if self.spans.items else 0

    def is_replay(self, number: int) -> bool:
        return number < self.floor or number in self.spans

    def on_packet(self, now: float, number: int, asks: bool, repaired: bool, delay: float, waiting_max: int) -> None:
        in_order = number == self.next()
        if number >= self.next():
            self.largest_at = now
        self.spans.add(number, number + 1)
        if len(self.spans.items) > KEPT:
            self.floor = self.spans.items.pop(0)[1]
        if repaired:
            self.repaired.add(number)
        if asks or repaired:
            self.waiting += 1
            at_once = repaired or not in_order or self.waiting >= waiting_max
            due = now if at_once else now + delay
            self.due = due if self.due is None else min(self.due, due)

    def frames(self, now: float, window: int | None, peer_reference: int) -> list[Frame]:
        """REPAIRED and ACK of all received packets; nothing if there are none. The peer restores `largest` with
        `peer_reference`."""
        if not self.spans.items:
            return []
        self.due, self.waiting = None, 0
        ranges = self.spans.ranges()[: FURTHER_MAX + 1]
        distance = abs(peer_reference - ranges[0][1])
        result: list[Frame] = []
        recovered = Spans([n for n in self.repaired if n >= ranges[-1][0]]).ranges()[: FURTHER_MAX + 1]
        if recovered:
            result.append(Repaired(recovered, bits_for(distance + ranges[0][1] - recovered[0][1])))
        delay = max(0, int((now - self.largest_at) * 1e6))
        return result + [Ack(ranges, delay, window, bits_for(distance))]
