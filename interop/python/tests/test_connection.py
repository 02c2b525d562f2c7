"""A connection against a model server in virtual time."""

import random
import unittest
from dataclasses import replace

from skipstone import datagrams, frames, repair
from skipstone.channels import Inbound
from skipstone.connection import Accepted, Connection, Ended, MessageReceived
from skipstone.settings import RELIABLE_ORDERED, Rule, Settings
from skipstone.spans import Spans

COOKIE = bytes(range(20))
ID = 0x0A0B0C


class Server:
    """Opens a client's datagrams, records the frames, and sends what a test requests."""

    def __init__(self, settings=None, token=b"me"):
        self.settings, self.next, self.reference = settings or Settings(), 0, 0
        self.frames, self.numbers, self.token = [], [], token

    def say(self, *said, number=None, cookie=COOKIE):
        number = self.next if number is None else number
        self.next = max(self.next, number + 1)
        header = bytes([datagrams.PACKET]) + self.to.to_bytes(3, "big")
        return datagrams.seal_packet(header, number, 14, frames.encode(list(said)), cookie[-16:])

    def accept(self):
        return self.say(frames.Accept(ID, self.settings))

    def hear(self, data):
        """The server's automatic answers."""
        d = datagrams.decode(data)
        if isinstance(d, datagrams.Hello):
            self.to = d.source
            return [datagrams.Challenge(d.source, d.nonce, 1, 1, COOKIE).encode()]
        if isinstance(d, datagrams.Open):
            start, end = len(d.header()) - len(d.rest), len(data) - 4
        else:
            assert d.to == ID
            start, end = 4, len(data)
        number, _, body = datagrams.open_packet(data, start, end, COOKIE[-16:], self.reference)
        self.reference = max(self.reference, number + 1)
        self.numbers.append(number)
        self.frames.append(frames.decode(body, number, self.next, lambda channel: 0).frames)
        return [self.accept()] if isinstance(d, datagrams.Open) else []

    def last(self, kind):
        return [f for packet in self.frames for f in packet if isinstance(f, kind)][-1]


class World(unittest.TestCase):
    def start(self, settings=None, reliable=False):
        self.now, self.server, self.client = 100.0, Server(settings), Connection(100.0, 1, b"me", reliable)
        self.client.times_left = 0
        self.run_for(0.02)
        self.assertEqual([type(e) for e in self.client.events], [Accepted])
        self.client.events.clear()

    def run_for(self, seconds):
        end = self.now + seconds
        while self.now <= end:
            for data in self.client.poll(self.now):
                for answer in self.server.hear(data):
                    self.client.handle(self.now, answer)
            self.now += 0.001

    def hear(self, *said, **how):
        self.client.handle(self.now, self.server.say(*said, **how))

    def payloads(self):
        return [e.payload for e in self.client.events if isinstance(e, MessageReceived)]

    def message(self, sequence, payload=b"x", **more):
        return frames.Message(0, sequence, payload, bits=14, **more)


