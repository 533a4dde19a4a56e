#!/bin/sh
# Counts the instructions of three fixed imports and four questions, and compares them with those of the last change.
#
# usage: benches/instructions.sh [--update]
#
# Identities of functions may take 2 % of an import of 100,000 rows: rules, keys, their trees, and the fingerprint of the
# run. A count that is more than 5 % above that in benches/instructions.txt fails; --update writes the file anew, which the
# commit then explains. The questions are asked of the run of the CSV file. Unlike times, counts hardly depend on the machine and what else it does: one and the same profdb
# differs by less than 1 %. They depend on the compiler, so that a new one may want an update.
#
# Builds profdb and the generator. Needs cargo and valgrind. Exit codes: 0 done, 1 too many instructions or something
# failed, 2 usage.
set -eu

case $# in
    0) update= ;;
    *) [ "$*" = --update ] || {
        echo "usage: instructions.sh [--update]" >&2
        exit 2
    }
    update=yes ;;
esac

cd "$(dirname "$0")/.."
work=$(mktemp -d)
# `exit` in the signal traps runs the trap for EXIT.
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

built=$(cargo build --locked --quiet --profile unlinked --message-format json --bin profdb |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
[ -x "$built" ] || exit 1

# count NAME ARGUMENTS...: prints a name and the instructions of profdb with these arguments.
count() {
    name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file="$work/out" "$built" "$@" >/dev/null 2>"$work/log" || {
        cat "$work/log" >&2
        return 1
    }
    # Of its own, so that a failure ends the script.
    counted=$(awk '$1 == "summary:" || $1 == "totals:" { print $2; exit }' "$work/out")
    echo "$name $counted"
}

for kind in csv xml lispworks; do
    cargo bench --locked --quiet --profile unlinked --bench generate -- "$kind" 20000 --seed 1 -o "$work/$kind"
    count "$kind" import --db "$work/$kind.db" "$work/$kind"
done >"$work/new"
{
    count focus report summary --db "$work/csv.db" --focus Shop
    count tree_csv report tree --db "$work/csv.db" --format csv
    count pprof export --db "$work/csv.db" --format pprof
    count merge merge "$work/merged.db" "$work/csv.db"
} >>"$work/new"

cargo bench --locked --quiet --profile unlinked --bench generate -- csv 100000 --seed 1 -o "$work/larger"
count larger import --db "$work/larger.db" "$work/larger" >"$work/counted"
callgrind_annotate --inclusive=yes --threshold=100 "$work/out" |
    awk -v all="$(cut -d ' ' -f 2 "$work/counted")" '
        # Each of these is called by none of the others.
        /profdb::identity::rules::Rules::checked/ ||
        /profdb::store::identities::begin/ ||
        /profdb::store::write::facts::store_fingerprint/ ||
        /profdb::store::write::identity_trees::IdentityTrees::(finish|of_next_function)/ {
            gsub(",", "", $1)
            sum += $1
            found++
        }
        END {
            share = 100 * sum / all
            printf "identities %.2f %% of an import\n", share
            if (found < 5) print "expected the five functions that make identities, found " found + 0
            if (share > 2) print "expected at most 2 %"
            exit found < 5 || share > 2
        }
    '

if [ -n "$update" ]; then
    cp "$work/new" benches/instructions.txt
    cat benches/instructions.txt
    exit
fi
awk '
    NR == FNR { before[$1] = $2; next }
    !before[$1] {
        print "expected " $1 " in benches/instructions.txt: benches/instructions.sh --update writes it"
        worse = 1
        next
    }
    {
        change = 100 * ($2 / before[$1] - 1)
        printf "%-10s %12d instructions, %+.1f %%\n", $1, $2, change
        if (change > 5) worse = 1
    }
    END {
        if (worse) print "expected at most 5 % more than in benches/instructions.txt"
        exit worse
    }
' benches/instructions.txt "$work/new"
