"""A game with the framing of Mirror, for mirror.luau: it spawns a player for each client and knows its moves.

python3 mirror.py [PORT]

Written from the sources of Mirror 96.11.0 (see framing/mirror.luau), apart from the players' side and stricter than
Mirror: at the first message that it cannot read to its end, it says so on standard error and ends.
"""

import struct
import sys

from crowded import Datagrams, Mirror, run

CMD_MOVE = "System.Void Player::CmdMove(System.UInt32,UnityEngine.Vector2)"
TARGET_MOVED = "System.Void Player::TargetMoved(Mirror.NetworkConnectionToClient,System.UInt32)"


def stable_hash(name):
    hashed = 2166136261
    for byte in name.encode():
        hashed = (hashed ^ byte) * 16777619 % (1 << 32)
    return (hashed >> 16 ^ hashed) & 0xFFFF


IDS = {stable_hash("Mirror." + name): name for name in (
    "ReadyMessage", "AddPlayerMessage", "CommandMessage", "NetworkPingMessage", "NetworkPongMessage",
    "TimeSnapshotMessage")}


def varuint(value):
    if value <= 240:
        return bytes([value])
    if value <= 2287:
        return bytes([241 + (value - 240 >> 8), value - 240 & 255])
    if value <= 67823:
        return bytes([249]) + struct.pack(">H", value - 2288)
    length = (value.bit_length() + 7) // 8
    return bytes([247 + length]) + value.to_bytes(length, "little")


def read_varuint(data):
    """The value, and what follows it."""
    first = data[0]
    if first <= 240:
        return first, data[1:]
    if first <= 248:
        return 240 + (first - 241) * 256 + data[1], data[2:]
    if first == 249:
        return 2288 + struct.unpack(">H", data[1:3])[0], data[3:]
    return int.from_bytes(data[1:first - 246], "little"), data[first - 246:]


def batch(now, *messages):
    packed = [struct.pack("<H", stable_hash("Mirror." + name)) + content for name, content in messages]
    return struct.pack("<d", now) + b"".join(varuint(len(message)) + message for message in packed)


def messages_of(data):
    data = data[8:]
    while data:
        length, data = read_varuint(data)
        assert 2 <= length <= len(data), f"a message of {length} bytes where {len(data)} are left"
        yield IDS[struct.unpack("<H", data[:2])[0]], data[2:length]
        data = data[length:]


class Game(Mirror):
    """Each client that asks for one has a player, which moves."""

    def __init__(self):
        super().__init__()
        # Ids of more than a byte.
        self.next_id = 300

    def handle(self, peer, received, now):
        reliable, unreliable = [], []
        for name, content in messages_of(received):
            if name == "ReadyMessage":
                assert not content
                peer.net_id = 0
                unreliable.append(batch(now, ("NetworkPingMessage", struct.pack("<dd", now, 0))))
            elif name == "AddPlayerMessage":
                assert not content and peer.net_id == 0
                peer.net_id = self.next_id
                self.next_id += 1
                reliable.append(batch(now, ("ObjectSpawnStartedMessage", b""), self.spawned(peer),
                                      ("ObjectSpawnFinishedMessage", b"")))
            elif name == "CommandMessage":
                self.move(peer, content)
                moved = struct.pack("<BH", 0, stable_hash(TARGET_MOVED)) + payload(varuint(peer.sequence))
                reliable.append(batch(now, ("RpcMessage", varuint(peer.net_id) + moved)))
            elif name == "NetworkPingMessage":
                local, _ = struct.unpack("<dd", content)
                unreliable.append(batch(now, ("NetworkPongMessage", struct.pack("<ddd", local, now - local, 0))))
            elif name == "NetworkPongMessage":
                assert struct.unpack("<ddd", content)[0] <= now
            else:
                struct.unpack("<d", content)
        return reliable, unreliable

    @staticmethod
    def spawned(peer):
        # Owner and local player; no id in the scene, one of an asset; position, rotation, scale; no state.
        ids = varuint(peer.net_id) + b"\3" + varuint(0) + varuint(3_735_928_559)
        return "SpawnMessage", ids + struct.pack("<3f4f3f", 0, 0, 0, 0, 0, 0, 1, 1, 1, 1) + payload(b"")

    @staticmethod
    def move(peer, content):
        net_id, content = read_varuint(content)
        component, method = struct.unpack("<BH", content[:3])
        length, content = read_varuint(content[3:])
        assert (net_id, component, method, length - 1) == (peer.net_id, 0, stable_hash(CMD_MOVE), len(content))
        sequence, content = read_varuint(content)
        struct.unpack("<2f", content)
        assert sequence == peer.sequence + 1, f"move {sequence} after {peer.sequence}"
        peer.sequence = sequence

    def state(self, peer, now):
        return batch(now, ("TimeSnapshotMessage", struct.pack("<d", now)))


def payload(data):
    return varuint(len(data) + 1) + data


if __name__ == "__main__":
    network = Datagrams(int(sys.argv[1]) if len(sys.argv) > 1 else 7777)
    print(f"listening on {network.port}", flush=True)
    run(Game(), network, 1 << 30, 0, [])
