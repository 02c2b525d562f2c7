"""A lobby over HTTP and a room over TCP: players log in, join, and get an answer to each move. Knows nothing of bots.

    python3 lobby.py 9000
"""

import json
import secrets
import socketserver
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

tokens = {}
players = set()


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return number, at


def fields(data):
    """The fields of a protobuf message, by their numbers."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            found[key >> 3], at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            found[key >> 3], at = data[at : at + length], at + length
        else:
            length = {1: 8, 5: 4}[key & 7]
            found[key >> 3], at = data[at : at + length], at + length
    return found


def encoded(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


class Lobby(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/login":
            token = secrets.token_hex(8)
            tokens[token] = question["name"]
            return self.answer(200, {"token": token})
        if self.path == "/join" and question["token"] in tokens:
            return self.answer(200, {"address": "127.0.0.1:%d" % room.server_address[1]})
        self.answer(403, {"error": "log in first"})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Player(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        said = fields(self.message())
        if fields(said[1])[1].decode() not in tokens:
            return
        players.add(self)
        try:
            while data := self.message():
                move = fields(fields(data)[2])
                world = b"\x08" + encoded(move[1]) + b"\x10" + encoded(len(players))
                self.wfile.write(struct.pack(">H", len(world)) + world)
        except ConnectionError:
            pass
        finally:
            players.discard(self)

    def message(self):
        length = self.rfile.read(2)
        return self.rfile.read(struct.unpack(">H", length)[0]) if len(length) == 2 else b""


class Room(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 1024


class Front(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


room = Room(("127.0.0.1", 0), Player)
lobby = Front(("127.0.0.1", int(sys.argv[1])), Lobby)
threading.Thread(target=room.serve_forever, daemon=True).start()
print("lobby on port %d" % lobby.server_address[1], flush=True)
lobby.serve_forever()
