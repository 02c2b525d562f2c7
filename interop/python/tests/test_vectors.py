"""Every golden datagram decodes to its meaning, and encodes to the same bytes if it is canonical."""

import json
import pathlib
import unittest
from dataclasses import replace

from skipstone import datagrams, frames, repair
from skipstone.fields import read_versions
from skipstone.numbers import Malformed, Reader, crc32, restore
from skipstone.settings import ADAPTIVE, AT_FLUSH, LEAN, OFF, Limits, Rule, Settings

VECTORS = pathlib.Path(__file__).parents[3] / "vectors" / "golden.json"
MODES = "unreliable", "unreliable-sequenced", "reliable-ordered", "reliable-unordered", "reliable-sequenced"
OVERFLOWS = "refuse", "drop oldest", "disconnect"


def redundancy(mode):
    if mode is None or mode[0] in (OFF, LEAN, ADAPTIVE):
        return mode and ("off", "lean", "adaptive")[mode[0]]
    return {"bursts": mode[1]} if len(mode) == 2 else {"sources": mode[1], "repairs": mode[2]}


def limits(value: Limits):
    return {k: v for k, v in vars(value).items() if k != "grease"}


def settings(value: Settings):
    merging = {0: "immediate", AT_FLUSH: "flush"}.get(value.merging) or {"after_us": value.merging}
    mode, budget = value.redundancy
    other = {"merging": merging, "redundancy": {"mode": redundancy(mode), "budget_percent": budget}}
    return vars(value) | other | {"channels": [rule(r) for r in value.channels]}


def rule(value: Rule):
    return vars(value) | {"mode": MODES[value.mode], "overflow": OVERFLOWS[value.overflow], "redundancy": redundancy(value.redundancy)}


def number(full, bits):
    return {"bits": bits, "value": full % (1 << bits), "resolved": full}


def frame(f: frames.Frame):
    name = "".join("_" * (i > 0 and c.isupper()) + c for i, c in enumerate(type(f).__name__)).upper()
    out = {"frame": name}
    ranges = [list(r) for r in getattr(f, "ranges", [])]
    match f:
        case frames.Ack():
            out["frame"] = "ACK" if f.window is None else "ACK_WINDOW"
            return out | {"largest": number(f.ranges[0][1], f.bits), "delay_us": f.delay_us, "ranges": ranges, "window": f.window}
        case frames.Repaired():
            return out | {"largest": number(f.ranges[0][1], f.bits), "ranges": ranges}
        case frames.Repair():
            return out | {"index": f.index, "ranges": ranges, "symbol": f.symbol.hex()}
        case frames.Connect():
            return out | {"token": f.token.hex(), "limits": limits(f.limits)}
        case frames.Accept():
            return out | {"source": f"{f.source:06x}", "settings": settings(f.settings)}
        case frames.NewId():
            return out | {"sequence": f.sequence, "id": f"{f.id:06x}"}
        case frames.Message():
            given = f.sequence is not None and (number(f.sequence, f.bits) if f.bits else {"next": True, "resolved": f.sequence})
            part = None if f.total is None else {"offset": f.offset, "total": f.total}
            return out | {"channel": f.channel, "sequence": given or None, "fragment": part, "payload": f.payload.hex()}
    return out | {k: v.hex() if isinstance(v, bytes) else v for k, v in vars(f).items()}


