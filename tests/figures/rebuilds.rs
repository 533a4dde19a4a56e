//! Small programs that are built twice: with lines and a closure put in front, and as another build
//! names its symbols. What the compilers of this machine call their functions has the same identities.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use profdb::events::FunctionDef;
use profdb::identity::Rules;
use rusqlite::Connection;

use crate::support::program;
use crate::support::samples_of::imported;
use crate::support::tools;

/// What a program prints.
fn printed(folder: &Path, program: &Path, arguments: &[&str]) -> String {
    let output = tools::command_at(program)
        .current_dir(folder)
        .args(arguments)
        .env("HOME", folder)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{} {arguments:?}: {errors}",
        program.display()
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Identities of those functions whose names have a word of the program's own.
fn identities<'n>(
    names: impl IntoIterator<Item = &'n str>,
    word: &str,
    file: &str,
) -> BTreeSet<String> {
    let rules = Rules::built_in();
    names
        .into_iter()
        .filter(|name| name.contains(word))
        .map(|name| {
            let def = FunctionDef {
                file,
                ..FunctionDef::named(name)
            };
            rules.identity(&def).name.into_owned()
        })
        .collect()
}

/// The names of functions in a file of symbols, as `nm` prints them: the last word after the type.
fn symbols(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|line| {
            [" t ", " T ", " W "]
                .iter()
                .find_map(|kind| line.split_once(kind))
        })
        .map(|(_, name)| name.trim())
}

/// Fails unless both builds have names, other ones, and the same identities.
fn same(what: &str, names: [&BTreeSet<String>; 2], identities: &[BTreeSet<String>; 2]) {
    assert!(!identities[0].is_empty(), "{what}: {names:?}");
    assert_ne!(
        names[0], names[1],
        "{what}: the second build shows nothing new"
    );
    assert_eq!(identities[0], identities[1], "{what}");
}

fn own(text: &str, word: &str) -> BTreeSet<String> {
    symbols(text)
        .filter(|name| name.contains(word))
        .map(str::to_owned)
        .collect()
}

#[test]
fn functions_of_gcc_keep_their_identity() {
    let (compiler, nm) = (tools::require("g++"), tools::require("nm"));
    let folder = tempfile::tempdir().expect("a folder");
    let program = |front: &str| {
        format!(
            "// {front}\n__attribute__((noinline)) static int apply_it(int (*f)(int), int x) {{ return f(x); }}\n\
             int work_all(int n) {{\n{front}\n  auto add = [](int x) {{ return x + 3; }};\n  return apply_it(add, n);\n}}\n\
             int main(int n, char **) {{ return work_all(n); }}\n"
        )
    };
    let front = "auto first = [](int x) { return x * 5; }; n = apply_it(first, n);";
    let texts = ["", front].map(|front| {
        fs::write(folder.path().join("a.cpp"), program(front)).expect("a file");
        printed(
            folder.path(),
            &compiler,
            &["-O1", "-fno-ipa-icf", "-c", "a.cpp"],
        );
        printed(folder.path(), &nm, &["-C", "a.o"])
    });
    let names = [own(&texts[0], "work_all"), own(&texts[1], "work_all")];
    let found = texts
        .each_ref()
        .map(|text| identities(symbols(text), "work_all", "a.cpp"));
    same("g++", [&names[0], &names[1]], &found);
}

/// Names of all identities of a database.
fn stored(connection: &Connection) -> BTreeSet<String> {
    let mut statement = connection
        .prepare("SELECT name FROM identities WHERE class = 'code'")
        .expect("a table");
    let names = statement.query_map([], |row| row.get(0)).expect("rows");
    names.collect::<Result<_, _>>().expect("rows")
}

