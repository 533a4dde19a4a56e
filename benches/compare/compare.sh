#!/bin/sh
# Runs profdb and other tools in turn on the same generated work, and prints the figures of docs/performance.md.
#
# usage: benches/compare/compare.sh [-g] [-n ROUNDS] [-p PROFILE] [-r ROWS] [DIR]
#        benches/compare/compare.sh -q [-g] [-u] [-n ROUNDS] [-o WORDS] [-p PROFILE] [-r ROWS] [DIR]
#
#   -q         instead what reports, exports and other commands cost beside the import of the same file, with targets
#              (benches/compare/questions.py); growth up to 10,000,000 rows, with -g to 100,000,000
#   -u         also writes these tables into benches/targets.md; not with -o, which would cut them
#   -o WORDS   only jobs with one of these words, separated by commas, in their names
#   -p PROFILE of cargo: `unlinked` is built sooner (release)
#   -g         then also how cost grows: trees of 10,000 to 100,000,000 rows (13 GB of temporary files)
#   -n ROUNDS  timed rounds (5)
#   -r ROWS    rows of the generated tree (1000000)
#   DIR        where the generated files are kept, and reused if there (delete them when the generator changes);
#              default: a temporary folder, removed at the end
#
# Builds profdb and the generator, and generates one tree as XML, as CSV, as CSV rows of the table `nodes` and for
# LispWorks. Jobs:
#
#   csv      import of the CSV tree into a new database; sqlite3 .import of the rows; DuckDB from CSV to Parquet
#   xml      import of the XML tree into a new database; lxml with Python's sqlite3; the bare loop over the events of
#            quick-xml, which keeps nothing
#   lisp     import of the LispWorks tree into a new database; sqlite3 .import of the rows that come of it
#   folded   import of the first 521 MB of the stacks of the LispWorks tree, a line each; inferno-flamegraph, which draws
#            them
#   pprof    import of the same as a pprof file; `go tool pprof -top`
#   again    import of the CSV tree into a database that has it already
#   hundred  import of the CSV tree into a database of 99 other runs, each a tree of its own with a tenth of the rows,
#            against its import into a new one
#   summary100, calls100
#            the reports on that run, with the 99 others beside it
#   summary  the ten first rows of `report summary`; DuckDB adds up the Parquet file, Python's start included
#   calls    `report calls` of a function
#   drill    the ten first rows of `report summary` below that function and one that calls it, about 4 % of the nodes
#   startup  `profdb --version`; `true`, which does nothing
#
# sqlite3 gets the easier work: nodes already numbered and linked, no dictionary of functions, no totals, no index, no
# journal, no waiting for the disk. Nothing is installed: a peer that is not there has no line. PYTHON names the Python
# (3.10 or later) that may have lxml and DuckDB, else it is python3.
#
# Prints for each pair the median wall times, their ratio, the median processor time of all threads, the greatest peak
# memory, and bytes per row of the database. Absolute times are of this machine only; compare ratios.
#
# With -g, a second table: imports of CSV trees with one function per 100 rows, 50,000 at most, and of trees with 2,000
# functions whatever their size, as deep as trees usually are and then about 10, 60 and 3,000 levels deep; `report summary` of
# all functions, and of the first ten. From 10,000,000 rows on there is one round.
#
# Needs cargo, coreutils, the sqlite3 shell (3.32 or later) and GNU time, or python3 in its place.
# Exit codes: 0 done, 1 something failed, 2 usage.
set -eu

usage() {
    echo "usage: compare.sh [-g] [-q] [-u] [-n ROUNDS] [-o WORDS] [-p PROFILE] [-r ROWS] [DIR]" >&2
    exit 2
}

rounds=5
rows=1000000
growth=
questions=
update=
only=
cargo_profile=release
while getopts gn:o:p:qr:u option; do
    case $option in
        g) growth=yes ;;
        o) only=$OPTARG ;;
        p) cargo_profile=$OPTARG ;;
        q) questions=yes ;;
        u) update=--update ;;
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
python=${PYTHON:-python3}
cd "$(dirname "$0")/../.."
peers=benches/compare/peers.py

cargo build --quiet --profile "$cargo_profile"
profdb=${CARGO_TARGET_DIR:-target}/$cargo_profile/profdb

# bench NAME: builds it, prints where it is.
bench() {
    cargo bench --quiet --profile "$cargo_profile" --bench "$1" --no-run --message-format json |
        sed -n 's/.*"executable":"\([^"]*\/'"$1"'-[^"]*\)".*/\1/p'
}

