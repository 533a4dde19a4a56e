"""Asks a program that reads SQLite's databases for what it shows first of every table and view.

usage: database_readers.py READER DATABASE

    steps         Python's sqlite3: how many steps of SQLite's virtual machine the first page takes, and the number of rows
    datasette     pages and JSON, over the application itself, as a browser gets them
    sqlite-utils  the commands tables, views and rows
    pandas        read_sql of the first page
    whole         read_sql of all rows, which are those of the sqlite3 shell
    duckdb        sqlite_scan of DuckDB's extension for SQLite, in target/duckdb: all values, as texts

Prints a line per table and view, its name and the number of its rows, or - where it did not count them. Ends with 1 and says on standard error what is wrong:
what cannot be shown, what is shown otherwise than SQLite has it, and what takes too many steps."""

import asyncio
import contextlib
import inspect
import io
import json
import math
import pathlib
import sqlite3
import subprocess
import sys

# What datasette, sqlite-utils and others ask for, and one row more to know whether there are others.
PAGE = 101
# Steps of SQLite's virtual machine: about half a second. Datasette gives a question one second, and answers 400 after that.
STEPS = 20_000_000
AT_ONCE = 10_000
# These have so many rows that counting them takes long: datasette gives up after a second, and shows the page without the number.
# Only `steps` counts them, once; the others show their pages.
MANY = ["subtrees", "ancestors", "changes"]

reader, path = sys.argv[1:]
database = sqlite3.connect(path)
objects = database.execute(
    "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
).fetchall()
wrong = []


def page_of(name):
    return f'SELECT * FROM "{name}" LIMIT {PAGE}'


def count_of(name):
    return f'SELECT count(*) FROM "{name}"'


def rows_of(sql):
    """What SQLite answers, as dictionaries."""
    cursor = database.execute(sql)
    columns = [column for column, *_ in cursor.description]
    return [dict(zip(columns, row)) for row in cursor]


def same(shown, is_so):
    """Whether two cells are the same; bytes are shown in as many ways as there are programs."""
    if isinstance(is_so, bytes):
        return shown is not None
    if isinstance(is_so, float) and isinstance(shown, (int, float)):
        return math.isclose(shown, is_so, rel_tol=1e-9)
    return shown == is_so


def compare(name, shown, are_so):
    """Notes rows that are not those of SQLite. Others than these may have more columns: datasette shows row numbers."""
    if len(shown) != len(are_so):
        wrong.append(f"{name}: {len(shown)} rows, expected {len(are_so)}")
    for found, expected in zip(shown, are_so):
        if not all(column in found and same(found[column], cell) for column, cell in expected.items()):
            wrong.append(f"{name}: {found}, expected {expected}")
            return


def steps():
    taken = 0

    def took_more():
        nonlocal taken
        taken += AT_ONCE
        return taken > STEPS

    database.set_progress_handler(took_more, AT_ONCE)
    for name, _ in objects:
        counted = None
        for sql in (page_of(name), count_of(name)):
            taken = -sys.maxsize if name in MANY and sql == count_of(name) else 0
            try:
                counted = database.execute(sql).fetchall()[-1:]
            except sqlite3.OperationalError as error:
                wrong.append(f"{sql}: {error}: more than {STEPS} steps of SQLite's virtual machine")
        yield name, counted[0][0] if counted else 0


