"""A game of fifty bots: each sends its direction thirty times a second, and receives the positions of all.

python examples/bots.py [seconds]
"""

import math
import struct
import sys
import threading

from skipstone import ChannelRule, Client, Closed, Connected, DeliveryMode, Message, PeerId, Requested, Server, Settings

BOTS = 50
TICK = 1 / 30
SPEED = 0.02
INPUT, WORLD = 0, 1
"""The channels: inputs, of which only the newest counts, and snapshots, which the next tick replaces."""
STEP = struct.Struct("<ff")
DOT = struct.Struct("<Iff")


def start() -> Server:
    """A server with the game's channels."""
    rules = [
        ChannelRule(INPUT, mode=DeliveryMode.RELIABLE_SEQUENCED, priority=0),
        ChannelRule(WORLD, mode=DeliveryMode.UNRELIABLE_SEQUENCED),
    ]
    return Server("127.0.0.1:0", settings=Settings(rules))


def serve(server: Server, stop: threading.Event) -> None:
    """Runs the game until it is stopped."""
    places: dict[PeerId, tuple[float, float]] = {}
    wishes: dict[PeerId, tuple[float, float]] = {}
    with server:
        while not stop.is_set():
            server.wait_tick(TICK)  # inputs that come meanwhile do not shorten it
            while events := server.poll():  # a batch, until there is none
                for event in events:
                    match event:
                        case Requested(peer):
                            server.accept(peer)
                        case Connected(peer):
                            places[peer] = (0.0, 0.0)
                        case Message(peer, _, payload) if len(payload) == STEP.size:
                            wishes[peer] = STEP.unpack(payload)
                        case Closed(peer):
                            places.pop(peer, None)
                            wishes.pop(peer, None)
            for peer, (x, y) in places.items():
                right, up = wishes.get(peer, (0.0, 0.0))
                places[peer] = (x + bounded(right), y + bounded(up))
            world = b"".join(DOT.pack(peer.index, x, y) for peer, (x, y) in places.items())
            if world:
                server.broadcast(WORLD, world)
            server.flush()


def bounded(step: float) -> float:
    """A client may send any value; one that is not a number does not move the player."""
    return 0.0 if math.isnan(step) else SPEED * max(-1.0, min(1.0, step))


def play(url: str, stop: threading.Event) -> tuple[int, int]:
    """Fifty bots in one thread. Returns the number of snapshots that they received, and of dots in the last one."""
    bots = [Client(url) for _ in range(BOTS)]
    ready = [False] * BOTS
    worlds = dots = frame = 0
    while not stop.is_set():
        bots[0].wait_tick(TICK)
        for number, bot in enumerate(bots):
            while events := bot.poll():
                for event in events:
                    match event:
                        case Connected():
                            ready[number] = True
                        case Message(payload=payload):
                            worlds += 1
                            dots = len(payload) // DOT.size
                        case Closed(close=close):
                            raise ConnectionError(close.reason)
            if ready[number]:
                angle = frame / 20 + number
                bot.send(INPUT, STEP.pack(math.cos(angle), math.sin(angle)))
        frame += 1
    for bot in bots:
        bot.close(linger=0)
    return worlds, dots


def main(seconds: float) -> tuple[int, int]:
    """Plays for this number of seconds."""
    played, stop = threading.Event(), threading.Event()
    server = start()
    serving = threading.Thread(target=serve, args=(server, stop))
    serving.start()
    threading.Timer(seconds, played.set).start()
    try:
        return play(server.url, played)
    finally:  # the bots leave before the server ends
        stop.set()
        serving.join()


if __name__ == "__main__":
    worlds, dots = main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
    print(f"{BOTS} bots saw {worlds} worlds, the last with {dots} dots")
