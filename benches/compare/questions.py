"""What profdb's commands cost beside the import of what they are asked about.

usage: questions.py [--rows N] [--rounds N] [--only WORD,...] [--growth ROWS] [--update] PROFDB GENERATOR [DIR]

    --rows N       rows of the generated tree (1000000)
    --rounds N     timed rounds (3)
    --only W,W     only jobs with one of these words in their names, and what they are compared with; `growth` is one, and
                   `shell` stands for the questions in the sqlite3 shell
    --growth ROWS  most rows of the imports that show how cost grows (10000000)
    --update       also writes the tables to their place in benches/targets.md, which --only would cut
    DIR            where the generated files are kept, and reused if there; default: a temporary folder

benches/compare/compare.sh -q builds both programs and runs this. JOBS is the list of what is measured. The cost of a job is
the processor time of all its threads, user and system; its ratio is that to the job in the column `beside`, of the same
round. Printed are medians over the rounds, the greatest peak memory, and whether both are within their targets: of memory
64 MB and what functions, lines and edges take. Time may be 12 times as much for ten times the rows, where the import takes
ten times as much: with more rows than 1,000,000, targets are 1.2 times as much for each ten times.

SHELL is the list of questions of docs/questions.md that are asked in the sqlite3 shell, of databases of four runs.

Needs python3 (3.10), and the sqlite3 shell for two jobs and SHELL; what is missing is said.
"""

import argparse
import contextlib
import math
import os
import random
import re
import shlex
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "benches/targets.md"

# Of the tree's functions, 1 in 16 is called so.
PATTERN = "Shop"
MILLION = "SELECT * FROM nodes LIMIT 1000000"


@dataclass(frozen=True)
class Job:
    """A command whose cost is measured."""

    name: str
    command: str
    # Most that it may cost, as a ratio to `beside`; without one, it is only measured.
    target: float | None = None
    # The jobs whose costs, added up, are 1.
    beside: tuple[str, ...] = ("import",)
    # What has to be done before each round, unmeasured.
    before: str = ""
    # Whether the rows are the generated tree's, whose number --rows changes.
    grows: bool = True


def program_of(job):
    return job.command.split()[0]


def export(name, target):
    command = f"profdb export --db $db --format {name} -o $new.out"
    return Job(f"export {name}", command, target, before="rm -f $new.out")


def stream(name, target):
    # What is no file is held back until it is known how large it is.
    return Job(f"export {name}, stream", f"profdb export --db $db --format {name}", target)


