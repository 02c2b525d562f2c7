"""Peers that violate the rules: connections whose reliable messages are all ahead of the one that the server waits for,
so that the server must hold them.

Each sends increasing sequences and omits the one that the server waits for. Over UDP the server holds one window of
them and drops the rest; over WebSocket it closes the connection (1004), and the peer reconnects. Prints how much was
sent and how often the peer was closed. For one's own servers: only loopback addresses are accepted."""

from __future__ import annotations

import argparse
import ipaddress
import socket
import urllib.parse

from skipstone import carriers, datagrams, frames
from skipstone.connection import Connection
from skipstone.datagrams import seal_packet

BURST = 16


class Peer:
    def __init__(self, url: str, seed: int) -> None:
        self.url, self.seed = url, seed
        self.sent = self.bytes = self.ends = 0
        self.begin()

    def begin(self) -> None:
        self.carrier = carriers.connect(self.url, carriers.Network(0, 0, 0, self.seed))
        self.connection = Connection(carriers.now(), self.seed, f"chat hostile{self.seed}".encode(), self.carrier.reliable)
        self.sequence, self.number = 1, 0
        self.seed += 1_000

    def again(self) -> None:
        self.ends += 1
        try:
            self.carrier.close()
        except (OSError, carriers.WebSocketError):
            pass
        self.begin()

    def turn(self, size: int) -> None:
        try:
            connection, now = self.connection, carriers.now()
            for data in connection.poll(now):
                self.carrier.send(data)
            if connection.state == "standing":
                self.number = max(self.number, connection.recovery.next)
                for _ in range(BURST):
                    self.carrier.send(self.early(size))
            elif connection.state == "done":
                return self.again()
            for data in self.carrier.receive(0):
                connection.handle(carriers.now(), data)
            connection.events.clear()
        except (OSError, carriers.WebSocketError):
            self.again()

    def early(self, size: int) -> bytes:
        """A packet with one message, while the server waits for another one."""
        channel = self.connection.settings.channels[0].first
        body = frames.encode([frames.Message(channel, self.sequence, bytes(size), bits=28)])
        header = bytes([datagrams.PACKET]) + self.connection.peer.to_bytes(3, "big")
        data = seal_packet(header, self.number, 28, body, self.connection.key)
        self.connection.recovery.next = self.number = self.number + 1
        self.sequence += 1
        self.sent, self.bytes = self.sent + 1, self.bytes + len(data)
        return data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="skip+plain://host:port or ws://host:port, of loopback")
    parser.add_argument("--connections", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=5)
    args = parser.parse_args()
    host = urllib.parse.urlsplit(args.url).hostname or ""
    if not ipaddress.ip_address(socket.gethostbyname(host)).is_loopback:
        parser.error(f"{host} is not this machine")
    size = 16_000 if args.url.startswith("ws") else 1_100
    peers = [Peer(args.url, seed + 1) for seed in range(args.connections)]
    end = carriers.now() + args.seconds
    while carriers.now() < end:
        for peer in peers:
            peer.turn(size)
    sent, ends = sum(peer.sent for peer in peers), sum(peer.ends for peer in peers)
    print(f"early messages {sent}, {sum(peer.bytes for peer in peers) / 1e6:.0f} MB, thrown out {ends} times")


if __name__ == "__main__":
    main()
