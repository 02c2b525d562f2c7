"""An invalid request is an exception with its reason; no call hangs, and no Rust panic reaches Python."""

import threading
import time
from typing import Any

import pytest
import skipstone
from play import table
from skipstone import (
    BusyError,
    ChannelRule,
    Client,
    ClosedError,
    DeliveryMode,
    Impairment,
    PeerError,
    PeerId,
    Redundancy,
    SendError,
    Server,
    Settings,
    StartError,
    Trust,
)

WRONG: Any = "text"


def test_text_is_not_accepted_as_a_message() -> None:
    with table() as game:
        client = game.join()
        with pytest.raises(TypeError, match=r"not str: text goes through \.encode\(\)"):
            client.send(0, WRONG)
        with pytest.raises(TypeError, match="not int"):
            client.send(0, 5)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="memoryview of bytes"):
            client.send(0, memoryview(b"12345678").cast("d"))  # type: ignore[arg-type]


@pytest.mark.parametrize("channel", [-1, 65_536, 1 << 80])
def test_a_channel_has_16_bits(channel: int) -> None:
    with table() as game, pytest.raises(OverflowError):
        game.join().send(channel, b"")


@pytest.mark.parametrize("span", [-1.0, float("nan"), float("inf")])
def test_a_span_of_time_is_a_number_of_seconds(span: float) -> None:
    with table() as game, pytest.raises(ValueError, match="give seconds"):
        game.server.poll(span)


@pytest.mark.parametrize("code", [-1, 1 << 62, 1 << 64])
def test_a_close_code_has_62_bits(code: int) -> None:
    with table() as game:
        game.join()
        with pytest.raises(ValueError, match="62 bits"):
            game.server.close(game.peers()[0], code)


def test_a_closed_client_raises_closed_error() -> None:
    with table() as game:
        client = game.join()
        client.close(linger=0)
        client.close()
        assert client.is_closed
        for call in (client.poll, client.flush, client.rebind, client.overview, client.server_time):
            with pytest.raises(ClosedError, match="this client was closed: make a new one"):
                call()
        with pytest.raises(ClosedError):
            client.send(0, b"")


def test_a_shut_down_server_raises_closed_error() -> None:
    with table() as game:
        game.join()
        peer = game.peers()[0]
        game.server.shutdown(linger=0)
        game.server.shutdown()
        for call in (lambda: game.server.accept(peer), game.server.flush, game.server.poll, game.server.connect_local):
            with pytest.raises(ClosedError, match="this server was closed"):
                call()
        assert game.server.stats().received.messages == 0
        assert game.server.url == "local:"


def test_sending_before_the_connection_is_an_error() -> None:
    with table() as game:
        client = game.ask()
        with pytest.raises(SendError, match="after its connected event") as caught:
            client.send(0, b"early")
        assert caught.value.reason == "not_connected"


def test_a_peer_of_another_server_is_unknown() -> None:
    with table() as game:
        game.join()
        for peer in (PeerId(4_000_000_000, 4_000_000_000), PeerId(5, 0)):
            with pytest.raises(SendError) as refused:
                game.server.send(peer, 0, b"")
            assert refused.value.reason == "unknown_peer"
            with pytest.raises(PeerError) as caught:
                game.server.accept(peer)
            assert caught.value.reason == "unknown_peer"
            assert game.server.overview(peer) is None


def test_a_client_is_accepted_once() -> None:
    with table() as game:
        game.join()
        with pytest.raises(PeerError, match="accept or refuse it once") as caught:
            game.server.accept(game.peers()[0])
        assert caught.value.reason == "not_waiting"
        with pytest.raises(PeerError) as kept:
            game.server.join(game.peers()[0], 0)
        assert kept.value.reason == "everyone_is_kept"


def test_too_long_data_is_refused() -> None:
    with table() as game:
        client = game.join()
        with pytest.raises(SendError, match="split it") as caught:
            client.send(0, bytes((1 << 20) + 1))
        assert caught.value.reason == "too_long"
        with pytest.raises(StartError, match="1025 bytes, of at most 1024"):
            game.server.connect_local(bytes(1_025))


@pytest.mark.parametrize(
    "listen, remedy",
    [("localhost", "such as 0"), ("127.0.0.1:99999", "such as 0"), ("192.0.2.1:1", "cannot"), ("\ud800:1", "surrogates not allowed")],
)
def test_a_server_needs_an_address_of_this_machine(listen: str, remedy: str) -> None:
    with pytest.raises((StartError, UnicodeEncodeError), match=remedy):
        Server(listen)


