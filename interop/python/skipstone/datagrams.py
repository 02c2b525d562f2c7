"""Datagrams (WIRE.md, section 2) and the plain seal of packets (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from .fields import Codec, Eight, Fields, Id, Reason, Rest, Twenty, U16, U24, Varint, VersionList, read_versions, write_versions
from .numbers import Malformed, Reader, crc32, restore, siphash24, truncated

PLAIN, SUITES = 1, (1, 8)
PACKET, TAG, CHECK, LEAST = 0x80, 8, 4, 64


def _suite(reader: Reader) -> int:
    suite = reader.uint(1)
    if suite not in SUITES:
        raise Malformed("suite")
    return suite


def _offer(reader: Reader) -> bytes:
    data = reader.take(reader.uint(1))
    read_versions(Reader(data, 1))
    return data


Suite = Annotated[int, Codec(_suite, lambda v: bytes([v]))]
Offer = Annotated[bytes, Codec(_offer, lambda v: bytes([len(v)]) + v)]


def offer(suites: int, versions: list[int]) -> bytes:
    return bytes([suites]) + write_versions(versions)


@dataclass
class Packet:
    """Still sealed; `open_packet` opens it."""

    to: int


class Datagram(Fields):
    """Any datagram but a PACKET: byte 0, the constant bytes after it, the fields, the check."""

    KIND: ClassVar[int]
    HEAD: ClassVar[bytes]
    PADDED: ClassVar[bool]

    def __init_subclass__(cls, kind: int = 0, head: bytes = b"", padded: bool = False) -> None:
        cls.KIND, cls.HEAD, cls.PADDED = kind, head, padded
        super().__init_subclass__()

    def header(self) -> bytes:
        """The part of an OPEN before the sealed packet, which the packet's tag also covers."""
        return bytes([self.KIND]) + self.HEAD + self.write()

    def encode(self) -> bytes:
        return with_check(self.header().ljust(LEAST - CHECK if self.PADDED else 0, b"\0"))


# fmt: off
class Hello(Datagram, kind=0x81, head=b"\0\0\0SKIP", padded=True):
    source: Id; nonce: Eight; offer: Offer
class Challenge(Datagram, kind=0x82):
    to: U24; nonce: Eight; version: U16; suite: Suite; cookie: Twenty
class Open(Datagram, kind=0x83, head=b"\0\0\0"):
    source: Id; nonce: Eight; version: U16; suite: Suite; cookie: Twenty; offer: Offer; rest: Rest = b""
class Crypto(Datagram, kind=0x84):
    to: U24; sender: Id; rest: Rest
class Versions(Datagram, kind=0x85):
    to: U24; nonce: Eight; versions: VersionList
class Refuse(Datagram, kind=0x86):
    to: U24; nonce: Eight; code: Varint; reason: Reason
class Query(Datagram, kind=0x87, head=b"\0\0\0SKIP", padded=True):
    nonce: Eight
class Answer(Datagram, kind=0x88, head=b"\0\0\0"):
    nonce: Eight; versions: VersionList; payload: Rest
class Reset(Datagram, kind=0x89):
    id: U24
# fmt: on

_KINDS: dict[int, type[Datagram]] = {kind.KIND: kind for kind in Datagram.__subclasses__()}


def with_check(data: bytes) -> bytes:
    return data + crc32(data).to_bytes(CHECK, "big")


def decode(data: bytes) -> Datagram | Packet:
    """The fields of a datagram; raises Malformed."""
    reader = Reader(data)
    kind = reader.uint(1)
    if kind == PACKET:
        return Packet(reader.uint(3))
    if kind not in _KINDS:
        raise Malformed("kind")
    if len(data) < 4 + CHECK or with_check(data[:-CHECK]) != data:
        raise Malformed("check")
    cls, reader.end = _KINDS[kind], len(data) - CHECK
    if reader.take(len(cls.HEAD)) != cls.HEAD or cls.PADDED and len(data) < LEAST:
        raise Malformed("an id where there is none, not ours, or short")
    datagram = cls.read(reader)
    if not cls.PADDED:
        reader.done()
    if isinstance(datagram, Open) and datagram.suite == PLAIN and len(datagram.rest) <= TAG:
        raise Malformed("no packet")
    return datagram


def open_packet(data: bytes, start: int, end: int, key: bytes, reference: int) -> tuple[int, int, bytes]:
    """Number, its bits and the frames of the sealed packet at data[start:end]; raises Malformed for a wrong tag."""
    reader = Reader(data, start, end - TAG)
    bits, low = reader.truncated()
    number = restore(low, bits, reference)
    if _tag(key, number, data[: end - TAG]) != data[end - TAG : end]:
        raise Malformed("tag")
    return number, bits, reader.rest()


def seal_packet(header: bytes, number: int, bits: int, frames: bytes, key: bytes) -> bytes:
    """The datagram (or the beginning of an OPEN) with its packet, up to the tag."""
    data = header + truncated(number, bits) + frames
    return data + _tag(key, number, data)


def _tag(key: bytes, number: int, data: bytes) -> bytes:
    return siphash24(key, number.to_bytes(8, "big") + crc32(data).to_bytes(4, "big")).to_bytes(8, "big")
