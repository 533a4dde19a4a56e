"""Asks an engine over a dataset, and SQLite over the database that it was exported from: both say the same.

usage: dataset_engines.py ENGINE PROFDB DATABASE DATASET [MASTER]

    duckdb, chdb  packages of PyPI, in this process
    spark         pyspark, at MASTER: spark://HOST:PORT, or local[2]

The statements are those that `profdb schema --dialect` and `profdb report --show-sql --dialect` print. Keys, names, places and counts
are the same, costs but for 1e-12 of what they are computed from. Prints what was compared. Ends with 1 and says on standard error what
differs."""

import collections
import decimal
import glob
import hashlib
import json
import math
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time

engine, profdb, path, dataset, *master = sys.argv[1:]
dialect = {"chdb": "clickhouse"}.get(engine, engine)
database = sqlite3.connect(path)
wrong = []

REPORTS = ["summary", "exclusive", "cumulative", "lines", "tree", "calls", "callees"]
# Flags that are tried with reports that have them.
FLAGS = [[], ["--first", "3"], ["--by", "module"], ["--exclusive"], ["--thread", "*"], ["--hide", "[aeiou]$"],
         ["--by", "thread", "--hide", "[l-z]", "--fn", "*"]]
# Reports are asked about as many runs, which lie evenly among all.
MOST_REPORTED = {"duckdb": 40, "chdb": 24, "spark": 4}[engine]


def say(what):
    print(what, flush=True)


def differs(what):
    wrong.append(what)
    print(what, file=sys.stderr, flush=True)


