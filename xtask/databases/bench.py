"""`cargo xtask bench-databases`: the figures of `skipstone db bench` next to the engines' own tools, on the same
statements, accounts, durability and numbers of connections, in turns: Python's sqlite3, pgbench (prepared) and sysbench
(prepared).

Usage: bench.py SKIPSTONE [--rounds N] [--seconds S] [--engines sqlite,postgres,mariadb]
Servers run in folders of their own on free ports, with the engines' default settings, and end with this program.
Exit code 1: a median of ours is above its limit."""

import argparse, json, os, pwd, random, shutil, signal, socket, sqlite3, statistics, subprocess, sys, tempfile, threading, time
from pathlib import Path

RECORDS = 50_000
RANKED = 1_000
COLUMNS = "id, name, score, rating, balance"
TABLE = "skipstone_accounts"
SEEK = f"SELECT {COLUMNS} FROM {TABLE} WHERE id = ?"
UPDATE = f"UPDATE {TABLE} SET score = ?, rating = ?, balance = balance + ? WHERE id = ?"
ADD = f"INSERT INTO {TABLE} ({COLUMNS}) VALUES (?, ?, ?, ?, ?)"
RANK = f"SELECT {COLUMNS} FROM {TABLE} ORDER BY score DESC, id DESC LIMIT ?"
RANK_INDEXED = f"SELECT {COLUMNS} FROM {TABLE} ORDER BY rating DESC, id DESC LIMIT ?"
# Our names of the kinds of work, and the tools'.
WORKS = {"seek": "seek", "update": "update", "add": "add", "rank_unindexed": "rank", "rank_indexed": "rank_indexed"}
CELLS = [(work, 1) for work in WORKS] + [(work, 4) for work in ("seek", "update", "add")]
RATIO_MAX, SLACK_MS = 1.25, 0.050


class Database:
    """An engine in a folder of its own."""

    def __init__(self, folder):
        self.folder, self.server = folder, None

    def close(self):
        if self.server:
            self.server.send_signal(signal.SIGINT if self.name == "postgres" else signal.SIGTERM)
            self.server.wait(60)

    def start(self, command, user):
        program = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=self.folder, **quiet, **program)

    def finish(self, command, user):
        if self.start(command, user).wait() != 0:
            sys.exit(f"{command[0]} failed")

    def own(self, user):
        if os.getuid() == 0:
            entry = pwd.getpwnam(user)
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)


class Sqlite(Database):
    name, tool, is_server = "sqlite", "Python's sqlite3", False

    def __init__(self, folder):
        super().__init__(folder)
        self.path = folder / "t.db"
        self.url = f"sqlite:{self.path}"

    def wait(self, skipstone):
        skipstone(self.url, "create")

    def play(self, work, connections, seconds):
        times, threads = [], []
        barrier = threading.Barrier(connections)
        for number in range(connections):
            threads.append(threading.Thread(target=self.one, args=(work, number, seconds, barrier, times)))
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        return quantiles([time * 1e3 for time in times])

    def one(self, work, number, seconds, barrier, times):
        link = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        link.execute("PRAGMA journal_mode = WAL")
        link.execute("PRAGMA synchronous = FULL")
        draw, cursor, clock = random.Random(number), link.cursor(), time.perf_counter
        free = time.time_ns() // 1_000_000 * 1_000_000 + number * 100_000
        below = lambda end: int(draw.random() * end)
        mine, end = [], None
        barrier.wait()
        end = clock() + seconds
        while (now := clock()) < end:
            if work == "seek":
                sql, words = SEEK, (1 + below(RECORDS),)
            elif work == "update":
                sql, words = UPDATE, (below(1_000_000), below(1_000_000), below(1_000) - 500, 1 + below(RECORDS))
            elif work == "add":
                free += 1
                sql, words = ADD, (free, "banafodo", below(1_000_000), below(1_000_000), below(100_000))
            else:
                sql, words = RANK if work == "rank" else RANK_INDEXED, (RANKED,)
            began = clock()
            cursor.execute(sql, words).fetchall()
            mine.append(clock() - began)
        link.close()
        times.extend(mine)


