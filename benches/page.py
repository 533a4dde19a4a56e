#!/usr/bin/env python3
"""What the page costs: to be written, to be opened in Chromium, to be looked at, and to be served.

usage: page.py [--rows N,N] [--kinds K,K] [--rounds N] [--update] PROFDB GENERATOR [DIR]

    --rows N,N   nodes of the generated trees (100000,1000000)
    --kinds K,K  csv: a tree with lines and two metrics; lispworks: one of functions only (csv,lispworks)
    --rounds N   how often each is measured (3)
    --update     also writes the table to its place in benches/targets.md
    DIR          where the generated files are kept, and reused if there; default: a temporary folder

GENERATOR is what `cargo bench --bench generate --no-run` makes. Printed are medians of processor time, user and system: of
programs, and of the thread of the page in the browser, from the request for the page until the picture is there. Targets are
ours. `done ahead` is what the start page unpacks while it rests. `frame` draws the whole flame graph again, `drill` goes one function
deeper in it, and `drill in tables` in the panes.

Needs Linux, python3 (3.10) and chromium. Exit codes: 0 done, 1 over a target, 2 usage.
"""

import argparse
import fcntl
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "benches/targets.md"

MIB = 1 << 20
# Frames that are measured together.
FRAMES = 20

# What may be, by how many nodes there are at most: milliseconds of processor time.
FIRST_PICTURE = [(100_000, 300), (1_000_000, 1000)]
FRAME = 16
DRILL = 100
SERVE = 50
# What a page may cost to be written beside `export --format folded`, and how large it may be.
WRITTEN = 2.0
MOST_BYTES = 8 * MIB


