//! Dependencies of profdb: licences, origins and versions of all packages, checked against
//! `deny.toml` without `cargo deny`, which need not be installed; checksums of files from npm packages that the page contains;
//! and the bill of materials of a release.

#![expect(
    clippy::disallowed_methods,
    reason = "reads small files of our own, and cargo's environment"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{env, fs};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::tools;

/// The bill of materials is about the program that is built for this platform.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// The only place that packages come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Packages that run a program of theirs while profdb is built.
const BUILD_SCRIPTS: &[&str] = &[
    // These compile the C code that they bring along.
    "libsqlite3-sys",
    "zstd-sys",
    // The others look at compiler and platform, or write tables of numbers, and compile nothing.
    "ahash",
    "cpp_demangle",
    "crc32fast",
    "crunchy",
    "getrandom",
    "httparse",
    "libc",
    "libm",
    "nix",
    "num-traits",
    "objc2",
    "portable-atomic",
    "proc-macro2",
    "quote",
    "rustix",
    "serde_core",
    "serde_json",
    "signal-hook",
    "snap",
    "thiserror",
    "tiny-keccak",
    "zerocopy",
    "zmij",
    "zstd-safe",
];

/// Packages that come in several versions, and why.
const SEVERAL: [(&str, &str); 2] = [
    (
        "getrandom",
        "ahash, which parquet needs, is for an earlier one than tempfile",
    ),
    (
        "syn",
        "macros that write code, of thiserror and of zerocopy, are not in the program",
    ),
];

/// What `cargo metadata` says of some platforms.
struct Packages {
    /// By id.
    all: BTreeMap<String, Value>,
    /// What each needs: id and kinds of the dependency.
    needs: BTreeMap<String, Vec<(String, Vec<Kind>)>>,
    root: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Build,
    Dev,
}

impl Packages {
    fn of(platforms: &[&str]) -> Self {
        let mut arguments = vec!["metadata", "--format-version", "1"];
        for platform in platforms {
            arguments.extend(["--filter-platform", platform]);
        }
        let said: Value = serde_json::from_str(&cargo(&arguments)).expect("cargo writes JSON");
        let id = |package: &Value| text(&package["id"]).to_owned();
        let mut needs = BTreeMap::new();
        for node in list(&said["resolve"]["nodes"]) {
            let needed = list(&node["deps"]).iter().map(|needed| {
                let kinds =
                    list(&needed["dep_kinds"])
                        .iter()
                        .map(|kind| match kind["kind"].as_str() {
                            Some("build") => Kind::Build,
                            Some("dev") => Kind::Dev,
                            _ => Kind::Normal,
                        });
                (text(&needed["pkg"]).to_owned(), kinds.collect())
            });
            needs.insert(id(node), needed.collect());
        }
        let all: BTreeMap<_, _> = list(&said["packages"])
            .iter()
            .map(|package| (id(package), package.clone()))
            .collect();
        Self {
            all,
            needs,
            root: text(&said["resolve"]["root"]).to_owned(),
        }
    }

    /// The package itself and what it needs, following dependencies of some kinds.
    fn reached(&self, kinds: &[Kind]) -> BTreeSet<&str> {
        let mut found = BTreeSet::from([self.root.as_str()]);
        let mut open = vec![self.root.as_str()];
        while let Some(id) = open.pop() {
            for (needed, of) in &self.needs[id] {
                if of.iter().any(|kind| kinds.contains(kind)) && found.insert(needed) {
                    open.push(needed);
                }
            }
        }
        found
    }

    /// Returns the packages that are not members of this workspace.
    fn dependencies(&self) -> impl Iterator<Item = &Value> {
        self.all.values().filter(|package| !is_member(package))
    }
}

