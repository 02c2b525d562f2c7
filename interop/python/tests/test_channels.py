"""Five delivery modes; a sender's window; recovered packets."""

import random
import unittest

from skipstone import repair
from skipstone.channels import Inbound, Outbound
from skipstone.frames import Message, Repair
from skipstone.numbers import Malformed
from skipstone.settings import (
    RELIABLE_ORDERED, RELIABLE_SEQUENCED, RELIABLE_UNORDERED, UNRELIABLE, UNRELIABLE_SEQUENCED, cost,
)  # fmt: skip
from skipstone.spans import Spans


def deliver(mode, sequences, start=0):
    inbound = Inbound(mode)
    inbound.next = start
    return [m.decode() for s in sequences for m in inbound.handle(Message(0, s % (1 << 32), str(s).encode()))]


class Delivery(unittest.TestCase):
    def test_reliable_ordered_delivers_each_message_once_in_order(self):
        self.assertEqual(deliver(RELIABLE_ORDERED, [1, 0, 0, 3, 1, 2]), ["0", "1", "2", "3"])

    def test_reliable_ordered_continues_across_wraparound(self):
        last = (1 << 32) - 1
        self.assertEqual(deliver(RELIABLE_ORDERED, [last + 1, last], start=last), [str(last), str(last + 1)])

    def test_reliable_unordered_delivers_each_message_once_on_arrival(self):
        self.assertEqual(deliver(RELIABLE_UNORDERED, [1, 1, 0, 0, 3, 3, 1, 2, 3]), ["1", "0", "3", "2"])

    def test_unreliable_delivers_each_sequence_once_on_arrival(self):
        self.assertEqual(deliver(UNRELIABLE, [1, 0, 0, 3, 1, 2, 3]), ["1", "0", "3", "2"])

    def test_unreliable_without_a_sequence_delivers_all(self):
        inbound = Inbound(UNRELIABLE)
        self.assertEqual([inbound.handle(Message(0, None, b"a")) for _ in range(2)], [[b"a"], [b"a"]])

    def test_sequenced_delivers_only_newer_messages(self):
        for mode in (UNRELIABLE_SEQUENCED, RELIABLE_SEQUENCED):
            self.assertEqual(deliver(mode, [1, 0, 1, 5, 4, 6]), ["1", "5", "6"])

    def test_every_other_mode_needs_a_sequence(self):
        for mode in range(1, 5):
            self.assertRaises(Malformed, Inbound(mode).check, Message(0, None, b""), 100)

    def test_fragments_join_by_offset_for_any_division(self):
        data = bytes(range(200))
        for mode in range(5):
            inbound, came = Inbound(mode), []
            for a, b in [(150, 200), (0, 60), (0, 60), (40, 100), (100, 120), (110, 151)]:
                came += inbound.handle(Message(0, 0, data[a:b], a, 200))
            self.assertEqual(came, [data])
            self.assertEqual(inbound.handle(Message(0, 0, data[:60], 0, 200)), [])

    def test_waiting_messages_occupy_the_window(self):
        inbound = Inbound(RELIABLE_ORDERED)
        inbound.handle(Message(0, 1, bytes(160)))
        self.assertEqual(inbound.held(), 160 + 10 + 64)
        inbound.handle(Message(0, 0, b""))
        self.assertEqual(inbound.held(), 0)


class Sending(unittest.TestCase):
    def test_sent_messages_stay_within_the_window_until_acknowledged(self):
        outbound = Outbound(window=2 * cost(100))
        for _ in range(3):
            outbound.send(0, bytes(100), reliable=True)
        messages, chunks = outbound.pack(1200)
        self.assertEqual(([m.sequence for m in messages], outbound.ready()), ([0, 1], False))
        outbound.on_acknowledged(chunks[0])
        self.assertEqual([m.sequence for m in outbound.pack(1200)[0]], [2])

    def test_lost_messages_are_retransmitted_unless_they_arrived_meanwhile(self):
        outbound = Outbound(window=10_000)
        outbound.send(0, bytes(3000), reliable=True)
        chunks = [chunk for _ in range(3) for chunk in outbound.pack(1200)[1]]
        self.assertEqual(chunks[-1].end, 3000)
        outbound.on_lost(chunks[:2])
        outbound.on_acknowledged(chunks[0])
        [message], [again] = outbound.pack(1200)
        self.assertEqual((message.offset, message.total), (chunks[1].start, 3000))
        outbound.on_acknowledged(again)
        outbound.on_acknowledged(chunks[2])
        self.assertEqual((outbound.unacknowledged(), outbound.taken), (0, 0))


class MadeAgain(unittest.TestCase):
    def test_n_repairs_recover_n_lost_packets(self):
        rng = random.Random(7)
        for _ in range(50):
            contents = {n: rng.randbytes(rng.randrange(1, 60)) for n in range(100, 100 + rng.randrange(2, 20))}
            lost = set(rng.sample(sorted(contents), min(4, len(contents))))
            decoder, made = repair.Decoder(), {}
            for n, content in contents.items():
                if n not in lost:
                    decoder.on_packet(n, content)
            arrived = Spans([n for n in contents if n not in lost])
            symbols = {n: repair.source_symbol(n, c) for n, c in contents.items()}
            for index in rng.sample(range(64), len(lost)):
                ranges = [(min(contents), max(contents))]
                made |= decoder.on_repair(Repair(index, 1, ranges, repair.combine(index, symbols)), arrived)
            self.assertEqual(made, {n: contents[n] for n in lost})

    def test_an_invalid_repair_recovers_nothing(self):
        decoder = repair.Decoder()
        self.assertEqual(decoder.on_repair(Repair(0, 1, [(5, 5)], bytes(20)), Spans()), [])
        self.assertEqual(decoder.equations, [])


class SpansOfNumbers(unittest.TestCase):
    def test_spans_contain_the_added_numbers(self):
        rng = random.Random(3)
        for _ in range(200):
            spans, model = Spans(), set()
            for _ in range(30):
                start = rng.randrange(60)
                end = start + rng.randrange(1, 8)
                spans.add(start, end)
                model |= set(range(start, end))
            self.assertEqual({n for a, b in spans.items for n in range(a, b)}, model)
            self.assertTrue(all(a[1] < b[0] for a, b in zip(spans.items, spans.items[1:])))
