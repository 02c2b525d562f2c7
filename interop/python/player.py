"""Sends N reliable messages, checks that each comes back once, in order and unchanged, and closes."""

from __future__ import annotations

import argparse
import hashlib
import sys

from skipstone import carriers
from skipstone.connection import Accepted, Connection, Ended, MessageReceived
from skipstone.settings import RELIABLE_ORDERED, Limits, Settings

MARK = "skipstone.py"


def content(player: int, index: int, size_max: int) -> bytes:
    """Content that every program can compute: a head, and as many bytes as its hash states."""
    head = f"{MARK} {player} {index} {size_max} ".encode()
    digest = hashlib.sha256(head).digest()
    size = int.from_bytes(digest[:4], "big") % (size_max + 1)
    return head + (digest.hex().encode() * (size // 64 + 1))[:size]


class Checker:
    """Messages of each player, including this one: each unchanged, and the next one of its player."""

    def __init__(self, player: int) -> None:
        self.player = player
        self.next: dict[int, int] = {}
        self.errors: list[str] = []
        self.foreign = 0

    def on_message(self, payload: bytes) -> None:
        payload = payload.partition(b": ")[2]  # The server puts the speaker's name in front.
        words = payload.split(b" ", 4)
        if len(words) < 5 or words[0] != MARK.encode():
            self.foreign += 1
            return
        player, index, size_max = (int(word) for word in words[1:4])
        if payload != content(player, index, size_max):
            self.errors.append(f"message {index} of player {player} was changed")
        due = self.next.get(player, 0 if player == self.player else index)
        if index != due:
            self.errors.append(f"message {index} of player {player} where {due} was due")
        self.next[player] = index + 1

    def mine(self) -> int:
        return self.next.get(self.player, 0)


def channel_of(settings: Settings) -> int:
    for rule in settings.channels:
        if rule.mode == RELIABLE_ORDERED:
            return rule.first
    raise SystemExit("the server has no reliable-ordered channel")


def play(args: argparse.Namespace) -> int:
    loss = float(args.loss.rstrip("%")) / (100 if args.loss.endswith("%") else 1)
    network = carriers.Network(loss, args.delay / 1000, args.jitter / 1000, args.seed)
    try:
        carrier = carriers.connect(args.url, network)
    except (OSError, ValueError, carriers.WebSocketError) as error:
        print(f"cannot connect: {error}")
        return 1
    start = carriers.now()
    limits = Limits(*args.limits) if args.limits else None
    connection = Connection(start, args.seed, (args.token or f"chat py{args.seed}").encode(), carrier.reliable, limits)
    checker, channel, sent, ended = Checker(args.seed), 0, 0, None
    rebound = start
    while connection.state != "done" or connection.events or connection.outbox:
        now = carriers.now()
        standing = connection.state == "standing"
        if args.rebind and standing and isinstance(carrier, carriers.Udp) and now - rebound >= args.rebind:
            rebound = now
            carrier.rebind()
            connection.on_moved()
        try:
            for data in connection.poll(now):
                carrier.send(data)
        except OSError as error:
            connection.on_carrier_lost(str(error))
        for event in connection.events:
            match event:
                case Accepted():
                    channel = channel_of(event.settings)
                    for index in range(args.unreliable):
                        connection.send(channel_unreliable(event.settings), f"noise {index}".encode(), reliable=False)
                case MessageReceived():
                    checker.on_message(event.payload)
                case Ended():
                    ended = event
        connection.events.clear()
        if connection.state == "standing":
            while sent < args.count and (not args.rate or sent < (now - start) * args.rate):
                if connection.outbound.unacknowledged() >= args.ahead:
                    break
                connection.send(channel, content(args.seed, sent, args.size))
                sent += 1
            complete = checker.mine() >= args.count and not connection.outbound.unacknowledged() and now - start >= args.linger
            if complete or checker.errors or now - start > args.timeout:
                connection.close(now, 0, "done" if complete else "not done")
        if connection.state == "done":
            continue
        wait = min(connection.deadline(), now + (1 / args.rate if args.rate else 0.02)) - now
        try:
            for data in carrier.receive(wait):
                connection.handle(carriers.now(), data)
        except (carriers.WebSocketError, OSError) as error:
            connection.on_carrier_lost(str(error))
        if isinstance(carrier, carriers.Udp) and carrier.refused:
            carrier.refused = False
            connection.on_refused(carriers.now())
    carrier.close()
    seconds = carriers.now() - start
    good = checker.mine() == args.count and not checker.errors and bool(connection.counts["closed in peace"])
    for line in checker.errors[:5]:
        print(line)
    print(f"sent {sent}, back {checker.mine()}, other players {len(checker.next) - (args.seed in checker.next)}, foreign {checker.foreign}, {seconds:.2f} s")
    low, high = connection.clock
    print(f"datagrams {carrier.out.count} out {carrier.out.lost} of them lost, {carrier.into.count} in {carrier.into.lost} of them lost; "
          f"declared lost {connection.recovery.lost_count}, clock known to {(high - low) / 1000:.1f} ms")  # fmt: skip
    print(dict(sorted(connection.counts.items())), "ended:", ended)
    print("PASS" if good else "FAIL")
    return 0 if good else 1


def channel_unreliable(settings: Settings) -> int:
    for rule in settings.channels:
        if rule.mode == 0:
            return rule.first
    raise SystemExit("the server has no unreliable channel")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="skip+plain://host:port or ws://host:port")
    parser.add_argument("--count", type=int, default=200, help="messages")
    parser.add_argument("--size", type=int, default=200, help="greatest size of what follows a message's head, bytes")
    parser.add_argument("--rate", type=float, default=0, help="messages a second; 0 as fast as it goes")
    parser.add_argument("--ahead", type=int, default=200, help="messages that may wait for an acknowledgement")
    parser.add_argument("--loss", default="0%", help="of the datagrams, each way")
    parser.add_argument("--delay", type=float, default=0, help="of all datagrams, each way, ms")
    parser.add_argument("--jitter", type=float, default=0, help="up to so much more delay, ms, so that datagrams overtake each other")
    parser.add_argument("--rebind", type=float, default=0, help="once connected, go on from another port every so many seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--token", default="", help="of the server's application; default: a guest of the chat named by the seed")
    parser.add_argument("--unreliable", type=int, default=0, help="unreliable messages besides")
    parser.add_argument("--limits", type=int, nargs=3, metavar=("MESSAGE", "WINDOW", "DATAGRAM"), help="what this client takes, bytes")
    parser.add_argument("--linger", type=float, default=0, help="stay at least so many seconds")
    parser.add_argument("--timeout", type=float, default=60)
    return play(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
