#!/usr/bin/env python3
"""Opens the handshakes of tls.txt with the secrets listed there. Written from WIRE.md alone, with only Python's
standard library."""

import hashlib
import hmac
import pathlib
import sys
import zlib

PACKETS_PER_KEY = 1 << 22


def expand(secret, label, length):
    """HKDF-Expand-Label without a context (RFC 8446, section 7.1), of one block at most."""
    label = b"tls13 " + label
    info = length.to_bytes(2, "big") + bytes([len(label)]) + label + b"\0" + b"\1"
    return hmac.new(secret, info, hashlib.sha256).digest()[:length]


# ChaCha20-Poly1305, RFC 8439


def chacha_block(key, counter, nonce):
    words = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    for part in (key, counter.to_bytes(4, "little"), nonce):
        words += [int.from_bytes(part[at : at + 4], "little") for at in range(0, len(part), 4)]
    state = words[:]

    def mix(a, b, c, d):
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) & 0xFFFFFFFF
            mixed = state[z] ^ state[x]
            state[z] = (mixed << turn | mixed >> 32 - turn) & 0xFFFFFFFF

    for _ in range(10):
        for column in range(4):
            mix(column, 4 + column, 8 + column, 12 + column)
        for column in range(4):
            mix(column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
    return b"".join((a + b & 0xFFFFFFFF).to_bytes(4, "little") for a, b in zip(state, words))


def open_chacha(key, nonce, associated, sealed):
    body, tag = sealed[:-16], sealed[-16:]
    one_time = chacha_block(key, 0, nonce)
    r = int.from_bytes(one_time[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    s = int.from_bytes(one_time[16:32], "little")
    covered = padded(associated) + padded(body)
    covered += len(associated).to_bytes(8, "little") + len(body).to_bytes(8, "little")
    total = 0
    for at in range(0, len(covered), 16):
        total = (total + int.from_bytes(covered[at : at + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
    assert (total + s & (1 << 128) - 1).to_bytes(16, "little") == tag, "the tag is wrong"
    stream = b"".join(chacha_block(key, 1 + at // 64, nonce) for at in range(0, len(body), 64))
    return bytes(a ^ b for a, b in zip(body, stream))


def padded(data):
    return data + bytes(-len(data) % 16)


# AES-128-GCM, FIPS 197 and NIST SP 800-38D


def doubled(byte):
    return byte << 1 ^ (0x11B if byte & 0x80 else 0)


def sbox():
    box, p, q = [0x63] * 256, 1, 1
    while True:
        p ^= doubled(p)
        for shift in (1, 2, 4):
            q ^= q << shift & 0xFF
        q ^= 0x09 if q & 0x80 else 0
        turned = q
        for turn in range(1, 5):
            turned ^= (q << turn | q >> 8 - turn) & 0xFF
        box[p] = turned ^ 0x63
        if p == 1:
            return box


SBOX = sbox()


def round_keys(key):
    words, constant = [list(key[at : at + 4]) for at in range(0, 16, 4)], 1
    for at in range(4, 44):
        word = words[-1]
        if at % 4 == 0:
            word = [SBOX[byte] for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = doubled(constant)
        words.append([a ^ b for a, b in zip(words[at - 4], word)])
    return [sum(words[at : at + 4], []) for at in range(0, 44, 4)]


def aes(keys, block):
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number, key in enumerate(keys[1:], 1):
        state = [SBOX[state[(at + 4 * (at % 4)) % 16]] for at in range(16)]
        if number < 10:
            mixed = []
            for at in range(0, 16, 4):
                column = state[at : at + 4]
                every = column[0] ^ column[1] ^ column[2] ^ column[3]
                mixed += [column[i] ^ every ^ doubled(column[i] ^ column[(i + 1) % 4]) for i in range(4)]
            state = mixed
        state = [a ^ b for a, b in zip(state, key)]
    return bytes(state)


def ghash(key, data):
    total = 0
    for at in range(0, len(data), 16):
        factor, product = total ^ int.from_bytes(data[at : at + 16], "big"), 0
        shifted = key
        for bit in range(127, -1, -1):
            product ^= shifted * (factor >> bit & 1)
            shifted = shifted >> 1 ^ (0xE1 << 120) * (shifted & 1)
        total = product
    return total


def open_aes(key, nonce, associated, sealed):
    keys = round_keys(key)
    body, tag = sealed[:-16], sealed[-16:]
    lengths = (8 * len(associated)).to_bytes(8, "big") + (8 * len(body)).to_bytes(8, "big")
    total = ghash(int.from_bytes(aes(keys, bytes(16)), "big"), padded(associated) + padded(body) + lengths)
    mask = int.from_bytes(aes(keys, nonce + (1).to_bytes(4, "big")), "big")
    assert (total ^ mask).to_bytes(16, "big") == tag, "the tag is wrong"
    blocks = range((len(body) + 15) // 16)
    stream = b"".join(aes(keys, nonce + (2 + block).to_bytes(4, "big")) for block in blocks)
    return bytes(a ^ b for a, b in zip(body, stream))


CIPHERS = {"TLS_AES_128_GCM_SHA256": (16, open_aes), "TLS_CHACHA20_POLY1305_SHA256": (32, open_chacha)}


# The handshake, WIRE.md sections 2.3, 2.4, 2.8 and 3


def varint(data, at):
    length = 1 << (data[at] >> 6)
    return int.from_bytes(data[at : at + length], "big") & (1 << 8 * length - 2) - 1, at + length


def split_pieces(data):
    """The piece in clear, (offset, bytes) or None, and the sealed one, (counter, header, bytes) or None."""
    at, clear, sealed = 0, None, None
    if data[at] == 1:
        offset, at = varint(data, at + 1)
        length, at = varint(data, at)
        clear = offset, data[at : at + length]
        assert len(clear[1]) == length, "the piece in clear is cut short"
        at += length
    if data[at:] and data[at] == 2:
        sealed = int.from_bytes(data[at + 1 : at + 5], "big"), data[at : at + 5], data[at + 5 :]
    else:
        assert data[at:].strip(b"\0") == b"", "neither a sealed piece nor zeros"
    return clear, sealed


def messages(stream):
    """The handshake messages of TLS: type and body."""
    at, found = 0, []
    while at < len(stream):
        length = int.from_bytes(stream[at + 1 : at + 4], "big")
        found.append((stream[at], stream[at + 4 : at + 4 + length]))
        at += 4 + length
    assert at == len(stream), "a handshake message is cut short"
    return found


def extensions(data):
    at, found = 2, {}
    assert int.from_bytes(data[:2], "big") == len(data) - 2
    while at < len(data):
        kind, length = (int.from_bytes(data[at + i : at + i + 2], "big") for i in (0, 2))
        found[kind] = data[at + 4 : at + 4 + length]
        at += 4 + length
    return found


def hello_extensions(body):
    at = 34
    at += 1 + body[at]
    at += 2 + int.from_bytes(body[at : at + 2], "big")
    at += 1 + body[at]
    return extensions(body[at:])


def parameters(data):
    at, found = 0, {}
    while at < len(data):
        number, at = varint(data, at)
        length, at = varint(data, at)
        found[number] = data[at : at + length]
        at += length
    return found


CLIENT_HELLO, SERVER_HELLO, ENCRYPTED_EXTENSIONS, CERTIFICATE, CERTIFICATE_VERIFY, FINISHED = 1, 2, 8, 11, 15, 20


class Handshake:
    """Follows the lines of one cipher suite."""

    def __init__(self, suite, lines):
        self.key_bytes, self.open = CIPHERS[suite]
        self.given = {name: data for name, data in lines if " > " not in name and name != "opened"}
        self.lines = [(name, data) for name, data in lines if " > " in name or name == "opened"]
        self.clear = {"client": b"", "server": b""}
        self.sealed = {"client": b"", "server": b""}
        self.unproven = sum(name == "opened" for name, _ in self.lines)
        self.counters = []
        self.transcript = None

    def keys(self, secret):
        return expand(secret, b"quic key", self.key_bytes), expand(secret, b"quic iv", 12)

    def check_keys(self):
        for side in ("client", "server"):
            following = expand(self.given[f"{side} secret"], b"quic ku", 32)
            assert following == self.given[f"{side} next secret"], f"the next secret of the {side}"
            for which in (" handshake", "", " next"):
                names = [f"{side}{which} {what}" for what in ("secret", "key", "iv")]
                secret, key, iv = (self.given[name] for name in names)
                assert self.keys(secret) == (key, iv), f"{names[1]} and IV"

    def unseal(self, secret, counter, associated, data):
        key, iv = self.keys(self.given[secret])
        nonce = bytes(a ^ b for a, b in zip(iv, counter.to_bytes(12, "big")))
        return self.open(key, nonce, associated, data)

    def check(self):
        self.check_keys()
        for at, (name, data) in enumerate(self.lines):
            if name == "opened":
                continue
            side, kind = name.split(" > ")
            opened = getattr(self, f"on_{kind.lower()}")(side, data)
            if opened is not None:
                assert self.lines[at + 1] == ("opened", opened), f"what {name} holds"
                self.unproven -= 1
        assert self.unproven == 0, "something is said to be opened, and nothing sealed stands in front of it"
        assert max(self.counters) >= PACKETS_PER_KEY, "no packet of the next key"
        self.check_messages()

    def checked(self, data):
        assert zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "big"), "the check is wrong"
        return data[:-4]

    def on_hello(self, side, data):
        self.checked(data)
        assert data[0] == 0x81 and data[4:8] == b"SKIP"
        self.offer = data[19 : 20 + data[19]]

    def on_challenge(self, side, data):
        self.checked(data)
        assert data[0] == 0x82 and data[14] == 8

    def on_open(self, side, data):
        data = self.checked(data)
        end = 39 + data[38]
        assert data[0] == 0x83 and data[38:end] == self.offer, "the OPEN repeats the offer"
        self.transcript = data[4:end]
        assert len(data) - end >= 800, "it is padded"
        self.pieces(side, data[end:])

    def on_crypto(self, side, data):
        data = self.checked(data)
        assert data[0] == 0x84
        return self.pieces(side, data[7:])

    def pieces(self, side, data):
        clear, sealed = split_pieces(data)
        if clear:
            assert clear[0] == len(self.clear[side]), "the offset in clear"
            self.clear[side] += clear[1]
        if not sealed:
            return None
        counter, header, rest = sealed
        opened = self.unseal(f"{side} handshake secret", counter, header, rest)
        acknowledged, at = varint(opened, 0)
        offset, at = varint(opened, at)
        other = "server" if side == "client" else "client"
        assert acknowledged == len(self.sealed[other]), "how much has come of the other side"
        assert offset == len(self.sealed[side]), "the offset of what is sealed"
        self.sealed[side] += opened[at:]
        return opened

    def on_packet(self, side, data):
        assert data[0] == 0x80
        counter = int.from_bytes(data[-4:], "big")
        self.counters.append(counter)
        secret = f"{side} secret" if counter < PACKETS_PER_KEY else f"{side} next secret"
        return self.unseal(secret, counter, data[:4], data[4:-4])

    def check_messages(self):
        ((kind, hello),) = messages(self.clear["client"])
        assert kind == CLIENT_HELLO
        assert [kind for kind, _ in messages(self.clear["server"])] == [SERVER_HELLO]
        server = messages(self.sealed["server"])
        assert [kind for kind, _ in server] == [ENCRYPTED_EXTENSIONS, CERTIFICATE, CERTIFICATE_VERIFY, FINISHED]
        assert [kind for kind, _ in messages(self.sealed["client"])] == [FINISHED]
        for found in (hello_extensions(hello), extensions(server[0][1])):
            assert found[16] == b"\0\x0c\x0bskipstone/1", "ALPN"
            assert parameters(found[57])[1] == self.transcript, "the transcript"
        self.check_finished()

    def check_finished(self):
        """The last messages prove that both have the secrets (RFC 8446, section 4.4.4)."""
        server, client = (messages(self.sealed[side])[-1][1] for side in ("server", "client"))
        before = self.clear["client"] + self.clear["server"] + self.sealed["server"][: -4 - len(server)]
        for side, finished in (("server", server), ("client", client)):
            key = expand(self.given[f"{side} handshake secret"], b"finished", 32)
            assert hmac.new(key, hashlib.sha256(before).digest(), hashlib.sha256).digest() == finished, f"{side} Finished"
            before += bytes([FINISHED]) + len(finished).to_bytes(3, "big") + finished


def read(text):
    suites = []
    for line in text.splitlines():
        if line.startswith("== "):
            suites.append((line[3:], []))
        elif line and not line.startswith("#"):
            name, data = line.split(": ")
            suites[-1][1].append((name, bytes.fromhex(data)))
    return suites


def check():
    """Says what is wrong; the number of handshakes that are not as WIRE.md says."""
    wrong = 0
    suites = read(pathlib.Path(__file__).with_name("tls.txt").read_text(encoding="utf-8"))
    for suite, lines in suites:
        try:
            Handshake(suite, lines).check()
        except AssertionError as error:
            wrong += 1
            print(f"{suite}: {error}")
    print(f"{len(suites)} handshakes opened, {wrong} of them not as WIRE.md says")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if check() else 0)