class Browser:
    """Chromium without a window, asked through a pipe by the protocol of its developers' tools."""

    def __init__(self, folder):
        program = shutil.which("chromium")
        if program is None:
            sys.exit("page.py: chromium is not installed")
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()

        def prepare():
            # Chromium reads from 3 and writes to 4, which may be other ends of the pipes here.
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_read, theirs_write)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1280,800"]
        self.process = subprocess.Popen(
            [program, *flags, f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=prepare,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_read)
        os.close(theirs_write)
        self.reader, self.writer = os.fdopen(ours_read, "rb"), os.fdopen(ours_write, "wb")
        self.last, self.session = 0, None

    def ask(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.writer.write(json.dumps(message).encode() + b"\0")
        self.writer.flush()
        while True:
            answer = bytearray()
            while (byte := self.reader.read(1)) != b"\0":
                if not byte:
                    sys.exit("page.py: chromium has ended")
                answer += byte
            answer = json.loads(answer)
            if answer.get("id") == self.last:
                if "error" in answer:
                    sys.exit(f"page.py: {method}: {answer['error']}")
                return answer["result"]

    def page(self):
        """Opens an empty page, whose thread is measured from here on."""
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Performance.enable", timeDomain="threadTicks")
        return target

    def close(self, target):
        self.session = None
        self.ask("Target.closeTarget", targetId=target)

    def worked(self):
        """Milliseconds that the thread of the page has worked."""
        metrics = self.ask("Performance.getMetrics")["metrics"]
        return 1e3 * next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"page.py: {expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def settle(self):
        """Waits until the page shows what its address says, and has been painted."""
        shown = "document.getElementById('page')?.dataset.shown === location.hash"
        twice = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        while not self.value(f"new Promise((done) => setTimeout(() => done({shown}), 20))"):
            pass
        self.value(twice)

    def rest(self):
        """Waits until the page has nothing to do, not even what it does ahead."""
        self.value("new Promise((done) => requestIdleCallback(() => done()))")
        before = None
        while before is None or self.worked() - before > 1:
            before = self.worked()
            self.value("new Promise((done) => setTimeout(done, 200))")

    def end(self):
        self.process.kill()
        self.process.wait()


def run(words):
    """The processor time of a program in ms."""
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"page.py: {words}: {said.decode(errors='replace')}")
    return 1e3 * (used.ru_utime + used.ru_stime)


def served(profdb, database):
    """The processor time of `profdb serve` until it has told its address, in ms."""
    server = subprocess.Popen([profdb, "serve", database, "--no-open"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        server.stdout.readline()
        threads = Path(f"/proc/{server.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e6
    finally:
        server.kill()
        server.wait()


def opened(browser, html, function):
    """What it costs to open a page and to look at it, in ms by name."""
    costs = {}

    def cost(name, act, times=1):
        before = browser.worked()
        act()
        browser.settle()
        costs[name] = (browser.worked() - before) / times

    def go(fragment):
        browser.value(f"location.hash = {json.dumps(fragment)}")

    target = browser.page()
    cost("start page", lambda: browser.ask("Page.navigate", url=f"file://{html}"))
    cost("done ahead", browser.rest)
    cost("drill in tables", lambda: go(f"#view=panes&fn={function}"))
    browser.close(target)
    target = browser.page()
    cost("flame graph", lambda: browser.ask("Page.navigate", url=f"file://{html}#view=flame"))
    draw = (
        f"(async () => {{ for (let frame = 0; frame < {FRAMES}; frame++) {{"
        " document.querySelector('.picture').dispatchEvent(new Event('scroll'));"
        " await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); } })()"
    )
    cost("frame", lambda: browser.value(draw), FRAMES)
    cost("drill", lambda: go(f"#view=flame&fn={function}"))
    browser.close(target)
    return costs


def measure(options, folder, work, kind, rows, browser):
    """Rows of the table for one tree: what, how much, its unit and its target."""
    source = folder / f"{kind}-{rows}.{kind}"
    if not source.exists():
        subprocess.run([options.generator, kind, str(rows), "-o", source], check=True)
    database, html = work / f"{kind}-{rows}.db", work / f"{kind}-{rows}.html"
    run([options.profdb, "import", "--db", database, source])
    answer = subprocess.run(
        [options.profdb, "report", "summary", "--db", database, "--first", "8", "--format", "json"],
        check=True,
        capture_output=True,
    )
    # Not a root, but a function with much below it.
    function = json.loads(answer.stdout)["rows"][-1]["function"]
    function = re.sub(r"[^A-Za-z0-9.]", lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode()), function)
    costs: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        folded = work / "x.folded"
        folded.unlink(missing_ok=True)
        html.unlink(missing_ok=True)
        export = run([options.profdb, "export", "--db", database, "--format", "folded", "-o", folded])
        written = run([options.profdb, "report", "--db", database, "--html", html])
        now = {"export folded": export, "written": written, "written by folded": written / export}
        now["serve begins"] = served(options.profdb, database)
        for name, value in {**now, **opened(browser, html, function)}.items():
            costs.setdefault(name, []).append(value)
    found = {name: statistics.median(values) for name, values in costs.items()}
    first = next((target for most, target in FIRST_PICTURE if rows <= most), None)
    targets = {"written by folded": WRITTEN, "serve begins": SERVE, "start page": first, "flame graph": first, "frame": FRAME, "drill": DRILL}
    targets["drill in tables"] = DRILL
    table = [(name, value, "" if name == "written by folded" else "ms", targets.get(name)) for name, value in found.items()]
    table.append(("page", html.stat().st_size / MIB, "MiB", MOST_BYTES / MIB))
    for file in (html, folded):
        file.unlink()
    return table


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("profdb", type=Path)
    parser.add_argument("generator", type=Path)
    parser.add_argument("dir", type=Path, nargs="?")
    parser.add_argument("--rows", default="100000,1000000")
    parser.add_argument("--kinds", default="csv,lispworks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    lines = ["| tree | nodes | what | found | target |  |", "| --- | --- | --- | --- | --- | --- |"]
    is_missed = False
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        folder = options.dir or work
        browser = Browser(work / "browser")
        try:
            for kind in options.kinds.split(","):
                for rows in map(int, options.rows.split(",")):
                    for name, value, unit, target in measure(options, folder, work, kind, rows, browser):
                        is_over = target is not None and value > target
                        is_missed |= is_over
                        shown = f"{value:.2f}" if unit != "ms" else f"{value:.0f}" if value >= 20 else f"{value:.1f}"
                        verdict = "" if target is None else "MISSED" if is_over else "ok"
                        words = [kind, f"{rows:,}", name, f"{shown} {unit}".strip(), "" if target is None else f"{target:g}", verdict]
                        lines.append(f"| {' | '.join(words)} |")
                        print(lines[-1], flush=True)
        finally:
            browser.end()
    if options.update:
        text = DOCUMENT.read_text()
        begin, end = "<!-- page -->", "<!-- end of page -->"
        before, after = text.split(begin)[0], text.split(end)[1]
        DOCUMENT.write_text("\n".join([before + begin, *lines, end]) + after)
    sys.exit(1 if is_missed else 0)


main()
