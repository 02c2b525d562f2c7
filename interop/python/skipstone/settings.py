"""Settings of ACCEPT and limits of CONNECT (WIRE.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from .numbers import Malformed, Reader, lengthy, varint

U32 = (1 << 32) - 1
NO_CHANNEL = 65_536
DAY_MS = 86_400_000
AT_FLUSH = (1 << 62) - 1
RULES_MAX = 64
UNRELIABLE, UNRELIABLE_SEQUENCED, RELIABLE_ORDERED, RELIABLE_UNORDERED, RELIABLE_SEQUENCED = range(5)
OFF, LEAN, ADAPTIVE, FIXED, REPEAT = range(5)


def cost(length: int) -> int:
    """The window cost of a reliable message (section 4.1)."""
    return length + length // 16 + 64


def _redundancy(reader: Reader) -> bytes:
    """Mode and its bytes, unparsed."""
    mode = reader.uint(1)
    more = reader.take({FIXED: 2, REPEAT: 1}.get(mode, 0))
    bad = mode > REPEAT or mode == FIXED and (0 in more or sum(more) > 64)
    if bad or mode == REPEAT and not 1 <= more[0] <= 8:
        raise Malformed("redundancy")
    return bytes([mode]) + more


@dataclass
class Rule:
    """A range of channels and their properties."""

    first: int = 0
    last: int = 65535
    mode: int = RELIABLE_ORDERED
    priority: int = 1
    weight: int = 1
    overflow: int = 2
    receipts: bool = False
    queue_messages_max: int = 16_384
    queue_bytes_max: int = 8_388_608
    redundancy: bytes | None = None

    @staticmethod
    def decode(r: Reader) -> Rule:
        first, last = r.varint(65535), r.varint(65535)
        mode, priority, weight, overflow, flags = r.take(5)
        if last < first or mode > 4 or not weight or overflow > 2 or flags > 3:
            raise Malformed("rule")
        queue = r.varint(U32), r.varint(U32)
        return Rule(first, last, mode, priority, weight, overflow, bool(flags & 1), *queue, _redundancy(r) if flags & 2 else None)

    def encode(self) -> bytes:
        flags = self.receipts | (self.redundancy is not None) << 1
        head = varint(self.first) + varint(self.last) + bytes([self.mode, self.priority, self.weight, self.overflow, flags])
        return head + varint(self.queue_messages_max) + varint(self.queue_bytes_max) + (self.redundancy or b"")


@dataclass
class Settings:
    """All settings, with their defaults; in the order of their ids, 1 to 11."""

    idle_timeout_ms: int = 30_000
    keepalive_ms: int = 25_000
    ack_delay_us: int = 1_000
    message_bytes_max: int = 1_048_576
    window_bytes: int = 2_097_152
    datagram_bytes_max: int = 1_472
    channels: list[Rule] = field(default_factory=lambda: [Rule()])
    merging: int = 0
    redundancy: tuple[bytes, int] = (bytes([ADAPTIVE]), 125)
    ack_delay_max_us: int = 70_000
    moves_channel: int = NO_CHANNEL

    @staticmethod
    def decode(data: bytes) -> Settings:
        settings = Settings()
        for id, value in entries(data):
            if id in _NAMES:
                r = Reader(value)
                setattr(settings, _NAMES[id], settings._value(id, r))
                r.done()
        if settings.window_bytes < cost(settings.message_bytes_max):
            raise Malformed("window below the greatest message")
        if settings.moves_channel != NO_CHANNEL and settings.rule(settings.moves_channel).mode != RELIABLE_ORDERED:
            raise Malformed("moves on a channel that is not reliable-ordered")
        return settings

    def _value(self, id: int, r: Reader) -> object:
        if id == 7:
            rules = []
            while r.left():
                rules.append(Rule.decode(r))
            if len(rules) > RULES_MAX:
                raise Malformed("rules")
            return rules
        if id == 9:
            return _redundancy(r), r.varint(65535)
        value = r.varint()
        least, most = {1: (100, DAY_MS), 2: (100, DAY_MS), 6: (256, 65507), 11: (0, NO_CHANNEL)}.get(id, (0, U32 if id in (4, 5) else DAY_MS * 1000))
        if not least <= value <= most and not (id == 8 and value == AT_FLUSH):
            raise Malformed("setting")
        return value

    def encode(self) -> bytes:
        default, result = Settings(), b""
        for id, name in _NAMES.items():
            value = getattr(self, name)
            if value != getattr(default, name):
                body = b"".join(rule.encode() for rule in value) if id == 7 else value[0] + varint(value[1]) if id == 9 else varint(value)
                result += varint(id) + lengthy(body)
        return result

    def rule(self, channel: int) -> Rule:
        """The first rule that contains the channel; raises Malformed where there is none."""
        for rule in self.channels:
            if rule.first <= channel <= rule.last:
                return rule
        raise Malformed("no such channel")


_NAMES = {id: f.name for id, f in enumerate(fields(Settings), 1)}


@dataclass
class Limits:
    """Limits that a client states; omitted ones have no limit."""

    message_bytes_max: int = U32
    window_bytes: int = U32
    datagram_bytes_max: int = 65507
    grease: bytes = field(default=b"", repr=False)
    """An entry that no receiver knows, set by a client that sends one."""

    @staticmethod
    def decode(data: bytes) -> Limits:
        limits = Limits()
        for id, value in entries(data):
            if id in (4, 5, 6):
                r, (least, most) = Reader(value), {4: (0, U32), 5: (1024, U32), 6: (256, 65507)}[id]
                setattr(limits, _NAMES[id], number := r.varint(most))
                r.done()
                if number < least:
                    raise Malformed("limit")
        return limits

    def encode(self) -> bytes:
        default = Limits()
        wanted = ((id, getattr(self, _NAMES[id]), getattr(default, _NAMES[id])) for id in (4, 5, 6))
        return b"".join(varint(id) + lengthy(varint(value)) for id, value, usual in wanted if value != usual) + self.grease


def entries(data: bytes) -> list[tuple[int, bytes]]:
    """Ids and values of a list; the ids must increase."""
    reader, result, before = Reader(data), [], -1
    while reader.left():
        id = reader.varint()
        if id <= before:
            raise Malformed("ids do not rise")
        result.append((id, reader.lengthy()))
        before = id
    return result
