"""Runs the terminal program in an independent emulator; see Scripts/terminal-check."""
import argparse
import fcntl
import glob
import itertools
import os
import pty
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pyte

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
parser.add_argument("--keys", type=int, default=150, help="number of random keys per size and locale")
parser.add_argument("--short", action="store_true", help="one size, few resizes, no signals; for the test suite")
options = parser.parse_args()
options.program = os.path.abspath(options.program)
folder = tempfile.mkdtemp(prefix="roster-terminal-")
failures = 0
numbers = itertools.count()


def say(text):
    print(text, flush=True)


def fail(text):
    global failures
    failures += 1
    say("FAILED " + text)


class Terminal:
    """The program in a pseudo-terminal, and the emulator that reads its output."""

    def __init__(self, store, columns, lines, locale, terminal="linux"):
        self.columns, self.lines = columns, lines
        self.bytes = b""
        self.frames = os.path.join(folder, f"frame-{next(numbers)}")
        self.fresh()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            environment = {
                "PATH": os.environ["PATH"], "HOME": folder, "TERM": terminal, "LC_ALL": locale,
                "ROSTER_FRAMES": self.frames, "XDG_CACHE_HOME": folder, "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder,
            }
            # The emulator is of TERM=linux: it neither repeats characters nor scrolls by several lines. The size is set before
            # the program reads it.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execve(
                options.program,
                [options.program, store, "--entity", "Team", "--section", "qualifyingZone", "--sort", "wins:desc"],
                environment)

    def fresh(self):
        self.screen = pyte.Screen(self.columns, self.lines)
        self.stream = pyte.ByteStream(self.screen)

    def work(self):
        """Returns the processor time so far, and True if a thread is runnable: on a busy machine it may have to wait."""
        try:
            clock = time.clock_gettime((~self.pid << 3) | 2)
            states = [open(path).read().rsplit(")", 1)[1].split()[0] for path in glob.glob(f"/proc/{self.pid}/task/*/stat")]
        except OSError:
            return 0, False
        return clock, "R" in states or "D" in states

    def pump(self, quiet=0.25, longest=90.0):
        """Reads until there was no output for `quiet` seconds and, unless that is short, the program is idle."""
        end = time.time() + longest
        while time.time() < end:
            before, _ = self.work()
            ready, _, _ = select.select([self.fd], [], [], quiet)
            if not ready:
                after, is_busy = self.work()
                if quiet < 0.2 or self.bytes and not is_busy and after - before < 0.01:
                    return True
                continue
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.bytes += data
            self.stream.feed(data)
        return True

    def send(self, text):
        os.write(self.fd, text.encode())

    def resize(self, columns, lines):
        self.columns, self.lines = columns, lines
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen.resize(lines, columns)

    def grid(self):
        return [line.rstrip() for line in self.screen.display]

    def frame(self):
        """Returns the program's cells, which it wrote to a file with the last frame."""
        with open(self.frames, encoding="utf-8") as file:
            return [line.rstrip() for line in file.read().split("\n")[:-1]]

    def compare(self, what, settles=False):
        """Compares the screen with the program's grid of cells, and does so again after a full repaint.

        With `settles` it first waits for timed changes to end. Then the repaint must not change anything."""
        if settles:
            time.sleep(6)
        self.pump()
        self.compare_cells(what, "painted")
        before = self.grid()
        kept = self.screen
        self.fresh()
        self.send("\x0c")
        self.pump()
        # Key hints appear after a time, so the repainted screen is compared with the new cells.
        self.compare_cells(what, "repainted")
        after = self.grid()
        if settles and before != after:
            different = [n for n in range(self.lines) if before[n] != after[n]]
            fail(f"{what}: lines {different} differ")
            for number in different[:3]:
                say(f"  painted  {before[number]!r}\n  repaint  {after[number]!r}")
        del kept

    def compare_cells(self, what, how):
        # A message may disappear between the two reads; try again.
        for attempt in range(5):
            shown, meant = self.grid(), self.frame()
            if shown == meant:
                return
            self.pump()
        different = [n for n in range(self.lines) if n >= len(meant) or shown[n] != meant[n]]
        fail(f"{what}: {how} lines {different} differ from the program's cells ({len(meant)} of {self.lines} lines)")
        for number in different[:3]:
            if number < len(meant):
                say(f"  terminal {shown[number]!r}\n  program  {meant[number]!r}")

    def end(self):
        """Kills the program and returns its status."""
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return status


def store(name):
    path = os.path.join(folder, name + ".sqlite")
    sample = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sample-data")
    run = [options.program]
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(run + ["create", path, "--model", os.path.join(sample, "WorldCup.xcdatamodeld")], **quiet)
    subprocess.run(run + ["import", path, "Venue", os.path.join(sample, "venues.json")], **quiet)
    subprocess.run(run + ["import", path, "Team", os.path.join(sample, "teams.json")], **quiet)
    return path


