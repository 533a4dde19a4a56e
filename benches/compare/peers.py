"""What other tools make of the files of benches/compare/compare.sh, one job per process.

usage: peers.py has MODULE               exits with 0 if the module is there
       peers.py lxml XML DATABASE        lxml reads, sqlite3 inserts
       peers.py duckdb CSV PARQUET       DuckDB reads, and writes a compressed Parquet file
       peers.py summary PARQUET          DuckDB adds up calls and exclusive time of each function
"""

import importlib.util
import os
import sqlite3
import sys


def read_xml(path):
    """Rows of the tree: number, parent, depth, function, line, calls and two times."""
    from lxml import etree

    above, numbers = [], {}
    for number, (_, entry) in enumerate(etree.iterparse(path, tag="ProfileEntry"), 1):
        said = {field.tag: field.text for field in entry}
        depth = int(said["Depth"])
        del above[depth:]
        parent = above[-1] if above else None
        above.append(number)
        function = numbers.setdefault(said["Function"], len(numbers) + 1)
        line = said.get("Line")
        yield (
            number,
            parent,
            depth,
            function,
            int(line) if line else None,
            int(said["Calls"]),
            float(said["ExclusiveTime"].replace("¯", "-")),
            float(said["InclusiveTime"].replace("¯", "-")),
        )
        # Else the whole tree stays in memory.
        entry.clear()
        while entry.getprevious() is not None:
            del entry.getparent()[0]


def main():
    match sys.argv[1:]:
        case ["has", module]:
            sys.exit(importlib.util.find_spec(module) is None)
        case ["lxml", xml, database]:
            connection = sqlite3.connect(database)
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(
                "CREATE TABLE nodes (node_id INTEGER PRIMARY KEY, parent INTEGER, depth INTEGER, function INTEGER,"
                " line INTEGER, calls INTEGER, exclusive REAL, cumulative REAL)"
            )
            connection.executemany("INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", read_xml(xml))
            connection.commit()
        case ["duckdb", csv, parquet]:
            import duckdb

            duckdb.execute(f"COPY (FROM read_csv('{csv}')) TO '{parquet}' (FORMAT parquet, COMPRESSION zstd)")
        case ["summary", parquet]:
            import duckdb

            top = duckdb.execute(
                f"SELECT Element, sum(Calls), sum(TRY_CAST(replace(CAST(ExclusiveTime AS VARCHAR), '¯', '-') AS DOUBLE)) AS t"
                f" FROM '{parquet}' WHERE Line IS NULL GROUP BY Element ORDER BY t DESC LIMIT 10"
            )
            assert os.path.exists(parquet) and top.fetchall()
        case _:
            sys.exit(__doc__)


main()
