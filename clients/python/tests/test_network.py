"""Over loopback: certificates, carriers, loss, threads of the library's own."""

from pathlib import Path

import pytest
import skipstone
from skipstone import Client, ClosedBy, Impairment, Reconnect, Security, Server, Trust

PATIENCE = 20.0


def connect(server: Server, client: Client) -> skipstone.Close | None:
    """Accepts the client. `None`, or how the attempt ended."""
    for _ in range(int(PATIENCE / 0.01)):
        for event in server.poll(0.005):
            if isinstance(event, skipstone.Requested):
                server.accept(event.peer)
        for event in client.poll(0.005):
            if isinstance(event, skipstone.Connected):
                return None
            if isinstance(event, skipstone.Closed):
                return event.close
    raise AssertionError("nothing came of it")


@pytest.mark.parametrize("carrier", ["udp", "ws", "wss", "tcp"])
def test_every_carrier_reaches_the_server(carrier: str) -> None:
    with Server("127.0.0.1:0") as server:
        scheme = {"udp": "skip"}.get(carrier, carrier)
        pin = f"#sha256={server.fingerprint}" if carrier in ("udp", "wss") else ""
        with Client(f"{scheme}://{server.address}{pin}") as client:
            assert connect(server, client) is None
            assert client.remote == server.address
            client.send(0, b"hello")
            messages: list[skipstone.Event] = []
            for _ in range(200):
                messages += [event for event in server.poll(0.1) if isinstance(event, skipstone.Message)]
                if messages:
                    break
            assert [event.payload for event in messages if isinstance(event, skipstone.Message)] == [b"hello"]


def test_pages_have_their_own_certificate() -> None:
    with Server("127.0.0.1:0") as server:
        assert server.webtransport_url == f"https://{server.address}/"
        [fingerprint, *_] = server.web_fingerprints()
        assert len(fingerprint) == 64 and fingerprint != server.fingerprint
    with Server(None) as server:
        assert server.webtransport_url is None and server.web_fingerprints() == []


def test_trust_decides_which_servers_are_accepted(tmp_path: Path) -> None:
    security = Security.self_signed(tmp_path / "server.pem")
    with Server("127.0.0.1:0", security=security) as server:
        assert server.fingerprint == security.fingerprint
        assert server.fingerprint is not None
        bare = f"skip://{server.address}"
        for trust in (Trust.pinned(server.fingerprint), Trust.dangerously_anything()):
            with Client(bare, trust=trust) as client:
                assert connect(server, client) is None
        for trust in (Trust.pinned("00" * 32), Trust.system()):
            with Client(bare, trust=trust) as client:
                close = connect(server, client)
                assert close is not None and close.code == skipstone.CODE_SECURITY
        with Client(f"skip+plain://{server.address}") as client:
            close = connect(server, client)
            assert close is not None and close.code == skipstone.CODE_NO_COMMON_SUITE
    again = Security.from_files(tmp_path / "server.pem")
    assert again.fingerprint == security.fingerprint


def test_denied_addresses_are_counted_until_they_are_allowed() -> None:
    with pytest.raises(skipstone.StartError, match="denied"):
        Server("127.0.0.1:0", denied=["nonsense"])
    with Server("127.0.0.1:0", denied=["192.0.2.0/24", "127.0.0.1"]) as server, Client(server.url) as client:
        for _ in range(int(PATIENCE / 0.005)):
            if server.driver_stats().denied > 0:
                break
            server.poll(0.005)
        stats = server.driver_stats()
        assert stats.denied > 0 and stats.receive_buffer_bytes > 0 and stats.streams.accepted == 0
        with pytest.raises(ValueError, match="nor a network"):
            server.set_denied(["nonsense"])
        server.set_denied(["192.0.2.7"])
        assert connect(server, client) is None
        assert client.driver_stats().rounds > 0


def test_a_client_reconnects_with_its_latest_token() -> None:
    reconnect = Reconnect(pause_min=0.02)
    with Server("127.0.0.1:0") as server, Client(server.url, b"first", reconnect=reconnect) as client:
        assert client.returns_in is None
        with pytest.raises(skipstone.StartError, match="1024"):
            client.set_token(bytes(1_025))
        client.set_token(b"again")
        tokens: list[bytes] = []
        connected = 0
        for _ in range(int(PATIENCE / 0.01)):
            for event in server.poll(0.005):
                match event:
                    case skipstone.Requested(peer, token):
                        tokens.append(token)
                        server.accept(peer)
                    case skipstone.Connected(peer) if len(tokens) == 1:
                        server.close(peer, skipstone.CODE_RESTART, "retry=60..60", linger=0)
            for event in client.poll(0.005):
                match event:
                    case skipstone.Connected():
                        connected += 1
                    case skipstone.Closed():
                        assert client.returns_in is not None and client.returns_in <= 0.1
            if connected == 2:
                break
        assert tokens == [b"first", b"again"] and client.returns_in is None
    with pytest.raises(skipstone.StartError, match="reconnect"):
        Client("skip+plain://127.0.0.1:9", reconnect=Reconnect(pause_min=2, pause_max=1))


@pytest.mark.skipif(not Path("/proc/sys/net/core/rmem_max").exists(), reason="buffers are not limited so here")
def test_warnings_report_socket_problems() -> None:
    with Server("127.0.0.1:0") as server:
        is_short = server.driver_stats().are_buffers_short
        assert any("buffer" in warning for warning in server.warnings) == is_short
        assert server.certificate_events() == []
    with Server(None) as server:
        assert server.warnings == []


def test_lines_arrive_once_and_in_order_under_loss() -> None:
    with Server("127.0.0.1:0", websocket=False) as server:
        lossy = Impairment(loss=0.1, delay=0.002, seed=5)
        with Client(server.url, impairment=lossy) as client:
            assert connect(server, client) is None
            sent = [b"%d" % number for number in range(500)]
            for line in sent:
                client.send(0, line)
            heard: list[bytes] = []
            for _ in range(int(PATIENCE / 0.05)):
                heard += [event.payload for event in server.poll(0.05) if isinstance(event, skipstone.Message)]
                if len(heard) >= len(sent):
                    break
            assert heard == sent


def test_a_server_that_shuts_down_sends_a_close() -> None:
    server = Server("127.0.0.1:0")
    with Client(server.url) as client:
        assert connect(server, client) is None
        final = server.shutdown(reason="the night comes")
        assert final.sent.datagrams > 0
        closes = [event.close for event in client.poll(PATIENCE) if isinstance(event, skipstone.Closed)]
        assert [(close.by, close.code, close.reason) for close in closes] == [
            (ClosedBy.PEER, skipstone.CODE_SHUTDOWN, "the night comes")
        ]


def test_the_server_time_is_estimated() -> None:
    with Server("127.0.0.1:0") as server, Client(server.url) as client:
        assert connect(server, client) is None
        for _ in range(200):
            client.poll(0.02)
            estimate = client.server_time()
            if estimate is not None:
                break
        assert estimate is not None
        assert abs(server.time() - estimate.at) < estimate.error + 1
        assert client.rebind()
