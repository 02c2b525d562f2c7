"""Structures as lists of fields: a dataclass whose annotations name codecs decodes and encodes itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, NamedTuple, Self, dataclass_transform, get_type_hints

from .numbers import Malformed, Reader, lengthy, varint


class Codec(NamedTuple):
    read: Callable[[Reader], Any]
    write: Callable[[Any], bytes]


def _id(reader: Reader) -> int:
    value = reader.uint(3)
    if not value:
        raise Malformed("id 0")
    return value


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Malformed("not UTF-8") from None


def read_versions(reader: Reader) -> list[int]:
    count = reader.uint(1)
    if not count:
        raise Malformed("no version")
    return [reader.uint(2) for _ in range(count)]


def write_versions(versions: list[int]) -> bytes:
    return bytes([len(versions)]) + b"".join(v.to_bytes(2, "big") for v in versions)


REASON_MAX = 512
U16 = Annotated[int, Codec(lambda r: r.uint(2), lambda v: v.to_bytes(2, "big"))]
U24 = Annotated[int, Codec(lambda r: r.uint(3), lambda v: v.to_bytes(3, "big"))]
Id = Annotated[int, Codec(_id, lambda v: v.to_bytes(3, "big"))]
Varint = Annotated[int, Codec(lambda r: r.varint(), varint)]
Eight = Annotated[bytes, Codec(lambda r: r.take(8), bytes)]
Twenty = Annotated[bytes, Codec(lambda r: r.take(20), bytes)]
Rest = Annotated[bytes, Codec(lambda r: r.rest(), bytes)]
Lengthy = Annotated[bytes, Codec(lambda r: r.lengthy(), lengthy)]
Reason = Annotated[str, Codec(lambda r: _text(r.lengthy(REASON_MAX)), lambda v: lengthy(v.encode()))]
VersionList = Annotated[list[int], Codec(read_versions, write_versions)]


@cache
def _codecs(kind: Any) -> dict[str, Codec]:
    hints = get_type_hints(kind, include_extras=True)
    return {f.name: hints[f.name].__metadata__[0] for f in fields(kind)}


@dataclass_transform()
class Fields:
    """Base class: every subclass is a dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(cls)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(**{name: codec.read(reader) for name, codec in _codecs(cls).items()})  # type: ignore[arg-type]

    def write(self) -> bytes:
        return b"".join(codec.write(getattr(self, name)) for name, codec in _codecs(type(self)).items())  # type: ignore[arg-type]