class AConnection(World):
    def test_connect_contains_the_token_and_grease(self):
        self.start()
        [connect, extension] = self.server.frames[0]
        self.assertEqual((connect.token, extension.type), (b"me", 0x5A))

    def test_hello_is_repeated_after_250_ms_then_each_500_ms(self):
        client, times = Connection(0.0, 1), []
        for millisecond in range(9_000):
            times += [millisecond / 1000] * len(client.poll(millisecond / 1000))
        self.assertEqual([round(t, 2) for t in times], [0] + [0.25 + 0.5 * n for n in range(18)])

    def test_a_second_challenge_is_ignored_for_3_s(self):
        client = Connection(0.0, 1)
        hello = datagrams.decode(client.poll(0.0)[0])
        for now, cookie, key in ((0.1, b"a", b"a"), (3.0, b"b", b"a"), (3.2, b"c", b"c")):
            client.handle(now, datagrams.Challenge(hello.source, hello.nonce, 1, 1, cookie * 20).encode())
            self.assertEqual(client.key, key * 16)

    def test_packets_before_accept_are_applied_after_it(self):
        client, server = Connection(0.0, 1), Server()
        [challenge] = server.hear(client.poll(0.0)[0])
        client.handle(0.0, challenge)
        late = server.accept()
        client.handle(0.0, server.say(self.message(0)))
        client.handle(0.0, late)
        self.assertEqual([type(e) for e in client.events], [Accepted, MessageReceived])

    def test_a_packet_opens_once_and_damage_is_dropped(self):
        self.start()
        data = self.server.say(self.message(0))
        for bit in range(32, len(data) * 8):
            self.client.handle(self.now, (int.from_bytes(data, "big") ^ 1 << (len(data) * 8 - 1 - bit)).to_bytes(len(data), "big"))
        self.assertEqual(self.payloads(), [])
        for _ in range(3):
            self.client.handle(self.now, data)
        self.assertEqual((self.payloads(), self.client.counts["dropped: replay"]), ([b"x"], 2))

    def test_random_bytes_never_raise(self):
        self.start()
        rng = random.Random(5)
        for _ in range(3000):
            self.client.handle(self.now, bytes([rng.randrange(0x80, 0x8A)]) + rng.randbytes(rng.randrange(80)))
            body = rng.randbytes(rng.randrange(1, 40))
            header = bytes([datagrams.PACKET]) + self.server.to.to_bytes(3, "big")
            self.client.handle(self.now, datagrams.seal_packet(header, self.server.next, 14, body, COOKIE[-16:]))
            self.server.next += 1

    def test_a_malformed_frame_drops_the_whole_packet_without_an_ack(self):
        self.start()
        self.hear(self.message(0), frames.Extension(0x3F, b""))
        self.hear(frames.Ping())
        self.run_for(0.01)
        self.assertEqual((self.payloads(), self.server.last(frames.Ack).ranges), ([], [(2, 2), (0, 0)]))

    def test_an_ack_names_gaps_and_is_sent_at_once_after_one(self):
        self.start(Settings(ack_delay_us=50_000))
        self.hear(frames.Ping())
        self.run_for(0.01)
        self.assertEqual(len(self.server.frames), 1)
        self.hear(frames.Ping(), number=5)
        self.run_for(0)
        self.assertEqual(self.server.last(frames.Ack).ranges, [(5, 5), (0, 1)])

    def test_32_waiting_packets_are_acknowledged_at_once(self):
        self.start(Settings(ack_delay_us=10_000_000))
        for _ in range(30):
            self.hear(frames.Ping())
        self.run_for(0)
        self.assertEqual(len(self.server.frames), 1)
        self.hear(frames.Ping())
        self.run_for(0)
        self.assertEqual(self.server.last(frames.Ack).ranges, [(0, 31)])

    def test_unknown_extension_frames_are_skipped_and_those_from_0x60_ask(self):
        self.start()
        count = len(self.server.frames)
        self.hear(frames.Extension(0x4A, b"abc"))
        self.run_for(0.1)
        self.assertEqual(len(self.server.frames), count)
        self.hear(frames.Extension(0x6A, b"abc"))
        self.run_for(0.1)
        self.assertEqual(len(self.server.frames), count + 1)

    def test_a_path_challenge_is_answered_at_once(self):
        self.start()
        self.hear(frames.PathChallenge(b"12345678"))
        self.run_for(0)
        self.assertEqual(self.server.last(frames.PathResponse).token, b"12345678")

    def test_a_lost_packet_is_recovered_and_reported(self):
        self.start()
        lost, came = frames.encode([self.message(0, b"lost")]), [self.message(1, b"came")]
        self.hear(*came, number=2)
        symbols = {1: repair.source_symbol(1, lost), 2: repair.source_symbol(2, frames.encode(came))}
        self.hear(frames.Repair(9, 1, [(1, 2)], repair.combine(9, symbols)), number=3)
        self.run_for(0)
        self.assertEqual(self.payloads(), [b"lost", b"came"])
        self.assertEqual((self.server.last(frames.Repaired).ranges, self.server.last(frames.Ack).ranges), ([(1, 1)], [(0, 3)]))

    def test_an_overtaken_packet_is_lost_after_little_more_than_a_round_trip(self):
        self.start(Settings(ack_delay_us=500_000))
        for sequence in range(2):
            self.client.send(0, b"x" * 1000)
            self.run_for(0.01)
        self.client.recovery.srtt, self.client.recovery.rttvar = 0.05, 0.0
        self.hear(frames.Ack([(self.server.numbers[-1],) * 2], 0))
        self.run_for(0.1)
        self.assertEqual(self.server.last(frames.Message).sequence, 0)
        self.assertEqual(self.client.recovery.probes, 0)

    def test_messages_beyond_the_receive_window_are_not_acknowledged(self):
        self.start(Settings(message_bytes_max=1000, window_bytes=2_500))
        for sequence in (3, 2, 1):
            self.hear(self.message(sequence, bytes(1000)))
        self.hear(self.message(0, b"first"))
        self.run_for(0.1)
        self.assertEqual(self.server.last(frames.Ack).ranges, [(4, 4), (0, 2)])
        self.assertEqual(self.server.last(frames.Ack).window, 2_500 - 2 * (1000 + 62 + 64))
        self.assertEqual(self.payloads(), [b"first"])

    def test_an_ack_of_an_unsent_packet_drops_its_packet(self):
        self.start()
        self.hear(self.message(0), frames.Ack([(0, 50)], 0))
        self.assertEqual((self.payloads(), self.client.counts["dropped: a number that was never sent"]), ([], 1))

    def test_only_the_first_ack_of_a_packet_counts(self):
        self.start()
        for i in range(2):
            self.client.send(0, bytes([i]) * 100)
            self.run_for(0.005)
        first, last = [self.server.numbers[i] for i, f in enumerate(self.server.frames) if any(isinstance(x, frames.Message) for x in f)][:2]
        self.hear(frames.Ack([(0, first)], 0), frames.Ack([(0, last)], 0))
        before = self.client.outbound.unacknowledged()
        self.hear(frames.Ack([(0, last)], 0))
        self.assertGreater(before, self.client.outbound.unacknowledged())

    def test_a_late_beyond_60_s_counts_as_60_s(self):
        [late] = frames.decode(frames.encode([frames.Late(60_001)]), 0, 0, lambda channel: 0).frames
        self.assertEqual(late.age_ms, 60_000)

    def test_on_a_stream_a_small_window_is_acknowledged_at_once(self):
        for window, packets in ((40_000, 1), (2_097_152, 0)):
            self.start(Settings(message_bytes_max=1000, window_bytes=window), reliable=True)
            self.run_for(0.2)
            count = len(self.server.frames)
            self.hear(self.message(0))
            self.run_for(0)
            self.assertEqual(len(self.server.frames), count + packets)

    def test_at_first_10_datagrams_are_in_flight_at_most(self):
        self.start()
        self.client.recovery.srtt = 0.05
        for _ in range(100):
            self.client.send(0, bytes(1000))
        count = len(self.server.frames)
        self.run_for(0)
        self.assertEqual(len(self.server.frames) - count, 10)
        self.hear(frames.PathChallenge(b"12345678"))
        self.run_for(0)
        self.assertEqual([type(f) for f in self.server.frames[-1][-1:]], [frames.PathResponse])

    def test_a_message_that_is_too_long_or_has_no_sequence_drops_its_packet(self):
        self.start(Settings(message_bytes_max=1000))
        for bad in (self.message(0, bytes(1001)), self.message(0, total=1001), frames.Message(0, None, b"")):
            self.hear(bad)
        self.hear(frames.Ping())
        self.run_for(0.01)
        self.assertEqual((self.payloads(), self.server.last(frames.Ack).ranges), ([], [(4, 4), (0, 0)]))

    def test_messages_are_retransmitted_until_acknowledged(self):
        self.start()
        for i in range(50):
            self.client.send(0, bytes([i]) * 100)
        rng, inbound, heard = random.Random(1), Inbound(RELIABLE_ORDERED), []
        while self.client.outbound.unacknowledged() and self.now < 160:
            count = len(self.server.frames)
            self.run_for(0.005)
            if arrived := [i for i in range(count, len(self.server.frames)) if rng.random() < 0.5]:
                for i in arrived:
                    heard += [m for f in self.server.frames[i] if isinstance(f, frames.Message) for m in inbound.handle(f)]
                self.hear(frames.Ack(Spans([self.server.numbers[i] for i in arrived]).ranges()[:32], 0))
        self.assertEqual(heard, [bytes([i]) * 100 for i in range(50)])
        self.assertEqual(len(set(self.server.numbers)), len(self.server.numbers))

    def test_a_silent_server_is_pinged_and_finally_given_up(self):
        self.start(Settings(keepalive_ms=400, idle_timeout_ms=900))
        count = len(self.server.frames)
        self.run_for(0.3)
        self.assertEqual(len(self.server.frames), count)
        self.run_for(0.2)
        self.assertTrue(any(isinstance(f, frames.Ping) for f in self.server.frames[count]))
        self.run_for(1)
        self.assertEqual([e.code for e in self.client.events], [1007])


