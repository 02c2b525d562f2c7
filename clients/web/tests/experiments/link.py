"""Links with delay and loss for whole programs, TCP and QUIC too: pairs of TUN devices, one of them in a network namespace.

    link.py NAMESPACE DELAY_MS LOSS [LOSS ...]

The namespace's end of link N has the address 10.77.N.2, the other one 10.77.N.1. LOSS is the share of packets that are
lost in each direction. Prints one line when the links are up, and the traffic of each when the standard input ends.
Needs Linux and root.
"""

import collections
import fcntl
import json
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
SEED = 1


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def device(name):
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return tun


class Direction:
    """Packets from one device to the other, each delayed, and some lost."""

    def __init__(self, source, target, delay, loss, seed):
        self.source, self.target, self.delay, self.loss = source, target, delay, loss
        self.chance = random.Random(seed)
        self.waiting = collections.deque()
        self.carried = self.lost = 0
        self.latest = 0.0

    def receive(self):
        for _ in range(64):
            try:
                packet = os.read(self.source, 65536)
            except BlockingIOError:
                return
            if self.chance.random() < self.loss:
                self.lost += 1
            else:
                self.waiting.append((time.monotonic() + self.delay, packet))

    def send_due(self):
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            due, packet = self.waiting.popleft()
            self.latest = max(self.latest, time.monotonic() - due)
            try:
                os.write(self.target, packet)
                self.carried += 1
            except OSError:
                self.lost += 1


def main(namespace, delay_ms, losses):
    directions, names = [], []
    ip("netns", "add", namespace)
    try:
        ip("-n", namespace, "link", "set", "lo", "up")
        for number, loss in enumerate(losses):
            near, far = f"{namespace[:9]}n{number}", f"{namespace[:9]}f{number}"
            one, other = device(near), device(far)
            ip("link", "set", far, "netns", namespace)
            ip("addr", "add", f"10.77.{number}.1/30", "dev", near)
            ip("-n", namespace, "addr", "add", f"10.77.{number}.2/30", "dev", far)
            ip("link", "set", near, "up")
            ip("-n", namespace, "link", "set", far, "up")
            delay = delay_ms / 1000
            directions.append(Direction(one, other, delay, loss, SEED + 2 * number))
            directions.append(Direction(other, one, delay, loss, SEED + 2 * number + 1))
            names.append(loss)
        print("up", flush=True)
        carry(directions)
    finally:
        ip("netns", "del", namespace)
    report = [
        {"loss": loss, "up": summary(directions[2 * at]), "down": summary(directions[2 * at + 1])}
        for at, loss in enumerate(names)
    ]
    print(json.dumps(report), flush=True)


def summary(direction):
    return {"carried": direction.carried, "lost": direction.lost, "latest_ms": round(direction.latest * 1000, 2)}


def carry(directions):
    sources = {direction.source: direction for direction in directions}
    while True:
        due = min((direction.waiting[0][0] for direction in directions if direction.waiting), default=None)
        wait = 1.0 if due is None else max(0.0, due - time.monotonic())
        readable, _, _ = select.select([sys.stdin, *sources], [], [], wait)
        for source in readable:
            if source is sys.stdin:
                if not os.read(sys.stdin.fileno(), 4096):
                    return
            else:
                sources[source].receive()
        for direction in directions:
            direction.send_due()


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    # Its packets are not delayed by a lack of CPU time, as far as the system allows.
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except (OSError, AttributeError):
        pass
    main(sys.argv[1], float(sys.argv[2]), [float(loss) for loss in sys.argv[3:]])
