"""Runs one server and clients in every language in the game of interop/README.md, over lossy paths.

python interop/play.py --target target/debug [--servers go,c,python] [--clients rust,c,go] [--lines 100] [--loss 0.02] [--seed 1]
[--moves 60]

The last game is on servers that move the players among each other. Needs only Python's standard library. The last line of output is `N passed, N failed, N skipped`: it counts games, and
programs that are missing. Exit code 0 if none failed.
"""

import argparse
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Program:
    """A running program, whose lines of JSON are parsed."""

    def __init__(self, what, command, libraries):
        self.what = what
        self.lines = queue.Queue()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        # Where programs that load the C library find it.
        environment = {**os.environ, "LD_LIBRARY_PATH": str(ROOT / libraries)}
        self.child = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            try:
                self.lines.put(json.loads(line))
            except json.JSONDecodeError:
                self.lines.put({"event": "garbage", "line": line.rstrip()})
        self.lines.put(None)

    def event(self, name, seconds):
        """The next event of this name; `None` if the program ends or takes too long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                event = self.lines.get(timeout=left)
            except queue.Empty:
                return None
            if event is None:
                return None
            if event.get("event") == "garbage":
                print(f"  {self.what}: no JSON: {event['line']}")
            if event.get("event") == name:
                return event
        return None

    def say(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()

    def end(self, seconds=3):
        """Ends it. Returns its exit code."""
        self.child.stdin.close()
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.child.kill()
            return self.child.wait()


class Relay:
    """The lossy path: the relay of the tool, which passes TCP on unchanged and loses a share of the datagrams."""

    def __init__(self, server, options):
        command = [f"{options.target}/skipstone", "netem", "relay", "--to", server, "--loss", f"{options.loss * 100:g}%"]
        command += ["--seed", str(options.seed), "--quiet", "--json", "-"]
        # The end of its standard input would not end it, and its control socket is not needed here.
        self.child = subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.port = int(re.match(r"listening on .*:(\d+),", self.child.stdout.readline())[1])

    def end(self):
        """Ends it. Returns the numbers of datagrams that passed and that were lost."""
        self.child.terminate()
        said, _ = self.child.communicate(timeout=5)
        counts = json.loads(said[said.index("{") :])
        return [counts["up"][name] + counts["down"][name] for name in ("delivered", "lost")]


def commands(options):
    """The available commands, by language and role; and the missing ones."""
    known = json.loads((ROOT / "interop/programs.json").read_text())
    there, missing = {}, []
    for language, roles in known.items():
        needs = roles.pop("needs", [])
        for role, command in roles.items():
            command = [part.replace("{target}", options.target).replace("{python}", options.python) for part in command]
            absent = [part for part in [*needs, *command] if not is_there(part)]
            if not absent and "{python}" in known[language][role]:
                absent = [] if has_module(options.python) else ["Python's module skipstone"]
            if absent:
                missing.append(f"{language} {role}: {absent[0]} is not there")
            else:
                there[language, role] = command
    return there, missing


def is_there(part):
    """Whether a part of a command exists: a path in the project, or one of several programs. Other words always
    exist."""
    if "/" in part:
        return (ROOT / part).exists()
    return "{" not in part and any(shutil.which(name) for name in part.split("|"))


def has_module(python):
    return subprocess.run([python, "-c", "import skipstone"], capture_output=True).returncode == 0


def play(server_language, client_languages, there, options, moves=0):
    """One game, on servers that move the players if there are moves. Returns what went wrong."""
    wrong, running, relays = [], [], []
    host = "127.0.0.1"

    def start(what, command):
        running.append(Program(what, command, options.target))
        return running[-1]

    try:
        seconds = str(options.seconds)
        role = ["--moves", str(moves)] if moves else ["--listen", f"{host}:0"]
        command = [*there[server_language, "fleet" if moves else "server"], *role]
        command += ["--clients", str(len(client_languages)), "--seconds", seconds]
        server = start(f"server in {server_language}", command)
        listening = server.event("listening", 20)
        if listening is None:
            return [f"the server in {server_language} does not listen"]
        for port in listening.get("ports", [listening["port"]]):
            relays.append(Relay(f"{host}:{port}", options))
        port = relays[0].port
        if moves:
            server.say(" ".join(f"{host}:{relay.port}" for relay in relays))
        url = listening["url"].replace(f":{listening['port']}", f":{port}")
        # Pages need a certificate of their own; a server without its hash serves them by WebSocket, which loses
        # nothing.
        pages = listening.get("pages", f"ws://{host}:{port}").replace(f":{listening['port']}", f":{port}")
        clients = []
        for number, language in enumerate(client_languages):
            more = ["--name", f"{language}-{number}", "--lines", str(options.lines), "--seconds", seconds]
            clients.append(start(f"client in {language}", [*there[language, "client"], "--server", pages if language == "web" else url, *more]))
        for program in [*clients, server]:
            result = program.event("result", options.seconds + 20)
            if result is None:
                wrong.append(f"the {program.what} ended without a result")
            else:
                print(f"  {program.what}: {json.dumps({key: value for key, value in result.items() if key != 'event'})}")
                if not result["ok"]:
                    wrong.append(f"the {program.what} says: {result['reason'] or 'not every line once and in order'}")
                # WebSocket is a page's second choice, and TCP would hide the loss.
                if "pages" in listening and result.get("carrier", "webtransport") != "webtransport":
                    wrong.append(f"the {program.what} came by {result['carrier']}, and the server has WebTransport")
        for program in [*clients, server]:
            if (code := program.end()) != 0:
                wrong.append(f"the {program.what} ended with {code}")
        passed, lost = (sum(counts) for counts in zip(*[relay.end() for relay in relays]))
        print(f"  relay: {passed} datagrams passed, {lost} lost")
        if options.loss > 0 and not lost:
            wrong.append("the relay lost nothing, so nothing was shown")
    finally:
        for program in [*running, *relays]:
            if program.child.poll() is None:
                program.child.kill()
            program.child.wait()
    return wrong


def main():
    parser = argparse.ArgumentParser(description="Programs in every language play together.")
    parser.add_argument("--target", default="target/debug", help="where cargo builds, with the profile")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the module skipstone")
    parser.add_argument("--servers", help="languages, with commas between them; all that are there by default")
    parser.add_argument("--clients", help="the same; a language may come several times")
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--loss", type=float, default=0.02)
    parser.add_argument("--moves", type=int, default=60, help="moves in the last game, in which players are moved; 0: no such game")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120, help="a browser starts slowly on a busy machine")
    options = parser.parse_args()
    there, missing = commands(options)
    chosen = {
        role: (getattr(options, f"{role}s") or ",".join(language for language, kind in there if kind == role)).split(",")
        for role in ("server", "client")
    }
    skipped = [line for line in missing if line.split(" ")[0] in [*chosen["server"], *chosen["client"]] or options.servers is None]
    for line in skipped:
        print(f"left out: {line}")
    clients = [language for language in chosen["client"] if (language, "client") in there]
    servers = [language for language in chosen["server"] if (language, "server") in there]
    failed = 0
    games = [(language, 0) for language in servers]
    games += [(language, options.moves) for language in servers if (language, "fleet") in there and options.moves]
    for language, moves in games:
        on = f"{moves} moves, servers" if moves else "server"
        print(f"{on} in {language}, clients in {', '.join(clients)}, {options.loss:.0%} loss, seed {options.seed}")
        wrong = play(language, clients, there, options, moves)
        failed += bool(wrong)
        for line in wrong:
            print(f"  WRONG: {line}")
        print(f"  {'FAILED' if wrong else 'every line once and in order'}")
    print(f"{len(games) - failed} passed, {failed} failed, {len(skipped)} skipped")
    return failed == 0 and bool(games)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
