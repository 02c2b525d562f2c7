"""Channels (WIRE.md, section 4.2): five delivery modes at the receiver; reliable-ordered and unreliable at the
sender."""

from __future__ import annotations

from dataclasses import dataclass, field

from .frames import Message
from .numbers import Malformed, ahead, bits_for
from .settings import RELIABLE_ORDERED, RELIABLE_SEQUENCED, RELIABLE_UNORDERED, UNRELIABLE, cost
from .spans import Spans

WRAP = 1 << 32
MISSING_MAX = 1024
PARTIAL_MAX = 16
"""Maximum number of incomplete messages on an unreliable channel."""
OVERHEAD = 32
"""More than the fields of any MESSAGE before its payload."""


@dataclass
class Partial:
    """A message of which fragments have arrived."""

    total: int
    data: bytearray
    have: Spans = field(default_factory=Spans)

    def add(self, message: Message) -> bytes | None:
        if message.total != self.total:
            return None
        end = message.offset + len(message.payload)
        self.data[message.offset : end] = message.payload
        self.have.add(message.offset, end)
        return bytes(self.data) if self.have.covers(0, self.total) else None


class Inbound:
    """Received messages of one channel."""

    def __init__(self, mode: int) -> None:
        self.mode = mode
        self.next = 0
        """The reference: in reliable modes the next in order; in other modes one more than the greatest."""
        self.newest: int | None = None
        self.done: dict[int, bytes] = {}
        """Complete messages ahead of `next`: to be delivered (ordered), or delivered and therefore empty
        (unordered)."""
        self.missing: dict[int, None] = {}
        self.partial: dict[int, Partial] = {}

    def reliable(self) -> bool:
        return self.mode >= RELIABLE_ORDERED

    def check(self, message: Message, length_max: int) -> None:
        """Raises Malformed for what this channel cannot hold."""
        if message.sequence is None and self.mode != UNRELIABLE:
            raise Malformed("no sequence")
        if max(message.total or 0, len(message.payload)) > length_max:
            raise Malformed("message too long")

    def held(self) -> int:
        """Bytes of the window that complete messages occupy here, since their sender does not count them any more."""
        return sum(cost(len(data)) for data in self.done.values()) if self.mode == RELIABLE_ORDERED else 0

    def cost(self, message: Message) -> int:
        """Additional bytes of the window for this message."""
        known = message.sequence in self.done or message.sequence in self.partial
        return 0 if not self.reliable() or known or self._is_old(message) else cost(message.total or len(message.payload))

    def handle(self, message: Message) -> list[bytes]:
        """The messages that this one completes, in the order of delivery."""
        if message.sequence is None:
            return [message.payload]
        fresh = self._notice(message.sequence)
        if not fresh or message.sequence in self.done:
            return []
        payload = message.payload if message.total is None else self._join(message)
        return [] if payload is None else self._complete(message.sequence, payload)

    def _is_old(self, message: Message) -> bool:
        return message.sequence is not None and ahead(message.sequence, self.next) < 0

    def _notice(self, sequence: int) -> bool:
        """Whether this message is still needed."""
        if self.mode in (RELIABLE_ORDERED, RELIABLE_UNORDERED):
            return ahead(sequence, self.next) >= 0
        distance = ahead(sequence, self.next)
        if distance >= 0:
            if self.mode == UNRELIABLE:
                gap = min(distance + 1, MISSING_MAX)
                self.missing.update(((sequence - i) % WRAP, None) for i in range(gap - 1, -1, -1))
                while len(self.missing) > MISSING_MAX:
                    del self.missing[next(iter(self.missing))]
            self.next = (sequence + 1) % WRAP
        if self.mode == UNRELIABLE:
            return sequence in self.missing
        return self.newest is None or ahead(sequence, self.newest) > 0

    def _join(self, message: Message) -> bytes | None:
        sequence, total = message.sequence or 0, message.total or 0
        if sequence not in self.partial:
            if self.mode not in (RELIABLE_ORDERED, RELIABLE_UNORDERED) and len(self.partial) >= PARTIAL_MAX:
                del self.partial[next(iter(self.partial))]
            self.partial[sequence] = Partial(total, bytearray(total))
        return self.partial[sequence].add(message)

    def _complete(self, sequence: int, payload: bytes) -> list[bytes]:
        self.partial.pop(sequence, None)
        if self.mode == UNRELIABLE:
            del self.missing[sequence]
            return [payload]
        if self.mode in (RELIABLE_ORDERED, RELIABLE_UNORDERED):
            ordered = self.mode == RELIABLE_ORDERED
            self.done[sequence] = payload if ordered else b""
            result = [] if ordered else [payload]
            while self.next in self.done:
                data = self.done.pop(self.next)
                result += [data] if ordered else []
                self.next = (self.next + 1) % WRAP
            return result
        self.newest = sequence
        self.partial = {s: p for s, p in self.partial.items() if ahead(s, sequence) > 0}
        return [payload]

    def partial_cost(self) -> int:
        return sum(cost(p.total) for p in self.partial.values())


