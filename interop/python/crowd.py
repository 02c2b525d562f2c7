"""Hostile clients on every carrier next to good ones: are the good ones affected, and is each hostile one closed and
counted?

Starts a server (`skipstone serve`), runs `skipstone stress` to measure good clients alone, then again while hostile
ones occupy each carrier: they never read, never finish a handshake, send garbage, or send a byte a second. Compares
latencies and memory, and prints what the server counted. For the loopback interface only.

    python3 crowd.py path/to/skipstone [--hostile 100] [--good 200] [--seconds 20] [--json FILE]
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time

from skipstone import carriers
from skipstone.connection import Connection

CLIENT_HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(32)
DTLS_HELLO = bytes.fromhex("16fefd0000000000000000003a010000") + bytes(44)
KINDS = ("silent", "half", "slow", "garbage")
STREAMS = ("ws", "wss", "tcp")
DATAGRAMS = ("udp", "dtls", "webtransport")


class Server:
    def __init__(self, tool: str, folder: str) -> None:
        self.port, self.console = free_port(), free_port()
        words = [tool, "serve", "--listen", f"127.0.0.1:{self.port}", "--console", f"127.0.0.1:{self.console}"]
        words += ["--identity", os.path.join(folder, "identity.pem"), "--allow-plain", "--queue", "256KiB"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.url = ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.strip().startswith("native"):
                self.url = line.split()[1]
            if "stop with" in line:
                break
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def stats(self) -> str:
        with socket.create_connection(("127.0.0.1", self.console), timeout=10) as session:
            session.sendall(b"stats\n")
            text = b""
            while b"\ndriver " not in text:
                part = session.recv(65536)
                if not part:
                    break
                text += part
            return text.decode(errors="replace")

    def counts(self) -> dict[str, dict[str, int]]:
        counts = {}
        for line in self.stats().splitlines():
            for name in ("TCP streams", "DTLS sessions", "WebTransport", "drops"):
                if line.startswith(name):
                    found = re.findall(r"([A-Za-z_ ]+?) ([\d,]+)(?:,|$)", line[len(name) :].lstrip(": "))
                    counts[name] = {word.strip(): int(count.replace(",", "")) for word, count in found}
        return counts

    def memory_mib(self) -> float:
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def free_port() -> int:
    while True:
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            try:
                udp.bind(tcp.getsockname())
            except OSError:
                continue
            return tcp.getsockname()[1]


def beginning(carrier: str, rng: random.Random) -> bytes:
    """The first bytes of a client of this carrier, without their end."""
    if carrier == "ws":
        key = base64.b64encode(rng.randbytes(16)).decode()
        return f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: {key}\r\n".encode()
    return CLIENT_HELLO if carrier == "wss" else b"\x90\x00half a message"


class Stranger:
    """A hostile client on a stream; one that was closed reconnects at once, as attackers do."""

    def __init__(self, carrier: str, kind: str, port: int, seed: int) -> None:
        self.carrier, self.kind, self.port, self.rng = carrier, kind, port, random.Random(seed)
        self.closed = 0
        self.stream: socket.socket | None = None

    def turn(self, now: float) -> None:
        try:
            if self.stream is None:
                self.stream = socket.create_connection(("127.0.0.1", self.port), timeout=2)
                self.stream.setblocking(False)
                self.script, self.next = beginning(self.carrier, self.rng), now
                if self.kind == "half":
                    self.stream.send(self.script)
                elif self.kind == "garbage":
                    self.stream.send(self.rng.randbytes(400))
            if self.kind == "slow" and now >= self.next:
                self.stream.send(self.script[:1] or b"x")
                self.script, self.next = self.script[1:], now + 1
            if self.kind == "silent":
                return self.look_without_reading()
            if self.stream.recv(65536) == b"":
                self.gone()
        except BlockingIOError:
            pass
        except OSError:
            self.gone()

    def look_without_reading(self) -> None:
        assert self.stream is not None
        if self.stream.recv(1, socket.MSG_PEEK) == b"":
            self.gone()

    def gone(self) -> None:
        self.closed += 1
        if self.stream is not None:
            self.stream.close()
        self.stream = None


class Deaf:
    """A client that connects like a good one, and then never reads again."""

    def __init__(self, url: str, seed: int) -> None:
        self.url, self.seed, self.closed = url, seed, 0
        self.carrier = None

    def turn(self, now: float) -> None:
        try:
            if self.carrier is None:
                self.carrier = carriers.connect(self.url, carriers.Network(0, 0, 0, self.seed))
                reliable = self.carrier.reliable
                self.connection = Connection(carriers.now(), self.seed, f"chat deaf{self.seed}".encode(), reliable)
                self.until = now + 3
            if now < self.until and self.connection.state != "standing":
                for data in self.connection.poll(carriers.now()):
                    self.carrier.send(data)
                for data in self.carrier.receive(0):
                    self.connection.handle(carriers.now(), data)
        except (OSError, carriers.WebSocketError):
            self.closed += 1
            self.carrier = None


class Shooter:
    """Datagrams of an unauthenticated client, each from a port of its own."""

    def __init__(self, carrier: str, kind: str, port: int, seed: int) -> None:
        self.kind, self.rng, self.closed, self.next = kind, random.Random(seed), 0, 0.0
        self.udp = socket.socket(type=socket.SOCK_DGRAM)
        self.udp.connect(("127.0.0.1", port))
        self.udp.setblocking(False)
        first = {"udp": b"\x81", "dtls": DTLS_HELLO[:1], "webtransport": b"\xc0\x00\x00\x00\x01"}[carrier]
        whole = {"udp": b"\x81" + bytes(1199), "dtls": DTLS_HELLO, "webtransport": first + b"\x08" + bytes(1194)}[carrier]
        self.first, self.whole = first, whole

    def turn(self, now: float) -> None:
        if now < self.next:
            return
        self.next = now + (1 if self.kind in ("slow", "half") else 0.05)
        body = {
            "silent": self.whole,
            "half": self.whole[: len(self.whole) // 2],
            "slow": self.first,
            "garbage": self.first + self.rng.randbytes(self.rng.randrange(1, 1_200)),
        }[self.kind]
        try:
            self.udp.send(body)
            if self.kind != "silent":
                self.udp.recv(65536)
        except (BlockingIOError, OSError):
            pass


def crowd(port: int, each: int) -> list:
    everybody: list = []
    for number in range(each):
        kind = KINDS[number % len(KINDS)]
        for carrier in STREAMS:
            everybody.append(Stranger(carrier, kind, port, 1_000 + number))
        for carrier in DATAGRAMS:
            everybody.append(Shooter(carrier, kind, port, 2_000 + number))
        if number % 10 == 0:
            everybody.append(Deaf(f"ws://127.0.0.1:{port}", 3_000 + number))
            everybody.append(Deaf(f"skip+plain://127.0.0.1:{port}", 4_000 + number))
    return everybody


def besiege(port: int, each: int, over: threading.Event, people: list) -> None:
    people.extend(crowd(port, each))
    while not over.is_set():
        began = time.monotonic()
        for person in people:
            person.turn(time.monotonic())
        over.wait(max(0.0, 0.05 - (time.monotonic() - began)))


def measure(tool: str, server: Server, good: int, seconds: float, folder: str) -> dict:
    name = os.path.join(folder, "good.json")
    share = good // 4
    mix = f"udp={share},ws={share},tcp={share},dtls={good - 3 * share}"
    words = [tool, "stress", server.url, "--mix", mix, "-r", "1/5s", "-d", f"{seconds}s", "--json", name, "-q"]
    subprocess.run(words, check=False, stdout=subprocess.DEVNULL)
    with open(name) as file:
        result = json.load(file)
    return {
        "verdict": result["verdict"],
        "lost": result["messages"]["lost"],
        "expected": result["messages"]["expected"],
        "dropped": result["clients"]["dropped"],
        "p50": result["latency_ms"]["p50"],
        "p99": result["latency_ms"]["p99"],
        "max": result["latency_ms"]["max"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--hostile", type=int, default=100, help="on each carrier")
    parser.add_argument("--good", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args.tool, folder)
        try:
            report = play(server, args, folder)
        finally:
            server.stop()
    print(json.dumps(report, indent=1))
    if args.json:
        with open(args.json, "w") as file:
            json.dump(report, file)
    good = report["beside"]["lost"] == 0 and report["beside"]["dropped"] == 0
    sys.exit(0 if good and report["memory_mib"]["beside"] < report["memory_mib"]["alone"] + 64 else 1)


def play(server: Server, args: argparse.Namespace, folder: str) -> dict:
    before = server.counts()
    alone = measure(args.tool, server, args.good, args.seconds, folder)
    memory = {"alone": round(server.memory_mib(), 1)}
    over, people = threading.Event(), []
    siege = threading.Thread(target=besiege, args=(server.port, args.hostile, over, people))
    siege.start()
    time.sleep(3)
    beside = measure(args.tool, server, args.good, args.seconds, folder)
    memory["beside"] = round(server.memory_mib(), 1)
    over.set()
    siege.join()
    time.sleep(1)
    again = measure(args.tool, server, args.good, args.seconds, folder)
    after = server.counts()
    grown = {
        name: {word: count - before.get(name, {}).get(word, 0) for word, count in counts.items()}
        for name, counts in after.items()
    }
    closed = sum(person.closed for person in people)
    return {
        "alone": alone,
        "beside": beside,
        "again": again,
        "p99_ratio": round(2 * beside["p99"] / (alone["p99"] + again["p99"]), 2),
        "memory_mib": memory,
        "hostile": len(people),
        "closed": closed,
        "counted": grown,
    }


if __name__ == "__main__":
    main()
