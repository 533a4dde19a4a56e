#!/bin/sh
# Compares `profdb import` of Dyalog tree files with the `.import` of the sqlite3 shell.
#
# usage: benches/compare/import.sh [-n ROUNDS] [-r ROWS] [DIR]
#
#   -n ROUNDS  timed rounds (5)
#   -r ROWS    rows of the generated tree (1000000)
#   DIR        where the generated files are kept, and reused if there (delete them when the generator changes);
#              default: a temporary folder, removed at the end
#
# Builds profdb and the generator, generates one tree as XML, as CSV and as CSV rows of the table `nodes`, and runs in
# each round: profdb CSV, sqlite3, profdb XML, sqlite3, each into a new database. sqlite3 gets the easier work: nodes
# already numbered and linked, no dictionary of functions, no totals, no index, no journal, no waiting for the disk.
#
# Prints for each importer the median wall time, its ratio to the median of sqlite3, rows per second, the greatest peak
# memory and the database's bytes per row. Absolute times are of this machine only; compare ratios.
#
# Needs cargo, coreutils, the sqlite3 shell (3.32 or later) and GNU time, or python3 in its place.
# Exit codes: 0 done, 1 something failed, 2 usage.
set -eu

usage() {
    echo "usage: import.sh [-n ROUNDS] [-r ROWS] [DIR]" >&2
    exit 2
}

rounds=5
rows=1000000
while getopts n:r: option; do
    case $option in
        n) rounds=$OPTARG ;;
        r) rows=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -le 1 ] || usage
for number in "$rounds" "$rows"; do
    case $number in
        '' | 0* | *[!0-9]*) usage ;;
    esac
done

work=$(mktemp -d)
# `exit` in the signal traps runs the trap for EXIT.
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if [ $# -eq 1 ]; then
    mkdir -p "$1"
    inputs=$(cd "$1" && pwd)
else
    inputs=$work
fi
cd "$(dirname "$0")/../.."

cargo build --release --quiet
profdb=${CARGO_TARGET_DIR:-target}/release/profdb

# generate KIND FILE: writes FILE unless it is there; an interrupted run leaves no half file under its name.
generate() {
    [ -s "$2" ] || {
        cargo bench --quiet --bench generate -- "$1" "$rows" -o "$2.part"
        mv "$2.part" "$2"
    }
    # All importers find their input in the page cache.
    cat "$2" >/dev/null
}

xml=$inputs/tree-$rows.xml
csv=$inputs/tree-$rows.csv
nodes=$inputs/tree-$rows.nodes.csv
generate xml "$xml"
generate csv "$csv"
generate rows "$nodes"

database=$work/compare.db
figures=$work/figures
: >"$figures"

# run COMMAND...: runs it silently, prints wall nanoseconds and peak memory in KiB, separated by `|`.
# With python3 the peak is never less than Python's own (about 14 MiB).
if env time -f %M true >/dev/null 2>&1; then
    run() {
        start=$(date +%s%N)
        env time -f %M -o "$work/memory" "$@" >/dev/null 2>"$work/errors" || {
            cat "$work/errors" >&2
            return 1
        }
        end=$(date +%s%N)
        echo "$((end - start))|$(cat "$work/memory")"
    }
else
    run() {
        python3 -c '
import resource, subprocess, sys, time
start = time.perf_counter_ns()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
end = time.perf_counter_ns()
if done.returncode != 0:
    sys.exit(1)
print(end - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, sep="|")
' "$@"
    }
fi

# record NAME COMMAND...: one measurement with a new database.
record() {
    name=$1
    shift
    rm -f "$database" "$database"-*
    figure=$(run "$@")
    echo "$name|$figure|$(wc -c <"$database")" >>"$figures"
}

import_profdb() {
    record "profdb $1" "$profdb" import --db "$database" "$2"
}

# The columns are those of profdb's table; not STRICT, as `.import` makes text of the fields that mean NULL.
import_sqlite() {
    record "sqlite3 .import" sqlite3 -batch "$database" \
        'PRAGMA journal_mode = OFF' \
        'PRAGMA synchronous = OFF' \
        'CREATE TABLE nodes (node_id INTEGER PRIMARY KEY, up INTEGER, size INTEGER, outer_up INTEGER, depth INTEGER,
            function_id INTEGER, file TEXT, line INTEGER, col INTEGER, calls INTEGER, exclusive REAL, cumulative REAL)' \
        ".import --csv --skip 1 '$nodes' nodes"
}

round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    import_profdb CSV "$csv"
    import_sqlite
    import_profdb XML "$xml"
    import_sqlite
done

echo "$rows rows, $rounds rounds, medians"
sqlite3 -batch -bail :memory: <<SQL
CREATE TABLE figures (importer TEXT, nanoseconds INTEGER, kib INTEGER, bytes INTEGER);
.import '$figures' figures
.mode column
.headers on
WITH
  ranked AS (
    SELECT
      *,
      row_number() OVER (PARTITION BY importer ORDER BY nanoseconds) AS place,
      count(*) OVER (PARTITION BY importer) AS runs
    FROM figures
  ),
  medians AS (
    SELECT
      importer,
      avg(nanoseconds) FILTER (WHERE place IN ((runs + 1) / 2, (runs + 2) / 2)) / 1e9 AS seconds,
      max(kib) / 1024.0 AS mib,
      max(bytes) AS bytes
    FROM ranked
    GROUP BY importer
  )
SELECT
  m.importer,
  printf('%.3f', m.seconds) AS wall_s,
  printf('%.2f', m.seconds / peer.seconds) AS ratio,
  printf('%d', $rows / m.seconds) AS rows_per_s,
  printf('%.1f', m.mib) AS peak_mib,
  printf('%.1f', 1.0 * m.bytes / $rows) AS bytes_per_row
FROM medians AS m
JOIN medians AS peer ON peer.importer = 'sqlite3 .import'
ORDER BY m.importer;
SQL
