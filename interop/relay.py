"""A lossy way to a server: passes datagrams of UDP on in both directions and loses some of them, by a seed; passes TCP on as it is.

python interop/relay.py --to 127.0.0.1:40001 --loss 0.02 --seed 1

It prints one line of JSON with its port, and at its end (when its standard input ends, or by SIGTERM) one with what it did.
"""

import argparse
import asyncio
import json
import random
import signal
import sys


class Counts:
    def __init__(self):
        self.passed = self.lost = self.streams = 0


class Way:
    """Loses a share of what passes."""

    def __init__(self, loss, seed, counts):
        self.loss, self.counts = loss, counts
        self.random = random.Random(seed)

    def passes(self):
        is_lost = self.random.random() < self.loss
        self.counts.lost += is_lost
        self.counts.passed += not is_lost
        return not is_lost


class Upstream(asyncio.DatagramProtocol):
    """A client's socket towards the server."""

    def __init__(self, down, client, way):
        self.down, self.client, self.way = down, client, way

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        if self.way.passes():
            self.down.sendto(data, self.client)

    def error_received(self, error):
        pass  # the server is gone: the client notices by itself


class Downstream(asyncio.DatagramProtocol):
    """The relay's own socket, to which clients send."""

    def __init__(self, server, loss, seed, counts):
        self.server, self.loss, self.seed, self.counts = server, loss, seed, counts
        self.clients = {}

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        if address not in self.clients:
            number = len(self.clients)
            up = Way(self.loss, f"{self.seed} up {number}", self.counts)
            down = Way(self.loss, f"{self.seed} down {number}", self.counts)
            self.clients[address] = (up, asyncio.ensure_future(self.open(address, down)))
        up, opening = self.clients[address]
        if up.passes():
            opening.add_done_callback(lambda opened: opened.result().sendto(data))

    def error_received(self, error):
        pass

    async def open(self, client, way):
        loop = asyncio.get_running_loop()
        protocol = Upstream(self.transport, client, way)
        transport, _ = await loop.create_datagram_endpoint(lambda: protocol, remote_addr=self.server)
        return transport


async def pump(reader, writer):
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def relay(options):
    host, _, port = options.to.rpartition(":")
    server, counts = (host, int(port)), Counts()
    loop = asyncio.get_running_loop()
    made = lambda: Downstream(server, options.loss, options.seed, counts)  # noqa: E731

    async def stream(reader, writer):
        counts.streams += 1
        try:
            up_reader, up_writer = await asyncio.open_connection(*server)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, up_writer), pump(up_reader, writer))

    streams = await asyncio.start_server(stream, "127.0.0.1", 0)
    mine = streams.sockets[0].getsockname()[1]
    # UDP by the same number, as the server has it.
    await loop.create_datagram_endpoint(made, local_addr=("127.0.0.1", mine))
    print(json.dumps({"event": "listening", "port": mine}), flush=True)
    over = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    loop.add_reader(sys.stdin, lambda: sys.stdin.buffer.raw.read(1) or over.set())
    await over.wait()
    print(json.dumps({"event": "result", "passed": counts.passed, "lost": counts.lost, "streams": counts.streams}), flush=True)


def main():
    parser = argparse.ArgumentParser(description="Passes datagrams on, and loses some.")
    parser.add_argument("--to", required=True, metavar="HOST:PORT")
    parser.add_argument("--loss", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    asyncio.run(relay(parser.parse_args()))


if __name__ == "__main__":
    main()