#[test]
fn functions_of_rustc_keep_their_identity() {
    let (compiler, nm) = (tools::require("rustc"), tools::require("nm"));
    let folder = tempfile::tempdir().expect("a folder");
    let program = |front: &str| {
        format!(
            "// {front}\n#[inline(never)] fn apply_it(f: &dyn Fn(u32) -> u32, x: u32) -> u32 {{ f(x) }}\n\
             #[inline(never)] fn work_all(mut n: u32) -> u32 {{\n{front}\n  n += 1; apply_it(&|x| x + 3, n)\n}}\n\
             pub fn work_too() -> u32 {{ work_all(std::env::args().count() as u32) }}\n"
        )
    };
    let front = "n = apply_it(&|x| x * 5, n);";
    let builds = [("", "-Cmetadata=one"), (front, "-Cmetadata=two")];
    let found = builds.map(|(front, metadata)| {
        fs::write(folder.path().join("a.rs"), program(front)).expect("a file");
        let arguments = [
            "--crate-type=lib",
            "--emit=obj",
            "-Copt-level=0",
            "-Ccodegen-units=1",
        ];
        let mut arguments = arguments.to_vec();
        arguments.extend([metadata, "--edition=2024", "-o", "a.o", "a.rs"]);
        printed(folder.path(), &compiler, &arguments);
        let mut v0 = arguments.clone();
        v0.extend(["-Csymbol-mangling-version=v0", "-o", "v0.o"]);
        v0.retain(|word| *word != "a.o");
        // Two of `-o` are one too many.
        let at = v0
            .iter()
            .position(|word| *word == "-o")
            .expect("it was put there");
        v0.remove(at);
        printed(folder.path(), &compiler, &v0);
        ["a.o", "v0.o"].map(|object| {
            let text = printed(folder.path(), &nm, &[object]);
            let raw = own(&text, "work_");
            // An importer makes them readable.
            let stacks: Vec<String> = raw.iter().map(|name| format!("{name} 1")).collect();
            let found = stored(imported("folded", &stacks.join("\n")).connection());
            (raw, found)
        })
    });
    let [
        [(old, legacy), (old_v0, v0)],
        [(new, legacy_again), (new_v0, v0_again)],
    ] = found;
    same("rustc", [&old, &new], &[legacy.clone(), legacy_again]);
    same("rustc, v0", [&old_v0, &new_v0], &[v0.clone(), v0_again]);
    // And both manglings meet, but for code that the compiler adds, which the older one does not name
    // by the closure.
    let own = |name: &&String| !name.contains("call_once");
    let own = |names: &BTreeSet<String>| names.iter().filter(own).cloned().collect::<Vec<_>>();
    assert_eq!(own(&legacy), own(&v0));
}

#[test]
fn functions_of_go_keep_their_identity() {
    let go = tools::require("go");
    let folder = tempfile::tempdir().expect("a folder");
    let program = |front: &str| {
        format!(
            "// {front}\npackage main\n\n//go:noinline\nfunc apply(f func(int) int, x int) int {{ return f(x) }}\n\n\
             func workAll(n int) int {{\n{front}\n\treturn apply(func(x int) int {{ return x + n }}, n)\n}}\n\n\
             func main() {{ println(workAll(3)) }}\n"
        )
    };
    let front = "n = apply(func(x int) int { return x * n }, n)";
    let texts = ["", front].map(|front| {
        fs::write(folder.path().join("a.go"), program(front)).expect("a file");
        printed(
            folder.path(),
            &go,
            &["tool", "compile", "-p", "main", "-o", "a.o", "a.go"],
        );
        printed(folder.path(), &go, &["tool", "nm", "a.o"])
    });
    let names = [own(&texts[0], "workAll"), own(&texts[1], "workAll")];
    let found = texts
        .each_ref()
        .map(|text| identities(symbols(text), "workAll", "a.go"));
    same("go", [&names[0], &names[1]], &found);
}

