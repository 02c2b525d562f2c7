"""Frames (WIRE.md, section 4): each a small class that encodes itself, and one function that decodes a packet's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from .fields import Codec, Eight, Fields, Id, Reason, Varint
from .numbers import Malformed, Reader, lengthy, restore, restore_sequence, truncated, varint
from .settings import U32, Limits, Settings

TOKEN_MAX = 1024
FURTHER_MAX = 31
INDEX_MAX = 63
LATE_MAX = 60_000
SYMBOL_LEAST = 7
Ranges = list[tuple[int, int]]
"""Lowest and highest number of each, highest range first."""
Age = Annotated[int, Codec(lambda r: min(r.varint(), LATE_MAX), varint)]
Token = Annotated[bytes, Codec(lambda r: r.lengthy(TOKEN_MAX), lengthy)]
LimitList = Annotated[Limits, Codec(lambda r: Limits.decode(r.lengthy()), lambda v: lengthy(v.encode()))]
SettingList = Annotated[Settings, Codec(lambda r: Settings.decode(r.lengthy()), lambda v: lengthy(v.encode()))]


class Simple(Fields):
    """A frame of consecutive fields."""

    TYPE: ClassVar[int]

    def __init_subclass__(cls, type: int) -> None:
        cls.TYPE = type
        super().__init_subclass__()

    def encode(self) -> bytes:
        return bytes([self.TYPE]) + self.write()


# fmt: off
class Padding(Simple, type=0x00): "One, or a run."
class Ping(Simple, type=0x01): pass
class Connect(Simple, type=0x04):
    token: Token; limits: LimitList
class Accept(Simple, type=0x05):
    source: Id; settings: SettingList
class Close(Simple, type=0x06):
    code: Varint; reason: Reason
class Closed(Simple, type=0x07): pass
class Late(Simple, type=0x0A):
    age_ms: Age
class PathChallenge(Simple, type=0x0B):
    token: Eight
class PathResponse(Simple, type=0x0C):
    token: Eight
class TimeRequest(Simple, type=0x0D):
    sent_us: Varint
class TimeResponse(Simple, type=0x0E):
    sent_us: Varint; server_us: Varint; held_us: Varint
class NewId(Simple, type=0x0F):
    sequence: Varint; id: Id
# fmt: on

_SIMPLE: dict[int, type[Simple]] = {kind.TYPE: kind for kind in Simple.__subclasses__()}


@dataclass
class Ack:
    ranges: Ranges
    delay_us: int
    window: int | None = None
    bits: int = 14

    def encode(self) -> bytes:
        head = bytes([2 if self.window is None else 3]) + truncated(self.ranges[0][1], self.bits) + varint(self.delay_us)
        return head + encode_ranges(self.ranges) + (b"" if self.window is None else varint(self.window))


@dataclass
class Repaired:
    ranges: Ranges
    bits: int = 14

    def encode(self) -> bytes:
        return b"\x08" + truncated(self.ranges[0][1], self.bits) + encode_ranges(self.ranges)


@dataclass
class Repair:
    index: int
    back: int
    ranges: Ranges
    symbol: bytes

    def encode(self) -> bytes:
        return bytes([9, self.index]) + varint(self.back) + encode_ranges(self.ranges) + self.symbol


@dataclass
class Extension:
    type: int
    body: bytes

    def encode(self) -> bytes:
        return bytes([self.type]) + lengthy(self.body)


@dataclass
class Message:
    """`bits` are those of a sequence that is present in the frame; None where it was omitted."""

    channel: int
    sequence: int | None
    payload: bytes
    offset: int = 0
    total: int | None = None
    """The message's length, if this is a fragment."""
    bits: int | None = None

    def encode(self, before: Message | None) -> bytes:
        """Omits what follows from the previous message in the packet."""
        same = self.channel == (before.channel if before else 0)
        last = before.sequence if same and before else None
        following = last is not None
        next_one = last is not None and self.sequence == (last + 1) % (1 << 32)
        named, numbered = not same or following and self.sequence is None, self.sequence is not None and not next_one
        length = len(self.payload)
        form = length if length <= 12 else 13 if before and len(before.payload) == length else 14
        result = bytes([0x80 | named << 6 | numbered << 5 | (self.total is not None) << 4 | form])
        result += varint(self.channel) if named else b""
        result += truncated(self.sequence or 0, self.bits or 14) if numbered else b""
        result += varint(self.offset) + varint(self.total) if self.total is not None else b""
        return result + (varint(length) if form == 14 else b"") + self.payload