generator=$(bench generate)
if [ -n "$questions" ]; then
    python3 benches/compare/questions.py --rows "$rows" --rounds "$rounds" --only "$only" \
        --growth "1${growth:+0}0000000" $update "$profdb" "$generator" "$inputs"
    exit
fi
bare=$(bench bare)
[ -x "$bare" ] && [ -x "$generator" ] || exit 1

# generate KIND FILE: writes FILE unless it is there; an interrupted run leaves no half file under its name.
generate() {
    [ -s "$2" ] || {
        "$generator" "$1" "$rows" -o "$2.part"
        mv "$2.part" "$2"
    }
    # All importers find their input in the page cache.
    cat "$2" >/dev/null
}

xml=$inputs/tree-$rows.xml
csv=$inputs/tree-$rows.csv
nodes=$inputs/tree-$rows.nodes.csv
lisp=$inputs/tree-$rows.lisp
lisp_nodes=$work/lisp.nodes.csv
generate xml "$xml"
generate csv "$csv"
generate rows "$nodes"
generate lispworks "$lisp"

figures=$work/figures
: >"$figures"

# run COMMAND...: runs it silently, prints wall nanoseconds, peak memory in KiB and seconds of processor time, separated
# by `|`. With python3 the peak is never less than Python's own (about 14 MiB).
if env time -f %M true >/dev/null 2>&1; then
    run() {
        start=$(date +%s%N)
        env time -f '%M %U %S' -o "$work/used" "$@" >/dev/null 2>"$work/errors" || {
            cat "$work/errors" >&2
            return 1
        }
        end=$(date +%s%N)
        awk -v wall=$((end - start)) '{ printf "%s|%s|%.2f\n", wall, $1, $2 + $3 }' "$work/used"
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
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(end - start, used.ru_maxrss, round(used.ru_utime + used.ru_stime, 2), sep="|")
' "$@"
    }
fi

# measure JOB TOOL FILE COMMAND...: one measurement; FILE is what the command makes, - if it makes none.
measure() {
    job=$1
    tool=$2
    made=$3
    shift 3
    figure=$(run "$@")
    bytes=
    [ "$made" = - ] || bytes=$(wc -c <"$made")
    echo "$job|$tool|$figure|$bytes" >>"$figures"
}

# create JOB TOOL FILE COMMAND...: the same with a FILE that is not there before.
create() {
    rm -f "$3" "$3"-*
    measure "$@"
}

# can_use MODULE: whether Python has it.
can_use() {
    "$python" "$peers" has "$1" 2>/dev/null
}

# The columns are those of profdb's table; not STRICT, as `.import` makes text of the fields that mean NULL.
# import_rows JOB ROWS
import_rows() {
    create "$1" 'sqlite3 .import' "$work/rows.db" sqlite3 -batch "$work/rows.db" \
        'PRAGMA journal_mode = OFF' \
        'PRAGMA synchronous = OFF' \
        'CREATE TABLE nodes (node_id INTEGER PRIMARY KEY, up INTEGER, size INTEGER, outer_up INTEGER, depth INTEGER,
            function_id INTEGER, file TEXT, line INTEGER, col INTEGER, calls INTEGER, exclusive REAL, cumulative REAL)' \
        ".import --csv --skip 1 '$2' nodes"
}

# export_once FORMAT FILE: writes the LispWorks tree in a format, unless the file is there.
export_once() {
    [ -s "$2" ] || {
        "$profdb" export --db "$work/lisp.db" --format "$1" -o "$2.part" 2>/dev/null
        mv "$2.part" "$2"
    }
    cat "$2" >/dev/null
}

