"""Records `roster demo` in a pseudo-terminal and draws its screens as animated SVG, light and dark."""

import fcntl
import html
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
import unicodedata

import pyte

COLUMNS, LINES = 100, 30
CELL_WIDTH, CELL_HEIGHT, FONT_SIZE, MARGIN = 8.4, 18, 14, 12
SECONDS = 17.0
# Times and keys to press.
SCRIPT = [
    (2.5, "j"), (2.8, "j"), (3.1, "j"), (4.5, "]"), (5.2, "za"), (6.2, "za"), (7.0, "/"), (7.3, "J"), (7.5, "a"),
    (7.7, "p"), (8.3, "\r"), (9.3, "gb"), (11.3, "\x1b"), (12.0, "gm"), (14.2, "\x1b"), (15.0, "G"), (15.8, "gg"),
]
THEMES = {
    "dark": {"ground": "#1c1c1c", "text": "#d0d0d0", "frame": "#3a3a3a"},
    "light": {"ground": "#ffffff", "text": "#24292f", "frame": "#d0d7de"},
}
NAMED = {
    "black": "#000000", "red": "#cd3131", "green": "#2e9e44", "brown": "#b58900", "blue": "#2472c8",
    "magenta": "#bc3fbc", "cyan": "#0598bc", "white": "#e5e5e5",
}