Frame = Simple | Ack | Repaired | Repair | Extension | Message


@dataclass
class Content:
    """The frames of a packet, and where its content (section 4.4) begins in their bytes."""

    frames: list[Frame] = field(default_factory=list)
    start: int = 0

    def asks(self) -> bool:
        """Whether it elicits an acknowledgement."""
        return not self.frames or any(asks(frame) for frame in self.frames)


def asks(frame: Frame) -> bool:
    return isinstance(frame, (Ping, Connect, Accept, Message)) or isinstance(frame, Extension) and frame.type >= 0x60


def decode(data: bytes, number: int, ack_reference: int, sequence_reference: Callable[[int], int]) -> Content:
    """All frames of packet `number`; raises Malformed for the whole packet."""
    reader, content, leading = Reader(data), Content(), True
    message: Message | None = None
    frame: Frame
    while reader.left():
        kind = reader.uint(1)
        if kind >= 0x80:
            message = frame = _message(kind, reader, message, sequence_reference)
        elif kind >= 0x40:
            frame = Extension(kind, reader.lengthy())
        else:
            frame = _control(kind, reader, number, ack_reference)
        leading = leading and isinstance(frame, (Ack, Repaired))
        content.start = reader.position if leading else content.start
        content.frames.append(frame)
    return content


def encode(frames: list[Frame]) -> bytes:
    result = b""
    message: Message | None = None
    for frame in frames:
        if isinstance(frame, Message):
            result += frame.encode(message)
            message = frame
        else:
            result += frame.encode()
    return result


def encode_ranges(ranges: Ranges) -> bytes:
    low, high = ranges[0]
    result = varint(len(ranges) - 1) + varint(high - low)
    for below_low, below_high in ranges[1:]:
        result += varint(low - below_high - 2) + varint(below_high - below_low)
        low = below_low
    return result


def _ranges(reader: Reader, largest: int, count: int | None = None) -> Ranges:
    count = reader.varint(FURTHER_MAX) if count is None else count
    result = [(largest - reader.varint(), largest)]
    for _ in range(count):
        high = result[-1][0] - reader.varint() - 2
        result.append((high - reader.varint(), high))
    if result[-1][0] < 0:
        raise Malformed("range below packet 0")
    return result


def _largest(reader: Reader, reference: int) -> tuple[int, int]:
    bits, value = reader.truncated()
    if bits == 7:
        raise Malformed("largest of 1 byte")
    return bits, restore(value, bits, reference)


def _control(kind: int, r: Reader, number: int, ack_reference: int) -> Frame:
    if kind == 0x00:
        while r.left() and r.data[r.position] == 0:
            r.take(1)
        return Padding()
    if kind in (0x02, 0x03):
        bits, largest = _largest(r, ack_reference)
        delay = r.varint()
        ranges = _ranges(r, largest)
        return Ack(ranges, delay, r.varint() if kind == 3 else None, bits)
    if kind == 0x08:
        bits, largest = _largest(r, ack_reference)
        return Repaired(_ranges(r, largest), bits)
    if kind == 0x09:
        index, back = r.uint(1), r.varint()
        if index > INDEX_MAX or not 1 <= back <= number:
            raise Malformed("index or back of a REPAIR")
        repair = Repair(index, back, _ranges(r, number - back), r.rest())
        if len(repair.symbol) < SYMBOL_LEAST:
            raise Malformed("symbol")
        return repair
    if kind not in _SIMPLE:
        raise Malformed("reserved frame")
    return _SIMPLE[kind].read(r)


def _message(kind: int, r: Reader, before: Message | None, reference: Callable[[int], int]) -> Message:
    named, numbered, fragment, form = kind & 0x40, kind & 0x20, kind & 0x10, kind & 0x0F
    channel = r.varint(65535) if named else before.channel if before else 0
    sequence = bits = total = None
    offset = 0
    if numbered:
        bits, value = r.truncated()
        sequence = restore_sequence(value, bits, reference(channel))
    elif before and before.sequence is not None and not named:
        sequence = (before.sequence + 1) % (1 << 32)
    if fragment:
        offset, total = r.varint(U32), r.varint(U32)
    if form == 13 and not before:
        raise Malformed("as long as nothing")
    length = form if form <= 12 else len(before.payload) if before and form == 13 else r.varint() if form == 14 else r.left()
    message = Message(channel, sequence, r.take(length), offset, total, bits)
    if total is not None and (sequence is None or not 0 < length < total or offset + length > total):
        raise Malformed("fragment")
    return message