def test_a_port_in_use_is_named() -> None:
    with Server("127.0.0.1:0") as server, pytest.raises(StartError, match="the port is in use"):
        Server(server.address)


@pytest.mark.parametrize(
    "url, remedy",
    [
        ("", "begins with none of"),
        ("http://127.0.0.1:1", "begins with none of"),
        ("skip://", "has no host"),
        ("skip://127.0.0.1:1#sha256=12", "64 hexadecimal digits"),
        ("local:", "only its own process"),
    ],
)
def test_a_url_that_cannot_be_read_is_quoted(url: str, remedy: str) -> None:
    with pytest.raises(StartError, match=remedy):
        Client(url)


@pytest.mark.parametrize(
    "settings",
    [
        {"trusted_proxies": ["nowhere"]},
        {"queue_bytes_max": 1},
        {"memory_max": 1},
        {"query_answer": bytes(2_000)},
        {"origins": ["game.example"]},
    ],
)
def test_settings_of_a_server_are_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(StartError):
        Server("127.0.0.1:0", **settings)


def test_settings_are_checked() -> None:
    for settings in (
        Settings([ChannelRule(9, 3)]),
        Settings([ChannelRule(0, weight=0)]),
        Settings(idle_timeout=0.001),
        Settings(window_bytes=1),
        Settings([ChannelRule(0) for _ in range(70_000)]),
    ):
        with pytest.raises(StartError):
            Server(None, settings=settings)
    with pytest.raises(ValueError, match="1 to 8"):
        Redundancy.repeat(9)
    with pytest.raises(ValueError, match="64 of both at most"):
        Redundancy.fixed(60, 5)
    with pytest.raises(TypeError):
        Settings(WRONG)
    with pytest.raises(TypeError):
        ChannelRule(0, mode=WRONG)


def test_trust_and_impairment_are_checked() -> None:
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        Trust.pinned("über" * 16)
    with pytest.raises(StartError, match="certificate of an authority"):
        Client("skip://127.0.0.1:1", trust=Trust.authority("no PEM"))
    with pytest.raises(StartError):
        Impairment(loss=1.5)
    with pytest.raises(StartError):
        Client("ws://127.0.0.1:1", impairment=Impairment(loss=0.1))
    with pytest.raises(StartError):
        skipstone.Security.from_files("/nowhere/at/all.pem")


def test_a_text_that_is_not_utf_8_is_refused() -> None:
    with table() as game:
        client = game.join()
        with pytest.raises(UnicodeEncodeError):
            client.close(0, "\udcff")
        assert not client.is_closed
        with pytest.raises(UnicodeEncodeError):
            Client("skip://\udcff:1")


def test_two_threads_on_one_handle_raise_busy_error() -> None:
    with Server("127.0.0.1:0") as server:
        events: list[object] = []
        waiting = threading.Thread(target=lambda: events.extend(server.poll(20)))
        waiting.start()
        end = time.monotonic() + 10
        busy: BusyError | None = None
        while busy is None and time.monotonic() < end:
            try:
                server.flush()
            except BusyError as error:
                busy = error
        assert "let one thread use it" in str(busy)
        assert server.stats().sent.messages == 0
        with pytest.raises(BusyError):
            server.shutdown()
        # An event ends the wait.
        with Client(server.url) as client:
            waiting.join(10)
            assert not waiting.is_alive()
            assert isinstance(events[0], skipstone.Requested)
            assert client.poll() == []


def test_other_threads_run_while_one_waits() -> None:
    with Server("127.0.0.1:0") as server:
        turns = 0
        waiting = threading.Thread(target=lambda: server.poll(0.3))
        waiting.start()
        while waiting.is_alive():
            turns += 1
            time.sleep(0.001)
        assert turns > 20


def test_events_are_immutable() -> None:
    with table() as game:
        game.join()
        with pytest.raises(AttributeError):
            game.at_server[0].peer = PeerId(0, 0)  # type: ignore[misc]
        with pytest.raises(TypeError):
            skipstone.Message()
    assert DeliveryMode.UNRELIABLE != 0 and hash(DeliveryMode.UNRELIABLE) == hash(DeliveryMode.UNRELIABLE)
