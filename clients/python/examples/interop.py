"""The game that programs in all languages play together; interop/README.md states its rules.

python examples/interop.py --server URL --name NAME --lines K [--seconds S]
python examples/interop.py --listen HOST:PORT --clients C [--seconds S]
"""

import argparse
import json
import sys
import time

import skipstone
from skipstone import Client, Closed, Connected, Message, PeerId, Reconnect, Requested, Server

CONTROL, STRESS = 0, 1
EVERY = 0.01
"""Seconds from line to line."""
GOODBYE = 2.0
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def line(name: str, number: int) -> bytes:
    """A stress line, whose content every program can compute."""
    length, start = number * 37 % 1500, number % 26
    turned = ALPHABET[start:] + ALPHABET[:start]
    return f"{name} {number} {(turned * (length // 26 + 1))[:length]}".encode()


class Ledger:
    """The lines received from each name."""

    def __init__(self, names: list[str], lines: int) -> None:
        self.lines = lines
        self.next_line = dict.fromkeys(names, 1)
        self.next_chat = dict.fromkeys(names, 10)
        self.received = self.chats = self.duplicated = self.out_of_order = self.changed = 0

    def on_line(self, payload: bytes) -> None:
        name, _, rest = payload.decode(errors="replace").partition(" ")
        number = rest.partition(" ")[0]
        if name not in self.next_line or not number.isdecimal() or payload != line(name, int(number)):
            self.changed += 1
            return
        self.received += 1
        self.next_line[name] = self.check(int(number), self.next_line[name]) + 1

    def on_chat(self, payload: bytes) -> None:
        words = payload.decode(errors="replace").split(" ")
        if len(words) != 3 or words[1] not in self.next_chat or not words[2].isdecimal():
            self.changed += 1
            return
        self.chats += 1
        self.next_chat[words[1]] = self.check(int(words[2]), self.next_chat[words[1]]) + 10

    def check(self, number: int, expected: int) -> int:
        """Compares, and returns the number that counts as the last."""
        self.duplicated += number < expected
        self.out_of_order += number > expected
        return max(number, expected - 1)

    def is_complete(self) -> bool:
        lines = all(number > self.lines for number in self.next_line.values())
        return lines and all(number > self.lines for number in self.next_chat.values())

    def is_clean(self) -> bool:
        lines, chats = self.lines * len(self.next_line), self.lines // 10 * len(self.next_line)
        counted = (self.received, self.chats) == (lines, chats)
        return self.is_complete() and counted and not (self.duplicated or self.out_of_order or self.changed)


def tell(**what: object) -> None:
    """Prints a line of JSON."""
    print(json.dumps(what), flush=True)


def play(url: str, name: str, lines: int, seconds: float) -> bool:
    """One client."""
    ledger, sent, is_over, reason = Ledger([], lines), 0, False, ""
    has_started = is_done = False
    end = time.monotonic() + seconds
    next_line = 0.0
    # With it the client follows when its server moves it to another one.
    with Client(url, name.encode(), reconnect=Reconnect()) as client:
        while not is_over and not reason:
            now = time.monotonic()
            if now >= end:
                reason = f"it is not over after {seconds:g} s"
            for event in client.poll(EVERY / 2):
                match event:
                    case Connected():
                        tell(event="connected")
                    case Message(channel=1, payload=payload):
                        ledger.on_line(payload)
                    case Message(channel=0, payload=payload) if payload.startswith(b"chat "):
                        ledger.on_chat(payload)
                    case Message(channel=0, payload=payload) if payload.startswith(b"start "):
                        ledger = Ledger(payload.decode().split(" ")[1:], lines)
                        client.send(CONTROL, b"ready")
                    case Message(channel=0, payload=b"go"):
                        has_started, next_line = True, now
                    case Message(channel=0, payload=b"over"):
                        is_over = True
                    case Closed(close=close):
                        reason = f"closed: {close.code} {close.reason}"
            while has_started and sent < lines and next_line <= now and not reason:
                sent += 1
                next_line += EVERY
                client.send(STRESS, line(name, sent))
                if sent % 10 == 0:
                    client.send(CONTROL, f"chat {name} {sent}".encode())
            if has_started and not is_done and sent == lines and ledger.is_complete() and not reason:
                is_done = True
                client.send(CONTROL, b"done")
        if not reason:
            client.close(0, "thank you")
    ok = is_over and ledger.is_clean()
    tell(
        event="result", role="client", language="python", name=name, sent=sent, received=ledger.received,
        chats=ledger.chats, duplicated=ledger.duplicated, out_of_order=ledger.out_of_order, changed=ledger.changed,
        ok=ok, reason=reason,
    )  # fmt: skip
    return ok


def serve(listen: str, clients: int, seconds: float) -> bool:
    """The server."""
    names: dict[PeerId, str] = {}
    connected: set[PeerId] = set()
    lines = chats = ready = done = 0
    has_started = is_going = is_over = False
    end = time.monotonic() + seconds
    reason = ""
    with Server(listen) as server:
        fingerprints = server.web_fingerprints() if server.webtransport_url else []
        pages = [f"https://{server.address}#sha256={fingerprint}" for fingerprint in fingerprints]
        tell(event="listening", url=server.url, port=server.port, **({"pages": pages[0]} if pages else {}))
        while not reason and not (is_over and not connected):
            if time.monotonic() >= end:
                reason = "" if is_over else f"it is not over after {seconds:g} s: {len(connected)} clients, {done} done"
                break
            for event in server.poll(EVERY / 2):
                match event:
                    case Requested(peer, token):
                        names[peer] = token.decode(errors="replace")
                        server.accept(peer)
                    case Connected(peer):
                        connected.add(peer)
                    case Message(peer, 1, payload, age):
                        lines += 1
                        server.broadcast(STRESS, payload)
                    case Message(peer, 0, payload) if payload.startswith(b"chat "):
                        chats += 1
                        server.broadcast(CONTROL, payload)
                    case Message(peer, 0, b"ready"):
                        ready += 1
                    case Message(peer, 0, b"done"):
                        done += 1
                    case Closed(peer, close):
                        connected.discard(peer)
                        if not is_over:
                            reason = f"{names.get(peer)} left before the end: {close.code} {close.reason}"
            if not has_started and len(connected) == clients:
                has_started = True
                server.broadcast(CONTROL, " ".join(["start", *(names[peer] for peer in connected)]).encode())
            if not is_going and ready == clients:
                is_going = True
                server.broadcast(CONTROL, b"go")
            if not is_over and done == clients:
                is_over = True
                server.broadcast(CONTROL, b"over")
                end = time.monotonic() + GOODBYE
            server.flush()
    tell(
        event="result", role="server", language="python", clients=clients, lines=lines, chats=chats,
        ok=is_over, reason=reason,
    )  # fmt: skip
    return is_over


def main() -> bool:
    """Plays one of both sides."""
    parser = argparse.ArgumentParser(description="The game that programs in all languages play together.")
    side = parser.add_mutually_exclusive_group(required=True)
    side.add_argument("--server", metavar="URL")
    side.add_argument("--listen", metavar="HOST:PORT")
    parser.add_argument("--name", default="python")
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    try:
        if options.listen:
            return serve(options.listen, options.clients, options.seconds)
        return play(options.server, options.name, options.lines, options.seconds)
    except skipstone.SkipstoneError as error:
        print(error, file=sys.stderr)
        return False


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
