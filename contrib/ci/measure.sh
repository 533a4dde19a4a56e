#!/bin/sh
# Records two commits of a repository in turns on one machine, and imports what was recorded: what the machine does meanwhile then
# meets both. Run in the repository, with the history of both commits:
#
#     measure.sh BASE HEAD
#
# The environment says the rest:
#
#   RECORD     command that is run at the top of each working tree and writes a profile to the file "$OUT"
#   BUILD      command that is run once in each of them before; empty by default
#   ROUNDS     how often each commit is recorded; 5 by default
#   SUFFIX     end of the names of profiles, as .pstats; empty by default
#   IMPORT     further words for `profdb import`, such as --noise exact; empty by default
#   BRANCH     tag `branch` of HEAD; empty by default. That of BASE is BASE_BRANCH.
#   PROFDB_DB  the database; profdb.db by default
set -eu
base=$(git rev-parse --verify --end-of-options "$1^{commit}")
head=$(git rev-parse --verify --end-of-options "$2^{commit}")
: "${RECORD:?expected the command that writes a profile to \$OUT}"
# Both commits are built and recorded in one folder, to which each is moved in turn: profilers, debuggers' information and caches name
# the folder, and what lies elsewhere is another file to a comparison. The next time it is the same one, unless it is in use.
top=$(git rev-parse --show-toplevel)
name=$(printf '%s' "$top" | cksum)
work=${TMPDIR:-/tmp}/profdb-measure-${name%% *}
if ! mkdir -m 700 "$work" 2>/dev/null; then
    work=$(mktemp -d)
    echo "measure.sh: another recording is being made, or was cut off: this one is made in $work" >&2
fi
at=''
# place SIDE: moves the working tree of a side to the folder of both, and the other one out of it
place() {
    if [ "$at" != "$1" ]; then
        if [ -n "$at" ]; then
            mv "$work/tree" "$work/$at"
            at=''
        fi
        if [ -n "$1" ]; then
            mv "$work/$1" "$work/tree"
            at=$1
        fi
    fi
}
remove() {
    place '' || true
    git worktree remove --force "$work/base" 2>/dev/null || true
    git worktree remove --force "$work/head" 2>/dev/null || true
    rm -rf "$work"
}
trap remove EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
git worktree add --quiet --detach "$work/base" "$base"
git worktree add --quiet --detach "$work/head" "$head"
mkdir "$work/profiles"
for side in base head; do
    place "$side"
    (cd "$work/tree" && sh -euc "${BUILD:-:}")
done

# Rounds are told from those of another time in one database.
session=$(date -u +%Y%m%dT%H%M%SZ)-$$

# record SIDE ROUND
record() {
    OUT="$work/profiles/$1-$2${SUFFIX:-}"
    export OUT
    place "$1"
    (cd "$work/tree" && sh -euc "$RECORD")
    case $1 in
    base) branch=${BASE_BRANCH:-} ;;
    *) branch=${BRANCH:-} ;;
    esac
    # shellcheck disable=SC2086 # words
    profdb import --again --git="$work/tree" --tag branch="$branch" --tag round="$session-$2" ${IMPORT:-} "$OUT"
}

# A B, B A, A B, ...: whoever comes first in a round is slower or faster for that alone.
round=1
while [ "$round" -le "${ROUNDS:-5}" ]; do
    if [ $((round % 2)) -eq 1 ]; then
        record base "$round"
        record head "$round"
    else
        record head "$round"
        record base "$round"
    fi
    round=$((round + 1))
done
