#!/usr/bin/env bash
# Starts a cluster of Apache Spark on this machine, makes a dataset known to it, asks it, and ends it again.
#
#   contrib/fleet/spark.sh [--workers N] [--keep] DATASET [STATEMENT|FILE.sql]...
#
# A statement is SQL over the tables and views that `profdb schema --dialect spark` makes; a file has statements, as `profdb report
# ... --show-sql --dialect spark` prints them. Without any, the ten functions that cost most in all runs are shown. --keep leaves the
# cluster running until a line comes on standard input, and says what its address is.
#
# Needs profdb, Java 17 or later, and PySpark, which brings all of Spark (`pip install pyspark`). PYTHON, PROFDB: where they are.
set -euo pipefail

say() { printf 'spark.sh: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

workers=2 keep=
while [ $# -gt 0 ]; do
    case $1 in
        --workers) [ $# -gt 1 ] || fail '--workers needs a number'; workers=$2; shift 2 ;;
        --keep) keep=1; shift ;;
        -*) fail "expected --workers N, --keep or a dataset, found $1" ;;
        *) break ;;
    esac
done
[ $# -gt 0 ] || fail 'expected a dataset: the folder that `profdb export --format parquet --out DIR` has written'
dataset=$1
shift
[ -e "$dataset/profdb-dataset.json" ] || fail "$dataset has no profdb-dataset.json: expected a dataset"
dataset=$(cd "$dataset" && pwd)

profdb=${PROFDB:-profdb}
python=${PYTHON:-python3}
command -v java >/dev/null || fail 'there is no java: Spark needs version 17 or later'
spark=$("$python" -c 'import pyspark; print(pyspark.__path__[0])' 2>/dev/null) || fail "$python has no pyspark: pip install pyspark"
export SPARK_HOME=$spark SPARK_LOCAL_IP=127.0.0.1
# Nothing of this cluster is for other machines.
export SPARK_NO_DAEMONIZE=1

scratch=$(mktemp -d)
started=()
end() {
    for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
    for process in "${started[@]}"; do wait "$process" 2>/dev/null || true; done
    rm -rf "$scratch"
}
trap end EXIT

# wait_for LOG PATTERN PROCESS: until a line of the log has the pattern, or the process has ended.
wait_for() {
    until grep -qs "$2" "$1"; do
        kill -0 "$3" 2>/dev/null || { cat "$1" >&2; fail "a part of the cluster has ended before it was ready"; }
        sleep 0.2
    done
}

# Ports are those that are free.
"$spark/bin/spark-class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 0 --webui-port 0 \
    >"$scratch/master.log" 2>&1 &
started+=($!)
wait_for "$scratch/master.log" 'Starting Spark master at' $!
master=$(grep -o 'spark://127.0.0.1:[0-9]*' "$scratch/master.log" | head -1)
for number in $(seq "$workers"); do
    "$spark/bin/spark-class" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --port 0 --webui-port 0 \
        --cores 1 --memory 1g --work-dir "$scratch/worker$number" "$master" >"$scratch/worker$number.log" 2>&1 &
    started+=($!)
done
for number in $(seq "$workers"); do
    wait_for "$scratch/worker$number.log" 'Successfully registered with master' "${started[$number]}"
done
say "a master and $workers workers are at $master"

"$profdb" schema --dialect spark --dataset "$dataset" >"$scratch/ask.sql"
if [ $# -eq 0 ]; then
    set -- 'SELECT s.function, s.unit, COUNT(DISTINCT s.run_uid) AS runs, SUM(s.calls) AS calls, SUM(s.exclusive) AS exclusive
FROM summary AS s JOIN runs AS r ON r.run_uid = s.run_uid AND r.default_metric = s.metric
GROUP BY s.function, s.unit ORDER BY exclusive DESC, s.function LIMIT 10'
fi
for asked; do
    if [ -f "$asked" ]; then
        # The next question begins on a line of its own, and ends the last one of a file that does not.
        cat "$asked"
        printf '\n;\n'
    else
        printf '%s;\n' "${asked%;}"
    fi >>"$scratch/ask.sql"
done
cd "$scratch"
"$spark/bin/spark-sql" --master "$master" --conf spark.ui.enabled=false --conf spark.driver.host=127.0.0.1 \
    --conf spark.driver.bindAddress=127.0.0.1 --conf spark.executor.cores=1 --conf spark.executor.memory=1g \
    --conf spark.sql.catalogImplementation=in-memory --conf spark.sql.shuffle.partitions=4 \
    --conf spark.log.level=ERROR -f "$scratch/ask.sql" 2>"$scratch/spark-sql.log" ||
    { cat "$scratch/spark-sql.log" >&2; fail 'spark-sql has failed'; }
if [ -n "$keep" ]; then
    say "$master stays until a line comes on standard input"
    read -r _ || true
fi
