"""Carries out scripts of `profdb schema --dialect`, and says which runs each of them makes known.

usage: dataset_places.py ENGINE [--all] SCRIPT...

With --all every view is made and asked, and the line has the rows of those that have some. Without it the first tables do.

ENGINE is duckdb, clickhouse or spark. A line for each script: the names of the runs' files and the days of the runs. In ClickHouse each script is carried out in
databases of names as short as those in statements are."""

import re
import sys

engine, *scripts = sys.argv[1:]
is_all = scripts[0] == "--all"
if is_all:
    scripts = scripts[1:]


def statements(path):
    """The statements of a script of ours, whose texts have no semicolon at the end of a line."""
    with open(path, encoding="utf-8") as script:
        lines = [line for line in script.read().splitlines() if not line.startswith("--")]
    return [part.strip().removesuffix(";") for part in "\n".join(lines).split(";\n") if part.strip()]


if engine == "duckdb":
    import duckdb

    connection = duckdb.connect()

    def rows(sql):
        return connection.execute(sql).fetchall()

elif engine == "clickhouse":
    from chdb import session

    clickhouse = session.Session()

    def rows(sql):
        text = str(clickhouse.query(sql, "TabSeparated"))
        return [line.split("\t") for line in text.splitlines()]

else:
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")

    def rows(sql):
        return [tuple(row) for row in spark.sql(sql).collect()]


def all_views(script):
    names = []
    for statement in statements(script):
        rows(statement)
        names += re.findall(r"^CREATE OR REPLACE (?:TEMPORARY )?VIEW (\w+) AS", statement)
    counts = []
    for name in names:
        [(count,)] = rows(f"SELECT COUNT(*) FROM {name}")
        counts += [f"{name} {count}"] if int(count) else []
    return ", ".join(counts)


def runs(script):
    if is_all:
        return all_views(script)
    # All views name their files in the same way, and Spark looks into files for each: two tables are enough.
    for statement in statements(script):
        rows(statement)
        if " VIEW metrics AS" in statement:
            break
    else:
        sys.exit(f"{script}: expected a view metrics")
    return ", ".join(sorted(f"{name} on {day}" for name, day in rows("SELECT source_name, day FROM runs")))


for script in scripts:
    if engine == "clickhouse":
        found = set()
        for name in ["p", "r", "f", "t", "n", "profdb"]:
            rows(f"CREATE DATABASE IF NOT EXISTS {name} ENGINE = Atomic")
            rows(f"USE {name}")
            found.add(runs(script))
        print("; ".join(sorted(found)))
    else:
        print(runs(script))
    sys.stdout.flush()