/// Returns the output of a cargo command for this workspace.
fn cargo(arguments: &[&str]) -> String {
    let output = tools::command_at(env!("CARGO"))
        .args(arguments)
        .arg("--locked")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

/// Returns whether a package is a member of this workspace: its source is a folder.
fn is_member(package: &Value) -> bool {
    package["source"].is_null()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// A package as people write it.
fn named(package: &Value) -> String {
    format!("{} {}", text(&package["name"]), text(&package["version"]))
}

/// The texts of a list in `deny.toml`.
fn denied(name: &str) -> Vec<String> {
    let file = fs::read_to_string("deny.toml").expect("deny.toml is there");
    let start = format!("\n{name} = [\n");
    let (_, rest) = file
        .split_once(&start)
        .unwrap_or_else(|| panic!("deny.toml has a list `{name}`"));
    let (items, _) = rest.split_once("\n]").expect("the list ends");
    let quoted = items
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split('"').next());
    quoted.map(str::to_owned).collect()
}

/// Returns the packages of all platforms that `deny.toml` lists.
fn everywhere() -> &'static Packages {
    static PACKAGES: LazyLock<Packages> = LazyLock::new(|| {
        let platforms = denied("targets");
        assert!(
            platforms.iter().any(|platform| platform == PLATFORM),
            "{platforms:?}"
        );
        Packages::of(&platforms.iter().map(String::as_str).collect::<Vec<_>>())
    });
    &PACKAGES
}

#[test]
fn everything_comes_from_the_registry_with_a_checksum() {
    let found = everywhere();
    let checksums = checksums();
    for package in found.dependencies() {
        assert_eq!(package["source"], REGISTRY, "{}", named(package));
        assert!(
            checksums.contains_key(&named(package)),
            "{}",
            named(package)
        );
    }
    let members = found.all.values().filter(|package| is_member(package));
    let members: BTreeSet<&str> = members.map(|package| text(&package["name"])).collect();
    assert_eq!(
        members,
        BTreeSet::from([
            "profdb",
            "profdb-sqlite-pages",
            "profdb-statistics",
            "profdb-test-attribute"
        ])
    );
    for needed in list(&found.all[&found.root]["dependencies"]) {
        let is_member = !needed["path"].is_null();
        assert!(is_member || needed["req"] != "*", "{needed}");
    }
}

#[test]
fn licences_are_those_that_deny_toml_allows() {
    let allowed = denied("allow");
    let mut used = BTreeSet::new();
    for package in everywhere().all.values() {
        let licence = package["license"]
            .as_str()
            .unwrap_or_else(|| panic!("{} has a licence", named(package)));
        let chosen = choose(licence, &allowed);
        used.extend(chosen.unwrap_or_else(|| {
            panic!(
                "{}: {licence}, expected a choice of {allowed:?}",
                named(package)
            )
        }));
    }
    let unused: Vec<_> = allowed
        .iter()
        .filter(|licence| !used.contains(*licence))
        .collect();
    assert!(
        unused.is_empty(),
        "deny.toml allows what nobody needs: {unused:?}"
    );
}

/// The allowed licences that fulfil an expression: `AND` binds stronger than `OR`, and `/` is an
/// old way to write `OR`. Of a choice, every one that is allowed.
fn choose(expression: &str, allowed: &[String]) -> Option<BTreeSet<String>> {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace(" WITH ", "+WITH+");
    let words: Vec<String> = spaced
        .split_whitespace()
        .map(|word| word.replace("+WITH+", " WITH "))
        .collect();
    let (chosen, rest) = alternatives(&words, allowed);
    assert!(
        rest.is_empty(),
        "{expression}: expected the end, found {rest:?}"
    );
    chosen
}

type Chosen<'w> = (Option<BTreeSet<String>>, &'w [String]);

fn alternatives<'w>(words: &'w [String], allowed: &[String]) -> Chosen<'w> {
    let (mut chosen, mut rest) = all_of(words, allowed);
    while rest.first().is_some_and(|word| word == "OR") {
        let (other, behind) = all_of(&rest[1..], allowed);
        chosen = match (chosen, other) {
            (Some(one), Some(other)) => Some(&one | &other),
            (one, other) => one.or(other),
        };
        rest = behind;
    }
    (chosen, rest)
}

fn all_of<'w>(words: &'w [String], allowed: &[String]) -> Chosen<'w> {
    let (mut chosen, mut rest) = one(words, allowed);
    while rest.first().is_some_and(|word| word == "AND") {
        let (other, behind) = one(&rest[1..], allowed);
        chosen = chosen.zip(other).map(|(one, other)| &one | &other);
        rest = behind;
    }
    (chosen, rest)
}

