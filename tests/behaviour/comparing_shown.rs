//! What `profdb diff` says of what it compares: whose figures rows of statements are, what figures are of, what both sides have, and
//! what became of all that was selected.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rusqlite::Connection;
use serde_json::Value;

use super::comparing::{Folder, row};

/// Numbers of runs in the rows of all statements of a script, whose first column says it.
fn runs_of(folder: &Folder, script: &str) -> BTreeSet<i64> {
    let connection = Connection::open(folder.path("profdb.db")).expect("a database");
    let mut found = BTreeSet::new();
    for statement in script.split(";\n").filter(|text| !text.trim().is_empty()) {
        let mut statement = connection
            .prepare(statement)
            .unwrap_or_else(|error| panic!("{error}: {statement}"));
        assert_eq!(statement.column_name(0), Ok("run_id"));
        let mut rows = statement.query([]).expect("no parameters");
        while let Some(row) = rows.next().expect("a row") {
            found.insert(row.get(0).expect("a number"));
        }
    }
    found
}

#[test]
fn rows_of_statements_say_whose_they_are() {
    let folder = Folder::new();
    let callgrind = |cost: u32| {
        format!(
            "version: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\nob=app\nfl=src/w.c\nfn=main\n1 {cost}\n\
             cfn=work\ncalls=1 9\n2 50\n\nfn=work\n9 50\n"
        )
    };
    folder
        .write("a.folded", "main;work 20\nmain;SELECT 10\n")
        .write("b.folded", "main;work 15\nmain;rest 5\n")
        .write("a.callgrind", &callgrind(7))
        .write("b.callgrind", &callgrind(8));
    for name in ["a.folded", "b.folded", "a.callgrind", "b.callgrind"] {
        folder.import(name, &[]);
    }
    for (sides, flags) in [
        (["1", "2"], &[][..]),
        (["2", "1"], &["--cumulative"]),
        (["1", "2"], &["--fn", "main"]),
        (["1", "2"], &["--hide", "rest", "--cumulative"]),
        (["1", "2"], &["--focus", "main"]),
        (["1", "2"], &["--by", "caller", "--fn", "work"]),
        (["3", "4"], &["--by", "file"]),
        (["3", "4"], &["--by", "line"]),
        (["3", "4"], &["--by", "module", "--cumulative"]),
        (["1", "4"], &["--normalize", "total"]),
    ] {
        let asked = [&["diff"], &sides[..], flags, &["--show-sql"]].concat();
        let (script, said, code) = folder.run(&asked);
        assert_eq!(code, Some(0), "{asked:?}: {said}");
        let numbers: BTreeSet<i64> = sides
            .iter()
            .map(|run| run.parse().expect("a number"))
            .collect();
        assert_eq!(runs_of(&folder, &script), numbers, "{asked:?}");
        let heading = format!("-- Base: {}; new: {}.\n", sides[0], sides[1]);
        assert!(script.contains(&heading), "{asked:?}: {script}");
    }
}

/// Of two profilers each column has its own metric; what is a difference has that of neither.
#[test]
fn heads_of_shares_are_those_of_each_side() {
    let folder = Folder::new();
    folder.write("a.folded", "main;work 20\n").write(
        "b.json",
        r#"{"traceEvents": [
            {"name": "main", "ph": "X", "ts": 0, "dur": 30, "pid": 1, "tid": 1},
            {"name": "work", "ph": "X", "ts": 5, "dur": 20, "pid": 1, "tid": 1}]}"#,
    );
    let asked = ["a.folded", "b.json", "--normalize", "total"];
    for command in [
        &["diff"][..],
        &["report", "diff_tree"],
        &["report", "diff_paths"],
    ] {
        let (text, said, code) = folder.run(&[command, &asked].concat());
        assert_eq!(code, Some(0), "{said}");
        assert!(text.contains("base % of samples  new % of time"), "{text}");
        let (text, ..) = folder.run(&[command, &asked, &["--format", "csv"]].concat());
        let heads = "\"Base% of samples\",\"New% of time\",\"Delta% of total\"";
        assert!(text.contains(heads), "{text}");
    }
    // Of one profiler all are of one metric.
    let (text, ..) = folder.run(&["diff", "a.folded", "a.folded", "--normalize", "total"]);
    assert!(
        text.contains("base % of samples  new % of samples"),
        "{text}"
    );
}

