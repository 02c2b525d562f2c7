#!/usr/bin/env python3
"""Dissects the golden datagrams, and a capture of a plain run, with tshark and skipstone.lua: `check.py TOOL`, where
TOOL is the program `skipstone`. No valid datagram is shown as malformed, every frame has its name, and the packets that
the tool reports as lost are in only one end's capture."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PORT = 7777
# Errors that a dissector cannot detect: it has no key and no reference, and shows the bytes.
UNJUDGED = ["wrong check", "wrong tag", "not UTF-8", "no bytes", "header cut short", "kind ", "accept", "connect with a window", "below packet 0"]


def tshark(capture, *fields, decode_as=None):
    words = ["tshark", "-X", f"lua_script:{HERE / 'skipstone.lua'}", "-r", str(capture), "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=|"]
    words += ["-d", f"udp.port=={decode_as},skipstone"] if decode_as else []
    words += [word for field in fields for word in ("-e", field)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tshark failed: {done.stderr}")
    if "lua" in done.stderr.lower() and "error" in done.stderr.lower():
        sys.exit(done.stderr)
    return [line.split("\t") for line in done.stdout.splitlines()]


def write_capture(path, datagrams):
    """Each between its own addresses, so that conversations are independent."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for at, data in enumerate(datagrams):
            udp = struct.pack(">HHHH", 10_000 + at, PORT, 8 + len(data), 0) + data
            head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), at, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
            out.write(struct.pack("<IIII", at, 0, 20 + len(udp), 20 + len(udp)) + head + udp)


def check_vectors(folder):
    vectors = json.loads((ROOT / "vectors/golden.json").read_text(encoding="utf-8"))
    capture = folder / "vectors.pcap"
    write_capture(capture, [bytes.fromhex(vector["hex"]) for vector in vectors])
    lines = tshark(capture, "_ws.col.Info", "skipstone.frame.name", decode_as=PORT)
    wrong, judged = [], 0
    for vector, (info, names) in zip(vectors, lines, strict=True):
        name, expect, is_malformed = vector["name"], vector["expect"], "malformed" in info
        if "dissector's error" in info:
            wrong.append(f"{name}: {info}")
        elif expect == "malformed":
            judged += is_malformed
            if not is_malformed and not any(words in name for words in UNJUDGED):
                wrong.append(f"{name}: is malformed, and was shown as {info}")
        elif is_malformed:
            wrong.append(f"{name}: was called malformed")
        elif names != (found := "|".join(frame["frame"] for frame in expect.get("frames", []))):
            wrong.append(f"{name}: has the frames {found}, and was shown with {names}")
    return wrong, f"{len(vectors)} golden datagrams, {judged} of them called malformed"


def check_run(folder, tool):
    plan, prefix = ROOT / "plans/spatialos-25.toml", folder / "run"
    words = ["compare", plan, "--seconds", "2", "--loss", "3%", "--transports", "skipstone-plain", "--modes", "adaptive"]
    done = subprocess.run([tool, *words, "--pcap", prefix, "--json", "-", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the run failed: {done.stderr}")
    series = json.loads(done.stdout)["results"][0]["series"]
    wrong, frames, packets = [], set(), {}
    for end in "ab":
        fields = ["_ws.col.Protocol", "_ws.col.Info", "skipstone.frame.name", "udp.payload", "udp.srcport"]
        lines = tshark(f"{prefix}-skipstone-plain-adaptive-1-{end}.pcap", *fields)
        # Datagrams of one end after the other has closed are answered by the kernel.
        lines = [line for line in lines if line[0] != "ICMP"]
        wrong += [f"end {end}: {line[1]}" for line in lines if line[0] != "Skipstone" or "malformed" in line[1] or "error" in line[1]]
        frames.update(name for line in lines for name in line[2].split("|"))
        # The client's datagrams go first.
        client = lines[0][4]
        packets[end] = {"up": [line[3] for line in lines if line[4] == client], "down": [line[3] for line in lines if line[4] != client]}
    if missing := {"CONNECT", "ACCEPT", "MESSAGE", "ACK", "REPAIR"} - frames:
        wrong.append(f"a run without {', '.join(missing)}")
    for way, sender, receiver in (("up", "a", "b"), ("down", "b", "a")):
        numbers = [int(word.split("#")[1]) for word in series[f"lost_{way}"].split()]
        arrived = set(packets[receiver][way])
        # Packets are identified by their bytes: sealed or numbered, no two are equal.
        wrong += [f"packet {number} on the way {way} was lost, and arrived" for number in numbers if packets[sender][way][number] in arrived]
        if not numbers:
            wrong.append(f"nothing was lost on the way {way}")
    count = sum(len(packets[end][way]) for end in "ab" for way in ("up", "down"))
    lost = sum(len(series[f"lost_{way}"].split()) for way in ("up", "down"))
    return wrong, f"{count} packets of a plain run, {lost} of them lost"


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        checks = [check_vectors(folder), check_run(folder, sys.argv[1])]
    for wrong, told in checks:
        print(f"{told}: {len(wrong)} mistakes")
        for mistake in wrong:
            print(f"  {mistake}")
    sys.exit(1 if any(wrong for wrong, _ in checks) else 0)


if __name__ == "__main__":
    main()
