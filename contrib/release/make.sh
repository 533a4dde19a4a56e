#!/usr/bin/env bash
# Makes the files of a release for the current Linux machine: an archive with the static program, its manual pages and
# completions, a Debian package, a wheel for Python, the bill of materials, and the checksums of all of them.
#
#   contrib/release/make.sh [--profile NAME] [--target PLATFORM] FOLDER
#
# Needs cargo-deb and maturin. Without --target the program is linked with musl where Rust's library for it is installed, else
# statically with glibc.
set -euo pipefail

profile=release target= folder=
while [ $# -gt 0 ]; do
    case $1 in
    --profile) profile=$2 && shift 2 ;;
    --target) target=$2 && shift 2 ;;
    -*) echo "make.sh: unknown flag $1" >&2 && exit 2 ;;
    *) folder=$1 && shift ;;
    esac
done
[ -n "$folder" ] || { echo 'make.sh: expected the folder to write to' >&2 && exit 2; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/../.."

# The bill of materials. Before RUSTFLAGS change, so that the tests are not built again.
export CARGO_TARGET_DIR=$PWD/target
BILL=$folder/bill.json cargo test --quiet --locked --test repo supply::bill_of_materials

machine=$(uname -m)
if [ -z "$target" ]; then
    target=$machine-unknown-linux-musl
    if ! rustup target list --installed 2>/dev/null | grep -qx "$target"; then
        target=$machine-unknown-linux-gnu
        export RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+crt-static"
    fi
fi
# The library of the platform is static in both cases. maturin and cargo deb find the program in CARGO_TARGET_DIR.
case $profile in dev) built=debug ;; *) built=$profile ;; esac
cargo build --locked --profile "$profile" --target "$target"
program=$CARGO_TARGET_DIR/$target/$built/profdb
version=$("$program" --version | sed -n '1s/^profdb \([^ ]*\).*/\1/p')

# Manual pages and completions lie where cargo-deb looks for them (package.metadata.deb in Cargo.toml).
extras=$CARGO_TARGET_DIR/extras
rm -rf "$extras"
mkdir -p "$extras/man"
"$program" man "$extras/man"
gzip -9n "$extras"/man/*.1
"$program" completions bash >"$extras/profdb.bash"
"$program" completions zsh >"$extras/_profdb"
"$program" completions fish >"$extras/profdb.fish"

name=profdb-$version-$machine-linux
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/$name/completions"
cp -r README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$extras/man" "$stage/$name/"
cp "$extras"/profdb.bash "$extras"/_profdb "$extras"/profdb.fish "$stage/$name/completions/"
strip -o "$stage/$name/profdb" "$program"
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -czf "$folder/$name.tar.gz" "$name"

cargo deb --no-build --profile "$profile" --target "$target" --output "$folder/"
maturin build --locked --strip --profile "$profile" --target "$target" --compatibility linux --out "$folder"
mv "$folder/bill.json" "$folder/profdb-$version.cdx.json"
(cd "$folder" && sha256sum -- *.tar.gz *.deb *.whl *.cdx.json >SHA256SUMS)
