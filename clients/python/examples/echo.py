"""The smallest server, which sends every message back, and the smallest client, which sends one message.

python examples/echo.py
"""

import threading

import skipstone
from skipstone import Client, Closed, Connected, Message, Requested, Server


def serve(server: Server, visits: int) -> None:
    """Sends every message back, until this number of clients has connected and left."""
    with server:
        while visits > 0:
            # An echo answers at the first event. A game calls wait_tick, which runs at a fixed rate, and then poll().
            for event in server.poll(0.01):
                match event:
                    case Requested(peer):
                        server.accept(peer)
                    case Message(peer, channel, payload):
                        server.send(peer, channel, payload)
                    case Closed():
                        visits -= 1
            server.flush()


def ask(url: str, text: str) -> str:
    """Sends a text and returns the answer."""
    with Client(url) as client:
        while True:
            for event in client.poll(0.1):
                match event:
                    case Connected():
                        client.send(0, text.encode())
                    case Message(payload=payload):
                        return payload.decode()
                    case Closed(close=close):
                        raise ConnectionError(close.reason)


def main() -> None:
    """One server on one port, and two clients that connect by UDP and by WebSocket."""
    server = Server("127.0.0.1:0")
    serving = threading.Thread(target=serve, args=(server, 2))
    serving.start()
    print(ask(server.url, "hello over UDP"))
    print(ask(f"ws://{server.address}", "hello over WebSocket"))
    serving.join()


if __name__ == "__main__":
    print(f"skipstone {skipstone.__version__}")
    main()
