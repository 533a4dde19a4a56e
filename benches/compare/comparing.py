"""What comparing, histories, steps and gates cost, and every report in a database of many runs.

usage: comparing.py [--rounds N] [--only WORD,...] [--update] PROFDB GENERATOR [DIR]

    --rounds N    how often each command is timed (5); the least is shown
    --only W,W    only commands with one of these words in their names
    --update      also writes the table to its place in benches/targets.md; without --only
    DIR           where the databases are kept, and used again if there; default: a temporary folder

PROFDB and GENERATOR are built by

    cargo build --profile unlinked --bin profdb --bench generate

The cost of a command is the processor time of all its threads, user and system, less that of `profdb --version`: what starting
takes. On a machine that does other things as well, the least of some rounds is nearest to what a command costs by itself. Where
the target is a part of an import, it is that of one of the compared runs, in the same rounds; memory is beyond what `profdb
--version` takes and what the names of functions take.

Needs python3 (3.10). Exit codes: 0 all targets are met, 1 one is missed or something failed, 2 usage.
"""

import argparse
import os
import random
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "benches/targets.md"
MARKS = "<!-- comparing -->", "<!-- end of comparing -->"


@dataclass(frozen=True)
class Job:
    name: str
    command: str
    # Milliseconds, or with `beside` a ratio to that import.
    target: float
    beside: str = ""
    # MB of memory beyond the dictionary.
    memory: float = 0


JOBS = [
    Job("history of a function, 1,000 runs", "profdb history f7 --db $commits", 20),
    Job("history of the whole run, 1,000 runs", "profdb history --db $commits", 20),
    Job("history --steps of a function, 1,000 runs", "profdb history f7 --steps --db $commits", 20),
    Job("history as JSON, 1,000 runs", "profdb history f7 --format json --db $commits", 20),
    Job("steps, 5,000 functions in 500 runs", "profdb steps --min-share 0 --db $series", 5000),
    Job("gate, 10 runs and 3", "profdb gate --budget $budget --db $gated --base side=base --new side=new", 200),
    Job("gate, 3 runs and the history of base", "profdb gate --budget $budget --db $gated", 200),
    Job("1 against 1 by function", "profdb diff 1 2 --db $two", 0.03, "import of a run"),
    Job("10 against 10, 50,000 functions", "profdb diff side=base side=new --db $twenty", 0.3, "import of a run", 64),
    Job("union tree of two", "profdb report diff_tree 1 2 --depth 3 --db $two", 0.5, "import of a run"),
    Job("paths of two", "profdb report diff_paths 1 2 --first 20 --db $two", 0.5, "import of a run"),
]
IMPORT = Job("import of a run", "profdb import --db $new $million", 0)

# What is asked of one run of 2,000, and of two. The function has callers and callees.
FLEET_TARGET = 50
REPORTS = "summary exclusive cumulative lines tree bottom_up paths labels data state".split()
OF_A_FUNCTION = "calls call_lines callees function".split()
EXPORTS = "folded callgrind pprof dot flamegraph speedscope firefox dyalog_xml dyalog_csv lispworks_tree sampler business_rules ghc_px".split()


def of_the_fleet(function):
    run = "--db $fleet --run 1000"
    jobs = [(f"report {name}", f"profdb report {name} {run}") for name in REPORTS]
    jobs += [(f"report {name}", f"profdb report {name} {run} --fn {shlex.quote(function)}") for name in OF_A_FUNCTION]
    jobs += [
        ("report by a tag", "profdb report summary --db $fleet --run commit=c1000"),
        ("report summary --focus", f"profdb report summary {run} --focus Shop"),
        ("report page", f"profdb report page {run} --html $out.html"),
        ("show", "profdb show --db $fleet 1000"),
        ("diff 1 v 1", "profdb diff --db $fleet 1000 1001"),
        ("diff 1 v 1, cumulative", "profdb diff --db $fleet 1000 1001 --cumulative"),
        ("diff 1 v 1, by line", "profdb diff --db $fleet 1000 1001 --by line"),
        ("diff 5 v 5", "profdb diff --db $fleet 1000,1002,1004,1006,1008 1001,1003,1005,1007,1009"),
        ("report diff_tree", "profdb report diff_tree --db $fleet 1000 1001"),
        ("report diff_paths", "profdb report diff_paths --db $fleet 1000 1001"),
        ("runs of a tag", "profdb runs --db $fleet --run commit=c1000"),
        ("sql: summary of a run", "profdb sql --db $fleet 'SELECT * FROM summary WHERE run_id = 1000'"),
    ]
    jobs += [(f"export {name}", f"profdb export --db $fleet --run 1000 --format {name} -o $out.{name}") for name in EXPORTS]
    return [Job(f"of 2,000 runs: {name}", command, FLEET_TARGET) for name, command in jobs]