stacks=$inputs/tree-$rows.folded
folded=$work/first.folded
pprof=$inputs/tree-$rows.pb.gz
database=$work/compare.db
parquet=$work/compare.parquet
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    create csv profdb "$database" "$profdb" import --db "$database" "$csv"
    import_rows csv "$nodes"
    if can_use duckdb; then
        create csv DuckDB "$parquet" "$python" "$peers" duckdb "$csv" "$parquet"
    fi
    create xml profdb "$work/xml.db" "$profdb" import --db "$work/xml.db" "$xml"
    if can_use lxml; then
        create xml lxml "$work/lxml.db" "$python" "$peers" lxml "$xml" "$work/lxml.db"
    fi
    measure xml 'bare quick-xml' - "$bare" "$xml"
    create lisp profdb "$work/lisp.db" "$profdb" import --db "$work/lisp.db" "$lisp"
    [ -s "$lisp_nodes" ] || sqlite3 -batch -csv -header "$work/lisp.db" "
        SELECT node_id, up, size, outer_up, depth, function_id, file, line, col, calls, exclusive, cumulative
        FROM nodes" >"$lisp_nodes"
    import_rows lisp "$lisp_nodes"
    export_once folded "$stacks"
    [ -s "$folded" ] || LC_ALL=C awk '(bytes += length($0) + 1) > 521e6 { exit } { print }' "$stacks" >"$folded"
    export_once pprof "$pprof"
    rm -f "$work/folded.db"
    measure folded profdb - "$profdb" import --db "$work/folded.db" "$folded"
    if command -v inferno-flamegraph >/dev/null; then
        measure folded inferno-flamegraph - inferno-flamegraph "$folded"
    fi
    create pprof profdb "$work/pprof.db" "$profdb" import --db "$work/pprof.db" "$pprof"
    if command -v go >/dev/null; then
        measure pprof 'go tool pprof -top' - go tool pprof -top "$pprof"
    fi
done

