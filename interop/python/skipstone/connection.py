"""A client's connection (WIRE.md, section 6) without clock or socket: its inputs are datagrams and the time, its
outputs datagrams and events."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace

from . import datagrams, frames
from .acks import RANGES_QUIET, UNACKNOWLEDGED_QUIET, WAITING_MAX, Received
from .channels import Inbound, Outbound
from .datagrams import PLAIN, Challenge, Hello, Open, Packet, Refuse, Reset, Versions, open_packet, seal_packet, with_check
from .numbers import Malformed, bits_for, lengthy, varint
from .recovery import Recovery, Sent
from .repair import Decoder
from .settings import ADAPTIVE, Limits, Settings

VERSION = 1
GREASE_SUITE, GREASE_VERSION, GREASE_FRAME = 1 << 6, 0x3A3A, 0x5A
HANDSHAKE_TIMEOUT = 10.0
SAME_COOKIE = 3.0
CLOSE_PTOS, CLOSE_LEAST, CLOSE_MOST = 8, 0.2, 3.0
RELIABLE_ACK_DELAY = 0.1
STREAM_MAX = 16_384
EARLY_MAX = 32
TIME_REQUESTS = 8


@dataclass
class MessageReceived:
    """Event: a message arrived."""

    channel: int
    payload: bytes


@dataclass
class Accepted:
    """Event: the connection is established."""

    settings: Settings


@dataclass
class Ended:
    """Event, exactly one: the connection has ended."""

    code: int
    reason: str


class Connection:
    """States: hello, open, standing, closing (this side sent CLOSE), draining (the server sent it), done."""

    def __init__(self, now: float, seed: int, token: bytes = b"", reliable: bool = False, limits: Limits | None = None) -> None:
        rng = random.Random(seed)
        self.reliable, self.limits, self.token = reliable, replace(limits or Limits()), token
        self.source, self.nonce = rng.randrange(1, 1 << 24), rng.randbytes(8)
        self.offer = datagrams.offer(PLAIN | GREASE_SUITE, [VERSION, GREASE_VERSION])
        self.limits.grease = varint(31 * rng.randrange(8, 500) + 27) + lengthy(rng.randbytes(3))
        self.grease_frame = frames.Extension(GREASE_FRAME, rng.randbytes(2))
        self.state, self.began, self.opened = "hello", now, now
        self.again_at, self.again_after = now, 0.25
        self.peer, self.key, self.settings = 0, b"", Settings()
        self.other = 0, 0
        """The server's other id, for the next move: its sequence and the id (section 6.3)."""
        self.received, self.recovery, self.decoder = Received(), Recovery(reliable), Decoder()
        self.inbound: dict[int, Inbound] = {}
        self.outbound = Outbound(0)
        self.control: list[frames.Frame] = []
        self.early: list[bytes] = []
        self.outbox: list[bytes] = []
        self.events: list[Accepted | MessageReceived | Ended] = []
        self.heard = now
        self.probe: Sent | None = None
        self.close_frame: frames.Close | None = None
        self.close_at = self.over_at = float("inf")
        self.reset_at: float | None = None
        self.times_left, self.time_at, self.clock = TIME_REQUESTS, now, (float("-inf"), float("inf"))
        self.counts: Counter[str] = Counter()

    # Requests of the application.

    def send(self, channel: int, payload: bytes, reliable: bool = True) -> None:
        self.outbound.send(channel, payload, reliable)

    def close(self, now: float, code: int = 0, reason: str = "") -> None:
        if self.state in ("hello", "open"):
            self._end(code, reason)
        elif self.state == "standing":
            self.close_frame = frames.Close(code, reason)
            self._begin_close(now, "closing", code, reason)

    def on_moved(self) -> None:
        """This side continues from another address, and is not recognised there by its previous id."""
        self.peer = self.other[1] or self.peer

    # What comes.

    def handle(self, now: float, data: bytes) -> None:
        """Handles one datagram. A malformed one is counted and dropped; on a reliable carrier it ends the
        connection."""
        if self.state == "done":
            return
        try:
            self._handle(now, datagrams.decode(data), data)
        except Malformed as error:
            self.counts[f"dropped: {error}"] += 1
            if self.reliable and self.state == "standing":
                self.close(now, 1004, f"protocol violation: {error}")

    def on_refused(self, now: float) -> None:
        """The system reports that no program listens there (ICMP)."""
        if self.state in ("hello", "open"):
            self._end(1012, "nobody listens there")
        elif self.state == "standing" and self.reset_at is None:
            self._doubt(now)

    def on_carrier_lost(self, reason: str) -> None:
        """A reliable carrier ended."""
        if self.state in ("closing", "draining"):
            self.state = "done"
        elif self.state != "done":
            self._end(1008, reason)

    def _doubt(self, now: float) -> None:
        """Sends two packets to find out whether the server still knows this connection (section 2.11)."""
        self.reset_at = now + 1.5 * self.recovery.srtt + 0.03
        for _ in range(2):
            self._transmit(now, [frames.Ping()])

    def _handle(self, now: float, datagram: datagrams.Datagram | Packet, data: bytes) -> None:
        mine = getattr(datagram, "to", None) == self.source
        ours = mine and getattr(datagram, "nonce", None) == self.nonce
        match datagram:
            case Packet() if mine and self.key:
                self._on_packet(now, data)
            case Challenge() if ours and self.state in ("hello", "open"):
                fresh = self.state == "hello" or now >= self.opened + SAME_COOKIE
                if fresh and datagram.suite == PLAIN and datagram.version == VERSION:
                    self._open(now, datagram)
            case Versions() if ours and self.state in ("hello", "open"):
                self._end(1009, f"the server speaks {datagram.versions}")
            case Refuse() if ours and self.state in ("hello", "open") and (datagram.code != 1011 or self.state == "hello"):
                self._end(datagram.code, datagram.reason)
            case Reset() if self.state == "standing" and datagram.id == self.peer and self.reset_at is None and not self.reliable:
                self._doubt(now)
            case _:
                raise Malformed("not for this state")

    def _open(self, now: float, challenge: Challenge) -> None:
        if not self.recovery.sampled and self.again_after == 0.5:
            self.recovery.srtt, self.recovery.rttvar = now - self.began, (now - self.began) / 2
        self.state, self.opened, self.key = "open", now, challenge.cookie[-16:]
        head = Open(self.source, self.nonce, challenge.version, PLAIN, challenge.cookie, self.offer).header()
        body = frames.encode([frames.Connect(self.token, self.limits), self.grease_frame])
        sealed = seal_packet(head, 0, 14, body, self.key)
        self.open_datagram = with_check(sealed)
        self.again_at, self.again_after = now, 0.25

    def _on_packet(self, now: float, data: bytes) -> None:
        number, _, body = open_packet(data, 4, len(data), self.key, self.received.next())
        if self.received.is_replay(number):
            raise Malformed("replay")
        content = frames.decode(body, number, self.recovery.next, self._reference)
        if self.state == "open" and not any(isinstance(f, (frames.Accept, frames.Close)) for f in content.frames):
            self.counts["early"] += 1
            self.early = (self.early + [data])[-EARLY_MAX:]
            return
        self._apply(now, number, content, repaired=False)
        if not self.reliable:
            repairs = [f for f in content.frames if isinstance(f, frames.Repair)]
            made = self.decoder.on_packet(number, body[content.start :]) if not repairs and body[content.start :] else []
            for repair in repairs:
                self.counts["repairs"] += 1
                made += self.decoder.on_repair(repair, self.received.spans)
            self._apply_made(now, made)
        early, self.early = (self.early, []) if self.state == "standing" else ([], self.early)
        for datagram in early:
            self.handle(now, datagram)

    def _apply_made(self, now: float, made: list[tuple[int, bytes]]) -> None:
        while made:
            number, body = made.pop(0)
            if not self.received.is_replay(number):
                try:
                    self._apply(now, number, frames.decode(body, number, self.recovery.next, self._reference), repaired=True)
                    self.counts["recovered"] += 1
                except Malformed as error:
                    self.counts[f"dropped: recovered, {error}"] += 1
            if number not in self.decoder.known:
                made += self.decoder.on_packet(number, body)

    def _apply(self, now: float, number: int, content: frames.Content, repaired: bool) -> None:
        """Checks all of the packet before any of it takes effect."""
        accept = next((f for f in content.frames if isinstance(f, frames.Accept)), None)
        settings = accept.settings if accept and self.state == "open" else self.settings
        messages = [f for f in content.frames if isinstance(f, frames.Message)]
        for message in messages:
            inbound = self.inbound.get(message.channel) or Inbound(settings.rule(message.channel).mode)
            inbound.check(message, min(settings.message_bytes_max, self.limits.message_bytes_max))
            self.inbound[message.channel] = inbound
        if self._held(partial=True) + sum(self.inbound[m.channel].cost(m) for m in messages) > self._window(settings):
            raise Malformed("beyond the receive window")
        if any(isinstance(f, (frames.Ack, frames.Repaired)) and f.ranges[0][1] >= self.recovery.next for f in content.frames):
            raise Malformed("a number that was never sent")
        self.heard, self.reset_at = now, None
        delay = RELIABLE_ACK_DELAY if self.reliable else settings.ack_delay_us / 1e6
        longest = STREAM_MAX if self.reliable else settings.datagram_bytes_max
        waiting_max = max(1, min(WAITING_MAX, self._window(settings) // 2 // longest))
        self.received.on_packet(now, number, content.asks(), repaired, delay, waiting_max)
        recovered: frames.Ranges = []
        counted: set[type] = set()
        for frame in content.frames:
            self.counts[type(frame).__name__] += 1
            if isinstance(frame, (frames.Ack, frames.Repaired)):
                if type(frame) in counted:
                    continue  # Of several in a packet the first counts (section 4.1).
                counted.add(type(frame))
            if isinstance(frame, frames.Repaired):
                recovered = frame.ranges
            elif isinstance(frame, frames.Ack):
                self._on_ack(now, frame, recovered)
            elif isinstance(frame, frames.Message):
                self._on_message(frame)
            else:
                self._on_control(now, frame)

    def _on_message(self, message: frames.Message) -> None:
        inbound = self.inbound[message.channel]
        if self.reliable and inbound.mode in (2, 3) and inbound.cost(message) and message.sequence != inbound.next:
            raise Malformed("a sequence above the next on a reliable carrier")
        if self.state == "standing":
            self.events += [MessageReceived(message.channel, payload) for payload in inbound.handle(message)]

    def _on_ack(self, now: float, ack: frames.Ack, recovered: frames.Ranges) -> None:
        self.outbound.window = self.settings.window_bytes if ack.window is None else ack.window
        arrived, lost = self.recovery.on_ack(now, ack, recovered)
        for packet in arrived:
            self.received.repaired -= packet.repaired
            for chunk in packet.chunks:
                self.outbound.on_acknowledged(chunk)
        self._on_lost(lost)

    def _on_lost(self, lost: list[Sent]) -> None:
        for packet in lost:
            self.outbound.on_lost(packet.chunks)

    def _on_control(self, now: float, frame: frames.Frame) -> None:
        match frame:
            case frames.Accept() if self.state == "open":
                self.state, self.peer, self.settings = "standing", frame.source, frame.settings
                self.outbound.window = frame.settings.window_bytes
                self.time_at = now
                self.events.append(Accepted(frame.settings))
            case frames.NewId() if frame.sequence > self.other[0]:
                self.other = frame.sequence, frame.id
            case frames.PathChallenge():
                self.control.append(frames.PathResponse(frame.token))
            case frames.TimeResponse():
                round_trip = int(now * 1e6) - frame.sent_us - frame.held_us
                if round_trip >= 0:
                    here = int(now * 1e6) - frame.server_us
                    low, high = self.clock
                    self.clock = max(low, here - round_trip), min(high, here)
            case frames.Close():
                self.control = [frames.Closed()] if self.peer else []
                if self.state == "open":
                    self._end(frame.code, frame.reason)
                elif self.state == "standing":
                    self._begin_close(now, "draining", frame.code, frame.reason)
                elif self.state == "closing":
                    self._transmit(now, self.control)
                    self.state = "done"
            case frames.Closed() if self.state == "closing":
                self.counts["closed in peace"] += 1
                self.state = "done"

    # What leaves.

    def poll(self, now: float) -> list[bytes]:
        """Datagrams to send at this time."""
        if self.state in ("hello", "open"):
            self._poll_handshake(now)
        elif self.state in ("closing", "draining"):
            self._poll_close(now)
        elif self.state == "standing":
            self._poll_timers(now)
            self._poll_packets(now)
        result, self.outbox = self.outbox, []
        return result

    def deadline(self) -> float:
        """When `poll` is due, unless a datagram arrives before."""
        if self.state in ("hello", "open"):
            return min(self.again_at, self.began + HANDSHAKE_TIMEOUT)
        if self.state in ("closing", "draining"):
            return min(self.close_at, self.over_at)
        times = [self.received.due, self.recovery.deadline(self._peer_delay(self.heard)), self.reset_at, self.heard + self._keepalive()]
        pace = [self.recovery.pace_at()] if self.outbound.ready() else []
        return min([t for t in times if t is not None] + pace + ([self.time_at] if self.times_left else []))

    def _poll_handshake(self, now: float) -> None:
        if now >= self.began + HANDSHAKE_TIMEOUT:
            return self._end(1006, "handshake timed out")
        if now >= self.again_at:
            hello = self.state == "hello"
            self.outbox.append(Hello(self.source, self.nonce, self.offer).encode() if hello else self.open_datagram)
            self.again_at, self.again_after = now + self.again_after, min(0.5, self.again_after * 2)
            self.again_at = float("inf") if self.reliable else self.again_at

    def _poll_close(self, now: float) -> None:
        if now >= self.over_at:
            self.state = "done"
        elif self.close_frame and now >= self.close_at:
            self._transmit(now, [self.close_frame])
            self.close_at = float("inf") if self.reliable else now + self.recovery.pto(self._peer_delay(now))
        elif self.control:
            self._transmit(now, self.control)
            self.control = []

    def _poll_timers(self, now: float) -> None:
        if self.reset_at is not None and now >= self.reset_at:
            return self._end(1008, "the server knows no such connection")
        if now >= self.heard + self.settings.idle_timeout_ms / 1000:
            return self._end(1007, "idle timeout")
        if now >= self.heard + self._keepalive() and not self.recovery.in_flight:
            self.control.append(frames.Ping())
        if self.times_left and now >= self.time_at:
            self.control.append(frames.TimeRequest(int(now * 1e6)))
            self.times_left, self.time_at = self.times_left - 1, now + 0.1
        lost, self.probe = self.recovery.on_timer(now, self._peer_delay(now))
        self._on_lost(lost)

    def _poll_packets(self, now: float) -> None:
        if self.state != "standing":
            return
        if self.probe:
            self._on_lost([self.probe])
            self.control += [] if self.outbound.ready() else [frames.Ping()]
        while self.control or self.outbound.ready() and (self.probe or self.recovery.may_send(now)):
            control, probe, self.control, self.probe = self.control, self.probe, [], None
            self._transmit(now, control, beyond=probe is not None)
        if self.received.due is not None and now >= self.received.due:
            self._transmit(now, [])

    def _transmit(self, now: float, control: list[frames.Frame], beyond: bool = False) -> None:
        """One packet: ACK, then control frames, then messages while there is room."""
        recovery = self.recovery
        number, least = recovery.next, min(self.settings.datagram_bytes_max, 1200)
        recovery.next += 1
        held = self._held()
        window = max(0, self._window(self.settings) - held) if held else None
        bits = bits_for(number - recovery.largest_acked - 1)
        body = self.received.frames(now, window, recovery.largest_acked + 1 if recovery.largest_acked else 1) + control
        room = (4080 if self.reliable else least) - 4 - 5 - datagrams.TAG - len(frames.encode(body))
        messages, chunks = self.outbound.pack(room) if self.state == "standing" and (beyond or recovery.may_send(now)) else ([], [])
        many = len(body) > len(control) and len(self.received.spans.items) > RANGES_QUIET
        if not messages and not control and (many or number - recovery.largest_acked > UNACKNOWLEDGED_QUIET):
            body.append(frames.Ping())
        body += messages
        header = bytes([datagrams.PACKET]) + self.peer.to_bytes(3, "big")
        data = seal_packet(header, number, bits, frames.encode(body), self.key)
        repaired = {n for f in body if isinstance(f, frames.Repaired) for low, high in f.ranges for n in range(low, high + 1)}
        recovery.on_sent(Sent(number, now, len(data), frames.Content(body).asks(), chunks, repaired))
        self.outbox.append(data)

    # Small things.

    def _reference(self, channel: int) -> int:
        return self.inbound[channel].next if channel in self.inbound else 0

    def _window(self, settings: Settings) -> int:
        return min(settings.window_bytes, self.limits.window_bytes)

    def _held(self, partial: bool = False) -> int:
        return sum(i.held() + (i.partial_cost() if partial else 0) for i in self.inbound.values() if i.reliable())

    def _peer_may_wait(self, now: float) -> bool:
        adaptive = self.settings.redundancy[0][0] == ADAPTIVE and all(not rule.redundancy for rule in self.settings.channels)
        return adaptive and now - self.recovery.last_loss > 2

    def _peer_delay(self, now: float) -> float:
        own = 0.1 if self.reliable else self.settings.ack_delay_us / 1e6
        return max(own, self.settings.ack_delay_max_us / 1e6) if self._peer_may_wait(now) else own

    def _keepalive(self) -> float:
        return min(self.settings.keepalive_ms, self.settings.idle_timeout_ms * 5 / 6) / 1000

    def _begin_close(self, now: float, state: str, code: int, reason: str) -> None:
        self.state, self.close_at = state, now
        patience = CLOSE_PTOS * self.recovery.pto(self._peer_delay(now))
        self.over_at = now + min(CLOSE_MOST, max(CLOSE_LEAST, patience))
        self.events.append(Ended(code, reason))

    def _end(self, code: int, reason: str) -> None:
        self.state = "done"
        self.events.append(Ended(code, reason))