@dataclass
class Cost:
    cpu: float
    peak: float


def run(words, allowed=(0,)):
    words = [str(word) for word in words]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in allowed:
            said.seek(0)
            sys.stderr.buffer.write(said.read())
            sys.exit(f"comparing.py: {shlex.join(words)}: exit code {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024 * 1.048576)


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, Path(work)
        self.kept = Path(options.dir or work)
        self.kept.mkdir(parents=True, exist_ok=True)
        self.start = min((run([options.profdb, "--version"]) for _ in range(10)), key=lambda cost: cost.cpu)

    def file(self, name):
        """A database or a file that commands name; made when it is asked for first."""
        if name in ("new", "out"):
            return str(self.work / name)
        path = self.kept / (name + {"million": ".csv", "budget": ""}.get(name, ".db"))
        if not path.exists():
            part = path.with_name("part-" + path.name)
            part.unlink(missing_ok=True)
            getattr(self, name)(part)
            part.rename(path)
        return str(path)

    def generate(self, rows, to, *more):
        run([self.options.generator, "csv", str(rows), *more, "-o", to])

    def million(self, path):
        self.generate(1_000_000, path, "--seed", "1")

    def budget(self, path):
        path.write_text("total <= +5 %\nfn 'f1*' <= +10 %\nsum fn 'f2*' <= +10 %\nnew <= 2 % of total\nany <= +25 %\n")

    def imports(self, database, files, *tags):
        words = [word for tag in tags for word in ("--tag", tag)]
        run([self.options.profdb, "import", "--db", database, *words, *files])

    def folder(self, database, runs, write, tags):
        """A database of many runs: one import, and tags that come afterwards."""
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            for number in range(runs):
                write(number, Path(folder) / f"{number:04}.profile")
            self.imports(database, [folder])
        connection = sqlite3.connect(database)
        for run_id, source in connection.execute("SELECT run_id, source_name FROM runs").fetchall():
            for key, value in tags(int(Path(source).stem)).items():
                connection.execute("INSERT INTO run_tags VALUES (?, ?, ?)", (run_id, key, value))
        connection.commit()
        connection.close()

    def made(self, database, runs, functions, tags, slower):
        """Runs whose functions vary by 3 %, called below `main` and a part of it."""
        chance = random.Random(1)

        def write(number, file):
            costs = (chance.gauss(10_000, 300) * slower(number, function) for function in range(functions))
            lines = (f"main;part{function % 30};f{function} {cost:.0f}\n" for function, cost in enumerate(costs))
            file.write_text("".join(lines))

        self.folder(database, runs, write, tags)

    def commits(self, path):
        def tags(number):
            return {"commit": f"c{number:04}", "branch": "main", "commit_count": number + 1, "dirty": "false"}

        self.made(path, 1000, 300, tags, lambda number, function: 1.3 if function == 7 and number >= 600 else 1.0)

    def series(self, path):
        """One function in ten becomes slower, each in another run."""

        def slower(number, function):
            return 1.2 if function % 10 == 0 and function < 10 * number else 1.0

        self.made(path, 500, 5000, lambda number: {"commit_count": number + 1}, slower)

    def gated(self, path):
        """Sixty commits of a branch, the last ten of which are base, and three runs of the next one."""

        def tags(number):
            side = {"side": "new" if number >= 60 else "base"} if number >= 50 else {}
            commit = {"commit": f"c{min(number, 60)}", "branch": "fix" if number >= 60 else "main"}
            return {**commit, "commit_count": min(number, 60) + 1, **side}

        self.made(path, 63, 1000, tags, lambda number, function: 1.5 if function == 17 and number >= 60 else 1.0)

    def two(self, path):
        for seed in "12":
            self.generate(1_000_000, self.work / "one.csv", "--seed", seed)
            self.imports(path, [self.work / "one.csv"])

    def twenty(self, path):
        """Twenty runs with the same 50,000 functions, whose costs vary from run to run; one in a hundred has changed."""
        chance = random.Random(1)
        for at in range(20):
            side = "new" if at % 2 else "base"
            file = self.work / f"{side}-{at}.folded"
            with file.open("w") as lines:
                for function in range(50_000):
                    mean = 1e9 / (function + 100) * (1.5 if side == "new" and function % 100 == 7 else 1)
                    lines.write(f"main;part{function % 300};work{function} {mean * chance.lognormvariate(0, 0.05):.0f}\n")
            self.imports(path, [file], f"side={side}")
            file.unlink()

    def fleet(self, path):
        def write(number, file):
            self.generate(3_000, file, "--seed", str(number + 1))

        def tags(number):
            return {"commit": f"c{number + 1}", "commit_count": number + 1, "branch": "main", "host": "ci1"}

        self.folder(path, 2000, write, tags)

    def function_of_the_fleet(self):
        """The function of the run that is asked about which has most callers and callees."""
        database = sqlite3.connect(self.file("fleet"))
        [[name]] = database.execute(
            """
            SELECT function FROM (
              SELECT caller AS function FROM calls WHERE run_id = 1000 AND caller IS NOT NULL
              UNION ALL SELECT function FROM calls WHERE run_id = 1000
            ) GROUP BY function ORDER BY COUNT(*) DESC, function LIMIT 1"""
        )
        database.close()
        return name

    def words(self, command):
        words = [re.sub(r"\$(\w+)", lambda name: self.file(name[1]), word) for word in shlex.split(command)]
        return [self.options.profdb, *words[1:]]

    def cost(self, job):
        """The least of the rounds, less what starting costs."""
        words = self.words(job.command)
        costs = []
        for _ in range(self.options.rounds):
            for name in self.work.glob("new*"):
                name.unlink()
            # A gate may fail, and a run may have no labels.
            costs.append(run(words, (0, 1, 4)))
        least = min(cost.cpu for cost in costs) - self.start.cpu
        return Cost(max(least, 0), max(cost.peak for cost in costs))

    def dictionary(self, job):
        """MB that functions take in memory: their names, module, file and key."""
        [database] = [word for word in self.words(job.command) if word.endswith(".db")]
        connection = sqlite3.connect(database)
        [[size]] = connection.execute("SELECT SUM(LENGTH(name) + LENGTH(module) + LENGTH(file) + 200) FROM functions")
        connection.close()
        return size / 1e6


def table(bench, jobs):
    rows = [["command", "cost", "target", ""], ["---"] * 4]
    missed = False
    imported = None
    for job in jobs:
        cost = bench.cost(job)
        if job.beside:
            imported = imported or bench.cost(IMPORT).cpu
            ratio = cost.cpu / imported
            holds = ratio <= job.target
            row = [f"{ratio:.3f} of an import", f"{job.target}"]
        else:
            holds = 1000 * cost.cpu <= job.target
            row = [f"{1000 * cost.cpu:.1f} ms", f"{job.target:g} ms"]
        if job.memory:
            peak = cost.peak - bench.start.peak - bench.dictionary(job)
            holds = holds and peak <= job.memory
            row = [f"{row[0]}, {peak:.0f} MB", f"{row[1]}, {job.memory:g} MB"]
        missed = missed or not holds
        rows.append([job.name, *row, "ok" if holds else "MISSED"])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows), missed


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("profdb")
    parser.add_argument("generator")
    parser.add_argument("dir", nargs="?")
    options = parser.parse_args()
    if options.update and options.only:
        parser.error("--update writes the whole table: it goes without --only")
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, work)

        def wanted(job):
            return not options.only or any(word in job.name for word in options.only.split(","))

        jobs = [job for job in JOBS if wanted(job)]
        # Which function is asked about is known when the database is there.
        if [job for job in of_the_fleet("any") if wanted(job)]:
            jobs += [job for job in of_the_fleet(bench.function_of_the_fleet()) if wanted(job)]
        text, missed = table(bench, jobs)
    print(text)
    if options.update:
        page = PAGE.read_text()
        before, found, rest = page.partition(MARKS[0])
        _, ended, after = rest.partition(MARKS[1])
        if not (found and ended):
            sys.exit(f"comparing.py: {PAGE}: expected {MARKS[0]} and {MARKS[1]}")
        PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}")
    return missed


sys.exit(main())
