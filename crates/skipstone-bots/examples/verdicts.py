"""Tries the verdicts of `skipstone bots` on stalls and limits that are put in on purpose.

cargo build --release -p skipstone-cli
python3 crates/skipstone-bots/examples/verdicts.py target/release/skipstone WHAT [ROUNDS] [MOST]

WHAT is one of
  stopped      the tool is stopped for 300 ms, at another time in each round: exit code 98
  burners      eight processes compete with the tool for each core: exit code 98, or a run that was punctual
  server       the server stands still for 300 ms at times that are known: found in `slow_times`, within 100 ms
  limit-udp    the server stalls above MOST players (120): --find-limit finds that number within 5%
  limit-ws, limit-kcp2k  the same over WebSocket and kcp2k
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL, WHAT = sys.argv[1], sys.argv[2]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 20
LIMIT = int(sys.argv[4]) if len(sys.argv) > 4 else 120


class Server:
    def __init__(self, protocol, *words):
        command = [sys.executable, os.path.join(HERE, "crowded.py"), protocol, *map(str, words)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = f"{protocol}://127.0.0.1:{self.process.stdout.readline().split()[-1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def start(script, server, *words):
    """A run under way, and the file of its result."""
    result = tempfile.NamedTemporaryFile(suffix=".json")
    command = [TOOL, "bots", os.path.join(HERE, script), server.url, "--quiet", "--json", result.name, *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), result


def ended(run):
    process, file = run
    code = process.wait()
    with open(file.name) as text:
        return code, json.load(text)


def stopped(chance):
    """A run of four seconds that is stopped once."""
    with Server("udp") as server:
        run = start("dots.luau", server, "-c", "100", "-d", "4s", "--ramp", "500ms")
        time.sleep(1 + chance.random() * 2.8)
        run[0].send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        run[0].send_signal(signal.SIGCONT)
        code, result = ended(run)
    generator = result["generator"]
    return code == 98, f"exit {code}, {generator['late_sends']} of {generator['planned_sends']} late"


def burners(_):
    """A run that shares the machine with too many others."""
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8 * (os.cpu_count() or 1))]
    try:
        with Server("udp") as server:
            code, result = ended(start("dots.luau", server, "-c", "100", "-d", "4s", "--ramp", "500ms"))
    finally:
        for process in burning:
            process.kill()
            process.wait()
    generator = result["generator"]
    share = generator["late_sends"] / max(1, generator["planned_sends"])
    told = f"exit {code}, {share:.2%} late, the latest {generator['latest_send_ms']:.0f} ms"
    return code == 98 or share <= 0.01, told


def server_stalls(chance):
    """A run of six seconds whose server stands still twice."""
    times = [1.5 + chance.random(), 4 + chance.random()]
    with Server("udp", "--stall", "0.3", "--at", times[0], "--at", times[1]) as server:
        code, result = ended(start("dots.luau", server, "-c", "50", "-d", "6s", "--ramp", "0s"))
    found = [(slow["from_s"], slow["worst_ms"]) for slow in result["slow_times"] if slow["metric"] == "move_ms"]
    # What was due up to a tick before the stall waits for its end, too.
    are_found = all(any(abs(at - time) < 0.1 and worst > 200 for at, worst in found) for time in times)
    told = ", ".join(f"{at:.2f} s {worst:.0f} ms" for at, worst in found)
    return are_found, f"exit {code}, stalls at {times[0]:.2f} and {times[1]:.2f} s, found {told}"


def limit(protocol, script):
    with Server(protocol, "--most", LIMIT) as server:
        words = ["--find-limit", "--limit-bounds", "10..1000", "-d", "3s", "--settle", "2s"]
        pid = ["--watch-pid", str(server.process.pid)]
        code, result = ended(start(script, server, *words, *pid))
    for trial in result["trials"]:
        print(f"  {trial['bots']:5} bots  {trial['verdict']:8}  server {trial['server_cpu_percent'] or 0:.0f}% CPU  "
              f"{trial['figures']}")
    holds = result["holds"]
    return abs(holds - LIMIT) <= LIMIT * 0.05, f"exit {code}, holds {holds}, broken by {result['broken_by'][:1]}"


TRIALS = {
    "stopped": stopped,
    "burners": burners,
    "server": server_stalls,
    "limit-udp": lambda _: limit("udp", "dots.luau"),
    "limit-ws": lambda _: limit("ws", "dots.luau"),
    "limit-kcp2k": lambda _: limit("kcp2k", "kcp2k.luau"),
}

passed = 0
for number in range(ROUNDS):
    is_right, told = TRIALS[WHAT](random.Random(number))
    passed += is_right
    print(f"round {number + 1}: {'right' if is_right else 'WRONG'}: {told}", flush=True)
print(f"{WHAT}: {passed} of {ROUNDS}")
sys.exit(passed != ROUNDS)
