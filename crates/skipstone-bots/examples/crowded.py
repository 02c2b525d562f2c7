"""A game that stalls when it has too many players, or at times that are given: to try what `skipstone bots` finds.

python3 crowded.py udp|ws|kcp2k [--port 0] [--most 120] [--stall 0.3] [--at 3.5 --at 7]

The protocol of `udp` is that of dots.py, of which dots.luau has the players; `ws` is the same over WebSocket. `kcp2k` is
Mirror's transport, as far as a loopback needs it; its players are in kcp2k.luau. With more players than --most, each tick takes --stall seconds;
at the times of --at, counted from the first player, one tick does.
"""

import argparse
import base64
import hashlib
import select
import socket
import struct
import time

TICKS = 20


class Dots:
    """Joins and moves in, worlds out."""

    def __init__(self):
        self.players = {}  # by address: last sequence, x, y, when heard

    def receive(self, address, data, now):
        if data[:1] == b"\0":
            self.players[address] = (0, 0.0, 0.0, now)
            return [data[:1] + struct.pack("<I", len(self.players))]
        if len(data) == 13 and data[0] == 1 and address in self.players:
            self.players[address] = (*struct.unpack("<Iff", data[1:]), now)
        return []

    def tick(self, now):
        self.players = {address: player for address, player in self.players.items() if now - player[3] < FORGOTTEN}
        near = b"".join(struct.pack("<ff", x, y) for _, x, y, _ in list(self.players.values())[:50])
        for address, (sequence, *_) in self.players.items():
            yield address, struct.pack("<BIH", 2, sequence, len(near) // 8) + near


class Datagrams:
    """A socket of UDP."""

    def __init__(self, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]

    def receive(self, wait):
        """All that waits, so that a stall delays what came in it, and nothing else."""
        select.select([self.socket], [], [], wait)
        for _ in range(MESSAGES_MAX):
            try:
                data, address = self.socket.recvfrom(2048)
            except BlockingIOError:
                return
            except ConnectionError:
                continue
            yield address, data

    def send(self, address, data):
        try:
            self.socket.sendto(data, address)
        except (BlockingIOError, ConnectionError):
            pass


class WebSockets:
    """Streams of WebSocket (RFC 6455), as far as bots need them: whole binary messages of less than 64 KiB."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.ready = select.epoll()
        self.ready.register(self.listener, select.EPOLLIN)
        self.streams = {}  # by file: stream, bytes that are no whole message yet, whether it is open

    def receive(self, wait):
        for file, _ in self.ready.poll(wait):
            if file == self.listener.fileno():
                stream, _ = self.listener.accept()
                stream.setblocking(False)
                self.ready.register(stream, select.EPOLLIN)
                self.streams[stream.fileno()] = [stream, b"", False]
            else:
                yield from self.read(file)

    def read(self, file):
        stream, waiting, is_open = self.streams[file]
        try:
            data = stream.recv(65536)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            return self.end(file)
        waiting += data
        if not is_open and b"\r\n\r\n" in waiting:
            head, waiting = waiting.split(b"\r\n\r\n", 1)
            key = next(line.split(b":")[1].strip() for line in head.split(b"\r\n") if b"-key:" in line.lower())
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            self.write(stream, answer + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
            is_open = True
        while is_open and len(waiting) >= 6:
            length, at = waiting[1] & 127, 2
            if length == 126:
                length, at = struct.unpack(">H", waiting[2:4])[0], 4
            if len(waiting) < at + 4 + length:
                break
            opcode, mask, content = waiting[0] & 15, waiting[at : at + 4], waiting[at + 4 : at + 4 + length]
            waiting = waiting[at + 4 + length :]
            if opcode == 8:
                return self.end(file)
            if opcode == 2:
                yield file, bytes(byte ^ mask[place & 3] for place, byte in enumerate(content))
        self.streams[file][1:] = [waiting, is_open]

    def end(self, file):
        self.streams.pop(file)[0].close()

    def send(self, file, data):
        if file in self.streams:
            length = bytes([len(data)]) if len(data) < 126 else struct.pack(">BH", 126, len(data))
            self.write(self.streams[file][0], b"\x82" + length + data)

    def write(self, stream, data):
        try:
            stream.send(data)
        except (BlockingIOError, ConnectionError):
            pass


class Peer:
    """A conversation of KCP: acknowledges, puts in order, and repeats what is not acknowledged after 100 ms."""

    def __init__(self, cookie, now):
        self.cookie, self.heard = cookie, now
        self.expected, self.early, self.numbered, self.unacknowledged = 0, {}, 0, {}
        self.sequence, self.is_in = 0, False

    def segment(self, command, now, number, stamp, content=b""):
        return struct.pack("<IBBHIIII", 0, command, 0, 4096, stamp, number, self.expected, len(content)) + content

    def send(self, content, now):
        self.unacknowledged[self.numbered] = (content, now)
        self.numbered += 1
        return self.segment(81, now, self.numbered - 1, milliseconds(now), content)

    def receive(self, data, now):
        """Returns segments to send, and messages."""
        out, messages = [], []
        while len(data) >= 24:
            _, command, _, _, stamp, number, una, length = struct.unpack("<IBBHIIII", data[:24])
            content, data = data[24 : 24 + length], data[24 + length :]
            self.unacknowledged = {n: kept for n, kept in self.unacknowledged.items() if n >= una}
            if command == 82:
                self.unacknowledged.pop(number, None)
            elif command == 83:
                out.append(self.segment(84, now, 0, stamp))
            elif command == 81:
                if number >= self.expected:
                    self.early[number] = content
                while self.expected in self.early:
                    messages.append(self.early.pop(self.expected))
                    self.expected += 1
                out.append(self.segment(82, now, number, stamp))
        return out, messages

    def overdue(self, now):
        for number, (content, sent) in self.unacknowledged.items():
            if now - sent > 0.1:
                self.unacknowledged[number] = (content, now)
                yield self.segment(81, now, number, milliseconds(now), content)


class Mirror:
    """kcp2k: positions in over KCP, states out as unreliable messages."""

    def __init__(self):
        self.players = {}

    def receive(self, address, data, now):
        if len(data) < 6:
            return []
        if address not in self.players:
            self.players[address] = Peer(struct.unpack("<I", struct.pack("<HH", address[1], 0x5EED))[0], now)
        peer = self.players[address]
        cookie, segments, messages, loose = struct.pack("<I", peer.cookie), [], [], []
        if data[0] == 1 and (not peer.is_in or data[1:5] == cookie):
            segments, messages = peer.receive(data[5:], now)
            peer.heard = now
        elif data[0] == 2 and data[5] == 4 and data[1:5] == cookie:
            messages = [b"\3" + data[6:]]
        elif data[0] == 2 and data[5] == 5 and data[1:5] == cookie:
            del self.players[address]
        for message in messages:
            if message[:1] == b"\1" and not peer.is_in:
                peer.is_in = True
                segments.append(peer.send(b"\1", now))
            elif message[:1] == b"\2":
                segments.append(peer.send(b"\4" + message[1:], now))
            elif message[:1] == b"\3":
                reliable, unreliable = self.handle(peer, message[1:], now)
                segments += [peer.send(b"\3" + content, now) for content in reliable]
                loose += [b"\2" + cookie + b"\4" + content for content in unreliable]
        return [b"\1" + cookie + segment for segment in segments] + loose

    def handle(self, peer, content, now):
        """A message of the game. Returns its answers, reliable and unreliable ones."""
        if len(content) >= 4:
            peer.sequence = struct.unpack("<I", content[:4])[0]
        return [], []

    def state(self, peer, now):
        return struct.pack("<II", peer.sequence, len(self.players))

    def tick(self, now):
        self.players = {address: peer for address, peer in self.players.items() if now - peer.heard < FORGOTTEN}
        for address, peer in self.players.items():
            cookie = struct.pack("<I", peer.cookie)
            for segment in peer.overdue(now):
                yield address, b"\1" + cookie + segment
            if peer.is_in:
                yield address, b"\2" + cookie + b"\4" + self.state(peer, now)


def milliseconds(now):
    return int(now * 1000) & 0xFFFFFFFF


def run(game, network, most, stall, at):
    next_tick, first = time.monotonic(), None
    while True:
        for address, data in network.receive(max(0, next_tick - time.monotonic())):
            now = time.monotonic()
            first = first or now
            for answer in game.receive(address, data, now):
                network.send(address, answer)
        now = time.monotonic()
        if now < next_tick:
            continue
        next_tick = max(next_tick, now - 1 / TICKS) + 1 / TICKS
        is_due = first is not None and at and now - first >= at[0]
        if is_due or len(game.players) > most:
            time.sleep(stall)
        if is_due:
            at.pop(0)
        for address, data in game.tick(now):
            network.send(address, data)


MESSAGES_MAX = 20_000
FORGOTTEN = 1.5

if __name__ == "__main__":
    words = argparse.ArgumentParser()
    words.add_argument("protocol", choices=["udp", "ws", "kcp2k"])
    words.add_argument("--port", type=int, default=0)
    words.add_argument("--most", type=int, default=1 << 30)
    words.add_argument("--stall", type=float, default=0.3)
    words.add_argument("--at", type=float, action="append", default=[])
    flags = words.parse_args()
    network = WebSockets(flags.port) if flags.protocol == "ws" else Datagrams(flags.port)
    print(f"listening on {network.port}", flush=True)
    run(Mirror() if flags.protocol == "kcp2k" else Dots(), network, flags.most, flags.stall, sorted(flags.at))
