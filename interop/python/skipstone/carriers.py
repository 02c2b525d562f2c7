"""Carriers (WIRE.md, section 7): UDP with seeded loss in both directions, and a WebSocket client (RFC 6455)."""

from __future__ import annotations

import base64
import hashlib
import heapq
import os
import random
import select
import socket
import time
from dataclasses import dataclass

MESSAGE_MAX = 16_384
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class Network:
    """The simulated network, the same in both directions: loss (0 to 1), delay and jitter (seconds)."""

    loss: float = 0
    delay: float = 0
    jitter: float = 0
    seed: int = 1


class Way:
    """One direction: datagrams are lost or delayed according to the seed."""

    def __init__(self, network: Network, seed: int) -> None:
        self.network, self.random = network, random.Random(seed)
        self.count = self.lost = 0
        self.late: list[tuple[float, int, bytes]] = []

    def put(self, now: float, data: bytes) -> None:
        self.count += 1
        lost, late = self.random.random() < self.network.loss, self.random.random() * self.network.jitter
        if lost:
            self.lost += 1
        else:
            heapq.heappush(self.late, (now + self.network.delay + late, self.count, data))

    def due(self, now: float) -> list[bytes]:
        result = []
        while self.late and self.late[0][0] <= now:
            result.append(heapq.heappop(self.late)[2])
        return result

    def wait(self, now: float) -> float:
        return self.late[0][0] - now if self.late else float("inf")


class Udp:
    """One socket to one server, behind a simulated network."""

    reliable = False

    def __init__(self, host: str, port: int, network: Network) -> None:
        self.address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        self.out, self.into = Way(network, network.seed * 2), Way(network, network.seed * 2 + 1)
        self.refused = False
        """The system reported that no program listens there."""
        self.socket = self._bound()

    def rebind(self) -> None:
        """Continues from another port."""
        self.socket.close()
        self.socket = self._bound()

    def _bound(self) -> socket.socket:
        family, kind, protocol, _, address = self.address
        result = socket.socket(family, kind, protocol)
        result.connect(address)
        result.setblocking(False)
        return result

    def send(self, data: bytes) -> None:
        self.out.put(now(), data)
        self._flush()

    def _flush(self) -> None:
        for data in self.out.due(now()):
            try:
                self.socket.send(data)
            except ConnectionRefusedError:
                self.refused = True
            except OSError:
                pass  # A full queue: to the protocol, a loss.

    def receive(self, timeout: float) -> list[bytes]:
        """Received datagrams, after at most `timeout` seconds."""
        timeout = min(timeout, self.out.wait(now()), self.into.wait(now()))
        select.select([self.socket], [], [], max(0, timeout))
        self._flush()
        for _ in range(64):
            try:
                self.into.put(now(), self.socket.recv(65_536))
            except ConnectionRefusedError:
                self.refused = True
            except OSError:
                break
        return self.into.due(now())

    def close(self) -> None:
        while self.out.late:
            time.sleep(max(0.0, self.out.wait(now())))
            self._flush()
        self.socket.close()


class WebSocketError(Exception):
    """The server is not a WebSocket server of this protocol, or the stream is broken."""


class WebSocket:
    """Binary messages in both directions, each a datagram; pings are answered."""

    reliable = True

    def __init__(self, host: str, port: int, path: str = "/") -> None:
        self.socket = socket.create_connection((host, port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16))
        request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        request += f"Sec-WebSocket-Key: {key.decode()}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: skipstone.1\r\n\r\n"
        self.socket.sendall(request.encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self._read()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        status, *lines = head.split(b"\r\n")
        fields = {k.strip().lower(): v.strip() for k, _, v in (line.partition(b":") for line in lines)}
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
        if b" 101 " not in status or fields.get(b"sec-websocket-accept") != accept:
            raise WebSocketError(status.decode(errors="replace"))
        if fields.get(b"sec-websocket-protocol") != b"skipstone.1":
            raise WebSocketError("another subprotocol")
        self.message = b""
        self.out, self.into = Way(Network(), 0), Way(Network(), 0)

    def _read(self) -> None:
        data = self.socket.recv(65_536)
        if not data:
            raise WebSocketError("the server closed the stream")
        self.buffer += data

    def _write(self, opcode: int, payload: bytes) -> None:
        size = len(payload)
        mask = os.urandom(4)
        head = bytes([0x80 | opcode]) + (bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big"))
        long = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
        self.socket.sendall(head + mask + (int.from_bytes(payload, "big") ^ long).to_bytes(size, "big"))

    def send(self, data: bytes) -> None:
        self.out.count += 1
        self._write(2, data)

    def receive(self, timeout: float) -> list[bytes]:
        if select.select([self.socket], [], [], max(0, timeout))[0]:
            self._read()
        result = []
        while (frame := self._frame()) is not None:
            final, opcode, payload = frame
            if opcode == 9:
                self._write(10, payload)
            elif opcode == 8:
                raise WebSocketError("the server closed the WebSocket")
            elif opcode in (0, 2):
                self.message += payload
                if len(self.message) > MESSAGE_MAX:
                    raise WebSocketError("a message beyond 16,384 bytes")
                if final:
                    result.append(self.message)
                    self.message = b""
        self.into.count += len(result)
        return result

    def _frame(self) -> tuple[bool, int, bytes] | None:
        """The next whole frame of the buffer."""
        if len(self.buffer) < 2:
            return None
        size, start = self.buffer[1] & 0x7F, 2
        if size >= 126:
            start = 4 if size == 126 else 10
            size = int.from_bytes(self.buffer[2:start], "big")
        if len(self.buffer) < start + size or start == 4 and len(self.buffer) < 4:
            return None
        head, payload = self.buffer[0], self.buffer[start : start + size]
        self.buffer = self.buffer[start + size :]
        return bool(head & 0x80), head & 0x0F, payload

    def close(self) -> None:
        """Sends a close, and waits a moment for the answer."""
        try:
            self._write(8, (1000).to_bytes(2, "big"))
            self.socket.settimeout(1)
            while self.socket.recv(4096):
                pass
        except (OSError, WebSocketError):
            pass
        self.socket.close()


def connect(url: str, network: Network) -> Udp | WebSocket:
    scheme, _, rest = url.partition("://")
    address, _, path = rest.partition("/")
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if scheme == "skip+plain" and port.isdigit():
        return Udp(host, int(port), network)
    if scheme == "ws" and port.isdigit():
        if network.loss or network.delay or network.jitter:
            raise ValueError("a network is played on skip+plain:// only")
        return WebSocket(host, int(port), "/" + path)
    raise ValueError(f"{url}: skip+plain://host:port or ws://host:port")


def now() -> float:
    return time.monotonic()
