"""Carries out scripts of `profdb schema --dialect`, and says which runs each of them makes known.

usage: dataset_places.py ENGINE SCRIPT...

ENGINE is duckdb, clickhouse or spark. A line for each script: the names of the runs' files. In ClickHouse each script is carried out in
databases of names as short as those in statements are."""

import sys

engine, *scripts = sys.argv[1:]


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


def runs(script):
    # All views name their files in the same way, and Spark looks into files for each: two tables are enough.
    for statement in statements(script):
        rows(statement)
        if " VIEW metrics AS" in statement:
            break
    else:
        sys.exit(f"{script}: expected a view metrics")
    return ", ".join(sorted(name for (name,) in rows("SELECT source_name FROM runs")))


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
