#!/bin/sh
# Writes version-N.db.gz, a database of today's schema, and version-N.answers, what the program says of it. To be run before
# a migration is added, as the last of the program that knows no more than N:
#
#     sh tests/old/make.sh target/debug/profdb N
#
# The files of versions 1 to 5 are of the programs before migrations 0002 to 0006, which knew fewer formats or options.
set -eu
program=$(realpath "$1")
version=$2
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
db=$work/old.db

# import CASE/FILE [OPTION...]: passes over formats that the program does not know.
import() {
    file=../cases/${1%/*}/case.in/${1##*/}
    shift
    if "$program" dump "$file" >"$work/dump" 2>&1; then
        "$program" import --db "$db" "$file" "$@"
    fi
}

import dyalog_csv/shop-tree/run.csv --tag commit=abc --tag host=a
import lispworks_tree/recursion/run.tree
import sampler/recursion/run.trace
import ghc_px/back-edge-to-root/run.prof
import ghc_prof/all/run.prof
import business_rules/mixed-order/run.prof --title 'mixed order'
# The first program could not yet store sources.
if [ "$version" -gt 1 ]; then
    import cli/code/run.xml --source ../cases/cli/code/case.in/then
fi
import callgrind/recursion-levels/callgrind.out
import folded/two-numbers/run.folded
import perf_script/two-events/run.perf
import pprof/labels/run.pb

# Every report on every run, and on its other metrics.
runs=$("$program" sql --db "$db" 'SELECT run_id FROM runs ORDER BY run_id' --format csv | tail -n +2)
for run in $runs; do
    for report in summary lines exclusive cumulative data tree bottom_up paths 'calls --fn *' 'callees --fn *' 'call_lines --fn *'; do
        printf '%s\n' "report $report --run $run --format csv"
    done
    "$program" sql --db "$db" "SELECT 'report summary --run $run --format csv --metric ' || name FROM metrics WHERE run_id = $run ORDER BY position" --format csv | tail -n +2 | tr -d '"'
done >"$work/questions"
while read -r question; do
    printf '$ profdb %s\n' "$question"
    set -f
    # shellcheck disable=SC2086 # a question is words
    "$program" $question --db "$db" 2>&1 || true
    set +f
done <"$work/questions" >"version-$version.answers"
gzip -9 -n -c "$db" >"version-$version.db.gz"