class Vector:
    def __init__(self, row):
        self.row, self.data = row, bytes.fromhex(row["hex"])
        self.references = {"packet": 0, "ack": 0, "sequence": 0} | row.get("references", {})

    def open(self, start, end, key):
        self.number, self.bits, self.body = datagrams.open_packet(self.data, start, end, key, self.references["packet"])
        self.content = frames.decode(self.body, self.number, self.references["ack"], lambda channel: self.references["sequence"])
        return {"number": number(self.number, self.bits), "frames": [frame(f) for f in self.content.frames]}

    def key(self):
        return bytes.fromhex(self.row.get("key", "00" * 16))

    def decode(self):
        d = self.datagram = datagrams.decode(self.data)
        out = {"kind": type(d).__name__.upper()}
        if isinstance(d, datagrams.Packet):
            return out | {"to": f"{d.to:06x}"} | self.open(4, len(self.data), self.key())
        out |= {{"rest": "bytes", "sender": "from"}.get(k, k): v for k, v in vars(d).items()}
        if isinstance(d, datagrams.Hello):
            out["suites"], out["versions"] = d.offer[0], read_versions(Reader(d.offer, 1))
            del out["offer"]
        if isinstance(d, datagrams.Open) and d.suite == datagrams.PLAIN:
            del out["bytes"]
            out |= self.open(len(d.header()) - len(d.rest), len(self.data) - 4, d.cookie[-16:])
        named = {k: f"{v:06x}" if k in ("to", "from", "source", "id") else v for k, v in out.items()}
        return {k: v.hex() if isinstance(v, bytes) else v for k, v in named.items()}

    def encode(self):
        d = self.datagram
        if isinstance(d, datagrams.Packet):
            header = bytes([datagrams.PACKET]) + d.to.to_bytes(3, "big")
            return datagrams.seal_packet(header, self.number, self.bits, frames.encode(self.content.frames), self.key())
        if isinstance(d, datagrams.Open) and d.suite == datagrams.PLAIN:
            body = frames.encode(self.content.frames)
            sealed = datagrams.seal_packet(replace(d, rest=b"").header(), self.number, self.bits, body, d.cookie[-16:])
            return sealed + crc32(sealed).to_bytes(4, "big")
        return d.encode()


def vectors():
    return [Vector(row) for row in json.loads(VECTORS.read_text())]


class GoldenDatagrams(unittest.TestCase):
    def test_each_vector_decodes_to_its_meaning(self):
        for vector in vectors():
            with self.subTest(vector.row["name"]):
                if vector.row["expect"] == "malformed":
                    self.assertRaises(Malformed, vector.decode)
                else:
                    self.assertEqual(vector.decode(), vector.row["expect"])

    def test_each_canonical_vector_encodes_to_the_same_bytes(self):
        for vector in vectors():
            if vector.row["expect"] != "malformed" and vector.row.get("canonical", True):
                with self.subTest(vector.row["name"]):
                    vector.decode()
                    self.assertEqual(vector.encode().hex(), vector.data.hex())

    def test_every_encoded_vector_decodes_to_the_same_meaning(self):
        for vector in vectors():
            if vector.row["expect"] != "malformed" and not vector.row.get("canonical", True):
                with self.subTest(vector.row["name"]):
                    before = [type(f) for f in vector.decode().get("frames", [])]
                    again = Vector(vector.row | {"hex": vector.encode().hex()})
                    self.assertEqual([type(f) for f in again.decode().get("frames", [])], before)

    def test_each_repair_is_the_sum_of_its_packets(self):
        rows = vectors()
        named = {v.row["name"]: v for v in rows}
        tried = 0
        for vector in rows:
            if vector.row.get("covers"):
                vector.decode()
                symbols = {}
                for name in vector.row["covers"]:
                    source = named[name]
                    source.decode()
                    symbols[source.number] = repair.source_symbol(source.number, source.body[source.content.start :])
                [f] = [f for f in vector.content.frames if isinstance(f, frames.Repair)]
                self.assertEqual(repair.combine(f.index, symbols), f.symbol)
                tried += 1
        self.assertGreater(tried, 3)

    def test_numbers_are_restored_to_the_nearest(self):
        for bits, reference in ((7, 1000), (14, 5), (21, 1 << 40)):
            for distance in range(-60, 61):
                if reference + distance >= 0:
                    self.assertEqual(restore((reference + distance) % (1 << bits), bits, reference), reference + distance)
