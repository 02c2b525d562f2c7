"""Sent packets that are not acknowledged: round-trip time, loss by number and by time, probe timeout.

Loss, probe timeout and the window of NewReno as in RFC 9002, which section 10.1 allows; paced by a token bucket.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .channels import Chunk
from .frames import Ack, Ranges

REORDERING = 3
GRANULARITY = 0.001
DATAGRAM = 1_200
WINDOW_FIRST, WINDOW_LEAST, BURST = 10 * DATAGRAM, 2 * DATAGRAM, 10 * DATAGRAM


@dataclass
class Sent:
    number: int
    time: float
    size: int
    asks: bool
    chunks: list[Chunk] = field(default_factory=list)
    repaired: set[int] = field(default_factory=set)


class Recovery:
    """The state of one direction; on a reliable carrier nothing is ever lost."""

    def __init__(self, reliable: bool) -> None:
        self.reliable = reliable
        self.sent: dict[int, Sent] = {}
        self.next = 1
        self.largest_acked = 0
        self.srtt, self.rttvar = 0.1, 0.05
        self.sampled = False
        self.probes = 0
        self.last_asked = 0.0
        self.in_flight = 0
        self.window, self.threshold = WINDOW_FIRST, float("inf")
        self.tokens, self.paced_at = float(BURST), 0.0
        self.recovering_until = 0
        self.last_loss = float("-inf")
        self.lost_count = 0

    def on_sent(self, packet: Sent) -> None:
        self.sent[packet.number] = packet
        if packet.asks:
            self.in_flight += packet.size
            self.tokens -= packet.size
            self.last_asked = packet.time

    def may_send(self, now: float) -> bool:
        """Whether window and pacing allow another packet with messages; a stream has TCP's own control."""
        rate = self._rate()
        self.tokens, self.paced_at = min(BURST, self.tokens + (now - self.paced_at) * rate), now
        return self.reliable or self.in_flight < self.window and self.tokens >= DATAGRAM

    def pace_at(self) -> float:
        """When `may_send` may change without an acknowledgement."""
        if self.in_flight >= self.window:
            return float("inf")
        return self.paced_at + max(0.0, DATAGRAM - self.tokens) / self._rate()

    def _rate(self) -> float:
        return 1.25 * self.window / max(self.srtt, GRANULARITY)

    def sample(self, rtt: float) -> None:
        if not self.sampled:
            self.sampled, self.srtt, self.rttvar = True, rtt, rtt / 2
        else:
            self.rttvar += (abs(self.srtt - rtt) - self.rttvar) / 4
            self.srtt += (rtt - self.srtt) / 8

    def pto(self, peer_delay: float) -> float:
        return self.srtt + max(4 * self.rttvar, GRANULARITY) + peer_delay

    def deadline(self, peer_delay: float) -> float | None:
        """When `on_timer` is due, for the probe timeout or the loss timer."""
        if self.reliable or not any(p.asks for p in self.sent.values()):
            return None
        overtaken = [p.time + self._patience() for p in self.sent.values() if p.number < self.largest_acked]
        return min(overtaken + [self.last_asked + self.pto(peer_delay) * 2 ** min(self.probes, 10)])

    def on_ack(self, now: float, ack: Ack, recovered: Ranges) -> tuple[list[Sent], list[Sent]]:
        """Packets that arrived, packets that are lost."""
        arrived = [p for p in self.sent.values() if _within(p.number, ack.ranges)]
        largest = min(ack.ranges[0][1], self.next - 1)
        newest = self.sent.get(largest)
        if newest and newest.asks and not _within(largest, recovered):
            self.sample(max(now - newest.time - ack.delay_us / 1e6, GRANULARITY / 10))
        self.largest_acked = max(self.largest_acked, largest)
        used = self.in_flight * 2 >= self.window
        for packet in arrived:
            self._forget(packet)
            if packet.number >= self.recovering_until and used:
                self.window += packet.size if self.window < self.threshold else packet.size * DATAGRAM // self.window
        if any(p.asks for p in arrived):
            self.probes = 0
        return arrived, self._lost(now)

    def on_timer(self, now: float, peer_delay: float) -> tuple[list[Sent], Sent | None]:
        """Packets lost by time; and, at the probe timeout, one whose content is to be sent again."""
        lost = self._lost(now)
        asking = [p for p in self.sent.values() if p.asks]
        if lost or not asking or now < self.last_asked + self.pto(peer_delay) * 2 ** min(self.probes, 10):
            return lost, None
        self.probes += 1
        return [], asking[min(self.probes - 1, len(asking) - 1)] if self.probes > 1 else asking[0]

    def _patience(self) -> float:
        return max(9 / 8 * self.srtt, self.srtt + 2 * self.rttvar, 2 * GRANULARITY)

    def _lost(self, now: float) -> list[Sent]:
        if self.reliable:
            return []
        lost = [
            p
            for p in self.sent.values()
            if p.number + REORDERING <= self.largest_acked or p.number < self.largest_acked and p.time + self._patience() <= now
        ]
        for packet in lost:
            self._forget(packet)
            if packet.asks:
                self.lost_count += 1
                self.last_loss = now
                if packet.number >= self.recovering_until:
                    self.recovering_until = self.next
                    self.window = self.threshold = max(WINDOW_LEAST, self.window // 2)
        return lost

    def _forget(self, packet: Sent) -> None:
        del self.sent[packet.number]
        self.in_flight -= packet.size if packet.asks else 0


def _within(number: int, ranges: Ranges) -> bool:
    return any(low <= number <= high for low, high in ranges)