#[test]
fn functions_of_javac_keep_their_identity() {
    let (javac, javap) = (tools::require("javac"), tools::require("javap"));
    let folder = tempfile::tempdir().expect("a folder");
    let program = |front: &str| {
        format!(
            "// {front}\nclass Work {{\n  static int run(java.util.function.IntUnaryOperator f, int x) {{ return f.applyAsInt(x); }}\n\
             static int all(int n) {{\n{front}\n    return run(x -> x + 3, n);\n  }}\n}}\n"
        )
    };
    let front = "n = run(x -> x * 5, n);";
    let methods = ["", front].map(|front| {
        fs::write(folder.path().join("Work.java"), program(front)).expect("a file");
        printed(folder.path(), &javac, &["Work.java"]);
        let text = printed(folder.path(), &javap, &["-p", "Work"]);
        let methods = text.lines().filter_map(|line| {
            let (before, _) = line.split_once('(')?;
            Some(format!("Work.{}", before.rsplit(' ').next()?))
        });
        methods.collect::<BTreeSet<String>>()
    });
    let found = methods
        .each_ref()
        .map(|names| identities(names.iter().map(String::as_str), "Work.", "Work.java"));
    same("javac", [&methods[0], &methods[1]], &found);
}

/// Functions of a file in a profile: as the profile has them, with their lines, and as identities.
fn functions_of(format: &str, profile: &Path, file: &str) -> [BTreeSet<String>; 2] {
    let bytes = fs::read(profile).expect("a profile");
    let database = imported(format, &bytes);
    [
        "SELECT name || ':' || first_line FROM functions WHERE file LIKE '%' || ?1",
        "SELECT i.name || ' ' || i.file FROM functions AS f JOIN identities AS i USING (identity_id) WHERE f.file LIKE '%' || ?1",
    ]
    .map(|sql| {
        let mut statement = database.connection().prepare(sql).expect("tables");
        let names = statement.query_map([file], |row| row.get(0)).expect("rows");
        names.collect::<Result<_, _>>().expect("rows")
    })
}

/// Two recordings of a program: as it is, with lines and a nameless function put in front, and that in another folder. Functions of the
/// second one have the identities of the first; those of the third are the same by a pair of folders, which a comparison finds.
fn recorded_again(
    (format, file): (&str, &str),
    program: impl Fn(&str) -> String,
    front: &str,
    record: impl Fn(&Path, &Path),
) {
    let folder = tempfile::tempdir().expect("a folder");
    // Paths are recorded without symbolic links.
    let here = folder.path().canonicalize().expect("it is there");
    let recordings = [("one", ""), ("one", front), ("two", front)];
    let mut profiles = Vec::new();
    for (number, (place, front)) in recordings.into_iter().enumerate() {
        let place = here.join(place);
        fs::create_dir_all(&place).expect("a folder");
        fs::write(place.join(file), program(front)).expect("a file");
        let profile = here.join(format!("{number}.profile"));
        record(&place.join(file), &profile);
        profiles.push(profile);
    }
    let [first, second, third] =
        [0, 1, 2].map(|at: usize| functions_of(format, &profiles[at], file));
    same(
        format,
        [&first[0], &second[0]],
        &[first[1].clone(), second[1].clone()],
    );
    assert_eq!(second[0], third[0], "{format}");
    let output = program::command()
        .args(["diff", "--all", "--format", "json"])
        .args([&profiles[0], &profiles[2]])
        .output()
        .expect("our own program");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let base = answer["folders"][0]["base"].as_str().unwrap_or_default();
    let one = here.join("one");
    assert_eq!(
        Some(base.trim_start_matches("file://")),
        one.to_str(),
        "{answer}"
    );
    let rows = answer["rows"].as_array().expect("rows");
    let own = |row: &&serde_json::Value| {
        row["file"]
            .as_str()
            .is_some_and(|path| path.ends_with(file))
    };
    // What runs outside of all functions may take less than the time between two samples.
    let is_named = |row: &&serde_json::Value| row["function"] != "(anonymous)";
    let own: Vec<_> = rows.iter().filter(own).filter(is_named).collect();
    let named = first[1].iter();
    let named = named.filter(|name| !name.starts_with("(anonymous)"));
    assert_eq!(own.len(), named.count(), "{answer}");
    for row in own {
        assert_eq!(row["status"], "both", "{row}");
    }
}

