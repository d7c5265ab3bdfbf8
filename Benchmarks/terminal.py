"""Compares the terminal program with VisiData in pseudo-terminals; see Benchmarks/terminal."""
import argparse
import csv
import fcntl
import os
import pty
import random
import re
import select
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time

ZONES = ["AFC", "CAF", "CONCACAF", "CONMEBOL", "OFC", "UEFA"]
MARK = "AAA the marked team"
MEASURES = ["first", "steps", "memory", "idle", "keys", "search"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", help="the built roster")
    parser.add_argument("--visidata", help="VisiData's vd")
    parser.add_argument("--without-visidata", action="store_true")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--only", default=",".join(MEASURES), help="measures, separated by commas: " + " ".join(MEASURES))
    parser.add_argument("--rates", default="100,500", help="commits per second of the other process")
    parser.add_argument("--seconds", type=float, default=20, help="duration of key presses at each rate")
    parser.add_argument("--rounds", type=int, default=5, help="number of measurements of the first screen")
    parser.add_argument("--folder", help="folder that keeps the records for the next run")
    parser.add_argument("--write", nargs=3, metavar=("STORE", "RATE", "SECONDS"), help="run as the other process")
    return parser.parse_args()


# The other process. It writes rows and their history in one transaction like the framework, but with plain SQLite, to cost
# little compared with the measured program.

def write(path, rate, seconds):
    """Commits `rate` matches per second. Every half second it changes the marked team's goals and prints the number and time."""
    database = sqlite3.connect(path, isolation_level=None, timeout=10)
    database.execute("PRAGMA synchronous=NORMAL")
    source = random.Random(11)
    entity, = database.execute("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME='Team'").fetchone()
    marked, = database.execute("SELECT Z_PK FROM ZTEAM WHERE ZTEAMNAME=?", (MARK,)).fetchone()
    count, = database.execute("SELECT max(Z_PK) FROM ZTEAM").fetchone()
    database.execute("INSERT OR IGNORE INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (99, 16003, 1, 'benchmark')")
    # The changed columns of a history row are bits: the to-one relationship, then the attributes by name.
    wins, losses, goals = bits(13), bits(9), bits(6)
    start = time.monotonic()
    done, number, next_mark = 0, 1_000_000, 0.2
    while (now := time.monotonic() - start) < seconds:
        if now < done / rate:
            time.sleep(min(0.01, done / rate - now))
            continue
        database.execute("BEGIN IMMEDIATE")
        transaction = database.execute("UPDATE Z_PRIMARYKEY SET Z_MAX=Z_MAX+1 WHERE Z_NAME='TRANSACTION' RETURNING Z_MAX").fetchone()[0]
        change = database.execute("UPDATE Z_PRIMARYKEY SET Z_MAX=Z_MAX+2 WHERE Z_NAME='CHANGE' RETURNING Z_MAX").fetchone()[0]
        is_mark = now >= next_mark
        if is_mark:
            next_mark += 0.5
            number += 1
            changes = [(marked, f"ZGOALSFOR={number}", goals)]
        else:
            changes = [(source.randrange(1, count + 1), "ZWINS=ZWINS+1", wins), (source.randrange(1, count + 1), "ZLOSSES=ZLOSSES+1", losses)]
        for place, (key, assignment, columns) in enumerate(changes):
            database.execute(f"UPDATE ZTEAM SET {assignment}, Z_OPT=Z_OPT+1 WHERE Z_PK=?", (key,))
            database.execute(
                "INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)"
                " VALUES (?, 16001, 1, 1, ?, ?, ?, ?)", (change - 1 + place, entity, key, transaction, columns))
        database.execute(
            "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZBUNDLEIDTS, ZPROCESSIDTS, ZTIMESTAMP) VALUES (?, 16002, 1, 99, 99, ?)",
            (transaction, time.time() - 978307200))
        database.execute("COMMIT")
        done += 1
        if is_mark:
            print(number, time.monotonic(), flush=True)
    print("done", done, flush=True)


def bits(place):
    """Returns the bits of a history row for one changed property."""
    data = bytearray(2)
    data[place // 8] |= 0x80 >> place % 8
    return bytes(data)


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, command, columns=80, lines=24, folder=None, emulates=False, rows=(1, 1)):
        """`rows`: numbers of lines above and below the rows, such as titles and status, which are inverted, too."""
        import pyte
        self.rows = rows
        self.bytes = 0
        self.recent = b""
        self.began = time.monotonic()
        self.columns, self.lines = columns, lines
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.emulates = emulates
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            environment = {
                "PATH": os.environ["PATH"], "HOME": folder, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
                "XDG_CACHE_HOME": folder + "/cache", "XDG_STATE_HOME": folder + "/state", "XDG_CONFIG_HOME": folder,
            }
            os.execve(command[0], command, environment)

    def send(self, text):
        os.write(self.fd, text.encode())

    def read(self, wait):
        """Returns the output within `wait` seconds; empty if there was none."""
        ready, _, _ = select.select([self.fd], [], [], max(0, wait))
        if not ready:
            return b""
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            sys.exit("the program exited: " + self.recent[-400:].decode(errors="replace"))
        self.bytes += len(data)
        self.recent = (self.recent + data)[-200_000:]
        if self.emulates:
            # Sequences that the emulator does not know and would print.
            data = re.sub(rb"\x1b\[[<>=?][0-9;]*[a-z]|\x1b\[\?[0-9;]*\$p|\x1b[=>]", b"", data)
            self.stream.feed(data)
        return data

    def wait(self, what, longest=120):
        """Waits until the condition is true; returns the seconds."""
        begin = time.monotonic()
        while time.monotonic() - begin < longest:
            if what():
                return time.monotonic() - begin
            self.read(0.5)
        sys.exit(f"no result after {longest} s. The screen:\n" + "\n".join(self.screen.display))

    def settle(self, quiet=0.4, longest=60):
        end = time.monotonic() + longest
        while time.monotonic() < end and self.read(quiet):
            pass

    def text(self):
        return "\n".join(self.screen.display)

    def cursor_line(self):
        """Returns the row line with the most inverted cells; None if there is none."""
        best, count = None, 3
        for line in range(self.rows[0], self.lines - self.rows[1]):
            row = self.screen.buffer[line]
            inverted = sum(1 for column in range(self.columns) if row[column].reverse)
            if inverted > count:
                best, count = line, inverted
        return best

    def processor(self):
        """Returns the process's processor time, including ended threads, from its clock (see clock_getcpuclockid(3))."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def waited(self):
        """Returns the seconds that the first thread was runnable but waited for a processor."""
        return int(open(f"/proc/{self.pid}/schedstat").read().split()[1]) / 1e9

    def peak(self):
        for line in open(f"/proc/{self.pid}/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return 0

    def end(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Roster:
    name = "roster"
    settle_bytes = b"Team 0"

    def __init__(self, options, data):
        self.command = [
            os.path.abspath(options.program), data.store, "--entity", "Team", "--section", "qualifyingZone",
            "--sort", "wins:desc,teamName"]
        self.data = data
        self.files = [data.store, self.command[0]]

    def open(self, columns=80, lines=24, emulates=False):
        return Terminal(self.command, columns, lines, self.data.folder, emulates, rows=(2, 2))

    def loaded(self, terminal):
        terminal.wait(lambda: b"Team 0" in terminal.recent or MARK.encode() in terminal.recent)
        terminal.settle()

    def begin_search(self, terminal, text):
        """Starts a search of all records."""
        terminal.send("/")
        terminal.settle(0.2)
        terminal.send(text)

    def search_ended(self, terminal):
        return "nothing found" in terminal.text()


class VisiData:
    name = "VisiData 3.4"
    settle_bytes = b"Team 0"

    def __init__(self, options, data):
        self.command = [options.visidata, data.csv]
        self.data = data
        self.files = [data.csv]

    def open(self, columns=80, lines=24, emulates=False):
        return Terminal(self.command, columns, lines, self.data.folder, emulates)

    def loaded(self, terminal):
        """Waits until VisiData has read all rows: it shows rows earlier, so wait until it uses no more processor time."""
        terminal.wait(lambda: b"Team 0" in terminal.recent or MARK.encode() in terminal.recent)
        last = -1.0
        while terminal.processor() - last > 0.05:
            last = terminal.processor()
            end = time.monotonic() + 0.7
            while time.monotonic() < end:
                terminal.read(0.1)

    def begin_search(self, terminal, text):
        terminal.send("g/")
        terminal.settle(0.3)
        terminal.send(text + "\r")

    def search_ended(self, terminal):
        return "0 matches" in terminal.text() or "no match" in terminal.text().lower()


class Records:
    """The same records as a store and as a CSV file."""

    def __init__(self, options):
        self.folder = options.folder or tempfile.mkdtemp(prefix="roster-terminal-")
        os.makedirs(self.folder, exist_ok=True)
        self.store = os.path.join(self.folder, f"Teams-{options.rows}.sqlite")
        self.csv = os.path.join(self.folder, f"teams-{options.rows}.csv")
        if not (os.path.exists(self.csv) and os.path.exists(self.store)):
            self.make(options)

    def make(self, options):
        print(f"making {options.rows} records …", file=sys.stderr)
        source = random.Random(7)
        keys = ["teamName", "qualifyingZone", "wins", "draws", "losses", "goalsFor", "goalsAgainst", "titles", "favorite", "imageName"]
        with open(self.csv + ".part", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(keys)
            writer.writerow([MARK, "AFC", 1000, 0, 0, 1_000_000, 0, 0, "false", "flag"])
            for number in range(1, options.rows):
                writer.writerow([f"Team {number:07}", source.choice(ZONES)] + [source.randrange(100) for _ in range(3)]
                                + [source.randrange(300), source.randrange(300), 0, "false", "flag"])
        model = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sample-data", "WorldCup.xcdatamodeld")
        for end in ["", "-wal", "-shm"]:
            if os.path.exists(self.store + end):
                os.remove(self.store + end)
        quiet = {"check": True, "stdout": subprocess.DEVNULL}
        subprocess.run([options.program, "create", self.store, "--model", model], **quiet)
        subprocess.run([options.program, "import", self.store, "Team", "--format", "csv", self.csv + ".part"], **quiet)
        os.rename(self.csv + ".part", self.csv)


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] if values else float("nan")


def milliseconds(seconds):
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.01 else f"{seconds * 1000:.1f} ms"


class Report:
    def __init__(self):
        self.rows = []

    def add(self, measure, program, figure, target=""):
        self.rows.append((measure, program, figure, target))
        print(f"  {measure}: {program}: {figure}", file=sys.stderr, flush=True)

    def print(self, programs):
        print("| measure | " + " | ".join(programs) + " | target |")
        print("|---|" + "---:|" * (len(programs) + 1))
        for measure in dict.fromkeys(row[0] for row in self.rows):
            of = {row[1]: row for row in self.rows if row[0] == measure}
            target = next((row[3] for row in of.values() if row[3]), "–")
            print(f"| {measure} | " + " | ".join(of[name][2] if name in of else "–" for name in programs) + f" | {target} |")


def forget(paths):
    """Drops the files from the page cache, unless a program has them open."""
    for path in paths:
        for end in ["", "-wal", "-shm"]:
            if os.path.exists(path + end):
                descriptor = os.open(path + end, os.O_RDONLY)
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(descriptor)


def libraries(program):
    """Returns the files of a program's libraries, without the C library, which every process uses."""
    found = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return [path for path in re.findall(r"=> (/\S+)", found) if not re.search(r"/(libc|libm|libpthread|ld-linux)[.-]", path)]


def first_screen(program, options, report):
    terminal = program.open()
    program.loaded(terminal)
    terminal.end()
    for kind, target in [("warm", "≤ 50 ms"), ("cold", "≤ 150 ms")]:
        times = []
        for _ in range(options.rounds):
            if kind == "cold":
                forget(program.files + libraries(program.command[0]))
            terminal = program.open()
            terminal.wait(lambda: program.settle_bytes in terminal.recent)
            times.append(time.monotonic() - terminal.began)
            terminal.end()
        report.add(f"first rows on the screen, {kind} (median of {options.rounds})", program.name,
                   milliseconds(percentile(times, 0.5)), target)


def steps(program, options, report):
    for columns, lines, target in [(80, 24, "≤ 150"), (200, 50, "≤ 220")]:
        terminal = program.open(columns, lines)
        program.loaded(terminal)
        terminal.send("j")
        terminal.settle(0.3)
        before, count = terminal.bytes, 15
        for _ in range(count):
            terminal.send("j")
            terminal.settle(0.15)
        report.add(f"bytes of a cursor step, {columns}×{lines}", program.name, f"{(terminal.bytes - before) / count:.0f}", target)
        terminal.end()


def memory(program, options, report):
    terminal = program.open()
    program.loaded(terminal)
    for key in ["G", "gg"] + ["\x06"] * 20:
        terminal.send(key)
        terminal.settle(0.1)
    report.add("peak memory, after the last row and twenty pages", program.name, f"{terminal.peak():.0f} MB", "≤ 64 MB")
    terminal.end()


def idle(program, options, report):
    terminal = program.open()
    program.loaded(terminal)
    # Wait for background work of opening.
    terminal.settle(2.0)
    before, worked, seconds = terminal.bytes, terminal.processor(), 10
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        terminal.read(end - time.monotonic())
    report.add(f"bytes in {seconds} idle seconds", program.name, str(terminal.bytes - before), "0")
    report.add("processor while idle", program.name, f"{(terminal.processor() - worked) / seconds * 100:.2f} %", "≤ 0.1 %")
    terminal.end()


def keys(program, options, report):
    for rate in [int(rate) for rate in options.rates.split(",")]:
        terminal = program.open(emulates=True)
        program.loaded(terminal)
        terminal.settle(0.5)
        # A file, because a full pipe would block the writer.
        notes = os.path.join(program.data.folder, "written")
        writer = subprocess.Popen(
            [sys.executable, __file__, "--write", program.data.store, str(rate), str(options.seconds)],
            stdout=open(notes, "w"))
        written = open(notes)
        waits, own, lags, marks, ends, unfinished = [], [], [], {}, {}, [""]
        source = random.Random(3)
        down = True

        def look(wait):
            """Reads output, and records when a number of the marked team appears."""
            terminal.read(wait)
            # The last line may still be incomplete.
            *lines, unfinished[0] = (unfinished[0] + written.read()).split("\n")
            for line in lines:
                number, value = line.split()
                if number == "done":
                    ends["commits"] = value
                else:
                    marks[int(number)] = float(value)
            shown = re.search(r"\b1\s?,?000\s?,?(\d\d\d)\b", terminal.text())
            if marks and shown:
                for number in [number for number in marks if number <= 1_000_000 + int(shown.group(1))]:
                    lags.append(time.monotonic() - marks.pop(number))

        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            line = terminal.cursor_line()
            pressed, ready = time.monotonic(), terminal.waited()
            # The first row is the marked team, which remains first.
            terminal.send("j" if down else "gg")
            while terminal.cursor_line() == line and time.monotonic() - pressed < 10:
                look(0.02)
            waits.append(time.monotonic() - pressed)
            own.append(max(0, waits[-1] - (terminal.waited() - ready)))
            down = not down
            pause = time.monotonic() + source.uniform(0.03, 0.12)
            while time.monotonic() < pause:
                look(pause - time.monotonic())
        writer.wait()
        until = time.monotonic() + 15
        while (marks or not ends) and time.monotonic() < until:
            look(0.05)
        target = "p99 ≤ 16 ms" if rate <= 100 else "p99 ≤ 50 ms"
        report.add(
            f"key to paint while another process commits {rate} times a second: median, p99, most", program.name,
            ", ".join(milliseconds(figure) for figure in [percentile(waits, 0.5), percentile(waits, 0.99), max(waits)])
            + f" ({len(waits)} keys)", target)
        report.add(
            f"… at {rate} a second, without the time in which no processor was free for it", program.name,
            ", ".join(milliseconds(figure) for figure in [percentile(own, 0.5), percentile(own, 0.99), max(own)]))
        if lags:
            report.add(f"commit to screen at {rate} a second: median, most", program.name,
                       ", ".join(milliseconds(figure) for figure in [percentile(lags, 0.5), max(lags)])
                       + (f", {len(marks)} never" if marks else ""), "≤ 1000 ms")
        report.add(f"commits made at {rate} a second", program.name, f"{int(ends.get('commits', 0)) / options.seconds:.0f}/s")
        terminal.end()


def search(program, options, report):
    terminal = program.open(emulates=True)
    program.loaded(terminal)
    program.begin_search(terminal, "qqqq")
    took = terminal.wait(lambda: program.search_ended(terminal))
    report.add("search of all records for a text that is in none", program.name, f"{took:.2f} s", "≤ 1.5 s")
    terminal.end()


def main():
    options = arguments()
    if options.write:
        store, rate, seconds = options.write
        return write(store, float(rate), float(seconds))
    data = Records(options)
    report = Report()
    programs = [Roster(options, data)]
    if options.visidata and not options.without_visidata:
        programs.append(VisiData(options, data))
    measures = {"first": first_screen, "steps": steps, "memory": memory, "idle": idle, "keys": keys, "search": search}
    try:
        for name in options.only.split(","):
            for program in programs:
                measures[name](program, options, report)
    finally:
        if not options.folder:
            shutil.rmtree(data.folder, ignore_errors=True)
    print(f"{options.rows} records")
    report.print([program.name for program in programs])


main()