class Postgres(Database):
    name, tool, is_server = "postgres", "pgbench", True

    def __init__(self, folder):
        super().__init__(folder)
        self.port = free_port()
        self.own("postgres")
        data = str(folder / "data")
        self.finish([program("initdb"), "--username=skipstone", "--auth=trust", "--no-sync", "-D", data], "postgres")
        command = [program("postgres"), "-D", data, "-k", str(folder), "-h", "127.0.0.1", "-p", str(self.port)]
        self.server = self.start(command, "postgres")
        self.url = f"postgres://skipstone@127.0.0.1:{self.port}/postgres"

    def wait(self, skipstone):
        retry(lambda: skipstone(self.url, "create"))

    def play(self, work, connections, seconds):
        setup = {
            "seek": f"\\set id random(1, {RECORDS})\n",
            "update": f"\\set id random(1, {RECORDS})\n\\set s random(0, 999999)\n\\set r random(0, 999999)\n\\set d random(-500, 499)\n",
            "add": "\\set n :n + 1\n\\set id :base + (:client_id + 1) * 10000000 + :n\n\\set s random(0, 999999)\n"
            "\\set r random(0, 999999)\n\\set b random(0, 99999)\n",
        }.get(work, "")
        names = {
            "seek": [":id"], "update": [":s", ":r", ":d", ":id"], "add": [":id", "'banafodo'", ":s", ":r", ":b"],
            "rank": [":top"], "rank_indexed": [":top"],
        }[work]
        sql = {"seek": SEEK, "update": UPDATE, "add": ADD, "rank": RANK, "rank_indexed": RANK_INDEXED}[work]
        for name in names:
            sql = sql.replace("?", name, 1)
        script = self.folder / "work.sql"
        script.write_text(f"{setup}{sql};\n")
        logs = Path(tempfile.mkdtemp(dir=self.folder))
        base = time.time_ns() // 1_000_000 * 1_000_000
        command = [program("pgbench"), "-n", "-M", "prepared", "-f", script, "-c", connections, "-j", connections, "-T", max(1, round(seconds)),
                   "-D", "n=0", "-D", f"base={base}", "-D", f"top={RANKED}", "--log", f"--log-prefix={logs}/log",
                   "-h", "127.0.0.1", "-p", self.port, "-U", "skipstone", "postgres"]
        said(command)
        # The third column of a line is the transaction's time in microseconds.
        times = [int(line.split()[2]) for log in logs.iterdir() for line in log.read_text().splitlines()]
        shutil.rmtree(logs)
        return quantiles([time / 1e3 for time in times])


class Mariadb(Database):
    name, tool, is_server = "mariadb", "sysbench", True

    def __init__(self, folder):
        super().__init__(folder)
        self.port = free_port()
        self.own("mysql")
        data = f"--datadir={folder}/data"
        self.finish([program("mariadb-install-db"), "--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal", data], "mysql")
        (folder / "init.sql").write_text(
            "CREATE DATABASE game;\nCREATE USER skipstone@'%' IDENTIFIED BY 's3cret';\nGRANT ALL ON *.* TO skipstone@'%';\n")
        self.server = self.start([program("mariadbd"), "--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve", data,
                                  f"--port={self.port}", f"--socket={folder}/s", f"--init-file={folder}/init.sql"], "mysql")
        self.url = f"mariadb://skipstone@127.0.0.1:{self.port}/game"

    def wait(self, skipstone):
        retry(lambda: skipstone(self.url, "create"))

    def play(self, work, connections, seconds):
        script = Path(__file__).parent / "work.lua"
        text = said(["sysbench", script, "--db-driver=mysql", "--db-ps-mode=auto", "--mysql-host=127.0.0.1", f"--mysql-port={self.port}",
                     "--mysql-user=skipstone", "--mysql-password=s3cret", "--mysql-db=game", "--rand-type=uniform", f"--work={work}",
                     f"--records={RECORDS}", f"--threads={connections}", f"--time={max(1, round(seconds))}", "--percentile=50", "--histogram=on", "run"])
        return histogram_quantiles(text)


# The median is judged. On a machine that others use it moves by a time slice of the scheduler; the quickest tenth,
# which waited for no other process, is shown next to it.
QUANTILES = (0.1, 0.5)