#[test]
fn functions_of_python_keep_their_identity() {
    let python = tools::require("python3");
    let program = |front: &str| {
        format!(
            "{front}\nclass Work:\n    def parse(self, n): return sum(map(lambda x: x % 7, range(n)))\n    \
             def load(self, n): return sorted(self.parse(x) for x in range(n))\n\n\
             def render(n): return [str(x) for x in range(n)]\ndef total(n): return len(render(n))\n\
             def main(): return Work().load(20), total(30)\nmain()\n"
        )
    };
    let front = "# Lines above.\nfirst = lambda x: x + 1\nfirst(2)\n";
    recorded_again(("pstats", "work.py"), program, front, |program, profile| {
        let words = ["-m", "cProfile", "-o"].map(Path::new);
        let words: Vec<&str> = words
            .into_iter()
            .chain([profile, program])
            .filter_map(Path::to_str)
            .collect();
        printed(program.parent().expect("a folder"), &python, &words);
    });
}

#[test]
fn functions_of_node_keep_their_identity() {
    let node = tools::require("node");
    // Each function runs some hundred times as long as the time between two samples.
    let program = |front: &str| {
        format!(
            "{front}\nfunction spin(n) {{ let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) % 65521; return x; }}\n\
             function parse(n) {{ let x = 1; for (let i = 0; i < n; i++) x = (x * 17 + i) % 65521; return x + spin(n); }}\n\
             function load(n) {{ let x = 1; for (let i = 0; i < n; i++) x = (x * 13 + i) % 65521; return x + parse(n); }}\n\
             function render(n) {{ let x = 1; for (let i = 0; i < n; i++) x = (x * 11 + i) % 65521; return x + load(n); }}\n\
             const each = (n) => {{ let x = 1; for (let i = 0; i < n; i++) x = (x * 7 + i) % 65521; return x + render(n); }};\n\
             console.log(each(5000000));\n"
        )
    };
    let front = "// Lines above.\n[1].map((x) => x + 1);\n";
    recorded_again(
        ("cpuprofile", "work.js"),
        program,
        front,
        |program, profile| {
            let folder = profile.parent().and_then(Path::to_str).expect("plain");
            let name = profile
                .file_name()
                .and_then(|name| name.to_str())
                .expect("plain");
            let words = [
                "--cpu-prof",
                "--cpu-prof-interval=200",
                "--cpu-prof-dir",
                folder,
                "--cpu-prof-name",
                name,
                program.to_str().expect("plain"),
            ];
            printed(program.parent().expect("a folder"), &node, &words);
        },
    );
}

/// What a program does, as callgrind counts it: a profile.
fn counted(folder: &Path, valgrind: &Path, program: &str, profile: &str) {
    printed(
        folder,
        valgrind,
        &[
            "--quiet",
            "--tool=callgrind",
            &format!("--callgrind-out-file={profile}"),
            program,
        ],
    );
}

