"""Writes a dataset anew with DuckDB: one file for each table and day, its rows the other way round, and none for no rows.

usage: dataset_rewritten.py FROM TO CODEC [TABLE:REPLACED]

REPLACED is what takes the place of a column of the table: `expression AS column`."""

import glob
import os
import shutil
import sys

import duckdb

source, target, codec, *replaced = sys.argv[1:]
table_replaced, _, replacement = (replaced or [""])[0].partition(":")
connection = duckdb.connect()
os.mkdir(target)
shutil.copy(f"{source}/profdb-dataset.json", target)
for folder in sorted(glob.glob(f"{source}/*/day=*")):
    place = folder[len(source) + 1 :]
    rows = f"read_parquet('{folder}/*.parquet', hive_partitioning = false)"
    [(count,)] = connection.execute(f"SELECT COUNT(*) FROM {rows}").fetchall()
    if not count:
        continue
    os.makedirs(f"{target}/{place}")
    changed = f" REPLACE ({replacement})" if place.split("/")[0] == table_replaced else ""
    # A map has no order.
    order = "run_uid" if place.startswith("runs/") else "ALL"
    connection.execute(
        f"COPY (SELECT *{changed} FROM {rows} ORDER BY {order} DESC) TO '{target}/{place}/part-0.parquet'"
        f" (FORMAT parquet, COMPRESSION {codec})"
    )
