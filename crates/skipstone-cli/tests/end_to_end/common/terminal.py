"""A small `expect`: runs a program on a terminal of its own, talks with it, prints all that it showed.

usage: terminal.py COLUMNS SCRIPT PROGRAM [ARGUMENT ...]

SCRIPT has a line for each step: `send TEXT` types it and Enter, `expect TEXT` waits for it. Escapes such as \\x1d are
understood. The exit code is the program's; 1 and a word on standard error if a step takes too long.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

PATIENCE_S = 30

columns, script, program = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    os.execvp(program[0], program)
shown = b""
searched = 0


def read(until):
    """Takes what comes; false at the end."""
    global shown
    if not select.select([terminal], [], [], max(0, min(0.1, until - time.time())))[0]:
        return True
    try:
        data = os.read(terminal, 4096)
    except OSError:
        return False
    shown += data
    return bool(data)


def fail(why):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    sys.stdout.buffer.write(shown)
    sys.exit(why)


for step in script.splitlines():
    word, _, text = step.strip().partition(" ")
    text = text.encode("latin-1", "backslashreplace").decode("unicode_escape").encode()
    until = time.time() + PATIENCE_S
    if word == "send":
        os.write(terminal, text + b"\r")
        continue
    while shown.find(text, searched) < 0:
        if time.time() > until or not read(until):
            fail(f"no {text!r}")
    searched = shown.find(text, searched) + len(text)

until = time.time() + PATIENCE_S
while read(until):
    if time.time() > until:
        fail("it does not end")
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