/// Functions of one file that may call each other: `twin` is two functions of one identity.
fn program(twin: [u32; 2], lines: &[(&str, u32)]) -> String {
    let mut text =
        "version: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\nob=app\nfl=w.c\n"
            .to_owned();
    for (name, cost) in lines {
        let _ = write!(
            text,
            "fn={name}\n3 {cost}\ncfn=f.part.0\ncalls=1 9\n4 10\n\n"
        );
    }
    let _ = write!(
        text,
        "fn=f.part.0\n1 {}\ncfn=f.part.1\ncalls=1 9\n2 50\n\nfn=f.part.1\n1 {}\n2 20\n",
        twin[0], twin[1]
    );
    text
}

/// Rows of which only bounds are known are rows of both sides nevertheless.
#[test]
fn what_only_has_bounds_is_matched() {
    let folder = Folder::new();
    let program = |files: [&str; 2]| {
        let [caller, called] = files;
        format!(
            "version: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\nob=app\nfl={caller}\nfn=one\n1 20\n\
             cfi={called}\ncfn=g\ncalls=1 9\n2 50\n\nfn=two\n3 30\ncfi={called}\ncfn=g\ncalls=1 9\n4 70\n\nfl={called}\nfn=g\n9 120\n"
        )
    };
    folder
        .write("base.callgrind", &program(["w.c", "x.c"]))
        .write("new.callgrind", &program(["w.c", "y.c"]))
        .write("other.callgrind", &program(["v.c", "z.c"]));
    let asked = |new: &str| {
        let flags = ["--by", "file", "--cumulative", "--all"];
        folder.json(&[&["diff", "base.callgrind", new], &flags[..]].concat())
    };
    let answer = asked("new.callgrind");
    let both = row(&answer, "w.c");
    let bounds = ["base_cumulative_min", "base_cumulative_max"].map(|name| both[name].as_f64());
    assert_eq!(bounds, [Some(100.0), Some(170.0)], "{both}");
    for side in ["base", "new"] {
        let matched = answer[side]["matched_pct"].as_f64().expect("a share");
        // The least that it costs, of that and the 120 of the other file.
        assert!((matched - 100.0 * 100.0 / 220.0).abs() < 1e-9, "{answer}");
    }
    let answer = asked("other.callgrind");
    for side in ["base", "new"] {
        assert_eq!(answer[side]["matched_pct"], 0, "{answer}");
    }
}

/// Lines of functions that are one are left out where no path says what they cost together; all others stay, whatever their names.
#[test]
fn what_is_left_out_is_what_is_unknown() {
    let folder = Folder::new();
    let lines = [("zeta", 700), ("alpha", 300), ("beta", 500)];
    folder
        .write("base.callgrind", &program([20, 30], &lines))
        .write("new.callgrind", &program([25, 30], &lines));
    let asked = [
        "diff",
        "base.callgrind",
        "new.callgrind",
        "--by",
        "line",
        "--cumulative",
        "--all",
    ];
    let (_, said, _) = folder.run(&asked);
    assert!(said.contains("left out"), "{said}");
    let answer = folder.json(&asked);
    for (name, cost) in [("zeta[3]", 700.0), ("alpha[3]", 300.0), ("beta[3]", 500.0)] {
        assert_eq!(row(&answer, name)["base"].as_f64(), Some(cost), "{answer}");
    }
    let rows = answer["rows"].as_array().expect("rows");
    let names: Vec<&Value> = rows.iter().map(|row| &row["function"]).collect();
    assert!(!names.contains(&&Value::from("f[1]")), "{names:?}");
}