class TheEnd(World):
    def test_close_is_repeated_until_closed_arrives(self):
        self.start()
        self.client.close(self.now, 7, "bye")
        self.run_for(0.5)
        self.assertGreater(sum(isinstance(f, frames.Close) for p in self.server.frames for f in p), 1)
        self.hear(frames.Closed())
        self.assertEqual((self.client.state, self.client.events), ("done", [Ended(7, "bye")]))

    def test_an_unanswered_close_ends_within_3_s(self):
        self.start()
        self.client.close(self.now)
        self.run_for(3.1)
        self.assertEqual(self.client.state, "done")

    def test_each_close_of_the_server_is_answered_by_closed(self):
        self.start()
        for _ in range(3):
            self.hear(frames.Close(1002, "kicked"))
            self.run_for(0)
        self.assertEqual(sum(isinstance(f, frames.Closed) for p in self.server.frames for f in p), 3)
        self.assertEqual(self.client.events, [Ended(1002, "kicked")])

    def test_a_reset_ends_the_connection_unless_an_authentic_packet_arrives(self):
        for comes, state in ((True, "standing"), (False, "done")):
            self.start()
            self.client.handle(self.now, datagrams.Reset(ID).encode())
            self.run_for(0.005)
            if comes:
                self.hear(frames.Ping())
            self.run_for(1)
            self.assertEqual(self.client.state, state)

    def test_refuse_counts_only_with_the_nonce_and_1011_only_before_a_challenge(self):
        client = Connection(0.0, 1)
        hello = datagrams.decode(client.poll(0.0)[0])
        refuse = datagrams.Refuse(hello.source, hello.nonce, 1011, "no")
        client.handle(0.0, replace(refuse, nonce=bytes(8)).encode())
        self.assertEqual(client.state, "hello")
        client.handle(0.0, datagrams.Challenge(hello.source, hello.nonce, 1, 1, COOKIE).encode())
        client.handle(0.0, refuse.encode())
        self.assertEqual(client.state, "open")
        client.handle(0.0, replace(refuse, code=1005).encode())
        self.assertEqual(client.events, [Ended(1005, "no")])

    def test_invalid_data_on_a_stream_ends_the_connection(self):
        for said in ([frames.Extension(0x3F, b"")], [self.message(1)], [replace(self.message(0), channel=9)]):
            self.start(Settings(channels=[Rule(last=0)]), reliable=True)
            self.hear(*said)
            self.assertEqual([e.code for e in self.client.events], [1004])


if __name__ == "__main__":
    unittest.main()
