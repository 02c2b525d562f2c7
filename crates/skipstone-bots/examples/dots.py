"""A small game over UDP: each player moves a dot, and 20 times a second all players get the dots of all."""

import socket
import struct
import sys
import time

JOIN, MOVE, WORLD = 0, 1, 2

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9000))
server.settimeout(0.005)
print(f"listening on {server.getsockname()[1]}", flush=True)

players = {}  # by address: last sequence, x, y, when heard
next_tick = time.monotonic()

while True:
    now = time.monotonic()
    try:
        data, address = server.recvfrom(2048)
        if data[:1] == bytes([JOIN]):
            players[address] = (0, 0.0, 0.0, now)
            server.sendto(struct.pack("<BI", JOIN, len(players)), address)
        elif len(data) == 13 and data[0] == MOVE and address in players:
            _, sequence, x, y = struct.unpack("<BIff", data)
            players[address] = (sequence, x, y, now)
    except (socket.timeout, ConnectionError):
        pass
    if now >= next_tick:
        next_tick += 1 / 20
        players = {address: player for address, player in players.items() if now - player[3] < 5}
        dots = b"".join(struct.pack("<ff", x, y) for _, x, y, _ in players.values())
        for address, (sequence, *_) in players.items():
            server.sendto(struct.pack("<BIH", WORLD, sequence, len(players)) + dots, address)