/// Where a side has nothing of what was selected, that is what the line of the total says, if chance does not explain it.
#[test]
fn the_total_of_what_is_gone_is_gone() {
    let folder = Folder::new();
    for at in 1..=3 {
        folder
            .write(
                &format!("base-{at}.folded"),
                &format!("main;old 10{at}\nmain;rest 20{at}\nmain;few 1\n"),
            )
            .write(&format!("new-{at}.folded"), &format!("main;rest 20{at}\n"))
            .write(
                &format!("many-{at}.folded"),
                &format!("main;rest 20{at}\nmain;old;a 7\nmain;old;b 7\nmain;old;c 7\nmain;old;d 7\nmain;old;e 7\nmain;old;f 7\nmain;old;g 7\nmain;old;h 7\n"),
            );
    }
    let sets = |base: &'static str, new: &'static str| {
        let names = |side: &str| {
            (1..=3)
                .map(|at| format!("{side}-{at}.folded"))
                .collect::<Vec<_>>()
        };
        [
            vec!["--base".to_owned()],
            names(base),
            vec!["--new".to_owned()],
            names(new),
        ]
        .concat()
    };
    let pair = |base: &str, new: &str| vec![format!("{base}-1.folded"), format!("{new}-1.folded")];
    for (sides, selected, noise, verdict) in [
        (pair("base", "new"), "old", "exact", "gone"),
        (pair("base", "new"), "old", "sampled", "gone"),
        (pair("new", "base"), "old", "sampled", "new"),
        // Each of the functions may be missing by chance, all of them together are not.
        (pair("many", "new"), "old", "sampled", "gone"),
        (sets("many", "new"), "old", "sampled", "gone"),
        // One sample may always be missing.
        (pair("base", "new"), "few", "sampled", "unclear"),
        // Nothing tells how much one time varies.
        (pair("base", "new"), "old", "timed", "unclear"),
        (sets("base", "new"), "old", "sampled", "gone"),
        (sets("base", "new"), "old", "timed", "gone"),
        (sets("new", "base"), "old", "timed", "new"),
    ] {
        let sides: Vec<&str> = sides.iter().map(String::as_str).collect();
        let flags = ["--fn", selected, "--noise", noise];
        let answer = folder.json(&[&["diff"], &sides[..], &flags].concat());
        assert_eq!(
            answer["total"]["verdict"], verdict,
            "{sides:?} {flags:?}: {answer}"
        );
    }
}

/// What a side costs is not nothing where it only does not know the files that costs are to be added up by.
#[test]
fn names_that_one_side_does_not_know_are_not_gone() {
    let folder = Folder::new();
    folder
        .write("with.speedscope.json", &speedscope("m.py", 100))
        .write("without.folded", "main;work 100\n")
        .write("more.speedscope.json", &speedscope("m.py", 101));
    for name in [
        "with.speedscope.json",
        "without.folded",
        "more.speedscope.json",
    ] {
        folder.import(name, &[]);
    }
    for sides in [["1", "2"], ["2", "1"]] {
        for flags in [&[][..], &["--cumulative"], &["--all"]] {
            let asked = [&["diff"], &sides[..], &["--by", "file"], flags].concat();
            let (shown, said, code) = folder.run(&asked);
            assert_eq!((shown.as_str(), code), ("", Some(4)), "{asked:?}: {said}");
            let why = "no function of run 2 has a file";
            assert!(said.contains(why), "{asked:?}: {said}");
        }
        let (shown, said, code) = folder.run(&[&["diff"], &sides[..]].concat());
        assert_eq!(code, Some(0), "{said}");
        assert!(shown.contains("Total: 100 -> 100"), "{shown}");
    }
    // Where other runs of the side know them, the run is said.
    let (shown, said, code) = folder.run(&[
        "diff", "--base", "1,2", "--new", "3", "--by", "file", "--all",
    ]);
    assert!(
        said.contains("1 of 2 runs of base: no function of run 2 has a file"),
        "{code:?} {shown} {said}"
    );
}

/// A profile of `main` and `work` of a file, with so many samples.
fn speedscope(file: &str, samples: usize) -> String {
    let frames = ["main", "work"].map(|name| serde_json::json!({"name": name, "file": file}));
    serde_json::json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [{
            "type": "sampled", "name": "p", "unit": "none", "startValue": 0, "endValue": samples,
            "samples": vec![[0, 1]; samples], "weights": vec![1; samples],
        }],
    })
    .to_string()
}
