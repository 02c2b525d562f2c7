"""REPAIR packets (WIRE.md, section 4.4): lost packets recovered from combinations over GF(256)."""

from __future__ import annotations

from .frames import Repair
from .numbers import crc32
from .spans import Spans

SPAN_MAX = 180
KEPT = 512
"""Number of packets whose contents are kept for later combinations."""
EQUATIONS_MAX = 64

_EXP, _LOG = [0] * 510, [0] * 256
_x = 1
for _i in range(255):
    _EXP[_i] = _EXP[_i + 255] = _x
    _LOG[_x] = _i
    _x = _x << 1 ^ (0x11D if _x & 0x80 else 0)
_TABLES: dict[int, bytes] = {}


def multiply(a: int, b: int) -> int:
    return _EXP[_LOG[a] + _LOG[b]] if a and b else 0


def inverse(a: int) -> int:
    return _EXP[255 - _LOG[a]]


def coefficient(index: int, number: int) -> int:
    return inverse(index % 64 ^ (64 + number % 192))


def add(a: bytes, b: bytes, times: int) -> bytes:
    """a + times * b, the shorter one padded with zeros."""
    table = _TABLES.setdefault(times, b"") or bytes(multiply(times, x) for x in range(256))
    _TABLES[times] = table
    size = max(len(a), len(b))
    scaled = int.from_bytes(b.translate(table).ljust(size, b"\0"), "big")
    return (int.from_bytes(a.ljust(size, b"\0"), "big") ^ scaled).to_bytes(size, "big")


def source_symbol(number: int, content: bytes) -> bytes:
    return len(content).to_bytes(2, "big") + crc32(number.to_bytes(8, "big") + content).to_bytes(4, "big") + content


def combine(index: int, symbols: dict[int, bytes]) -> bytes:
    result = b""
    for number, symbol in symbols.items():
        result = add(result, symbol, coefficient(index, number))
    return result


def content_of(number: int, symbol: bytes) -> bytes | None:
    """The content of a solved symbol, if it is valid."""
    length = int.from_bytes(symbol[:2], "big")
    content, behind = symbol[6 : 6 + length], symbol[6 + length :]
    good = length and len(content) == length and not any(behind) and source_symbol(number, content) == symbol[: 6 + length]
    return content if good else None


class Decoder:
    """Keeps contents that arrived, and solves for those that did not."""

    def __init__(self) -> None:
        self.known: dict[int, bytes] = {}
        self.equations: list[tuple[dict[int, int], bytes]] = []

    def on_packet(self, number: int, content: bytes) -> list[tuple[int, bytes]]:
        """A packet arrived (or was recovered); returns those that can be recovered from it."""
        self.known[number] = source_symbol(number, content)
        while len(self.known) > KEPT:
            del self.known[next(iter(self.known))]
        return self._solve() if self.equations else []

    def on_repair(self, repair: Repair, arrived: Spans) -> list[tuple[int, bytes]]:
        """`arrived`: numbers that arrived, whether or not their contents are known."""
        numbers = [n for low, high in repair.ranges if high - low <= SPAN_MAX for n in range(low, high + 1)]
        if repair.ranges[0][1] - repair.ranges[-1][0] > SPAN_MAX:
            return []
        if any(n in arrived and n not in self.known for n in numbers):
            return []
        if any(len(self.known[n]) > len(repair.symbol) for n in numbers if n in self.known):
            return []
        if any(n not in self.known for n in numbers):
            self.equations.append(({n: coefficient(repair.index, n) for n in numbers}, repair.symbol))
            del self.equations[:-EQUATIONS_MAX]
        return self._solve()

    def _solve(self) -> list[tuple[int, bytes]]:
        rows: list[tuple[dict[int, int], bytes]] = []
        for terms, symbol in self.equations:
            for number in [n for n in terms if n in self.known]:
                symbol = add(symbol, self.known[number], terms[number])
            left = {n: c for n, c in terms.items() if n not in self.known}
            if left:
                rows.append((left, symbol))
        self.equations = rows
        return self._eliminate(list(rows))

    def _eliminate(self, rows: list[tuple[dict[int, int], bytes]]) -> list[tuple[int, bytes]]:
        """Gauss-Jordan elimination; a row with one term left is a packet."""
        pivots: list[tuple[int, dict[int, int], bytes]] = []
        for terms, symbol in rows:
            for number, other, other_symbol in pivots:
                if number in terms:
                    terms, symbol = _subtract(terms, symbol, other, other_symbol, terms[number])
            if not terms:
                continue
            number = next(iter(terms))
            scale = inverse(terms[number])
            terms, symbol = {n: multiply(c, scale) for n, c in terms.items()}, add(b"", symbol, scale)
            pivots = [
                (n, *_subtract(t, s, terms, symbol, t[number])) if number in t else (n, t, s) for n, t, s in pivots
            ] + [(number, terms, symbol)]  # fmt: skip
        solved = [(n, content_of(n, s)) for n, t, s in pivots if len(t) == 1]
        bad = {n for n, content in solved if content is None}
        self.equations = [(t, s) for t, s in self.equations if not bad & t.keys()]
        return [(n, content) for n, content in solved if content is not None]


def _subtract(terms: dict[int, int], symbol: bytes, other: dict[int, int], other_symbol: bytes, times: int):
    result = {n: terms.get(n, 0) ^ multiply(other.get(n, 0), times) for n in terms.keys() | other.keys()}
    return {n: c for n, c in result.items() if c}, add(symbol, other_symbol, times)