def record(program):
    """Returns the program's output as (seconds, bytes)."""
    home = tempfile.mkdtemp(prefix="roster-animation-")
    environment = {
        "PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
        "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
    }
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(program, [program, "demo", "--rate", "1.5", "--seed", "7"], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    # The clock starts with the first screen, to leave out the time in which the sample is made.
    start = None
    chunks, script = [], list(SCRIPT)
    try:
        while start is None or time.monotonic() - start < SECONDS:
            now = 0.0 if start is None else time.monotonic() - start
            while script and start is not None and script[0][0] <= now:
                os.write(terminal, script.pop(0)[1].encode())
            if not select.select([terminal], [], [], 0.02)[0]:
                continue
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            if start is None and b"Callbacks" in data:
                start = time.monotonic()
            chunks.append((0.0 if start is None else time.monotonic() - start, data))
        os.write(terminal, b"q")
        time.sleep(0.5)
    finally:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        os.waitpid(pid, 0)
        shutil.rmtree(home, ignore_errors=True)
    if start is None:
        sys.exit("demo-animation: the program showed no screen")
    return chunks


def rows(screen):
    """Returns the lines of a screen as tuples of runs: (column, text, colour, ground, bold, underlined)."""
    result = []
    for y in range(LINES):
        runs, is_after_wide = [], False
        line = screen.buffer[y]
        for x in range(COLUMNS):
            cell = line[x]
            if cell.data == "":
                continue
            look = [cell.fg, cell.bg, cell.bold, cell.underscore]
            if cell.reverse:
                look[0] = "ground" if cell.bg == "default" else cell.bg
                look[1] = "text" if cell.fg == "default" else cell.fg
            # A wide letter is a run of its own, to keep the columns with fonts of other widths.
            is_wide = unicodedata.east_asian_width(cell.data[0]) in "WF"
            if runs and runs[-1][2:] == look and not is_wide and not is_after_wide:
                runs[-1][1] += cell.data
            else:
                runs.append([x, cell.data] + look)
            is_after_wide = is_wide
        result.append(tuple(tuple(run) for run in runs if run[1].strip() or run[3] != "default"))
    return tuple(result)


def frames(chunks):
    """Returns the distinct screens, sampled every 0.1 s, as (seconds, lines)."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    result = []
    step = 0.1
    due = step
    for seconds, data in chunks:
        while seconds > due:
            if seconds > 0 and (not result or rows(screen) != result[-1][1]):
                result.append((max(0.0, due - step), rows(screen)))
            due += step
        # Requests that pyte does not know and that do not change the screen.
        stream.feed(re.sub(rb"\x1b\[\?2026(\$p|[hl])|\x1b\[>[0-9;]*[a-zA-Z]", b"", data))
    result.append((due, rows(screen)))
    return [frame for frame in result if any(frame[1])]


def colour(name, theme, dim_default):
    if name == "default":
        return dim_default
    if name in ("ground", "text"):
        return theme[name]
    if name in NAMED:
        return NAMED[name]
    name = name.removeprefix("bright")
    return "#" + name if re.fullmatch("[0-9a-f]{6}", name) else NAMED.get(name, dim_default)


def drawn(line, theme, classes):
    """Returns a line as SVG at y = 0."""
    parts = []
    for x, text, front, back, bold, underlined in line:
        left = round(x * CELL_WIDTH, 1)
        width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
        length = round(width * CELL_WIDTH, 1)
        if back != "default":
            parts.append(
                f'<rect x="{left}" width="{length}" height="{CELL_HEIGHT}" fill="{colour(back, theme, theme["ground"])}"/>')
        stripped = text.rstrip()
        if not stripped:
            continue
        lead = len(stripped) - len(stripped.lstrip())
        left = round((x + lead) * CELL_WIDTH, 1)
        stripped = stripped.lstrip()
        width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in stripped)
        key = (colour(front, theme, theme["text"]), bold, underlined)
        name = classes.setdefault(key, f"c{len(classes)}")
        fit = f' textLength="{round(width * CELL_WIDTH, 1)}" lengthAdjust="spacingAndGlyphs"' if len(stripped) > 1 else ""
        parts.append(f'<text class="{name}" x="{left}" y="13.5"{fit}>{html.escape(stripped)}</text>')
    return "".join(parts)


def svg(shown, theme):
    end = SECONDS
    classes, symbols, spans = {}, {}, {}
    for y in range(LINES):
        current, since = None, 0.0
        for seconds, lines in shown + [(end, None)]:
            line = lines[y] if lines is not None else None
            if line == current:
                continue
            if current:
                spans.setdefault((current, y), []).append((since, min(seconds, end)))
            current, since = line, seconds
    body = []
    for (line, y), times in spans.items():
        symbol = symbols.setdefault(line, f"l{len(symbols)}")
        values, keys = [], []
        for start, stop in times:
            for moment, value in ((start, "visible"), (stop, "hidden")):
                at = round(moment / end, 4)
                if keys and keys[-1] == at:
                    values[-1] = value
                else:
                    keys.append(at)
                    values.append(value)
        if keys[0] > 0:
            keys.insert(0, 0)
            values.insert(0, "hidden")
        if keys[-1] >= 1:
            keys.pop()
            values.pop()
        top = MARGIN + y * CELL_HEIGHT
        use = f'<use href="#{symbol}" x="{MARGIN}" y="{top}"'
        if values == ["visible"]:
            body.append(use + "/>")
            continue
        body.append(
            f'{use} visibility="{values[0]}"><animate attributeName="visibility" values="{";".join(values)}" '
            f'keyTimes="{";".join(map(str, keys))}" dur="{end}s" calcMode="discrete" repeatCount="indefinite"/></use>')
    definitions = "".join(f'<g id="{name}">{drawn(line, theme, classes)}</g>' for line, name in symbols.items())
    styles = "".join(
        f".{name}{{fill:{fill}{';font-weight:bold' if bold else ''}{';text-decoration:underline' if line else ''}}}"
        for (fill, bold, line), name in classes.items())
    width = round(COLUMNS * CELL_WIDTH + 2 * MARGIN)
    height = LINES * CELL_HEIGHT + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"<title>roster demo: a list that changes while a season is played</title>"
        f"<style>text{{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:{FONT_SIZE}px;"
        f"white-space:pre}}{styles}</style>"
        f'<rect width="{width}" height="{height}" rx="8" fill="{theme["ground"]}" stroke="{theme["frame"]}"/>'
        f"<defs>{definitions}</defs>{''.join(body)}</svg>\n")


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    shown = frames(record(program))
    for name, theme in THEMES.items():
        path = os.path.join(folder, f"demo-{name}.svg")
        text = svg(shown, theme)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{path}: {len(shown)} screens, {len(text.encode()) // 1000} kB")


if __name__ == "__main__":
    main()