pair=$(sqlite3 -batch -separator , "$database" "
    SELECT caller.name, callee.name
    FROM (
      SELECT function_id
      FROM nodes
      WHERE line IS NULL AND outer_up IS NULL
      GROUP BY function_id
      ORDER BY abs(sum(size + 1) - 0.04 * $rows)
      LIMIT 1
    ) AS f
    JOIN edges AS e ON e.metric_id = 1 AND e.caller_id = f.function_id AND e.callee_id <> f.function_id
    JOIN functions AS caller ON caller.function_id = e.caller_id
    JOIN functions AS callee ON callee.function_id = e.callee_id
    ORDER BY e.cumulative DESC
    LIMIT 1")
# Reports take milliseconds: more rounds cost nothing.
round=0
while [ "$round" -lt $((rounds * 3)) ]; do
    round=$((round + 1))
    measure summary profdb - "$profdb" report summary --first 10 --db "$database"
    if can_use duckdb; then
        measure summary DuckDB - "$python" "$peers" summary "$parquet"
    fi
    measure calls profdb - "$profdb" report calls --db "$database" --fn "${pair#*,}"
    measure drill profdb - "$profdb" report summary --first 10 --db "$database" --fn "$pair"
    measure startup profdb - "$profdb" --version
    measure startup true - true
done
# As many functions in all of them as in the large tree: the generator calls them by the same names.
functions=$((rows / 100))
[ "$functions" -ge 32 ] || functions=32
[ "$functions" -le 50000 ] || functions=50000
many=$work/hundred.db
rm -f "$many"
seed=1
while [ "$seed" -lt 100 ]; do
    seed=$((seed + 1))
    "$generator" csv $((rows / 10)) --functions "$functions" --seed "$seed" -o "$work/one.csv"
    "$profdb" import --db "$many" "$work/one.csv" >/dev/null
done
# Last, as the databases grow.
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    measure again profdb - "$profdb" import --again --db "$database" "$csv"
    create hundred 'new database' "$work/new.db" "$profdb" import --db "$work/new.db" "$csv"
    measure hundred profdb - "$profdb" import --again --db "$many" "$csv"
done
round=0
while [ "$round" -lt $((rounds * 3)) ]; do
    round=$((round + 1))
    measure summary100 profdb - "$profdb" report summary --first 10 --db "$many"
    measure calls100 profdb - "$profdb" report calls --db "$many" --fn "${pair#*,}"
done

echo "$rows rows, $rounds rounds, medians; ratio: profdb to peer"
sqlite3 -batch -bail :memory: <<SQL
CREATE TABLE figures (job TEXT, tool TEXT, nanoseconds INTEGER, kib INTEGER, cpu REAL, bytes INTEGER);
.import '$figures' figures
.mode markdown
WITH
  ranked AS (
    SELECT
      *,
      row_number() OVER (PARTITION BY job, tool ORDER BY nanoseconds) AS place,
      row_number() OVER (PARTITION BY job, tool ORDER BY cpu) AS cpu_place,
      count(*) OVER (PARTITION BY job, tool) AS runs
    FROM figures
  ),
  medians AS (
    SELECT
      job,
      tool,
      avg(nanoseconds) FILTER (WHERE place IN ((runs + 1) / 2, (runs + 2) / 2)) / 1e9 AS seconds,
      avg(cpu) FILTER (WHERE cpu_place IN ((runs + 1) / 2, (runs + 2) / 2)) AS cpu,
      max(kib) / 1024.0 AS mib,
      max(bytes + 0) AS bytes
    FROM ranked
    GROUP BY job, tool
  )
SELECT
  m.job,
  m.tool,
  printf('%.3f', m.seconds) AS wall_s,
  CASE WHEN m.tool = 'profdb' THEN '' ELSE printf('%.2f', us.seconds / m.seconds) END AS ratio,
  printf('%.2f', m.cpu) AS cpu_s,
  printf('%.1f', m.mib) AS peak_mib,
  CASE WHEN m.bytes > 0 THEN printf('%.1f', 1.0 * m.bytes / $rows) ELSE '' END AS bytes_per_row
FROM medians AS m
JOIN medians AS us ON us.job = m.job AND us.tool = 'profdb'
ORDER BY
  CASE m.job WHEN 'csv' THEN 1 WHEN 'again' THEN 2 WHEN 'hundred' THEN 3 WHEN 'xml' THEN 4 WHEN 'lisp' THEN 5
    WHEN 'summary' THEN 6 WHEN 'summary100' THEN 7 WHEN 'calls' THEN 8 WHEN 'calls100' THEN 9 WHEN 'drill' THEN 10 ELSE 11 END,
  m.tool <> 'profdb',
  m.tool;
SQL

[ -n "$growth" ] || exit 0
growing=$work/growing.csv
: >"$figures"
# grow SERIES ROWS GENERATOR-OPTIONS...: measures a tree of that size.
grow() {
    series=$1
    size=$2
    shift 2
    rm -f "$growing"
    "$generator" csv "$size" "$@" -o "$growing"
    cat "$growing" >/dev/null
    round=0
    [ "$size" -lt 10000000 ] || round=$((rounds - 1))
    while [ "$round" -lt "$rounds" ]; do
        round=$((round + 1))
        rm -f "$database" "$database"-*
        import=$(run "$profdb" import --db "$database" "$growing")
        all=$(run "$profdb" report summary --db "$database")
        first=$(run "$profdb" report summary --first 10 --db "$database")
        counts=$(sqlite3 -batch -bail "$database" '
            SELECT (SELECT count(*) FROM functions), (SELECT count(*) FROM edges WHERE metric_id = 1)')
        echo "$series|$size|$counts|$import|$(wc -c <"$database")|${all%%|*}|${first%%|*}" >>"$figures"
    done
}
for size in 10000 100000 1000000 10000000; do
    grow 1 "$size"
    grow 2 "$size" --functions 2000
done
grow 2 100000000 --functions 2000
series=3
for depth in 10 60 3000; do
    for size in 1000000 10000000 100000000; do
        grow "$series" "$size" --functions 2000 --depth "$depth"
    done
    series=$((series + 1))
done
rm -f "$growing"

echo
echo "growth, $rounds rounds, medians"
sqlite3 -batch -bail :memory: <<SQL
CREATE TABLE figures (
  series INTEGER, size INTEGER, functions INTEGER, edges INTEGER, wall INTEGER, kib INTEGER, cpu REAL, bytes INTEGER,
  summary INTEGER, first INTEGER
);
.import '$figures' figures
.mode markdown
WITH
  ranked AS (
    SELECT
      *,
      row_number() OVER (PARTITION BY series, size ORDER BY wall) AS wall_place,
      row_number() OVER (PARTITION BY series, size ORDER BY cpu) AS cpu_place,
      row_number() OVER (PARTITION BY series, size ORDER BY summary) AS summary_place,
      row_number() OVER (PARTITION BY series, size ORDER BY first) AS first_place,
      (count(*) OVER (PARTITION BY series, size) + 1) / 2 AS middle
    FROM figures
  )
SELECT
  size AS rows,
  max(functions) AS functions,
  max(edges) AS edges,
  printf('%.3f', max(wall) FILTER (WHERE wall_place = middle) / 1e9) AS wall_s,
  printf('%.2f', max(cpu) FILTER (WHERE cpu_place = middle)) AS cpu_s,
  printf('%.1f', max(kib) / 1024.0) AS peak_mib,
  printf('%.1f', 1.0 * max(bytes) / size) AS bytes_per_row,
  printf('%.1f', max(summary) FILTER (WHERE summary_place = middle) / 1e6) AS summary_ms,
  printf('%.1f', max(first) FILTER (WHERE first_place = middle) / 1e6) AS first_ten_ms
FROM ranked
GROUP BY series, size
ORDER BY series, size;
SQL