fn one<'w>(words: &'w [String], allowed: &[String]) -> Chosen<'w> {
    if words[0] == "(" {
        let (chosen, rest) = alternatives(&words[1..], allowed);
        assert_eq!(rest[0], ")");
        return (chosen, &rest[1..]);
    }
    (
        allowed
            .contains(&words[0])
            .then(|| BTreeSet::from([words[0].clone()])),
        &words[1..],
    )
}

#[test]
fn expressions_of_licences_mean_what_they_say() {
    let allowed = [
        "MIT",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "Unicode-3.0",
    ]
    .map(str::to_owned);
    let table: [(&str, Option<&[&str]>); 8] = [
        ("MIT", Some(&["MIT"])),
        ("GPL-3.0", None),
        ("MIT OR GPL-3.0", Some(&["MIT"])),
        ("GPL-3.0/MIT", Some(&["MIT"])),
        ("MIT AND GPL-3.0", None),
        ("GPL-3.0 AND MIT OR Apache-2.0", Some(&["Apache-2.0"])),
        (
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            Some(&["MIT", "Unicode-3.0"]),
        ),
        (
            "Apache-2.0 WITH LLVM-exception OR MIT",
            Some(&["Apache-2.0 WITH LLVM-exception", "MIT"]),
        ),
    ];
    for (expression, expected) in table {
        let expected = expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(choose(expression, &allowed), expected, "{expression}");
    }
}

/// What ships has every package once; tools of the tests may disagree.
#[test]
fn nothing_ships_twice() {
    let found = everywhere();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in found.reached(&[Kind::Normal]) {
        let package = &found.all[id];
        versions
            .entry(text(&package["name"]))
            .or_default()
            .push(text(&package["version"]));
    }
    versions.retain(|_, versions| versions.len() > 1);
    let several: Vec<&str> = versions.keys().copied().collect();
    assert_eq!(several, SEVERAL.map(|(name, _)| name), "{versions:?}");
}

/// Otherwise `cargo test` compiles the library again after `cargo build`.
#[test]
fn dev_dependencies_enable_no_features_of_dependencies() {
    let tree = |edges: &str| -> BTreeSet<String> {
        let format = ["--prefix", "none", "--format", "{p}: {f}", "--edges", edges];
        let lines = cargo(&[&["tree"], &format[..]].concat());
        // Cargo marks packages that are already in the list.
        let lines = lines.lines().map(|line| line.trim_end_matches(" (*)"));
        lines.map(str::to_owned).collect()
    };
    let in_builds = tree("normal,build");
    let in_tests = tree("normal,build,dev");
    let changed: Vec<&String> = in_builds.difference(&in_tests).collect();
    assert!(
        changed.is_empty(),
        "`cargo tree --edges features --invert PACKAGE` lists what enables other features in tests: {changed:#?}"
    );
}

#[test]
fn build_scripts_are_known() {
    let found = everywhere();
    let has_script = |package: &&Value| {
        list(&package["targets"])
            .iter()
            .any(|target| list(&target["kind"]).contains(&json!("custom-build")))
    };
    let packages = found
        .reached(&[Kind::Normal, Kind::Build])
        .into_iter()
        .map(|id| &found.all[id]);
    let names: BTreeSet<&str> = packages
        .filter(has_script)
        .map(|package| text(&package["name"]))
        .collect();
    let known: BTreeSet<&str> = BUILD_SCRIPTS.iter().copied().collect();
    assert_eq!(
        names, known,
        "packages with build scripts (left), and those in BUILD_SCRIPTS (right)"
    );
}

/// `rust-version` is the lowest version that compiles the dependencies.
#[test]
fn rust_version_is_that_of_the_dependencies() {
    let mut ours = Vec::new();
    let mut highest = (Vec::new(), "no dependency");
    for package in everywhere().all.values() {
        let Some(version) = package["rust_version"].as_str() else {
            continue;
        };
        let mut numbers: Vec<u32> = version
            .split('.')
            .map(|number| number.parse().expect("a number"))
            .collect();
        numbers.resize(3, 0);
        let name = text(&package["name"]);
        // Members of the workspace inherit the version, so they must not count as dependencies.
        if is_member(package) {
            ours = numbers;
        } else if numbers > highest.0 {
            highest = (numbers, name);
        }
    }
    assert_eq!(
        ours, highest.0,
        "rust-version in Cargo.toml (left) differs from the one that {} requires (right)",
        highest.1
    );
}

