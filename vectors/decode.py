#!/usr/bin/env python3
"""Decodes the golden datagrams; written from WIRE.md alone. With --check, compares with what is expected of them, and
opens the handshakes of tls.txt."""

import json
import pathlib
import sys
import zlib

import tls


class Malformed(Exception):
    pass


def require(condition):
    if not condition:
        raise Malformed


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        require(count <= self.left())
        self.at += count
        return self.data[self.at - count : self.at]

    def uint(self, size):
        return int.from_bytes(self.take(size), "big")

    def varint(self, below=1 << 62):
        first = self.uint(1)
        more = (1 << (first >> 6)) - 1
        value = (first & 0x3F) << 8 * more | self.uint(more)
        require(value < below)
        return value

    def prefixed(self, most=1 << 62):
        return self.take(self.varint(most + 1))

    def rest(self):
        return self.take(self.left())


# 1. Numbers


def truncated(reader):
    first = reader.uint(1)
    if first == 0xF0:
        return {"bits": 32, "value": reader.uint(4)}
    require(first < 0xF0)
    more = 0 if first < 0x80 else 1 if first < 0xC0 else 2 if first < 0xE0 else 3
    value = (first & (0x7F >> more)) << 8 * more | reader.uint(more)
    return {"bits": 7 * (more + 1), "value": value}


def nearest(number, reference, wraps=False):
    period = 1 << number["bits"]
    base = reference // period * period + number["value"]
    candidates = [base - period, base, base + period]
    if not wraps:
        candidates = [n for n in candidates if n >= 0]
    found = min(candidates, key=lambda n: (abs(n - reference), -n))
    return {**number, "resolved": found % (1 << 32) if wraps else found}


# SipHash-2-4 with 64 bits, of which the plain suite makes its tags


def siphash(key, data):
    mask = (1 << 64) - 1
    k = [int.from_bytes(key[at : at + 8], "little") for at in (0, 8)]
    v = [k[at % 2] ^ word for at, word in enumerate((0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573))]

    def rotate(x, bits):
        return (x << bits | x >> 64 - bits) & mask

    def rounds(count):
        for _ in range(count):
            v[0] = v[0] + v[1] & mask
            v[2] = v[2] + v[3] & mask
            v[1], v[3] = rotate(v[1], 13) ^ v[0], rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2] = v[2] + v[1] & mask
            v[0] = v[0] + v[3] & mask
            v[1], v[3] = rotate(v[1], 17) ^ v[2], rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 0xFF])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


# 2. Datagrams

SUITES = {1: "plain", 8: "TLS 1.3"}


