"""The same player over carriers written by others: Python's `websockets`, and aioquic's HTTP/3 with WebTransport
datagrams.

    pip install websockets aioquic
    python3 strangers.py websockets ws://127.0.0.1:7777
    python3 strangers.py aioquic https://127.0.0.1:7777

Sends lines to a server that sends them back (`serve`), checks that each arrives once and in order, and closes.
Certificates are not checked: this tests whether the carriers interoperate. Exit code 2 if the package is missing."""

from __future__ import annotations

import argparse
import asyncio
import ssl
import sys
import urllib.parse
from collections.abc import Callable

from skipstone import carriers
from skipstone.connection import Connection, MessageReceived

LINES = 50
PATIENCE_S = 20


async def play(send: Callable[[bytes], None], came: asyncio.Queue, reliable: bool) -> str:
    """A whole connection; returns how it went."""
    connection = Connection(carriers.now(), 7, b"chat stranger", reliable)
    heard: list[bytes] = []
    sent = 0
    end = carriers.now() + PATIENCE_S
    while connection.state != "done" and carriers.now() < end:
        if connection.state == "standing" and sent < LINES:
            connection.send(0, b"line %d" % sent)
            sent += 1
        for data in connection.poll(carriers.now()):
            send(data)
        try:
            connection.handle(carriers.now(), await asyncio.wait_for(came.get(), 0.01))
        except TimeoutError:
            pass
        for event in connection.events:
            if isinstance(event, MessageReceived):
                heard.append(event.payload)
        connection.events.clear()
        if len(heard) == LINES and connection.state == "standing":
            connection.close(carriers.now(), 0, "thank you")
    expected = [b"stranger: line %d" % number for number in range(LINES)]
    if heard != expected:
        raise SystemExit(f"{len(heard)} of {LINES} lines came, the last: {heard[-1:]}")
    return f"{LINES} lines came back, each once and in order"


async def by_websockets(url: str) -> str:
    from websockets.asyncio.client import connect

    trusting = None
    if url.startswith("wss"):
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    async with connect(url, subprotocols=["skipstone.1"], ssl=trusting) as socket:
        came: asyncio.Queue = asyncio.Queue()
        going: asyncio.Queue = asyncio.Queue()

        async def read() -> None:
            async for message in socket:
                came.put_nowait(message)

        async def write() -> None:
            while True:
                await socket.send(await going.get())

        tasks = [asyncio.create_task(read()), asyncio.create_task(write())]
        try:
            return await play(going.put_nowait, came, True)
        finally:
            for task in tasks:
                task.cancel()


async def by_aioquic(url: str) -> str:
    from aioquic.asyncio import QuicConnectionProtocol
    from aioquic.asyncio import connect
    from aioquic.h3.connection import H3_ALPN, H3Connection
    from aioquic.h3.events import DatagramReceived, HeadersReceived
    from aioquic.quic.configuration import QuicConfiguration

    target = urllib.parse.urlsplit(url)
    came: asyncio.Queue = asyncio.Queue()

    class Session(QuicConnectionProtocol):
        def __init__(self, *words, **named) -> None:
            super().__init__(*words, **named)
            self.http = H3Connection(self._quic, enable_webtransport=True)
            self.granted: asyncio.Future = asyncio.get_running_loop().create_future()

        def quic_event_received(self, event) -> None:
            for of in self.http.handle_event(event):
                if isinstance(of, DatagramReceived):
                    came.put_nowait(of.data)
                elif isinstance(of, HeadersReceived) and not self.granted.done():
                    self.granted.set_result(dict(of.headers).get(b":status"))

        def begin(self) -> int:
            stream = self._quic.get_next_available_stream_id()
            authority = f"{target.hostname}:{target.port}".encode()
            words = {b":method": b"CONNECT", b":scheme": b"https", b":authority": authority, b":path": b"/"}
            words[b":protocol"] = b"webtransport"
            self.http.send_headers(stream, list(words.items()))
            self.transmit()
            return stream

    configuration = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN, max_datagram_frame_size=65_536)
    configuration.verify_mode = ssl.CERT_NONE
    async with connect(
        target.hostname, target.port, configuration=configuration, create_protocol=Session
    ) as session:
        await asyncio.sleep(0.3)  # The server's settings come first.
        stream = session.begin()
        status = await asyncio.wait_for(session.granted, PATIENCE_S)
        if status != b"200":
            raise SystemExit(f"the session was refused with {status!r}")

        def send(data: bytes) -> None:
            session.http.send_datagram(stream, data)
            session.transmit()

        return await play(send, came, False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("carrier", choices=["websockets", "aioquic"])
    parser.add_argument("url")
    args = parser.parse_args()
    try:
        __import__(args.carrier)
    except ImportError as error:
        print(error)
        sys.exit(2)
    by = by_websockets if args.carrier == "websockets" else by_aioquic
    print(f"{args.carrier}: {asyncio.run(by(args.url))}")


if __name__ == "__main__":
    main()
