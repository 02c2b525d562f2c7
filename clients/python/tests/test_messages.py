"""Messages, channels, groups, receipts and the end of connections, stepped in one thread."""

import os
import time
from pathlib import Path

import pytest
import skipstone
from play import table
from skipstone import ChannelRule, ClosedBy, DeliveryMode, Redundancy, SendError, Settings


def test_a_message_goes_both_ways() -> None:
    with table() as game:
        client = game.join(b"Ann")
        requested = game.at_server[0]
        assert isinstance(requested, skipstone.Requested)
        assert (requested.token, requested.remote) == (b"Ann", "127.0.0.1:0")
        client.send(0, b"ping")
        game.until(lambda: game.said() == [b"ping"])
        game.server.send(game.peers()[0], 7, b"pong")
        game.until(lambda: game.heard(client) == [b"pong"])


def test_any_buffer_of_bytes_is_a_message() -> None:
    with table() as game:
        client = game.join()
        for payload in (b"bytes", bytearray(b"array"), memoryview(b"--view--")[2:6], b""):
            client.send(0, payload)
        game.until(lambda: len(game.said()) == 4)
        assert game.said() == [b"bytes", b"array", b"view", b""]


def test_a_thousand_messages_arrive_once_and_in_order() -> None:
    with table() as game:
        client = game.join()
        sent = [b"%d" % number for number in range(1_000)]
        for payload in sent:
            client.send(1, payload)
        game.until(lambda: len(game.said()) >= len(sent))
        assert game.said() == sent


def test_events_match_by_position_and_by_name() -> None:
    with table() as game:
        client = game.join()
        client.send(3, b"hello")
        game.until(lambda: game.said() != [])
        match game.at_server[-1]:
            case skipstone.Message(peer, 3, payload=payload):
                assert (peer, payload) == (game.peers()[0], b"hello")
            case other:
                raise AssertionError(other)
        assert repr(game.at_server[-1]).startswith("Message(peer=PeerId(0, ")


def test_groups_get_their_messages() -> None:
    with table() as game:
        clients = [game.join() for _ in range(3)]
        peers = game.peers()
        for peer in (peers[0], peers[2]):
            game.server.join(peer, 1)
        assert game.server.broadcast(0, b"everybody").peers == 3
        assert game.server.broadcast(0, b"red", group=1).peers == 2
        game.until(lambda: all(b"everybody" in game.heard(client) for client in clients))
        game.until(lambda: b"red" in game.heard(clients[0]) and b"red" in game.heard(clients[2]))
        assert game.heard(clients[1]) == [b"everybody"]
        game.server.leave(peers[0], 1)
        assert game.server.broadcast(0, b"blue", group=1).peers == 1


def test_a_broadcast_skips_the_excluded_peers() -> None:
    with table() as game:
        clients = [game.join() for _ in range(3)]
        peers = game.peers()
        assert game.server.broadcast_except(0, b"not 1", [peers[1]]).peers == 2
        assert game.server.broadcast_except(0, b"all", []).peers == 3
        game.until(lambda: all(b"all" in game.heard(client) for client in clients))
        assert [b"not 1" in game.heard(client) for client in clients] == [True, False, True]
        assert sorted(game.server.peers()) == sorted(peers)
        assert game.server.remote_addr(peers[0]) is not None
        assert game.server.remote_addr(skipstone.PeerId(70, 3)) is None


def test_the_channel_table_reaches_the_client() -> None:
    rules = [
        ChannelRule(0, redundancy=Redundancy.repeat(2)),
        ChannelRule(1, 99, DeliveryMode.UNRELIABLE_SEQUENCED, priority=0),
    ]
    with table(Settings(rules, idle_timeout=7.5)) as game:
        client = game.join()
        connected = game.at_client[client][0]
        assert isinstance(connected, skipstone.Connected)
        assert connected.settings.idle_timeout == 7.5
        first, second = connected.settings.channels
        assert (first.first, first.last, first.redundancy) == (0, 0, Redundancy.repeat(2))
        assert (second.last, second.mode, second.priority) == (99, DeliveryMode.UNRELIABLE_SEQUENCED, 0)
        try:
            client.send(100, b"nowhere")
        except SendError as error:
            assert (error.reason, error.payload) == ("no_such_channel", b"nowhere")
            assert "add one to the channel table" in str(error)
        else:
            raise AssertionError("channel 100 has no rule")