def text(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed from None


def own_id(reader):
    value = reader.take(3)
    require(any(value))
    return value.hex()


def versions(reader):
    count = reader.uint(1)
    require(count >= 1)
    return [reader.uint(2) for _ in range(count)]


def suite(reader):
    value = reader.uint(1)
    require(value in SUITES)
    return value


def offer(reader):
    """What a client offers: its bytes, its suites and its versions."""
    whole = reader.take(reader.uint(1))
    inner = Reader(whole)
    return whole, inner.uint(1), versions(inner)


def decode(data, key, references):
    if data[:1] != b"\x80":
        require(len(data) >= 4 and zlib.crc32(data[:-4]).to_bytes(4, "big") == data[-4:])
        data = data[:-4]
    r = Reader(data)
    kind, to = r.uint(1), r.take(3)
    if kind == 0x80:
        return {"kind": "PACKET", "to": to.hex(), **packet(data, 4, key, references)}
    if kind == 0x81:
        require(not any(to) and len(data) >= 60 and r.take(4) == b"SKIP")
        source, nonce, (_, suites, offered) = own_id(r), r.take(8), offer(r)
        return {"kind": "HELLO", "source": source, "nonce": nonce.hex(), "suites": suites, "versions": offered}
    if kind == 0x83:
        require(not any(to))
        source, nonce, version, chosen, cookie = own_id(r), r.take(8), r.uint(2), suite(r), r.take(20)
        result = {
            "kind": "OPEN",
            "source": source,
            "nonce": nonce.hex(),
            "version": version,
            "suite": chosen,
            "cookie": cookie.hex(),
            "offer": offer(r)[0].hex(),
        }
        if SUITES[chosen] == "plain":
            return {**result, **packet(data, r.at, cookie[4:], references)}
        return {**result, "bytes": r.rest().hex()}
    if kind == 0x84:
        return {"kind": "CRYPTO", "to": to.hex(), "from": own_id(r), "bytes": r.rest().hex()}

    if kind == 0x87:
        require(not any(to) and len(data) >= 60 and r.take(4) == b"SKIP")
        return {"kind": "QUERY", "nonce": r.take(8).hex()}
    if kind == 0x88:
        require(not any(to))
        return {"kind": "ANSWER", "nonce": r.take(8).hex(), "versions": versions(r), "payload": r.rest().hex()}

    if kind == 0x89:
        require(r.left() == 0)
        return {"kind": "RESET", "id": to.hex()}

    require(kind in (0x82, 0x85, 0x86))
    result = {"to": to.hex(), "nonce": r.take(8).hex()}
    if kind == 0x82:
        result.update(kind="CHALLENGE", version=r.uint(2), suite=suite(r), cookie=r.take(20).hex())
    elif kind == 0x85:
        result.update(kind="VERSIONS", versions=versions(r))
    else:
        result.update(kind="REFUSE", code=r.varint(), reason=text(r.prefixed(512)))
    require(r.left() == 0)
    return result


# 3. The sealed packet


def packet(data, start, key, references):
    require(len(data) >= start + 8)
    untagged, tag = data[:-8], data[-8:]
    r = Reader(untagged[start:])
    number = nearest(truncated(r), references.get("packet", 0))
    covered = number["resolved"].to_bytes(8, "big") + zlib.crc32(untagged).to_bytes(4, "big")
    require(siphash(key, covered).to_bytes(8, "big") == tag)
    return {"number": number, "frames": frames(r, number["resolved"], references)}


# 4. Frames


def frames(r, number, references):
    found = []
    channel, sequence, length = 0, None, None  # of the MESSAGE before
    while r.left():
        kind = r.uint(1)
        if kind == 0x00:
            while r.left() and r.data[r.at] == 0:
                r.at += 1
            found.append({"frame": "PADDING"})
        elif kind == 0x01:
            found.append({"frame": "PING"})
        elif kind in (0x02, 0x03):
            found.append(ack(r, kind == 0x03, references.get("ack", 0)))
        elif kind == 0x04:
            token, stated = r.prefixed(1024), limits(Reader(r.prefixed()))
            found.append({"frame": "CONNECT", "token": token.hex(), "limits": stated})
        elif kind == 0x05:
            found.append({"frame": "ACCEPT", "source": own_id(r), "settings": settings(Reader(r.prefixed()))})
        elif kind == 0x06:
            found.append({"frame": "CLOSE", "code": r.varint(), "reason": text(r.prefixed(512))})
        elif kind == 0x07:
            found.append({"frame": "CLOSED"})
        elif kind == 0x08:
            found.append(repaired(r, references.get("ack", 0)))
        elif kind == 0x09:
            found.append(repair(r, number))
        elif kind == 0x0A:
            found.append({"frame": "LATE", "age_ms": r.varint()})
        elif kind == 0x0B:
            found.append({"frame": "PATH_CHALLENGE", "token": r.take(8).hex()})
        elif kind == 0x0C:
            found.append({"frame": "PATH_RESPONSE", "token": r.take(8).hex()})
        elif kind == 0x0D:
            found.append({"frame": "TIME_REQUEST", "sent_us": r.varint()})
        elif kind == 0x0E:
            found.append({"frame": "TIME_RESPONSE", "sent_us": r.varint(), "server_us": r.varint(), "held_us": r.varint()})
        elif kind == 0x0F:
            found.append({"frame": "NEW_ID", "sequence": r.varint(), "id": own_id(r)})
        elif 0x40 <= kind < 0x80:
            found.append({"frame": "EXTENSION", "type": kind, "body": r.prefixed().hex()})
        else:
            require(kind >= 0x80)
            found.append(message(r, kind, channel, sequence, length, references.get("sequence", 0)))
            channel, sequence = found[-1]["channel"], found[-1]["sequence"]
            length = len(found[-1]["payload"]) // 2
    return found


def largest_number(r, reference):
    largest = nearest(truncated(r), reference)
    require(largest["bits"] >= 14)
    return largest


def packet_ranges(r, high):
    count = r.varint(32)
    ranges = [[high - r.varint(), high]]
    for _ in range(count):
        high = ranges[-1][0] - 1 - (r.varint() + 1)
        ranges.append([high - r.varint(), high])
    require(all(low >= 0 for low, _ in ranges))
    return ranges


def ack(r, has_window, reference):
    largest = largest_number(r, reference)
    return {
        "frame": "ACK_WINDOW" if has_window else "ACK",
        "largest": largest,
        "delay_us": r.varint(),
        "ranges": packet_ranges(r, largest["resolved"]),
        "window": r.varint() if has_window else None,
    }


def repaired(r, reference):
    largest = largest_number(r, reference)
    return {"frame": "REPAIRED", "largest": largest, "ranges": packet_ranges(r, largest["resolved"])}


def repair(r, number):
    index, back = r.uint(1), r.varint()
    require(index <= 63 and back >= 1)
    ranges, symbol = packet_ranges(r, number - back), r.rest()
    require(len(symbol) >= 7)
    return {"frame": "REPAIR", "index": index, "ranges": ranges, "symbol": symbol.hex()}


def message(r, flags, channel, before, length_before, reference):
    sequence = fragment = None
    if flags & 0x40:
        channel = r.varint(1 << 16)
    if flags & 0x20:
        sequence = nearest(truncated(r), reference, wraps=True)
    elif before is not None and not flags & 0x40:
        sequence = {"next": True, "resolved": (before["resolved"] + 1) % (1 << 32)}
    if flags & 0x10:
        fragment = {"offset": r.varint(1 << 32), "total": r.varint(1 << 32)}
    length = flags & 0x0F
    if length == 15:
        payload = r.rest()
    elif length == 14:
        payload = r.prefixed()
    else:
        require(length < 13 or length_before is not None)
        payload = r.take(length if length < 13 else length_before)
    if fragment:
        require(sequence and 0 < len(payload) < fragment["total"])
        require(fragment["offset"] + len(payload) <= fragment["total"])
    return {
        "frame": "MESSAGE",
        "channel": channel,
        "sequence": sequence,
        "fragment": fragment,
        "payload": payload.hex(),
    }


def content(data, start):
    """The frames of a PACKET that a REPAIR covers."""
    r = Reader(data[start:-8])
    truncated(r)
    while r.left() and r.data[r.at] in (0x02, 0x03, 0x08):
        kind = r.uint(1)
        repaired(r, 1 << 40) if kind == 0x08 else ack(r, kind == 0x03, 1 << 40)
    return r.rest()


def source_symbol(number, data):
    found = content(data, 4)
    checksum = zlib.crc32(number.to_bytes(8, "big") + found)
    return len(found).to_bytes(2, "big") + checksum.to_bytes(4, "big") + found


def times(a, b):
    product = 0
    for bit in range(8):
        product ^= (a << bit) * (b >> bit & 1)
    for bit in range(14, 7, -1):
        product ^= (0x11D << bit - 8) * (product >> bit & 1)
    return product


def combination(index, sources):
    """The symbol of a REPAIR over packets with their numbers, from the definition."""
    symbols = {number: source_symbol(number, data) for number, data in sources.items()}
    total = [0] * max(map(len, symbols.values()))
    for number, symbol in symbols.items():
        divisor = (index % 64) ^ (64 + number % 192)
        coefficient = next(c for c in range(256) if times(c, divisor) == 1)
        for at, byte in enumerate(symbol):
            total[at] ^= times(coefficient, byte)
    return bytes(total).hex()


# 5. Settings

MODES = ["unreliable", "unreliable-sequenced", "reliable-ordered", "reliable-unordered", "reliable-sequenced"]
OVERFLOWS = ["refuse", "drop oldest", "disconnect"]
DAY_MS = 86_400_000
FLUSH = (1 << 62) - 1
NUMBERS = {
    1: ("idle_timeout_ms", 1, DAY_MS, 30_000),
    2: ("keepalive_ms", 1, DAY_MS, 25_000),
    3: ("ack_delay_us", 0, DAY_MS * 1000, 1_000),
    10: ("ack_delay_max_us", 0, DAY_MS * 1000, 70_000),
    4: ("message_bytes_max", 0, (1 << 32) - 1, 1_048_576),
    5: ("window_bytes", 0, (1 << 32) - 1, 2_097_152),
    6: ("datagram_bytes_max", 256, 65_507, 1_472),
    11: ("moves_channel", 0, 65_536, 65_536),
}


def entries(r):
    last = -1
    while r.left():
        number, value = r.varint(), Reader(r.prefixed())
        require(number > last)
        last = number
        yield number, value
        require(value.left() == 0)


def limits(r):
    """What a client states in its CONNECT."""
    most = (1 << 32) - 1
    result = {"message_bytes_max": most, "window_bytes": most, "datagram_bytes_max": 65_507}
    for number, value in entries(r):
        if number in (4, 5, 6):
            result[NUMBERS[number][0]] = value.varint(1 << (16 if number == 6 else 32))
        else:
            value.rest()
    require(result["window_bytes"] >= 1_024 and 256 <= result["datagram_bytes_max"] <= 65_507)
    return result


def settings(r):
    result = {name: default for name, _, _, default in NUMBERS.values()}
    result["merging"] = "immediate"
    result["redundancy"] = {"mode": "adaptive", "budget_percent": 125}
    result["channels"] = [rule(Reader(bytes.fromhex("00 8000ffff 02 01 01 02 00 80004000 80800000")))]
    for number, value in entries(r):
        if number in NUMBERS:
            name, least, most, _ = NUMBERS[number]
            result[name] = value.varint()
            require(least <= result[name] <= most)
        elif number == 7:
            result["channels"] = []
            while value.left():
                result["channels"].append(rule(value))
            require(len(result["channels"]) <= 64)
        elif number == 8:
            delay = value.varint()
            require(delay <= DAY_MS * 1000 or delay == FLUSH)
            result["merging"] = "flush" if delay == FLUSH else {"after_us": delay} if delay else "immediate"
        elif number == 9:
            result["redundancy"] = {"mode": redundancy_mode(value), "budget_percent": value.varint(1 << 16)}
        else:
            value.rest()
    if result["moves_channel"] != 65536:
        of_moves = [rule for rule in result["channels"] if rule["first"] <= result["moves_channel"] <= rule["last"]]
        require(of_moves and of_moves[0]["mode"] == "reliable-ordered")
    most = result["message_bytes_max"]
    require(result["window_bytes"] >= most + most // 16 + 64)
    return result


def rule(r):
    first, last = r.varint(1 << 16), r.varint(1 << 16)
    mode, priority, weight, overflow, flags = r.take(5)
    require(first <= last and mode < len(MODES) and weight >= 1 and overflow < len(OVERFLOWS) and flags <= 3)
    return {
        "first": first,
        "last": last,
        "mode": MODES[mode],
        "priority": priority,
        "weight": weight,
        "overflow": OVERFLOWS[overflow],
        "receipts": bool(flags & 1),
        "queue_messages_max": r.varint(1 << 32),
        "queue_bytes_max": r.varint(1 << 32),
        "redundancy": redundancy_mode(r) if flags & 2 else None,
    }


def redundancy_mode(r):
    mode = r.uint(1)
    require(mode <= 4)
    if mode < 3:
        return ["off", "lean", "adaptive"][mode]
    if mode == 4:
        bursts = r.uint(1)
        require(1 <= bursts <= 8)
        return {"bursts": bursts}
    sources, repairs = r.uint(1), r.uint(1)
    require(sources >= 1 and repairs >= 1 and sources + repairs <= 64)
    return {"sources": sources, "repairs": repairs}


def combines(vector, decoded, vectors):
    """Whether the symbol is what the vectors that it covers add up to."""
    if "covers" not in vector:
        return True
    found = decoded["frames"][-1]
    covered = [v for v in vectors if v["name"] in vector["covers"]]
    sources = {v["expect"]["number"]["resolved"]: bytes.fromhex(v["hex"]) for v in covered}
    numbers = {number for low, high in found["ranges"] for number in range(low, high + 1)}
    return numbers == set(sources) and combination(found["index"], sources) == found["symbol"]


MOVES = ["able", "move", "cancel", "ready", "stayed", "welcome", "arrived", "left"]
STAYED = {0: "cancelled", 1: "refused", 2: "late", 3: "busy"}


def move(data):
    """A message on the channel of moves."""
    r = Reader(data)
    kind = r.uint(1)
    if kind >= len(MOVES):
        return None
    found = {"kind": MOVES[kind]}
    if kind > 0:
        found["id"] = f"{r.uint(8):016x}"
    if kind == 1:
        destination, token = r.prefixed(), r.prefixed()
        require(len(destination) <= 263 and len(token) <= 1_024)
        found.update(destination=text(destination), token=token.hex())
    if kind == 4:
        found["why"] = STAYED.get(r.uint(1), "other")
    require(r.left() == 0)
    return found


def text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Malformed from None


def differing_moves():
    """The messages of `moves.json` that decode to something else."""
    messages = json.loads(pathlib.Path(__file__).with_name("moves.json").read_text(encoding="utf-8"))
    found = []
    for message in messages:
        try:
            decoded = move(bytes.fromhex(message["hex"]))
        except Malformed:
            decoded = "malformed"
        if decoded != message["expect"]:
            found.append(message["name"])
    return len(messages), found


def main():
    check = "--check" in sys.argv[1:]
    golden = pathlib.Path(__file__).with_name("golden.json")
    vectors = json.loads(golden.read_text(encoding="utf-8"))
    wrong = 0
    for vector in vectors:
        data, key = bytes.fromhex(vector["hex"]), bytes.fromhex(vector.get("key", ""))
        try:
            decoded = decode(data, key, vector.get("references", {}))
        except Malformed:
            decoded = "malformed"
        differs = check and (decoded != vector["expect"] or not combines(vector, decoded, vectors))
        wrong += differs
        if differs or not check:
            print(vector["name"])
            print("  " + json.dumps(decoded, ensure_ascii=False))
        if differs:
            print("  but expected is")
            print("  " + json.dumps(vector["expect"], ensure_ascii=False))
    verdict = f", {len(vectors) - wrong} as expected, {wrong} not" if check else ""
    print(f"{len(vectors)} datagrams decoded{verdict}")
    if check:
        count, differing = differing_moves()
        print(f"{count} messages of moves decoded, {len(differing)} not as expected {' '.join(differing)}".rstrip())
        wrong += len(differing) + tls.check()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