/// Every reference of the bill has a component, and every package from the registry has a licence and a checksum. With `BILL=FILE`
/// in the environment, the test writes the bill (contrib/release/make.sh).
#[test]
fn bill_of_materials_is_complete() {
    let bill = bill();
    let list = |name: &str| bill[name].as_array().expect("a list").clone();
    let components = list("components");
    let references: BTreeSet<&str> = components
        .iter()
        .map(|part| text(&part["bom-ref"]))
        .collect();
    for dependency in list("dependencies") {
        for needed in dependency["dependsOn"].as_array().into_iter().flatten() {
            assert!(references.contains(text(needed)), "{needed}");
        }
    }
    let linked = Packages::of(&[PLATFORM]).reached(&[Kind::Normal]).len();
    assert!(
        components.len() >= linked,
        "{} of {linked}",
        components.len()
    );
    let registered = components.iter().filter(|part| part["hashes"].is_array());
    for part in registered {
        assert_eq!(text(&part["hashes"][0]["content"]).len(), 64, "{part}");
        assert!(
            !text(&part["licenses"][0]["expression"]).is_empty(),
            "{part}"
        );
    }
    if let Some(file) = env::var_os("BILL") {
        let written = serde_json::to_string_pretty(&bill).expect("JSON") + "\n";
        fs::write(file, written).expect("the directory exists");
    }
}

/// Returns the parts of the program, in the form of `CycloneDX` 1.5: without time, place and serial
/// number, so that the same Cargo.lock gives the same bytes.
fn bill() -> Value {
    let found = Packages::of(&[PLATFORM]);
    let checksums = checksums();
    let linked = found.reached(&[Kind::Normal]);
    let built = found.reached(&[Kind::Normal, Kind::Build]);
    let reference = |id: &str| {
        let package = &found.all[id];
        format!(
            "pkg:cargo/{}@{}",
            text(&package["name"]),
            escape(text(&package["version"]))
        )
    };
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    for id in &built {
        let package = &found.all[*id];
        let mut needed: BTreeSet<String> = found.needs[*id]
            .iter()
            .filter(|(needed, kinds)| {
                built.contains(needed.as_str()) && kinds.iter().any(|kind| *kind != Kind::Dev)
            })
            .map(|(needed, _)| reference(needed))
            .collect();
        if *id != found.root {
            let mut component = json!({
                "type": "library",
                "bom-ref": reference(id),
                "name": package["name"],
                "version": package["version"],
                // Needed to build the program, and no part of it.
                "scope": if linked.contains(id) { "required" } else { "excluded" },
                "licenses": [{ "expression": text(&package["license"]).replace('/', " OR ") }],
                "purl": reference(id),
            });
            if !is_member(package) {
                component["hashes"] =
                    json!([{ "alg": "SHA-256", "content": checksums[&named(package)] }]);
            }
            components.push(component);
        }
        if *id == found.root {
            for file in VENDORED {
                let reference = format!("pkg:npm/{}@{}", file.package, file.version);
                if needed.insert(reference.clone()) {
                    dependencies.push(json!({ "ref": reference, "dependsOn": [] }));
                    components.push(vendored(file.package, file.version));
                }
            }
        }
        if let Some(source) = bundled(package) {
            needed.insert(text(&source["bom-ref"]).to_owned());
            dependencies.push(json!({ "ref": source["bom-ref"], "dependsOn": [] }));
            components.push(source);
        }
        dependencies.push(json!({ "ref": reference(id), "dependsOn": needed }));
    }
    let ours = &found.all[&found.root];
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": reference(&found.root),
                "name": ours["name"],
                "version": ours["version"],
                "licenses": [{ "expression": ours["license"] }],
                "purl": reference(&found.root),
            },
        },
        "components": components,
        "dependencies": dependencies,
    })
}