def quantiles(times):
    times.sort()
    return tuple(times[int(len(times) * share)] for share in QUANTILES)


def histogram_quantiles(text):
    """Of sysbench's buckets, each 1.8% wide; its summary has two decimals of a millisecond alone."""
    rows = [line.split("|") for line in text.splitlines() if "|" in line and line.strip()[0].isdigit()]
    rows = [(float(value), int(rest.split()[-1])) for value, rest in rows]
    total = sum(count for _, count in rows)

    def at(share):
        seen = 0
        for value, count in rows:
            seen += count
            if seen > share * total:
                return value
        sys.exit("sysbench measured nothing")

    return tuple(at(share) for share in QUANTILES)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def program(name):
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for path in [folder / name for folder in folders] + [shutil.which(name), f"/usr/sbin/{name}"]:
        if path and os.path.isfile(path):
            return str(path)
    sys.exit(f"{name} is not installed: apt-get install mariadb-server postgresql sysbench")


def said(command):
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{command[0]}: {ended.stdout}{ended.stderr}")
    return ended.stdout


def retry(work):
    end = time.monotonic() + 60
    while True:
        try:
            return work()
        except RuntimeError as error:
            if time.monotonic() > end:
                sys.exit(str(error))
            time.sleep(0.2)


def medians(rounds):
    return tuple(statistics.median(column) for column in zip(*rounds))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skipstone")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--engines", default="sqlite,postgres,mariadb")
    arguments = parser.parse_args()
    environment = {**os.environ, "SKIPSTONE_DB_PASSWORD": "s3cret"}

    def skipstone(url, *words):
        ended = subprocess.run([arguments.skipstone, "db", url, *words], capture_output=True, text=True, env=environment)
        if ended.returncode != 0:
            raise RuntimeError(ended.stderr or ended.stdout)
        return ended.stdout

    loads = [os.getloadavg()[0]]
    kinds = {kind.name: kind for kind in (Sqlite, Postgres, Mariadb)}
    is_well = True
    print("| engine | work, connections | ours, p50, ms | its tool's | ratio | within | ours, p10, ms | its tool's |\n|---|---|---|---|---|---|---|---|")
    for name in arguments.engines.split(","):
        folder = Path(tempfile.mkdtemp(prefix="skipstone-bench-databases-"))
        database = None
        try:
            database = kinds[name](folder)
            database.wait(skipstone)
            skipstone(database.url, "add", str(RECORDS))
            ours, theirs = {cell: [] for cell in CELLS}, {cell: [] for cell in CELLS}
            for _ in range(arguments.rounds):
                text = skipstone(database.url, "bench", "--records", str(RECORDS), "--each", f"{arguments.seconds}s", "--json", "-")
                safest = json.loads(text)["stages"][0]
                for cell in safest["cells"]:
                    if cell["asking"] == "prepared" and (cell["work"], cell["connections"]) in ours:
                        ours[cell["work"], cell["connections"]].append((cell["p10_ms"], cell["p50_ms"]))
                for work, connections in CELLS:
                    theirs[work, connections].append(database.play(WORKS[work], connections, arguments.seconds))
                loads.append(os.getloadavg()[0])
            for cell in CELLS:
                (our_tenth, mine), (their_tenth, other) = medians(ours[cell]), medians(theirs[cell])
                limit = max(RATIO_MAX * other, other + SLACK_MS) if database.is_server else RATIO_MAX * other
                is_within = mine <= limit
                work = cell[0].replace("_", ", ")
                is_well = is_well and is_within
                print(f"| {name}, {database.tool} | {work}, {cell[1]} | {mine:.4f} | {other:.4f} | {mine / other:.2f} | "
                      f"{'yes' if is_within else 'NO'} | {our_tenth:.4f} | {their_tenth:.4f} |", flush=True)
        finally:
            if database:
                database.close()
            shutil.rmtree(folder)
    loads_said = " ".join(f"{load:.1f}" for load in loads)
    print(f"\nmedians of {arguments.rounds} rounds in turns, {arguments.seconds:g} s each; load average by round: {loads_said}")
    return 0 if is_well else 1


sys.exit(main())
