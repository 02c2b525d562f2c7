"""Shared by the tests: servers and clients that are stepped in turns, without sockets or threads of their own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import skipstone
from skipstone import Client, Event, PeerId, Server, Settings, Threading

ROUNDS_MAX = 2_000


class Table:
    """A server and its clients in one thread. Every event is kept."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.server = Server(None, settings=settings, threading=Threading.STEPPED)
        self.clients: list[Client] = []
        self.at_server: list[Event] = []
        self.at_client: dict[Client, list[Event]] = {}
        self.accepts = True

    def join(self, token: bytes = b"") -> Client:
        """A client that is connected."""
        client = self.ask(token)
        self.until(lambda: any(isinstance(event, skipstone.Connected) for event in self.at_client[client]))
        return client

    def ask(self, token: bytes = b"") -> Client:
        """A client that requests a connection."""
        client = self.server.connect_local(token, threading=Threading.STEPPED)
        self.clients.append(client)
        self.at_client[client] = []
        return client

    def step(self) -> None:
        """One round of all participants."""
        if not self.server.is_closed:
            for event in self.server.poll(0.0005):
                self.at_server.append(event)
                match event:
                    case skipstone.Requested(peer) if self.accepts:
                        self.server.accept(peer)
            self.server.flush()
        for client in self.clients:
            if not client.is_closed:
                self.at_client[client] += client.poll(0.0005)

    def until(self, holds: Callable[[], bool]) -> None:
        """Steps until it holds."""
        for _ in range(ROUNDS_MAX):
            if holds():
                return
            self.step()
        raise AssertionError(f"it never held: {self.at_server}, {list(self.at_client.values())}")

    def peers(self) -> list[PeerId]:
        """The peers in the order in which they connected."""
        return [event.peer for event in self.at_server if isinstance(event, skipstone.Connected)]

    def heard(self, client: Client) -> list[bytes]:
        """The messages that a client got."""
        return [event.payload for event in self.at_client[client] if isinstance(event, skipstone.Message)]

    def said(self) -> list[bytes]:
        """The messages that the server got."""
        return [event.payload for event in self.at_server if isinstance(event, skipstone.Message)]

    def closes(self, events: list[Event]) -> list[skipstone.Close]:
        """How connections ended."""
        return [event.close for event in events if isinstance(event, skipstone.Closed)]


@contextmanager
def table(settings: Settings | None = None) -> Iterator[Table]:
    """A table whose later changes are not visible to the test."""
    made = Table(settings)
    try:
        yield made
    finally:
        for client in made.clients:
            client.close(linger=0)
        made.server.shutdown(linger=0)