# Keys that visit the program's screens and have no outside effects. Escape is frequent, to close layers soon.
KEYS = [
    "j", "k", "l", "h", "]", "[", "G", "gg", "za", "zM", "zR", "\x04", "\x15", "p", "\t", "\r", "\x1b", "\x1b", "\x1b",
    "?", "gm", "gb", "gs", "ge", "|", "c", "gt", "ga", "Z", "Z", "v", " ", "/ar", "\\wins > 3\r", "\\\r", "2g", "H", "gu",
    "s", "e", "E", "o", "\x10",
]


def walk(path, columns, lines, locale, source):
    terminal = Terminal(path, columns, lines, locale)
    terminal.pump(quiet=1.0)
    for number in range(options.keys):
        terminal.send(source.choice(KEYS))
        terminal.pump(quiet=0.02)
        if number % 10 == 9:
            # The program recognises a lone escape by the pause after it.
            time.sleep(0.05)
            terminal.compare(f"{columns}x{lines} {locale} key {number + 1}", settles=number + 10 >= options.keys)
    if os.waitpid(terminal.pid, os.WNOHANG) != (0, 0):
        fail(f"{columns}x{lines} {locale}: the program exited")
        return
    terminal.end()
    say(f"walked {columns}x{lines} {locale}: {options.keys} keys, {len(terminal.bytes)} bytes")


def storm(path, source, sizes):
    terminal = Terminal(path, 80, 24, "C.UTF-8")
    terminal.pump(quiet=1.0)
    for _ in range(sizes):
        terminal.resize(source.randrange(1, 250), source.randrange(1, 70))
        time.sleep(source.choice([0, 0, 0.002, 0.02]))
        terminal.pump(quiet=0)
    for columns, lines in [(80, 24), (20, 5), (200, 50)]:
        terminal.resize(columns, lines)
        terminal.pump()
        terminal.compare(f"after random sizes, {columns}x{lines}")
    terminal.end()
    say(f"{sizes} random sizes")


def modes(data):
    """Returns the private modes that the output leaves on."""
    on = set()
    position = 0
    while True:
        position = data.find(b"\x1b[?", position)
        if position < 0:
            return on
        end = position + 3
        while end < len(data) and (data[end:end + 1].isdigit() or data[end:end + 1] == b";"):
            end += 1
        for number in data[position + 3:end].split(b";"):
            if data[end:end + 1] == b"h":
                on.add(number)
            elif data[end:end + 1] == b"l":
                on.discard(number)
        position = end


def signals(path):
    for number in [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS,
                   signal.SIGFPE, signal.SIGILL, signal.SIGQUIT]:
        # A terminal type with all modes that have to be reset.
        terminal = Terminal(path, 80, 24, "C.UTF-8", "xterm-256color")
        settings = termios.tcgetattr(terminal.fd)
        terminal.pump(quiet=1.0)
        terminal.send("?")
        terminal.pump()
        os.kill(terminal.pid, number)
        terminal.pump(quiet=1.5, longest=40)
        left = modes(terminal.bytes) & {b"1049", b"1000", b"1002", b"1003", b"1006", b"2004", b"1004", b"2026"}
        echo = termios.tcgetattr(terminal.fd)[3] & termios.ECHO if terminal_is_open(terminal) else settings[3] & termios.ECHO
        if left:
            fail(f"{number.name} leaves {sorted(left)} on")
        if not echo:
            fail(f"{number.name} leaves the terminal without echo")
        terminal.end()
        say(f"{number.name}: clean")
    suspend(path)


def terminal_is_open(terminal):
    try:
        termios.tcgetattr(terminal.fd)
        return True
    except (termios.error, OSError):
        return False


def suspend(path):
    # The program leads its own session, so the terminal cannot stop it. SIGSTOP does.
    terminal = Terminal(path, 80, 24, "C.UTF-8")
    terminal.pump(quiet=1.0)
    os.kill(terminal.pid, signal.SIGSTOP)
    terminal.resize(100, 30)
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.pump(quiet=0.6)
    terminal.compare("after SIGSTOP, another size and SIGCONT")
    terminal.end()
    say("SIGSTOP and SIGCONT: repainted")


def main():
    source = random.Random(options.seed)
    say(f"seed {options.seed}")
    try:
        path = store("Cup")
        if options.short:
            walk(path, 80, 24, "C.UTF-8", source)
            storm(path, source, 30)
        else:
            for columns, lines in [(40, 10), (80, 24), (120, 40), (200, 50)]:
                for locale in ["C.UTF-8", "C"]:
                    walk(path, columns, lines, locale, source)
            storm(path, source, 200)
            signals(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    say("all screens equal the program's cells and a repaint" if failures == 0 else f"{failures} failures")
    return 1 if failures else 0


sys.exit(main())