/// The answer to a comparison of two profiles in a folder.
fn compared(folder: &Path, profiles: [&str; 2]) -> serde_json::Value {
    let output = program::command()
        .current_dir(folder)
        .args(["diff", "--all", "--format", "json"])
        .args(profiles)
        .output()
        .expect("our own program");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Verdicts and ways of matching of functions whose names begin so.
fn verdicts(answer: &serde_json::Value, start: &str) -> Vec<(String, String)> {
    let rows = answer["rows"].as_array().expect("rows").iter();
    let text =
        |row: &serde_json::Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    rows.filter(|row| text(row, "function").starts_with(start))
        .map(|row| (text(row, "verdict"), text(row, "matched_by")))
        .collect()
}

/// A program is the same one in another folder, and under another name, with and without its sources' places.
#[test]
fn programs_are_one_wherever_they_lie_and_whatever_they_are_called() {
    let (compiler, valgrind) = (tools::require("gcc"), tools::require("valgrind"));
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path().canonicalize().expect("it is there");
    let program = "__attribute__((noinline)) int parse(int n) { int t = 0; for (int i = 0; i < n; i++) t += i % 7; return t; }\n\
                   __attribute__((noinline)) int render(int n) { int t = 0; for (int i = 0; i < n; i++) t = (31 * t + i) % 65521; return t; }\n\
                   volatile int kept;\n\
                   int main(int n, char **v) { kept = parse(100000 * n) + render(100000 * n); return 0; }\n";
    for debugging in ["-g0", "-g"] {
        for place in ["one", "two/three"] {
            let place = here.join(place);
            fs::create_dir_all(&place).expect("a folder");
            fs::write(place.join("w.c"), program).expect("a file");
            // The path of the source as a build tool names it.
            let source = place.join("w.c");
            printed(
                &place,
                &compiler,
                &[
                    "-O1",
                    debugging,
                    source.to_str().expect("plain"),
                    "-o",
                    "work",
                ],
            );
        }
        fs::copy(here.join("one/work"), here.join("old")).expect("room");
        fs::copy(here.join("two/three/work"), here.join("new")).expect("room");
        let programs = [
            ("one/work", "one.out"),
            ("two/three/work", "two.out"),
            ("old", "old.out"),
            ("new", "new.out"),
        ];
        for (program, profile) in programs {
            counted(
                &here,
                &valgrind,
                here.join(program).to_str().expect("plain"),
                profile,
            );
        }
        let moved = compared(&here, ["one.out", "two.out"]);
        let named = compared(&here, ["old.out", "new.out"]);
        assert_eq!(moved["modules"], serde_json::json!([]), "{moved}");
        for start in ["parse", "render"] {
            for answer in [&moved, &named] {
                let found = verdicts(answer, start);
                assert_eq!(found.len(), 1, "{debugging}, {start}: {answer}");
                assert_eq!(found[0].0, "same", "{debugging}, {start}: {answer}");
            }
        }
        let by = if debugging == "-g" {
            "folder"
        } else {
            "identity"
        };
        assert_eq!(verdicts(&moved, "parse")[0].1, by, "{moved}");
        if debugging == "-g0" {
            assert_eq!(verdicts(&named, "parse")[0].1, "module", "{named}");
            assert_eq!(named["modules"][0]["base"], "old", "{named}");
            assert_eq!(named["modules"][0]["new"], "new", "{named}");
        }
    }
}

/// A clone that a compiler makes for constants, and not when there is a call with others: the demangler writes it after the name.
#[test]
fn clones_of_gcc_are_one_function() {
    let (compiler, valgrind) = (tools::require("g++"), tools::require("valgrind"));
    let folder = tempfile::tempdir().expect("a folder");
    let program = |other: &str| {
        format!(
            "struct B {{ int v[64]; }};\n\
             volatile int kept;\n\
             static __attribute__((noinline)) int work(const B &b, int n, int k) {{ int s = 0; for (int j = 0; j < n; j++) for (int x : b.v) s += (x * k) % 7; return s; }}\n\
             int main(int c, char **) {{ B b {{}}; b.v[3] = c; int s = 0; for (int i = 0; i < 20; i++) s += work(b, 10, 3){other}; kept = s; return 0; }}\n"
        )
    };
    let mut names = Vec::new();
    for (other, name) in [("", "a"), (" + (c > 5 ? work(b, c, c) : 0)", "b")] {
        fs::write(folder.path().join("a.cpp"), program(other)).expect("a file");
        printed(
            folder.path(),
            &compiler,
            &["-O2", "-fno-inline", "a.cpp", "-o", "work"],
        );
        // The program ends with what it has worked out.
        let _ = tools::command_at(&valgrind)
            .current_dir(folder.path())
            .args([
                "--quiet",
                "--tool=callgrind",
                &format!("--callgrind-out-file={name}.out"),
                "./work",
            ])
            .output()
            .expect("it was found");
        let text =
            fs::read_to_string(folder.path().join(format!("{name}.out"))).expect("a profile");
        names.push(text.contains("[clone .constprop"));
    }
    assert_eq!(names, [true, false], "the compiler makes no clone");
    let answer = compared(folder.path(), ["a.out", "b.out"]);
    let found = verdicts(&answer, "work(B const&, int, int)");
    assert_eq!(found.len(), 1, "{answer}");
    assert!(
        ["faster", "slower", "same"].contains(&found[0].0.as_str()),
        "{answer}"
    );
}
