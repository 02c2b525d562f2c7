"""Numbers on the wire (WIRE.md, section 1), a reader of bytes, and the checksum and keyed hash that seal datagrams."""

from __future__ import annotations

import zlib


class Malformed(Exception):
    """Bytes that WIRE.md requires to drop."""


VARINT_MAX = (1 << 62) - 1
_TRUNCATED = {7: (0x00, 1), 14: (0x80, 2), 21: (0xC0, 3), 28: (0xE0, 4), 32: (0xF0, 5)}


class Reader:
    """Reads fields from the front of some bytes; raises Malformed if they end too early."""

    def __init__(self, data: bytes, position: int = 0, end: int | None = None) -> None:
        self.data, self.position, self.end = data, position, len(data) if end is None else end

    def left(self) -> int:
        return self.end - self.position

    def take(self, count: int) -> bytes:
        if count > self.left():
            raise Malformed("cut short")
        self.position += count
        return self.data[self.position - count : self.position]

    def uint(self, count: int) -> int:
        return int.from_bytes(self.take(count), "big")

    def rest(self) -> bytes:
        return self.take(self.left())

    def varint(self, limit: int = VARINT_MAX) -> int:
        first = self.uint(1)
        more = (1 << (first >> 6)) - 1
        value = (first & 0x3F) << (8 * more) | self.uint(more)
        if value > limit:
            raise Malformed("number beyond its limit")
        return value

    def lengthy(self, limit: int = VARINT_MAX) -> bytes:
        """Length (varint), then that many bytes."""
        return self.take(self.varint(limit))

    def truncated(self) -> tuple[int, int]:
        """Bits and value of a truncated number."""
        first = self.uint(1)
        if first < 0x80:
            return 7, first
        if first < 0xC0:
            return 14, (first & 0x3F) << 8 | self.uint(1)
        if first < 0xE0:
            return 21, (first & 0x1F) << 16 | self.uint(2)
        if first < 0xF0:
            return 28, (first & 0x0F) << 24 | self.uint(3)
        if first == 0xF0:
            return 32, self.uint(4)
        raise Malformed("first byte of a truncated number")

    def done(self) -> None:
        if self.left():
            raise Malformed("bytes behind the last field")


def varint(value: int) -> bytes:
    """The shortest form."""
    for size, mark in ((1, 0), (2, 1), (4, 2), (8, 3)):
        if value < 1 << (8 * size - 2):
            return (mark << (8 * size - 2) | value).to_bytes(size, "big")
    raise ValueError(value)


def lengthy(value: bytes) -> bytes:
    return varint(len(value)) + value


def truncated(number: int, bits: int) -> bytes:
    mark, size = _TRUNCATED[bits]
    low = (number & ((1 << bits) - 1)).to_bytes(4 if bits == 32 else size, "big")
    return bytes([mark]) + low if bits == 32 else bytes([mark | low[0]]) + low[1:]


def bits_for(distance: int, least: int = 14) -> int:
    """The fewest bits (at least `least`) for a number at this distance from the receiver's reference."""
    for bits in (7, 14, 21, 28, 32):
        if bits >= least and distance + 4000 < 1 << (bits - 1):
            return bits
    return 32


def _nearest(value: int, bits: int, reference: int) -> int:
    span = 1 << bits
    difference = (value - reference) % span
    return reference + difference - (span if difference > span // 2 else 0)


def restore(value: int, bits: int, reference: int) -> int:
    """A packet number from its low bits."""
    number = _nearest(value, bits, reference)
    return number if number >= 0 else number + (1 << bits)


def restore_sequence(value: int, bits: int, reference: int) -> int:
    """A message's sequence, 32 bits that wrap, from its low bits."""
    return _nearest(value, bits, reference) % (1 << 32)


def ahead(sequence: int, reference: int) -> int:
    """How far a sequence is ahead of another (negative: behind), RFC 1982."""
    return (sequence - reference + (1 << 31)) % (1 << 32) - (1 << 31)


def crc32(data: bytes) -> int:
    return zlib.crc32(data)


def siphash24(key: bytes, data: bytes) -> int:
    """SipHash-2-4 with 64 bits (Aumasson and Bernstein 2012)."""
    mask = (1 << 64) - 1
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotate(x: int, by: int) -> int:
        return (x << by | x >> (64 - by)) & mask

    def rounds(count: int) -> None:
        a, b, c, d = v
        for _ in range(count):
            a = (a + b) & mask
            c = (c + d) & mask
            b = rotate(b, 13) ^ a
            d = rotate(d, 16) ^ c
            a = (rotate(a, 32) + d) & mask
            c = (c + b) & mask
            d = rotate(d, 21) ^ a
            b = rotate(b, 17) ^ c
            c = rotate(c, 32)
        v[:] = a, b, c, d

    tail = len(data) % 8
    padded = data + bytes(7 - tail) + bytes([len(data) & 0xFF])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