@dataclass(eq=False)
class Outgoing:
    """A message in flight."""

    channel: int
    sequence: int | None
    payload: bytes
    acknowledged: Spans = field(default_factory=Spans)

    def reliable(self) -> bool:
        return self.sequence is not None


@dataclass
class Chunk:
    """Bytes of a message, in a packet or not yet in one."""

    message: Outgoing
    start: int
    end: int


class Outbound:
    """Outgoing messages: first lost ones, then new ones in their order, up to the peer's window."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.taken = 0
        self.again: list[Chunk] = []
        self.fresh: list[Chunk] = []
        self.open: dict[int, list[Outgoing]] = {}
        self.next: dict[int, int] = {}

    def send(self, channel: int, payload: bytes, reliable: bool) -> None:
        sequence = None
        if reliable:
            sequence = self.next.get(channel, 0)
            self.next[channel] = (sequence + 1) % WRAP
        self.fresh.append(Chunk(Outgoing(channel, sequence, payload), 0, len(payload)))

    def unacknowledged(self) -> int:
        return sum(len(messages) for messages in self.open.values()) + len(self.fresh)

    def ready(self) -> bool:
        return bool(self._usable_again() or self.fresh and self._fits(self.fresh[0]))

    def pack(self, room: int) -> tuple[list[Message], list[Chunk]]:
        """Messages for a packet with `room` bytes left."""
        messages: list[Message] = []
        chunks: list[Chunk] = []
        while self.ready() and room > OVERHEAD + 16:
            queue = self.again if self.again else self.fresh
            chunk = queue.pop(0)
            if queue is self.fresh:
                self._begin(chunk)
            cut = min(chunk.end, chunk.start + room - OVERHEAD)
            if cut < chunk.end and not chunk.message.reliable():
                if messages:
                    queue.insert(0, chunk)
                    break
                continue  # An unreliable message beyond a datagram is not sent by this small client.
            if cut < chunk.end:
                self.again.insert(0, Chunk(chunk.message, cut, chunk.end))
            piece = Chunk(chunk.message, chunk.start, cut)
            chunks.append(piece)
            messages.append(self._frame(piece))
            room -= OVERHEAD + cut - chunk.start
        return messages, chunks

    def on_acknowledged(self, chunk: Chunk) -> None:
        message = chunk.message
        queue = self.open.get(message.channel, [])
        message.acknowledged.add(chunk.start, chunk.end or 1)
        if message.acknowledged.covers(0, len(message.payload) or 1) and message in queue:
            queue.remove(message)
            self.taken -= cost(len(message.payload))

    def on_lost(self, chunks: list[Chunk]) -> None:
        self.again += [chunk for chunk in chunks if chunk.message.reliable()]

    def _usable_again(self) -> bool:
        while self.again and self.again[0].message.acknowledged.covers(self.again[0].start, self.again[0].end or 1):
            self.again.pop(0)
        return bool(self.again)

    def _fits(self, chunk: Chunk) -> bool:
        return not chunk.message.reliable() or self.taken + cost(len(chunk.message.payload)) <= self.window

    def _begin(self, chunk: Chunk) -> None:
        if chunk.message.reliable():
            self.open.setdefault(chunk.message.channel, []).append(chunk.message)
            self.taken += cost(len(chunk.message.payload))

    def _frame(self, piece: Chunk) -> Message:
        message = piece.message
        whole = piece.start == 0 and piece.end == len(message.payload)
        oldest = self.open.get(message.channel, [message])[0] if message.reliable() else message
        bits = bits_for(ahead(message.sequence, oldest.sequence or 0)) if message.sequence is not None else None
        total = None if whole else len(message.payload)
        return Message(message.channel, message.sequence, message.payload[piece.start : piece.end], piece.start, total, bits)
