"""A game with the framing of FishNet over LiteNetLib 1, for fishnet.luau: it answers each move.

python3 fishnet.py [PORT]

Written from the sources of FishNet 4.7.2 and of the LiteNetLib in it (see framing/fishnet.luau), apart from the
players' side and stricter than both: at the first packet that it cannot read to its end, it says so and ends.
"""

import struct
import sys

from crowded import Datagrams, run

UNRELIABLE, CHANNELED, ACK, PING, PONG, REQUEST, ACCEPT, DISCONNECT = range(8)
MTU_CHECK, MTU_OK, MERGED, SHUTDOWN_OK = 9, 10, 12, 13
RELIABLE_ORDERED = 2
WINDOW = 64


def key(name):
    hashed = 2166136261
    for byte in name.encode():
        hashed = hashed * 16777619 % (1 << 32) ^ byte
    return (hashed >> 16 ^ hashed) & 0xFFFF


def packed(value):
    value = value * 2 if value >= 0 else value * -2 - 1
    return unsigned(value)


def unsigned(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def read_unsigned(data):
    value = shift = 0
    while data[0] & 128:
        value, shift, data = value | (data[0] & 127) << shift, shift + 7, data[1:]
    return value | data[0] << shift, data[1:]


def read_packed(data):
    value, data = read_unsigned(data)
    return (value >> 1 if value % 2 == 0 else -(value + 1) // 2), data


class Player:
    def __init__(self, time, number):
        self.time, self.number, self.is_in, self.asked_mtu = time, number, False, False
        self.received, self.expected, self.highest, self.early = set(), 0, -1, {}
        self.sent, self.unacknowledged = 0, {}
        self.tick = 0

    def send(self, content, now):
        packet = struct.pack("<BHB", CHANNELED, self.sent, RELIABLE_ORDERED) + content
        self.unacknowledged[self.sent] = (packet, now)
        self.sent += 1
        return packet

    def receive(self, sequence, content):
        """The acknowledgement, and messages that are in order."""
        self.received.add(sequence)
        self.highest = max(self.highest, sequence)
        start = max(0, self.highest - WINDOW + 1)
        bits = bytearray(WINDOW // 8 + 1)
        for one in range(start, self.highest + 1):
            if one in self.received:
                bits[one % WINDOW // 8] |= 1 << one % 8
        if sequence >= self.expected:
            self.early[sequence] = content
        messages = []
        while self.expected in self.early:
            messages.append(self.early.pop(self.expected))
            self.expected += 1
        return struct.pack("<BHB", ACK, start, RELIABLE_ORDERED) + bytes(bits), messages

    def acknowledged(self, start, bits):
        assert len(bits) == WINDOW // 8 + 1
        has = lambda one: one < start or one < start + WINDOW and bits[one % WINDOW // 8] & 1 << one % 8
        self.unacknowledged = {one: kept for one, kept in self.unacknowledged.items() if not has(one)}


class Game:
    def __init__(self):
        self.players, self.next_number, self.ticks = {}, 500, 0

    def receive(self, address, data, now):
        if data[0] == REQUEST:
            protocol, time, _, size = struct.unpack("<iqiB", data[1:18])
            assert protocol == 13 and size == 16 and data[18 + size:] == b"\0\0", "a request with an empty key"
            if address not in self.players:
                self.players[address] = Player(time, self.next_number)
                self.next_number += 1
            return [struct.pack("<BqBBi", ACCEPT, time, 0, 0, 0)]
        player = self.players.get(address)
        return self.handle(address, player, data, now) if player else []

    def handle(self, address, player, data, now):
        kind, rest = data[0], data[1:]
        if kind == MERGED:
            out = []
            while rest:
                length = struct.unpack("<H", rest[:2])[0]
                assert 0 < length <= len(rest) - 2
                out += self.handle(address, player, rest[2:2 + length], now)
                rest = rest[2 + length:]
            return out
        if kind == CHANNELED:
            sequence, channel = struct.unpack("<HB", rest[:3])
            assert channel == RELIABLE_ORDERED
            acknowledgement, bundles = player.receive(sequence, rest[3:])
            return [acknowledgement] + [out for bundle in bundles for out in self.bundle(player, bundle, now)]
        if kind == UNRELIABLE:
            return self.bundle(player, rest, now)
        if kind == ACK:
            assert rest[2] == RELIABLE_ORDERED
            player.acknowledged(struct.unpack("<H", rest[:2])[0], rest[3:])
        elif kind == PING:
            return [bytes([PONG]) + rest[:2] + struct.pack("<q", int(now * 1e7))]
        elif kind == DISCONNECT:
            assert struct.unpack("<q", rest[:8])[0] == player.time
            del self.players[address]
            return [bytes([SHUTDOWN_OK])]
        elif kind == MTU_OK:
            assert len(data) == 1024 and data[1:5] == data[-4:] == struct.pack("<i", 1024)
        else:
            assert kind in (PONG, SHUTDOWN_OK), f"a packet of the kind {kind}"
        return []

    def bundle(self, player, data, now):
        tick, data = struct.unpack("<I", data[:4])[0], data[4:]
        reliable, unreliable = b"", b""
        while data:
            packet, data = struct.unpack("<H", data[:2])[0], data[2:]
            if packet == 21:
                length, data = read_packed(data)
                assert data[:length] == b"4.7.2" and not player.is_in
                data, player.is_in = data[length:], True
                reliable += struct.pack("<HB", 21, 0) + struct.pack("<H", 1) + packed(player.number)
            elif packet == 12:
                name, data = struct.unpack("<H", data[:2])[0], data[2:]
                length, data = read_packed(data)
                assert name == key("Game.Move") and player.is_in and length <= len(data)
                sequence, fields = read_unsigned(data[:length])
                struct.unpack("<ff", fields)
                data = data[length:]
                moved = unsigned(sequence)
                reliable += struct.pack("<HH", 12, key("Game.Moved")) + packed(len(moved)) + moved
            elif packet == 14:
                assert player.is_in
                unreliable += struct.pack("<H", 14) + data[:4]
                data = data[4:]
            else:
                assert False, f"a packet of the id {packet}"
        player.tick = max(player.tick, tick)
        head = struct.pack("<I", self.ticks)
        out = [player.send(head + reliable, now)] if reliable else []
        return out + ([bytes([UNRELIABLE]) + head + unreliable] if unreliable else [])

    def tick(self, now):
        self.ticks += 1
        for address, player in self.players.items():
            for sequence, (packet, sent) in player.unacknowledged.items():
                if now - sent > 0.1:
                    player.unacknowledged[sequence] = (packet, now)
                    yield address, packet
            if player.is_in and not player.asked_mtu:
                player.asked_mtu = True
                size = struct.pack("<i", 1024)
                yield address, bytes([MTU_CHECK]) + size + bytes(1024 - 9) + size
            if player.is_in and self.ticks % 20 == 0:
                timing = struct.pack("<IHI", self.ticks, 18, player.tick)
                ping = struct.pack("<BH", PING, self.ticks)
                merged = [bytes([UNRELIABLE]) + timing, ping]
                yield address, bytes([MERGED]) + b"".join(struct.pack("<H", len(one)) + one for one in merged)


if __name__ == "__main__":
    network = Datagrams(int(sys.argv[1]) if len(sys.argv) > 1 else 7770)
    print(f"listening on {network.port}", flush=True)
    run(Game(), network, 1 << 30, 0, [])