/// The C library whose source a package brings along.
fn bundled(package: &Value) -> Option<Value> {
    let version = text(&package["version"]);
    let (name, version, licence) = match text(&package["name"]) {
        "libsqlite3-sys" => ("sqlite", profdb::store::versions().1, "blessing"),
        "zstd-sys" => (
            "zstd",
            version
                .split_once("+zstd.")
                .expect("the version says which zstd")
                .1,
            "BSD-3-Clause",
        ),
        _ => return None,
    };
    let reference = format!("pkg:generic/{name}@{version}");
    Some(json!({
        "type": "library",
        "bom-ref": reference,
        "name": name,
        "version": version,
        "scope": "required",
        "licenses": [{ "license": { "id": licence } }],
        "purl": reference,
    }))
}

/// A file of a package of npm that the program has compressed in it.
struct Vendored {
    package: &'static str,
    version: &'static str,
    licence: &'static str,
    /// Here, and in the package.
    file: &'static str,
    original: &'static str,
    /// Of the file in the package.
    sha256: &'static str,
}

/// What pages for browsers have of others: SQLite, compiled for browsers (`npm pack sql.js@1.16.0` has the originals).
const VENDORED: &[Vendored] = &[
    Vendored {
        package: "sql.js",
        version: "1.16.0",
        licence: "MIT",
        file: "web/vendor/sql.js/sql-wasm.wasm.gz",
        original: "dist/sql-wasm.wasm",
        sha256: "43bbcdd44287e5a2db3b6b5af34b1a3485a7a441285d247976c1ebe3c61f8dbf",
    },
    Vendored {
        package: "sql.js",
        version: "1.16.0",
        licence: "MIT",
        file: "web/vendor/sql.js/sql-wasm.js.gz",
        original: "dist/sql-wasm.js",
        sha256: "9b96118841c6edfdf53c6f388c1419d1f473cf469df6a6fc2864b386d60bdb5e",
    },
];

/// Returns the entry of an npm package in the bill, with its files in the repository.
fn vendored(package: &str, version: &str) -> Value {
    let files: Vec<&Vendored> = VENDORED
        .iter()
        .filter(|file| file.package == package)
        .collect();
    let reference = format!("pkg:npm/{package}@{version}");
    let parts = files.iter().map(|file| {
        json!({
            "type": "file",
            "name": file.original,
            "hashes": [{ "alg": "SHA-256", "content": file.sha256 }],
        })
    });
    json!({
        "type": "library",
        "bom-ref": reference,
        "name": package,
        "version": version,
        "scope": "required",
        "licenses": [{ "license": { "id": files[0].licence } }],
        "purl": reference,
        "components": parts.collect::<Vec<_>>(),
    })
}

/// What is vendored is what the package has, byte by byte, with its licence beside it, and nothing else is.
#[test]
fn vendored_files_are_those_of_their_packages() {
    let allowed = denied("allow");
    let mut expected = BTreeSet::new();
    for file in VENDORED {
        let packed = fs::read(file.file).expect("the file is there");
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(packed.as_slice())
            .read_to_end(&mut bytes)
            .expect("gzip");
        let digest = Sha256::digest(&bytes)
            .iter()
            .fold(String::new(), |mut text, byte| {
                write!(text, "{byte:02x}").expect("a string takes everything");
                text
            });
        assert_eq!(digest, file.sha256, "{}", file.original);
        assert!(allowed.iter().any(|licence| licence == file.licence));
        let folder = Path::new(file.file).parent().expect("a folder");
        let licence = folder.join("LICENSE");
        let text = fs::read_to_string(&licence).expect("the licence is there");
        assert!(text.starts_with(file.licence), "{}", licence.display());
        expected.extend([PathBuf::from(file.file), licence]);
    }
    let mut found = BTreeSet::new();
    let mut open = vec![PathBuf::from("web/vendor")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path);
            }
        }
    }
    assert_eq!(found, expected);
}

/// A version in an address of a package.
fn escape(version: &str) -> String {
    version.replace('+', "%2B")
}

/// SHA-256 of the packages in Cargo.lock, by name and version.
fn checksums() -> BTreeMap<String, String> {
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock is there");
    let field = |part: &str, name: &str| {
        let line = part
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name} = \"")))?;
        line.strip_suffix('"').map(str::to_owned)
    };
    let packages = lock.split("[[package]]").skip(1);
    let all = packages.filter_map(|part| {
        Some((
            format!("{} {}", field(part, "name")?, field(part, "version")?),
            field(part, "checksum")?,
        ))
    });
    all.collect()
}