JOBS = [
    Job("import", "profdb import --db $db $csv", before="rm -f $db"),
    Job("import folded", "profdb import --db $new $folded", before="rm -f $new"),
    Job("report FILE", "profdb report $csv", 1.15),
    Job("report FILE, folded", "profdb report $folded", 1.15, ("import folded",)),
    Job("summary --focus", f"profdb report --db $db --focus {PATTERN}", 0.25),
    Job("summary --ignore", f"profdb report --db $db --ignore {PATTERN}", 0.25),
    Job("summary --hide", f"profdb report --db $db --hide {PATTERN}", 0.25),
    Job("tree --depth 3", "profdb report tree --db $db --depth 3", 0.02),
    Job("tree, CSV", "profdb report tree --db $db --format csv", 1.2),
    Job("tree, text", "profdb report tree --db $db", 1.5),
    Job("bottom_up", "profdb report bottom_up --db $db", 0.2),
    Job("paths", "profdb report paths --db $db", 0.1),
    Job("summary, all functions", "profdb report --db $db", 0.04),
    export("folded", 0.6),
    export("pprof", 1.0),
    export("speedscope", 1.2),
    export("firefox", 1.0),
    export("dyalog_xml", 1.2),
    export("flamegraph", 0.2),
    stream("folded", 0.6),
    stream("pprof", 1.0),
    stream("speedscope", 1.2),
    stream("firefox", 1.0),
    Job("export parquet", "profdb export --db $db --format parquet --out $dataset", 0.5, before="rm -rf $dataset"),
    Job("convert to pprof", "profdb convert $csv --to pprof -o $new.out", 1.0, ("import", "export pprof"), "rm -f $new.out"),
    Job("check", "profdb check --db $db", 3.0),
    Job("merge", "profdb merge $new $db", 2.0, before="rm -f $new"),
    Job("delete", "profdb delete --db $new 1", 0.4, before="cp $db $new"),
    Job("diff of two runs", "profdb diff --db $two 1 2", 0.03),
    Job("diff of two runs, cumulative", "profdb diff --db $two 1 2 --cumulative"),
    Job("diff_tree of two runs", "profdb report diff_tree --db $two 1 2 --depth 3", 0.5),
    Job("diff of 10 runs and 10, 50,000 functions", "profdb diff --db $twenty side=base side=new", 0.3, grows=False),
    Job("diff of 10 runs and 10, 50,000 functions, cumulative", "profdb diff --db $twenty side=base side=new --cumulative", 0.3, grows=False),
    Job("sqlite3, CSV", f'sqlite3 -csv -header $db "{MILLION}"', grows=False),
    Job("sql, CSV", f'profdb sql --db $db --format csv "{MILLION}"', 1.2, ("sqlite3, CSV",), grows=False),
    Job("sqlite3, columns", f'sqlite3 -column -header $db "{MILLION}"', grows=False),
    Job("sql, text", f'profdb sql --db $db "{MILLION}"', 1.2, ("sqlite3, columns",), grows=False),
    Job("one file, 3,300,000 nodes", "profdb import --db $one $large", before="rm -f $one", grows=False),
    Job("folder, 1,000 x 3,300", "profdb import --db $all $folder", 2.0, ("one file, 3,300,000 nodes",), "rm -f $all", False),
]

# With many runs in one database: milliseconds of processor time, the start of the program included.
RUNS = [
    Job("10,000 runs: their list", "profdb runs --db $runs", 30, grows=False),
    Job("10,000 runs: of the latest", "profdb report --db $runs", 30, grows=False),
    Job("10,000 runs: of one by its tag", "profdb report --db $runs --run build=wanted", 30, grows=False),
    Job("500 runs of 5,000 functions: steps", "profdb steps --db $series --min-share 0", 5000, grows=False),
]


@dataclass(frozen=True)
class Question:
    """A question of docs/questions.md, by its title, in the sqlite3 shell; its start is included."""

    title: str
    # Seconds of processor time.
    target: float
    # Of four runs of 60,000 nodes each: `lines` has lines and two metrics, in the samples of `labels` is a label.
    database: str = "lines"


SHELL = [
    Question("What runs below it, at any depth?", 0.05),
    Question("Which functions below it cost most, including their callees?", 0.05),
    Question("Which share of it is copying?", 0.05),
    Question("Which functions lead to it, at any depth, and to which part of its exclusive cost?", 0.05),
    Question("Which path leads to such a node?", 0.05),
    Question("How deep do functions recurse?", 0.5),
    Question("How have calls changed?", 0.2),
    Question("What runs below it, at any depth?", 0.05, "labels"),
    Question("Which functions lead to it, at any depth, and to which part of its exclusive cost?", 0.05, "labels"),
    Question("How deep do functions recurse?", 0.5, "labels"),
    Question("Which functions cost how much for which label?", 0.2, "labels"),
    Question("How have calls changed?", 0.2, "labels"),
]

# The function that the questions are about is the one that has about a quarter of a run below it.
ASKED_ABOUT = """
    SELECT f.name, MAX(n.node_id)
    FROM function_nodes AS i JOIN nodes AS n USING (node_id, function_id) JOIN functions AS f USING (function_id)
    WHERE i.run_id = 1 AND n.outer_up IS NULL AND f.kind = 'function'
    GROUP BY function_id ORDER BY ABS(SUM(n.size + 1) - 15000) LIMIT 1"""