def printed(*arguments):
    done = subprocess.run([profdb, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def statements(script):
    """The statements of a script of ours, whose texts have no semicolon at the end of a line."""
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    return [part.strip().removesuffix(";") for part in "\n".join(lines).split(";\n") if part.strip()]


# Engines: a function that carries out a statement, and one that gives its rows, as tuples in the order of the columns.

if engine == "duckdb":
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")

    def execute(sql):
        connection.execute(sql)

    def rows(sql):
        return connection.execute(sql).fetchall()

elif engine == "chdb":
    from chdb import session

    clickhouse = session.Session()
    clickhouse.query("CREATE DATABASE profdb ENGINE = Atomic")
    clickhouse.query("USE profdb")

    def execute(sql):
        clickhouse.query(sql)

    def rows(sql):
        # As text: numbers of 64 bits and more come whole.
        text = str(clickhouse.query(sql.rstrip().removesuffix(";"), "JSONCompactEachRowWithNamesAndTypes"))
        lines = [json.loads(line, parse_float=float) for line in text.splitlines()]
        if not lines:
            return []
        kinds = lines[1]

        def value(kind, found):
            if found is None or isinstance(found, float) or "String" in kind:
                return found
            if "Int" in kind or "Decimal" in kind:
                return int(decimal.Decimal(str(found)))
            return float(found) if "Float" in kind else found

        return [tuple(value(kind, found) for kind, found in zip(kinds, line)) for line in lines[2:]]

else:
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(master[0] if master else "local[2]")
        .appName("profdb")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executor.cores", "1")
        .config("spark.executor.memory", "1g")
        .config("spark.cores.max", "2")
        .config("spark.sql.ansi.enabled", "true")
        # Both workers are there before the first task.
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .config("spark.scheduler.maxRegisteredResourcesWaitingTime", "600s")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")

    def execute(sql):
        spark.sql(sql)

    def rows(sql):
        return [tuple(row) for row in spark.sql(sql.rstrip().removesuffix(";")).collect()]


# What the database's numbers are in a dataset.

runs = {run: uid for run, uid in database.execute("SELECT run_id, run_uid FROM runs")}
first_nodes = dict(database.execute("SELECT run_id, first_node FROM runs"))


def function_key(parts):
    found = hashlib.sha256()
    for part in parts:
        text = str(part).encode()
        found.update(len(text).to_bytes(4, "little") + text)
    return found.hexdigest()[:24]


functions = {
    number: function_key(parts)
    for number, *parts in database.execute(
        "SELECT function_id, kind, name, module, file, first_line, first_col FROM functions"
    )
}
identities = {number: key.hex() for number, key in database.execute("SELECT identity_id, identity_key FROM identities")}
FUNCTIONS = ["function_id", "caller_id", "callee_id", "top_function_id", "ancestor_function_id"]
KEYS = {"run_id": "run_uid", "base_run_id": "base_run_uid", "identity_id": "identity_key"}
KEYS.update((column, column.removesuffix("id") + "key") for column in FUNCTIONS)
NODES = ["node_id", "parent_id", "last_id", "outer_id", "ancestor_id", "top_id"]


def of_dataset(columns, row):
    """A row of SQLite's with keys in place of numbers, and nodes that are numbered from 1."""
    run = next((int(value) for column, value in zip(columns, row) if column == "run_id"), None)
    out = []
    for column, value in zip(columns, row):
        if value is None:
            out.append(None)
        elif column in ("run_id", "base_run_id"):
            out.append(runs[int(value)])
        elif column in FUNCTIONS:
            out.append(functions[value])
        elif column == "identity_id":
            out.append(identities[value])
        elif column in NODES:
            out.append(value - first_nodes[run] + 1)
        elif column == "value":
            out.append(str(value))
        else:
            out.append(value)
    return tuple(out)


def plain(value):
    if isinstance(value, decimal.Decimal):
        return int(value)
    if isinstance(value, bool):
        return int(value)
    return value


def is_close(ours, theirs, scale):
    if ours is None or theirs is None or isinstance(ours, str) or isinstance(theirs, str):
        return ours == theirs
    if isinstance(ours, int) and isinstance(theirs, int):
        return ours == theirs
    return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-12 * scale)


def compared(what, columns, expected, found, in_order=False):
    """Compares rows. A difference of two figures is as exact as these are: `scale` is the largest figure of a row."""
    found = [tuple(plain(value) for value in row) for row in found]
    if len(expected) != len(found):
        differs(f"{what}: {len(expected)} rows of SQLite, {len(found)} of {engine}")
        return 0
    # Costs are the columns in which some row has a number with a fraction, whatever the others have.
    costs = {at for row in expected for at, value in enumerate(row) if isinstance(value, float)}

    def key(row):
        exact = [(value is not None, str(value)) for at, value in enumerate(row) if at not in costs]
        about = [-math.inf if row[at] is None else float(f"{row[at]:.9e}") for at in sorted(costs)]
        return (exact, about)

    if not in_order:
        expected, found = sorted(expected, key=key), sorted(found, key=key)
    for ours, theirs in zip(expected, found):
        scale = max((abs(value) for value in ours if isinstance(value, float)), default=0.0)
        for column, one, other in zip(columns, ours, theirs):
            if not is_close(one, other, scale):
                differs(f"{what}: {column} is {one!r} in SQLite, {other!r} in {engine}: {ours} {theirs}")
                return 0
    return len(expected)


def view(name, where="", parameters=(), asked=""):
    cursor = database.execute(f"SELECT * FROM {name} {where}", parameters)
    columns = [column[0] for column in cursor.description]
    expected = [of_dataset(columns, row) for row in cursor.fetchall()]
    names = ", ".join(f"v.{KEYS.get(column, column)}" for column in columns)
    settings = "\nSETTINGS join_use_nulls = 1" if engine == "chdb" else ""
    return columns, expected, f"SELECT {names} FROM {name} AS v {asked}{settings}"


def views():
    for name in ["summary", "calls", "callees", "lines", "exclusive", "cumulative", "history", "call_lines", "run_list", "labels",
                 "function_labels", "tags", "recursion", "source_lines", "tree", "function_tree"]:
        columns, expected, sql = view(name)
        found = rows(sql)
        say(f"{name}: {compared(name, columns, expected, found)} rows")
        if name == "recursion":
            say(f"most levels of a recursion: {max(row[columns.index('levels')] or 0 for row in found)}")
    # These are asked about some runs: those of all, or of all pairs, would be too many.
    with_nodes = [run for run, first in first_nodes.items() if first is not None]
    some = with_nodes[:: max(1, len(with_nodes) // 12)]
    for name in ["ancestors", "subtrees"]:
        marks, uids = ", ".join("?" * len(some)), ", ".join(f"'{runs[run]}'" for run in some)
        columns, expected, sql = view(name, f"WHERE run_id IN ({marks})", some, f"WHERE v.run_uid IN ({uids})")
        say(f"{name}: {compared(name, columns, expected, rows(sql))} rows")
    pairs = [(some[at], some[at + 1]) for at in range(len(some) - 1)] + [(some[0], some[0])]
    last = sorted(runs)[-8:]
    # Of few runs, the last ones are among the others.
    pairs = list(dict.fromkeys(pairs + list(zip(last, last[1:]))))
    expected = []
    for pair in pairs:
        columns, more, _ = view("changes", "WHERE base_run_id = ? AND run_id = ?", pair)
        expected += more
    asked = " OR ".join(f"(v.base_run_uid = '{runs[one]}' AND v.run_uid = '{runs[other]}')" for one, other in pairs)
    sql = view("changes", "WHERE base_run_id = -1", (), f"WHERE {asked}")[2]
    say(f"changes: {compared('changes', columns, expected, rows(sql))} rows")


def asked_of(run, name, flags):
    """Asks a report about a run, and compares the answers: how many rows they have; None where SQLite gives none."""
    asked = ["report", name, "--db", path, "--run", str(run), *flags, "--show-sql"]
    code, ours, _ = printed(*asked)
    if code:
        return None
    code, theirs, why = printed(*asked, "--dialect", dialect)
    # Rows of several functions, one by one, have an order that not every engine keeps.
    if code and ours.startswith("SELECT") and " AS about, *" in ours and "--fn must select one function" in why:
        return None
    what = f"report {name} {' '.join(flags)} of run {run}"
    if code:
        return differs(f"{what}: {why.strip()}")
    cursor = database.execute(ours)
    columns = [column[0] for column in cursor.description]
    # Numbers of functions are those of the database; nodes begin with 1 in a dataset.
    kept = [number for number, column in enumerate(columns) if column not in ("id", "function_id")]
    shift = (first_nodes[run] or 1) - 1
    expected = [
        tuple(row[number] - shift if columns[number] in NODES and row[number] is not None else row[number] for number in kept)
        for row in cursor.fetchall()
    ]
    try:
        found = [tuple(row[number] for number in kept) for row in rows(theirs)]
    except Exception as error:
        return differs(f"{what}: {engine} says {str(error)[:600]} of\n{theirs}")
    return compared(what, [columns[number] for number in kept], expected, found, in_order=True)


def reports():
    count = collections.Counter()
    step = max(1, len(runs) // MOST_REPORTED)
    for at, run in enumerate(sorted(runs)[::step]):
        names = database.execute("SELECT function FROM summary WHERE run_id = ? ORDER BY calls DESC, function", (run,))
        # A pattern of SQL ends at a NUL, which no argument of a program can hold.
        named = next((name for (name,) in names if re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name)), None)
        for number, name in enumerate(REPORTS):
            flags = FLAGS[(at + number) % len(FLAGS)]
            if name in ("calls", "callees"):
                flags = flags + (["--fn", named] if named and (at + number) % 2 else ["--fn", "*"])
            count[name] += asked_of(run, name, flags) or 0
    for name in REPORTS:
        say(f"report {name}: {count[name]} rows")


# Questions about runs of the corpus, by what these are known: what users write is no word of a statement, and labels are asked for in
# every way.
WORDS = "source_name LIKE '%words.folded'"
LABELS = "run_id IN (SELECT run_id FROM label_sets WHERE key = 'thread' AND value = 'io')"
QUESTIONS = [
    (WORDS, ["calls", "--fn", "FROM nodes"]),
    (WORDS, ["calls", "--fn", "JOIN functions"]),
    (WORDS, ["callees", "--fn", "a ROWS UNBOUNDED PRECEDING b"]),
    (WORDS, ["summary", "--fn", "t.line IS e.line"]),
    (WORDS, ["summary", "--fn", "main:run WINDOW w AS (x)"]),
    (WORDS, ["summary", "--fn", "${env:HOME}"]),
    (WORDS, ["tree", "--focus", "it's FROM runs"]),
    (LABELS, ["labels"]),
    (LABELS, ["labels", "--label", "thread=io"]),
    (LABELS, ["summary", "--by", "label:thread"]),
    (LABELS, ["summary", "--by", "label:bytes"]),
    (LABELS, ["summary", "--label", "thread=io"]),
    (LABELS, ["tree", "--label", "thread"]),
    (LABELS, ["labels", "--hide", "^b"]),
    (LABELS, ["labels", "--fn", "*", "--hide", "^b"]),
]


def questions():
    for condition, asked in QUESTIONS:
        found = database.execute(f"SELECT run_id FROM runs WHERE {condition}")
        counts = [asked_of(run, asked[0], asked[1:]) for (run,) in found.fetchall()[:3]]
        say(f"question {' '.join(asked)}: {sum(count or 0 for count in counts)} rows")


def finished_tasks():
    """How many tasks each executor has finished, by its number."""
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    each = (executors.apply(at) for at in range(executors.length()))
    return {executor.id(): executor.completedTasks() for executor in each if executor.id() != "driver"}


def kill_a_worker():
    """Kills the first worker that finishes a task of a question, and compares the answer. Each row of the answer takes its time, so
    that the question is still being answered then, however fast the machine is; and each file is read by a task of its own."""
    workers, folders = json.loads(os.environ["PROFDB_KILL"]), json.loads(os.environ["PROFDB_WORK"])
    while len(before := finished_tasks()) < len(workers) or not all(before.values()):
        spark.range(0, 1000, 1, 16).selectExpr("SUM(id)").collect()
    say("two workers have worked")
    columns, expected, sql = view("tree")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4m")
    slow = f"{sql}\nWHERE COALESCE(JAVA_METHOD('java.lang.Thread', 'sleep', CAST({10_000 // len(expected) + 1} AS BIGINT)), '') >= ''"
    found = []
    asked = threading.Thread(target=lambda: found.extend(rows(slow)))
    asked.start()
    first = None
    while first is None and asked.is_alive():
        now = finished_tasks()
        first = next((number for number, count in now.items() if count > before.get(number, count)), None)
        time.sleep(0.02)
    if first is None:
        return differs("the question had its answer before a worker was killed")
    killed = next(at for at, folder in enumerate(folders) if glob.glob(f"{folder}/app-*/{first}"))
    os.killpg(workers[killed], signal.SIGKILL)
    was_at_work = asked.is_alive()
    asked.join()
    if not was_at_work:
        differs("the question had its answer before a worker was killed")
    say("a worker was killed after its first finished task of a question")
    say(f"tree though a worker is gone: {compared('tree', columns, expected, found)} rows")
    spark.conf.unset("spark.sql.files.maxPartitionBytes")


code, script, why = printed("schema", "--dialect", dialect, "--dataset", dataset)
assert code == 0, why
for statement in statements(script):
    execute(statement)
if "PROFDB_KILL" in os.environ:
    kill_a_worker()
# Files of runs are small and many, and each question would read them anew: each table is read once.
for table in [table["name"] for table in json.load(open(f"{dataset}/profdb-dataset.json"))["tables"]]:
    if engine == "spark":
        execute(f"CACHE LAZY TABLE {table}")
        continue
    kept = "ENGINE = Memory" if engine == "chdb" else ""
    execute(f"CREATE TABLE kept_{table} {kept} AS SELECT * FROM {table}")
    execute(f"DROP VIEW {table}")
    execute(f"RENAME TABLE kept_{table} TO {table}" if engine == "chdb" else f"ALTER TABLE kept_{table} RENAME TO {table}")
uids = [uid for (uid,) in rows("SELECT run_uid FROM runs ORDER BY run_uid")]
if uids != sorted(runs.values()):
    differs(f"runs: {len(runs)} of SQLite, {len(uids)} of {engine}, {len(set(uids))} of them different")
views()
reports()
questions()
# What is added up over runs leaves 64 bits.
expected = sum(calls for (calls,) in database.execute("SELECT calls FROM summary WHERE calls IS NOT NULL"))
[(found,)] = rows("SELECT SUM(calls) FROM summary")
say(f"sum of all calls: {plain(found)}")
if plain(found) != expected:
    differs(f"the sum of all calls is {expected}, in {engine} {found}")
[(found,)] = rows("SELECT MAX(calls) FROM history")
say(f"most calls of an identity: {plain(found)}")
sums = collections.Counter()
for run, identity, calls in database.execute(
    "SELECT m.run_id, f.identity_id, i.calls FROM function_info AS i JOIN metrics AS m ON m.metric_id = i.metric_id"
    " JOIN functions AS f ON f.function_id = i.function_id JOIN runs AS r ON r.default_metric_id = m.metric_id"
    " WHERE i.calls IS NOT NULL AND f.kind IN ('function', 'pseudo')"
):
    sums[run, identity] += calls
if plain(found) != max(sums.values()):
    differs(f"the most calls of an identity are {max(sums.values())}, in {engine} {found}")
sys.exit(1 if wrong else 0)
