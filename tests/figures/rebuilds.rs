//! Small programs that are built twice: with lines and a closure put in front, and as another build
//! names its symbols. What the compilers of this machine call their functions has the same identities.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use profdb::events::FunctionDef;
use profdb::identity::Rules;
use rusqlite::Connection;

use crate::support::samples_of::imported;
use crate::support::tools::find;

/// What a program prints.
fn printed(folder: &Path, program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program)
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
    let (Some(compiler), Some(nm)) = (find("g++"), find("nm")) else {
        return;
    };
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
    let (Some(compiler), Some(nm)) = (find("rustc"), find("nm")) else {
        return;
    };
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
    let Some(go) = find("go") else {
        return;
    };
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
    let (Some(javac), Some(javap)) = (find("javac"), find("javap")) else {
        return;
    };
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