# Imports whose cost per row is compared with that of the first size: kind of file, depth, and by how much fewer rows it has
# than --growth says. A folded stack of 3,000 frames is some 30 kB: 100,000,000 of them would be terabytes.
GROWTH = [(kind, depth, 1) for kind in ("csv", "lispworks", "folded") for depth in (10, 60, 3000)]
GROWTH[-1] = ("folded", 3000, 100)


@dataclass
class Cost:
    """Of one process: seconds of processor time of all its threads, and MiB at its peak."""

    cpu: float
    peak: float


def run(words, source=subprocess.DEVNULL):
    """Runs a command without a screen; what it says is shown only if it fails."""
    words = [str(word) for word in words]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(words, stdin=source, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            sys.stderr.buffer.write(said.read())
            sys.exit(f"questions.py: {shlex.join(words)}: exit code {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, Path(work)
        self.inputs = Path(options.dir or work)
        self.inputs.mkdir(parents=True, exist_ok=True)
        self.costs: dict[str, list[Cost]] = {}
        self.bytes: dict[str, int] = {}
        self.allowed: dict[str, float] = {}
        self.missing: set[str] = set()
        self.names = {name: str(self.work / f"{name}.db") for name in ("db", "new", "one", "all", "runs")}
        self.names["dataset"] = str(self.work / "dataset")

    def words(self, command):
        programs = {"profdb": self.options.profdb}
        words = [re.sub(r"\$(\w+)", lambda name: self.file(name[1]), word) for word in shlex.split(command)]
        return [programs.get(words[0], words[0]), *words[1:]]

    def file(self, name):
        """A file of a job; those that are generated are made when they are asked for first."""
        if name not in self.names:
            rows = self.options.rows
            self.names[name] = {
                "csv": lambda: self.generate("csv", rows),
                "folded": lambda: self.generate("folded", rows),
                "large": lambda: self.generate("csv", 3_300_000),
                "folder": self.folder,
                "two": self.two,
                "twenty": self.twenty,
                "series": self.series,
            }[name]()
        return self.names[name]

    def generate(self, kind, rows, *more, to=None):
        path = to or self.inputs / "-".join(["tree", str(rows), *(word.strip("-") for word in more), kind])
        if not path.exists():
            part = path.with_suffix(".part")
            run([self.options.generator, kind, str(rows), *more, "-o", part])
            part.rename(path)
        return str(path)

    def folder(self):
        folder = self.inputs / "folder"
        folder.mkdir(exist_ok=True)
        for seed in range(1, 1001):
            self.generate("csv", 3300, "--seed", str(seed), to=folder / f"{seed:04}.csv")
        return str(folder)

    def two(self):
        """A database of two runs of one program."""
        database = self.work / "two.db"
        for seed in ("1", "2"):
            run([self.options.profdb, "import", "--db", database, self.generate("csv", self.options.rows, "--seed", seed)])
        return str(database)

    def twenty(self):
        """A database of twenty runs with the same 50,000 functions, whose costs vary from run to run; one in a hundred has changed."""
        database = self.work / "twenty.db"
        chance = random.Random(1)
        for at in range(20):
            side = "new" if at % 2 else "base"
            file = self.work / f"{side}-{at}.folded"
            with file.open("w") as lines:
                for function in range(50_000):
                    mean = 1e9 / (function + 100) * (1.5 if side == "new" and function % 100 == 7 else 1)
                    lines.write(f"main;part{function % 300};work{function} {mean * chance.lognormvariate(0, 0.05):.0f}\n")
            run([self.options.profdb, "import", "--db", database, "--tag", f"side={side}", file])
            file.unlink()
        return str(database)

    def series(self):
        """A database with 500 runs of one program of 5,000 functions: one in ten becomes slower, each in another run."""
        folder, chance = self.work / "series", random.Random(1)
        folder.mkdir()
        for at in range(500):
            costs = (chance.gauss(1e4, 300) * (1.2 if function % 10 == 0 and function < 10 * at else 1) for function in range(5000))
            lines = (f"main;f{function} {cost:.0f}\n" for function, cost in enumerate(costs))
            (folder / f"{at:03}.folded").write_text("".join(lines))
        database = str(self.work / "series.db")
        run([self.options.profdb, "import", "--db", database, folder])
        return database

    def is_wanted(self, name, grows=False):
        """Whether --only names it; without it, other numbers of rows are asked of what has to do with them."""
        if self.options.only:
            return any(word in name for word in self.options.only.split(","))
        return grows or self.options.rows == 1_000_000

    def wanted(self, jobs):
        """The jobs that are wanted, and those that they are compared with."""
        chosen = {job.name for job in jobs if self.is_wanted(job.name, job.grows)}
        for job in reversed(jobs):
            if job.name in chosen and job.target:
                chosen.update(job.beside)
            if job.name in chosen and "$db" in job.command:
                chosen.add("import")
        return [job for job in jobs if job.name in chosen]

    def measure(self, jobs):
        for job in jobs:
            program = program_of(job)
            if program != "profdb" and not shutil.which(program):
                self.missing.add(program)
                continue
            words = self.words(job.command)
            if job.before:
                run(self.words(job.before))
            self.costs.setdefault(job.name, []).append(run(words))
            for name in ("one", "all"):
                if self.file(name) in words:
                    self.bytes[name] = os.path.getsize(self.file(name))
            if job.name not in self.allowed:
                self.allowed[job.name] = self.allowed_memory(job, words)

    def allowed_memory(self, job, words):
        """MiB: 64 MB, and what functions, lines and edges of the databases take that the job and those beside it have."""
        taken = {"functions": 400, "line_info": 136, "edges": 80}
        sql = " + ".join(f"(SELECT count(*) FROM {table}) * {each}" for table, each in taken.items())
        allowed = [64e6 / 2**20, *(self.allowed.get(name, 0) for name in job.beside)]
        for database in {*words} & {*self.names.values()}:
            if database.endswith(".db") and program_of(job) == "profdb":
                asked = [self.options.profdb, "sql", "--db", database, "--format", "csv", f"SELECT {sql}"]
                said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
                allowed.append((64e6 + int(said.split()[-1])) / 2**20)
        return max(allowed)

    def ratio(self, job):
        """The median over the rounds; None where something is missing."""
        own, *others = (self.costs.get(name) for name in (job.name, *job.beside))
        if not own or not all(others):
            return None
        return statistics.median(cost.cpu / sum(other[at].cpu for other in others) for at, cost in enumerate(own))

    def many_runs(self):
        """A database of 10,000 small runs, one of which has a tag."""
        folders = [self.work / "before", self.work / "after"]
        for folder in folders:
            folder.mkdir()
            for at in range(5000):
                (folder / f"{at}.folded").write_text(f"main;{folder.name};work{at} 5\nmain;rest 3\n")
        tagged = self.work / "tagged.folded"
        tagged.write_text("main;wanted 5\nmain;rest 3\n")
        for more in ([folders[0]], ["--tag", "build=wanted", tagged], [folders[1]]):
            run([self.options.profdb, "import", "--db", self.file("runs"), *more])


    def four_runs(self):
        """The databases that SHELL asks, made by importing what the generator writes."""
        for seed in map(str, range(1, 5)):
            csv, tree = (self.generate(kind, 60_000, "--seed", seed) for kind in ("csv", "lispworks"))
            pprof = self.work / f"{seed}.pb.gz"
            run([self.options.profdb, "convert", tree, "--to", "pprof", "-o", pprof])
            for database, file in (("lines", csv), ("labels", pprof)):
                run([self.options.profdb, "import", "--db", self.work / f"{database}.db", file])

    def ask(self, questions):
        """A row per question: the median of what it costs, with the names of the generated runs put in."""
        page = (ROOT / "docs/questions.md").read_text()
        rows = []
        for question in questions:
            database = self.work / f"{question.database}.db"
            sql = re.search(rf"### {re.escape(question.title)}\n.*?```sql\n(.*?)```", page, re.DOTALL)[1]
            with contextlib.closing(sqlite3.connect(database)) as connection:
                [[metric]] = connection.execute("SELECT name FROM metrics JOIN runs USING (run_id) WHERE metric_id = default_metric_id LIMIT 1")
                [[function, node]] = connection.execute(ASKED_ABOUT)
            names = {"'time'": f"'{metric}'", "'parse'": f"'{function}'", "'worker'": "'thread'", "node_id = 3 ": f"node_id = {node} "}
            for name, instead in names.items():
                sql = sql.replace(name, instead)
            answer = subprocess.run(["sqlite3", database, sql], capture_output=True, check=True).stdout
            if not answer:
                sys.exit(f"questions.py: {question.title}: expected an answer: {sql}")
            cpu = statistics.median(run(["sqlite3", database, sql]).cpu for _ in range(max(5, self.options.rounds)))
            count = answer.count(b"\n")
            rows.append([question.title, question.database, str(count), f"{cpu:.3f}", f"{question.target}", verdict(cpu <= question.target)])
        return table(["question", "database", "rows", "cpu_s", "target", ""], rows)


def table(head, rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def verdict(holds):
    return "ok" if holds else "MISSED"


def question_table(bench, jobs):
    more = 1.2 ** max(0.0, math.log10(bench.options.rows / 1e6))
    rows = []
    for job in jobs:
        costs = bench.costs.get(job.name)
        if not costs:
            continue
        cpu, peak = statistics.median(cost.cpu for cost in costs), max(cost.peak for cost in costs)
        row = [job.name, f"{cpu:.2f}", f"{peak:.0f}"]
        said = []
        ratio = bench.ratio(job) if job.target else None
        if ratio is None:
            row += ["", "", ""]
        else:
            target = job.target * (more if job.grows else 1)
            row += [f"{ratio:.3f}", f"{target:.3g}", " + ".join(job.beside)]
            said.append(verdict(ratio <= target))
        memory = bench.allowed[job.name]
        if program_of(job) == "profdb" and peak > memory:
            said.append(f"MISSED: more than {memory:.0f} MiB")
        rows.append([*row, ", ".join(said)])
    if len(bench.bytes) == 2:
        ratio = bench.bytes["all"] / bench.bytes["one"]
        said = [f"{ratio:.3f}", "1.2", "those of the one file", verdict(ratio <= 1.2)]
        rows.append(["bytes of the folder's database", "", "", *said])
    if bench.costs.get("export parquet"):
        each = sum(file.stat().st_size for file in Path(bench.names["dataset"]).rglob("*.parquet")) / bench.options.rows
        rows.append(["bytes of a node in Parquet", "", "", f"{each:.1f}", "14", "a node", verdict(each <= 14)])
    if bench.is_wanted(FLEET):
        rows += fleet_rows(bench)
    return table(["job", "cpu_s", "peak_mib", "ratio", "target", "beside", ""], rows)


# 200 runs of 25,000 nodes as a dataset: what DuckDB takes for the functions that cost most in all of them.
FLEET = "DuckDB, summary of 200 runs"
ASK_FLEET = """
import sys, time, duckdb
connection = duckdb.connect()
connection.execute(sys.stdin.read())
def ask():
    start = time.perf_counter()
    connection.execute("SELECT function, SUM(exclusive) AS cost FROM summary GROUP BY function ORDER BY cost DESC, function LIMIT 20").fetchall()
    return time.perf_counter() - start
print(min(ask() for _ in range(5)))
"""


def fleet_rows(bench):
    python = os.environ.get("PYTHON", "python3")
    if subprocess.run([python, "-c", "import duckdb"], capture_output=True).returncode:
        bench.missing.add("duckdb")
        return []
    folder, database, dataset = (bench.work / name for name in ("fleet", "fleet.db", "fleet-dataset"))
    folder.mkdir()
    for seed in range(1, 201):
        file = bench.generate("csv", 25_000, "--seed", str(seed), to=folder / f"{seed:03}.csv")
        run([bench.options.profdb, "import", "--db", database, file])
        os.unlink(file)
    run([bench.options.profdb, "export", "--db", database, "--format", "parquet", "--out", dataset])
    views = subprocess.run([bench.options.profdb, "schema", "--dialect", "duckdb", "--dataset", dataset], capture_output=True, text=True)
    asked = subprocess.run([python, "-c", ASK_FLEET], input=views.stdout, capture_output=True, text=True, check=True)
    seconds = float(asked.stdout)
    return [[FLEET, f"{seconds:.2f}", "", f"{seconds:.3f}", "0.5", "1 s", verdict(seconds <= 0.5)]]


def runs_table(bench, jobs):
    rows = []
    for job in jobs:
        ms = 1000 * statistics.median(cost.cpu for cost in bench.costs[job.name])
        rows.append([job.name, f"{ms:.0f}", f"{job.target}", verdict(ms <= job.target)])
    return table(["job", "cpu_ms", "target", ""], rows)


def growth_table(bench):
    """Imports of trees of 2,000 functions, read from a pipe: the largest are larger than a disk."""
    rows = []
    for kind, depth, fewer in GROWTH:
        first = None
        size = 1_000_000 // fewer
        while size <= bench.options.growth // fewer:
            costs = [import_piped(bench, kind, size, depth) for _ in range(bench.options.rounds)]
            each = statistics.median(cost.cpu for cost in costs) / size * 1e6
            first = first or each
            peak = max(cost.peak for cost in costs)
            ratio = each / first
            rows.append([kind, str(depth), str(size), f"{each:.2f}", f"{ratio:.2f}", f"{peak:.0f}", verdict(ratio <= 1.2)])
            size *= 10
    return table(["file", "depth", "rows", "cpu_us_per_row", "ratio", "peak_mib", ""], rows)


def import_piped(bench, kind, size, depth):
    database = bench.work / "growing.db"
    database.unlink(missing_ok=True)
    words = [bench.options.generator, kind, str(size), "--functions", "2000", "--depth", str(depth)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as made:
        cost = run([bench.options.profdb, "import", "--db", database, "-"], made.stdout)
    return cost


def show(options, mark, title, text):
    """Prints a table; with --update, it also replaces the one between its marks in the document."""
    print(f"{title}\n\n{text}\n", flush=True)
    if options.update:
        page = PAGE.read_text()
        marks = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
        before, found, rest = page.partition(marks[0])
        _, ended, after = rest.partition(marks[1])
        if not (found and ended):
            sys.exit(f"questions.py: {PAGE}: expected {marks[0]} and {marks[1]}")
        PAGE.write_text(f"{before}{marks[0]}\n{title}\n\n{text}\n{marks[1]}{after}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--growth", type=int, default=10_000_000)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("profdb")
    parser.add_argument("generator")
    parser.add_argument("dir", nargs="?")
    options = parser.parse_args()
    if options.update and options.only:
        parser.error("--update writes whole tables: it goes without --only")
    # Temporary files go then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, work)
        jobs, runs = bench.wanted(JOBS), bench.wanted(RUNS)
        for _ in range(options.rounds):
            bench.measure(jobs)
        rounds = f"{options.rows:,} rows, {options.rounds} rounds, medians of processor time"
        if jobs:
            show(options, f"questions, {options.rows} rows", rounds, question_table(bench, jobs))
        if runs:
            bench.many_runs()
            for _ in range(options.rounds):
                bench.measure(runs)
            show(options, "questions, 10000 runs", "many runs in one database", runs_table(bench, runs))
        shell = [question for question in SHELL if bench.is_wanted(f"shell: {question.title}")]
        if shell and shutil.which("sqlite3"):
            bench.four_runs()
            show(options, "questions, sqlite3 shell", "four runs of 60,000 nodes, the sqlite3 shell", bench.ask(shell))
        elif shell:
            bench.missing.add("sqlite3")
        if bench.is_wanted("growth"):
            show(options, "questions, growth", "imports, 2,000 functions", growth_table(bench))
    for program in sorted(bench.missing):
        print(f"not measured: {program} is not there", file=sys.stderr)


main()