def test_receipts_report_arrival() -> None:
    with table(Settings([ChannelRule(0, receipts=True)])) as game:
        client = game.join()
        message = client.send(0, b"the sword for the shield")
        game.until(lambda: any(isinstance(event, skipstone.Acknowledged) for event in game.at_client[client]))
        receipt = game.at_client[client][-1]
        assert isinstance(receipt, skipstone.Acknowledged)
        assert (receipt.id, receipt.channel) == (message, 0)


def test_a_refused_client_gets_the_reason() -> None:
    with table() as game:
        game.accepts = False
        client = game.ask(b"Zoe")
        game.until(lambda: game.at_server != [])
        game.server.refuse(game.at_server[0].peer, 42, "choose another name")
        game.until(lambda: game.closes(game.at_client[client]) != [])
        [close] = game.closes(game.at_client[client])
        assert (close.by, close.code, close.reason) == (ClosedBy.PEER, 42, "choose another name")


def test_both_sides_get_the_same_code_and_reason() -> None:
    with table() as game:
        client = game.join()
        game.server.close(game.peers()[0], 7, "günstig")
        game.until(lambda: game.closes(game.at_client[client]) != [] and game.closes(game.at_server) != [])
        [close] = game.closes(game.at_client[client])
        assert (close.by, close.code, close.reason) == (ClosedBy.PEER, 7, "günstig")
        assert close.reason_bytes == "günstig".encode()
        [close] = game.closes(game.at_server)
        assert (close.by, close.code) == (ClosedBy.LOCAL, 7)


def test_a_long_reason_is_truncated() -> None:
    with table() as game:
        client = game.join()
        game.server.close(game.peers()[0], 7, "ü" * 400)
        game.until(lambda: game.closes(game.at_client[client]) != [])
        [close] = game.closes(game.at_client[client])
        assert len(close.reason_bytes) <= 512
        assert close.reason.startswith("üüü")


def test_statistics_count_messages() -> None:
    with table() as game:
        client = game.join()
        for _ in range(5):
            client.send(0, b"12345")
        game.until(lambda: len(game.said()) == 5)
        game.until(lambda: game.server.stats().received.payload_bytes == 25)
        overview = game.server.overview(game.peers()[0])
        assert overview is not None
        assert overview.carrier == "local"
        assert list(game.server.overviews()) == game.peers()
        final = game.server.shutdown(linger=0)
        assert final.received.messages == 5


def test_a_loop_keeps_its_tick_and_gets_every_event() -> None:
    with table() as game:
        client = game.join()
        interval, ticks = 0.01, 10
        began = time.monotonic()
        missed = received = 0
        for _ in range(ticks):
            for _ in range(10):
                client.send(0, b"an event")
            client.poll()
            missed += game.server.wait_tick(interval)
            received += len(game.server.poll())
        assert time.monotonic() - began >= interval * (ticks + missed) - 0.001
        for _ in range(1_000):
            client.poll()
            received += len(game.server.poll(0.001))
            if received == 100:
                break
        assert received == 100


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors have no names here")
def test_a_failed_driver_loses_no_event() -> None:
    before = polls()
    with table() as game:
        (server_poll,) = polls() - before
        game.join()
        with Path("/dev/null").open() as null:
            os.dup2(null.fileno(), server_poll)
        assert [type(event) for event in game.server.poll()] == [skipstone.Closed]
        with pytest.raises(skipstone.ClosedError, match="has failed"):
            game.server.poll()


def polls() -> set[int]:
    """The file descriptors on which drivers wait."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            if "eventpoll" in os.readlink(f"/proc/self/fd/{number}"):
                found.add(int(number))
        except FileNotFoundError:
            continue  # that of the listing itself
    return found