async def datasette():
    from datasette.app import Datasette

    # How long a page takes depends on the machine: for that there are the steps. Facets are suggested as far as time goes,
    # without an error; datasette_pages.py has them.
    application = Datasette([path], settings={"sql_time_limit_ms": 3_600_000, "suggest_facets": False})
    await application.invoke_startup()
    [at] = [name for name in application.databases if name != "_internal"]
    counts = []
    for name, kind in objects:
        uncounted = "_nocount=1&" if name in MANY else ""
        shown = await application.client.get(f"/{at}/{name}?{uncounted}")
        told = await application.client.get(f"/{at}/{name}.json?{uncounted}_shape=objects&_size={PAGE - 1}")
        if (shown.status_code, told.status_code) != (200, 200):
            wrong.append(f"{name}: {shown.status_code}, {told.status_code}: {told.text[:300]}")
            continue
        key = [column for column, at_key in database.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY pk", [name]) if at_key]
        order = f"ORDER BY {', '.join(key) or 'rowid'}" if kind == "table" else ""
        compare(name, told.json()["rows"], rows_of(f'SELECT * FROM "{name}" {order} LIMIT {PAGE - 1}'))
        counts.append((name, "-" if name in MANY else told.json()["filtered_table_rows_count"]))
    return counts


def of_sqlite_utils():
    import sqlite_utils
    from sqlite_utils import cli

    def told(*words):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            cli.cli.main([*words], standalone_mode=False)
        return json.loads(output.getvalue() or "[]")

    counts = {row["table"]: row["count"] for row in told("tables", path, "--counts")}
    # Its command has no number of one view.
    opened = sqlite_utils.Database(path)
    for row in told("views", path):
        counts[row["view"]] = "-" if row["view"] in MANY else opened[row["view"]].count
    for name, _ in objects:
        compare(name, told("rows", path, name, "--limit", str(PAGE)), rows_of(page_of(name)))
        yield name, counts[name]


def frame_of(sql):
    """What pandas reads, with None where it has a hole."""
    import pandas

    frame = pandas.read_sql(sql, database)
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def pandas():
    for name, _ in objects:
        compare(name, frame_of(page_of(name)), rows_of(page_of(name)))
        [counted] = [{"rows": "-"}] if name in MANY else frame_of(f"SELECT count(*) AS rows FROM \"{name}\"")
        yield name, counted["rows"]


def whole():
    def ordered(rows):
        cells = lambda row: [f"{cell:.6e}" if isinstance(cell, (int, float)) else str(cell) for cell in row.values()]
        return sorted(rows, key=cells)

    for name, kind in objects:
        if kind != "view":
            continue
        sql = f'SELECT * FROM "{name}"'
        told = subprocess.run(["sqlite3", "-json", path, sql], capture_output=True, text=True, check=True).stdout
        rows = json.loads(told or "[]")
        compare(name, ordered(frame_of(sql)), ordered(rows))
        if not rows and name != "source_lines":
            wrong.append(f"{name}: expected rows to compare")
        yield name, len(rows)


def is_read_as(text, value):
    """Returns True if DuckDB's text of a value is that of SQLite, which writes numbers with 15 digits."""
    if text is None or value is None or isinstance(value, str):
        return text == value
    return math.isclose(float(text), value, rel_tol=1e-14)


def duckdb():
    """Reads every object as texts with the extension for SQLite, and compares each value."""
    sys.path.insert(0, "target/duckdb")
    import duckdb
    import duckdb_extension_sqlite_scanner as package

    [extension] = pathlib.Path(package.__file__).parent.glob("extensions/*/*.duckdb_extension")
    connection = duckdb.connect()
    connection.execute(f"LOAD '{extension}'")
    connection.execute("SET GLOBAL sqlite_all_varchar = true")
    counts = []
    for name, _ in objects:
        # DuckDB 1.5 reads no bytes as text.
        columns = database.execute("SELECT name, type FROM pragma_table_info(?)", [name]).fetchall()
        if any(kind == "BLOB" for _, kind in columns):
            counts.append((name, "-"))
            continue
        names = ", ".join(f'"{column}"' for column, _ in columns)
        rows = connection.execute(f"SELECT {names} FROM sqlite_scan('{path}', '{name}')").fetchall()
        expected = database.execute(f'SELECT {names} FROM "{name}"').fetchall()
        differing = [row for row, values in zip(rows, expected) if not all(map(is_read_as, row, values))]
        if len(rows) != len(expected) or differing:
            wrong.append(f"{name}: {len(rows)} rows of {len(expected)}, {differing[:1]}")
        counts.append((name, len(rows)))
    return counts


counts = {"steps": steps, "datasette": datasette, "sqlite-utils": of_sqlite_utils, "pandas": pandas, "whole": whole, "duckdb": duckdb}[
    reader
]()
if inspect.iscoroutine(counts):
    counts = asyncio.run(counts)
for line in counts:
    print(*line)
print("\n".join(wrong), file=sys.stderr)
sys.exit(1 if wrong else 0)
