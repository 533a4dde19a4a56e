//! What `profdb diff` says of runs that are no fair comparison: each doubt has its own words, and no figure that means nothing is
//! shown without them.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::comparing::{Folder, row};

/// A recording of `node --cpu-prof`: samples of two functions, each so many microseconds after the one before.
fn cpuprofile(samples: [usize; 2], period: u64) -> String {
    let function = |id: usize, name: &str| {
        json!({"id": id, "callFrame": {
            "functionName": name, "scriptId": "1", "url": "file:///app.js", "lineNumber": id, "columnNumber": 1,
        }})
    };
    let root = json!({"id": 1, "callFrame": {
        "functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1,
    }, "children": [2, 3]});
    let taken: Vec<usize> = [vec![2; samples[0]], vec![3; samples[1]]].concat();
    let end = period * taken.len() as u64;
    json!({
        "nodes": [root, function(2, "parse"), function(3, "render")],
        "startTime": 0,
        "endTime": end,
        "timeDeltas": vec![period; taken.len()],
        "samples": taken,
    })
    .to_string()
}

/// A report of Dyalog's `]PROFILE` with what was subtracted for each reading of the timer, and the time of a function.
fn dyalog(bias: &str, time: u32) -> String {
    format!(
        "<ProfileData><ProfileSettings><Version>0.9.0</Version><Title>app</Title><TimerBias>{bias}</TimerBias>\
         <Command>tree</Command></ProfileSettings><ProfileEntry><Depth>0</Depth><Function>#.Parse</Function><Line></Line>\
         <Calls>1</Calls><InclusiveTime>{time}</InclusiveTime><ExclusiveTime>{time}</ExclusiveTime>\
         <InclusiveTicks>1</InclusiveTicks><ExclusiveTicks>1</ExclusiveTicks></ProfileEntry></ProfileData>"
    )
}

/// A report of GHC, which says when it was recorded.
fn ghc(minute: u32, ticks: u32) -> String {
    format!(
        "\tMon Jan 05 10:{minute:02} 2026 Time and Allocation Profiling Report  (Final)\n\n\
         \t   app +RTS -p -RTS\n\n\
         \ttotal time  =        0.10 secs   ({ticks} ticks @ 1000 us, 1 processor)\n\
         \ttotal alloc =       1,000 bytes  (excludes profiling overheads)\n\n\
         COST CENTRE MODULE SRC            %time %alloc  ticks     bytes\n\n\
         parse       Main   Main.hs:3:1-9  100.0  100.0  {ticks:5}      1000\n\n\n\
         {:>56}individual      inherited\n\
         COST CENTRE MODULE SRC           no. entries  %time %alloc   %time %alloc  ticks     bytes\n\n\
         MAIN        MAIN   <built-in>    100       0    0.0    0.0   100.0  100.0      0         0\n \
         parse      Main   Main.hs:3:1-9 101       1  100.0  100.0   100.0  100.0  {ticks:5}      1000\n",
        ""
    )
}

/// A folder with recordings whose figures vary a little, and nothing else.
fn varying(names: &[&str]) -> Folder {
    let folder = Folder::new();
    for (at, name) in names.iter().enumerate() {
        let mut stacks = String::new();
        for (function, mean) in [("parse", 4000), ("render", 3000), ("load", 2000)] {
            let _ = writeln!(stacks, "main;{function} {}", mean + 7 * at * (at + 1));
        }
        folder.write(&format!("{name}.folded"), &stacks);
    }
    folder
}

/// The question is answered, and what is said contains the doubt, in every format.
fn doubted(folder: &Folder, question: &[&str], doubt: &str) -> Value {
    let (_, said, code) = folder.run(question);
    assert!(
        code == Some(0) && said.contains(doubt),
        "{question:?}: expected {doubt:?}, found {code:?}, {said}"
    );
    for format in ["csv", "tsv", "jsonl", "xml", "markdown"] {
        let (_, said, _) = folder.run(&[question, &["--format", format]].concat());
        assert!(said.contains(doubt), "{question:?} {format}: {said}");
    }
    let answer = folder.json(question);
    let warnings = answer["warnings"].as_array().expect("warnings");
    let has_it = |warning: &Value| warning.as_str().is_some_and(|said| said.contains(doubt));
    assert!(warnings.iter().any(has_it), "{question:?}: {warnings:?}");
    let page = folder.path("page.html");
    let (_, said, code) = folder.run(&[question, &["--html", "page.html"]].concat());
    assert!(code == Some(0) && said.contains(doubt), "{said}");
    let _ = fs::remove_file(page);
    answer
}

#[test]
fn hosts_that_are_mixed_are_said() {
    let folder = varying(&["a", "b", "c", "d", "e", "f"]);
    for (name, tags) in [
        ("a", ["host=x", "side=old"]),
        ("b", ["host=y", "side=old"]),
        ("c", ["host=x", "side=old"]),
        ("d", ["host=x", "side=new"]),
        ("e", ["host=x", "side=new"]),
        ("f", ["host=x", "side=new"]),
    ] {
        folder.import(&format!("{name}.folded"), &tags);
    }
    doubted(
        &folder,
        &["diff", "side=old", "side=new"],
        "base mixes hosts: x, y",
    );
    doubted(
        &folder,
        &["diff", "side=new", "side=old"],
        "new mixes hosts: x, y",
    );
    doubted(
        &folder,
        &["diff", "2", "3"],
        "base and new were recorded on different hosts",
    );
    let (_, said, _) = folder.run(&["diff", "1", "3"]);
    assert!(!said.contains("host"), "{said}");
}

#[test]
fn sampling_periods_that_differ_are_said() {
    let folder = Folder::new();
    folder
        .write("fast.cpuprofile", &cpuprofile([200, 400], 500))
        .write("slow.cpuprofile", &cpuprofile([50, 100], 2000))
        .write("late.cpuprofile", &cpuprofile([180, 360], 560));
    let question = ["diff", "slow.cpuprofile", "fast.cpuprofile"];
    let costs = "the sampling periods of base and new differ: costs are compared, not samples";
    let answer = doubted(&folder, &question, costs);
    // The functions cost as much as before, whatever the number of samples.
    let ratio = row(&answer, "render")["ratio"].as_f64().expect("a ratio");
    assert!((ratio - 1.0).abs() < 0.02, "{answer}");
    let samples = [&question[..], &["--metric", "samples"]].concat();
    doubted(
        &folder,
        &samples,
        "the sampling periods of base and new differ: samples of one side represent more cost than samples of the other",
    );
    // A timer that is late changes no period.
    let (_, said, _) = folder.run(&["diff", "fast.cpuprofile", "late.cpuprofile"]);
    assert!(!said.contains("periods"), "{said}");
}

#[test]
fn timers_that_were_corrected_differently_are_said() {
    let folder = Folder::new();
    folder
        .write("one.xml", &dyalog("0.0005", 40))
        .write("other.xml", &dyalog("0.0007", 42))
        .write("as-one.xml", &dyalog("0.0005", 43));
    let doubt = "the timer bias subtracted from times differs between base and new";
    doubted(&folder, &["diff", "one.xml", "other.xml"], doubt);
    let (_, said, _) = folder.run(&["diff", "one.xml", "as-one.xml"]);
    assert!(!said.contains("timer"), "{said}");
    // What one side does not say is not known to differ.
    let untold = dyalog("0.0005", 44).replace("<TimerBias>0.0005</TimerBias>", "");
    folder
        .write("untold.xml", &untold)
        .write("untold-too.xml", &untold.replace("44", "45"));
    for (sides, doubt) in [
        (
            ["one.xml", "untold.xml"],
            "is known for base, but not for new",
        ),
        (
            ["untold.xml", "one.xml"],
            "is known for new, but not for base",
        ),
    ] {
        let (_, said, _) = folder.run(&[&["diff"][..], &sides].concat());
        assert!(said.contains(doubt) && !said.contains("differs"), "{said}");
    }
    let (_, said, _) = folder.run(&["diff", "untold.xml", "untold-too.xml"]);
    assert!(!said.contains("timer"), "{said}");
}

#[test]
fn recordings_that_do_not_interleave_are_said() {
    let folder = Folder::new();
    for (name, minute, ticks) in [
        ("a", 1, 1000),
        ("b", 2, 1010),
        ("c", 3, 1005),
        ("d", 4, 1003),
        ("e", 5, 1008),
        ("f", 6, 1001),
    ] {
        folder.write(&format!("{name}.prof"), &ghc(minute, ticks));
    }
    let doubt = "all runs of one side were recorded before those of the other, so a drift looks like a change; alternate the recordings of both sides";
    let sets = |base: [&'static str; 3], new: [&'static str; 3]| {
        [&["diff", "--base"][..], &base, &["--new"], &new].concat()
    };
    let first = ["a.prof", "b.prof", "c.prof"];
    let last = ["d.prof", "e.prof", "f.prof"];
    doubted(&folder, &sets(first, last), doubt);
    doubted(&folder, &sets(last, first), doubt);
    let in_turns = sets(
        ["a.prof", "d.prof", "e.prof"],
        ["b.prof", "c.prof", "f.prof"],
    );
    let (_, said, code) = folder.run(&in_turns);
    assert!(
        code == Some(0) && !said.contains("alternate the recordings"),
        "{said}"
    );
    // What is exact does not drift.
    let exact = [&sets(first, last)[..], &["--noise", "exact"]].concat();
    let (_, said, _) = folder.run(&exact);
    assert!(!said.contains("alternate the recordings"), "{said}");
    // Rounds do not make it better.
    for (file, tags) in first.iter().zip(["round=1", "round=2", "round=3"]) {
        folder.import(file, &["side=old", tags]);
    }
    for (file, tags) in last.iter().zip(["round=1", "round=2", "round=3"]) {
        folder.import(file, &["side=new", tags]);
    }
    doubted(
        &folder,
        &["diff", "side=old", "side=new", "--paired", "round"],
        doubt,
    );
}

#[test]
fn equal_sets_and_shared_runs_are_said() {
    let folder = varying(&["a", "b", "c", "d"]);
    for name in ["a", "b", "c", "d"] {
        folder.import(&format!("{name}.folded"), &[&format!("round={name}")]);
    }
    let same = "base and new have equal figures, so nothing has changed";
    for more in [
        &[][..],
        &["--paired", "round"],
        &["--normalize", "total"],
        &["--noise", "exact"],
    ] {
        let question = [&["diff", "1,2,3", "1,2,3"], more].concat();
        let answer = doubted(&folder, &question, same);
        for row in answer["rows"].as_array().expect("rows") {
            assert_eq!(row["verdict"], "same", "{row}");
        }
        folder.refuses(
            &[&["diff", "1,2,3", "3,4"], more].concat(),
            2,
            "run 3 is in base and in new: expected sets without a run in common",
        );
    }
}

#[test]
fn metrics_that_do_not_pair_are_refused_or_named() {
    let folder = varying(&["a"]);
    folder
        .write("b.cpuprofile", &cpuprofile([20, 30], 1000))
        .write("c.xml", &dyalog("0.0005", 40));
    folder.refuses(
        &["diff", "a.folded", "b.cpuprofile", "--metric", "value"],
        4,
        "has no metric `value`",
    );
    folder.refuses(
        &["diff", "a.folded", "c.xml"],
        4,
        "base has the metric samples (count); c.xml has",
    );
    let (out, said, code) = folder.run(&["diff", "a.folded", "c.xml", "--normalize", "total"]);
    assert!(
        code == Some(0) && out.contains("% of samples (count) of base and of time (ns) of new"),
        "{out}{said}"
    );
}

#[test]
fn totals_that_say_nothing_are_refused() {
    let folder = varying(&["a"]);
    folder
        .write("zero.folded", "main;parse 0\nmain;render 0\n")
        .write("below.folded", "main;parse -9\nmain;render 2\n");
    let message = "the total of below.folded is -7: nothing can be compared with it";
    for more in [
        &[][..],
        &["--normalize", "total"],
        &["--noise", "exact"],
        &["--format", "json"],
        &["--html", "page.html"],
    ] {
        let file = "below.folded";
        folder.refuses(&[&["diff", file, "a.folded"], more].concat(), 4, message);
        folder.refuses(&[&["diff", "a.folded", file], more].concat(), 4, message);
    }
    assert!(!folder.path("page.html").exists());
    // A total of 0 is a figure, but shares of 0 are undefined.
    for sides in [["zero.folded", "a.folded"], ["a.folded", "zero.folded"]] {
        let asked = ["diff", sides[0], sides[1], "--normalize", "total"];
        folder.refuses(&asked, 4, "the total of zero.folded is 0");
        let (out, said, code) = folder.run(&["diff", sides[0], sides[1], "--noise", "exact"]);
        let verdict = if sides[0] == "zero.folded" {
            ": slower"
        } else {
            ": faster"
        };
        assert!(code == Some(0) && out.contains(verdict), "{out}{said}");
    }
    for (figure, tag) in [
        ("NaN", "n=nan"),
        ("inf", "n=inf"),
        ("0", "n=0"),
        ("-2", "n=-2"),
    ] {
        folder.import("a.folded", &[tag]);
        let (one, other) = (tag, "n=1");
        folder.import("a.folded", &[other]);
        folder.refuses(
            &["diff", one, other, "--normalize", "tag:n"],
            4,
            &format!("cannot be divided by its tag n, which is {figure}"),
        );
    }
    folder.refuses(
        &["diff", "n=1", "n=nan", "--normalize", "tag:requests"],
        2,
        "has no tag requests",
    );
    folder.refuses(
        &["diff", "a.folded", "a.folded", "--focus", "^none$"],
        4,
        "--focus: no function of any run matches ^none$",
    );
    folder.write("idle.folded", "main;parse 30\nmain;wait 0\n");
    folder.refuses(
        &["diff", "idle.folded", "idle.folded", "--focus", "^wait$"],
        4,
        "the selection costs nothing in any run",
    );
}

#[test]
fn rounds_that_do_not_pair_are_refused() {
    let folder = varying(&["a", "b", "c", "d"]);
    for (name, tags) in [
        ("a", ["side=old", "round=1"]),
        ("b", ["side=old", "round=2"]),
        ("c", ["side=new", "round=1"]),
        ("d", ["side=new", "round=1"]),
    ] {
        folder.import(&format!("{name}.folded"), &tags);
    }
    let refused = |base: &str, new: &str, key: &str, said: &str| {
        folder.refuses(&["diff", base, new, "--paired", key], 2, said);
    };
    refused("1", "side=new", "day", "run 1 has no tag day");
    refused(
        "1",
        "3,4",
        "round",
        "run 3 and run 4 of one side have round=1",
    );
    refused("1,2", "3", "round", "only one side has a run with round=2");
}

/// A profile of callgrind of one event, with what two functions cost.
fn callgrind(event: &str, costs: [u32; 2]) -> String {
    format!(
        "version: 1\ncreator: callgrind-3.19.0\nevents: {event}\n\nfl=app.c\nfn=parse\n1 {}\nfn=render\n2 {}\n",
        costs[0], costs[1]
    )
}

#[test]
fn metrics_of_one_format_are_compared_under_one_name_only() {
    let folder = Folder::new();
    folder
        .write("base.out", &callgrind("Ir", [400, 300]))
        .write("new.out", &callgrind("Dr", [40, 30]))
        .write("other.folded", "parse 400\nrender 300\n");
    let said = "base has the metric Ir (count); new.out has Dr (count): --metric selects a metric of both, --normalize total compares shares";
    folder.refuses(&["diff", "base.out", "new.out"], 4, said);
    // Nor are they repeats of one measurement.
    let beside = ["diff", "--base", "base.out", "new.out", "--new", "base.out"];
    folder.refuses(&beside, 4, said);
    folder.json(&["diff", "base.out", "new.out", "--normalize", "total"]);
    // Samples are no instructions, whoever counted them.
    let said = "base has the metric Ir (count); other.folded has samples (count)";
    folder.refuses(&["diff", "base.out", "other.folded"], 4, said);
}

#[test]
fn two_measured_runs_a_side_are_too_few_also_for_what_is_gone() {
    let folder = Folder::new();
    let (mut all, mut rest) = (String::new(), String::new());
    for function in 0..20 {
        let line = format!("main;work{function} {}\n", 1000 + function);
        if function % 2 == 0 {
            rest.push_str(&line);
        }
        all.push_str(&line);
    }
    for (name, stacks) in [("b1", &all), ("b2", &all), ("n1", &rest), ("n2", &rest)] {
        folder.write(&format!("{name}.folded"), &format!("{stacks}{name} 3\n"));
    }
    let asked = [
        "diff",
        "--base",
        "b1.folded",
        "b2.folded",
        "--new",
        "n1.folded",
        "n2.folded",
    ];
    for noise in ["timed", "unknown"] {
        let answer = folder.json(&[&asked[..], &["--noise", noise]].concat());
        for row in answer["rows"].as_array().expect("rows") {
            assert_eq!(row["verdict"], "unclear", "{row}");
        }
    }
}

#[test]
fn copies_of_what_is_exact_are_no_repeats_where_runs_differ() {
    let folder = Folder::new();
    for (name, costs) in [
        ("b1", [400, 300]),
        ("b2", [402, 300]),
        ("b3", [401, 301]),
        ("n1", [500, 300]),
        ("n2", [500, 300]),
        ("n3", [500, 300]),
    ] {
        folder.write(name, &callgrind("Ir", costs));
    }
    let asked = [
        "diff", "--base", "b1", "b2", "b3", "--new", "n1", "n2", "n3",
    ];
    let (_, said, _) = folder.run(&asked);
    assert!(said.contains("new: 3 runs, 1 different"), "{said}");
    assert_eq!(row(&folder.json(&asked), "parse")["verdict"], "unclear");
    // Where they agree, copies confirm them.
    let agreeing = ["diff", "--base", "b1", "b1", "--new", "n1", "n2"];
    let answer = folder.run(&agreeing);
    assert!(!answer.1.contains("different"), "{}", answer.1);
    assert_eq!(
        row(&folder.json(&["diff", "b1", "n1"]), "parse")["verdict"],
        "slower"
    );
}

/// Recordings that are all equal on either side may be copies, or those of a program that does the same each time: a profiler
/// that counts does not say so in every format.
#[test]
fn equal_recordings_on_both_sides_may_be_of_what_never_varies() {
    let folder = Folder::new();
    for (name, cost) in [
        ("b1", 400),
        ("b2", 400),
        ("n1", 500),
        ("n2", 500),
        ("n3", 501),
    ] {
        folder.write(&format!("{name}.folded"), &format!("main;parse {cost}\n"));
    }
    let remedy = "; --noise exact compares figures";
    let asked = [
        "diff",
        "--base",
        "b1.folded",
        "b2.folded",
        "--new",
        "n1.folded",
        "n2.folded",
    ];
    let (_, said, _) = folder.run(&asked);
    assert!(
        said.contains(&format!(
            "base: 2 runs, 1 different: copies of a recording count once{remedy}"
        )),
        "{said}"
    );
    let exact = [&asked[..], &["--noise", "exact"]].concat();
    assert_eq!(row(&folder.json(&exact), "parse")["verdict"], "slower");
    // Runs of new differ: equal ones of base are copies.
    let (_, said, _) = folder.run(&[&asked[..], &["n3.folded"]].concat());
    assert!(said.contains("base: 2 runs, 1 different"), "{said}");
    assert!(!said.contains(remedy), "{said}");
}

#[test]
fn noise_is_that_of_earlier_commits_in_whichever_order_they_came() {
    let costs =
        |commit: usize| [400, 421, 390, 405, 412, 398, 407, 900, 410, 395, 402, 409][commit];
    let folder = Folder::new();
    for commit in 0..12 {
        let stacks = format!(
            "main;parse {}\nmain;render {}\n",
            costs(commit),
            300 + commit * commit % 7
        );
        folder.write(&format!("{commit}.folded"), &stacks);
    }
    let asked = |order: &[usize], base: usize, new: usize| {
        let database = format!("{}.db", order[0]);
        for commit in order {
            let [file, tag, count] = [
                format!("{commit}.folded"),
                format!("commit=c{commit}"),
                format!("commit_count={commit}"),
            ];
            let (_, said, code) = folder.run(&[
                "import", "--db", &database, &file, "--tag", &tag, "--tag", &count, "--title",
                "app",
            ]);
            assert_eq!(code, Some(0), "{said}");
        }
        let [base, new] = [base, new].map(|commit| format!("commit=c{commit}"));
        folder
            .run(&["diff", "--db", &database, &base, &new, "--noise", "timed"])
            .0
    };
    let in_order: Vec<usize> = (0..12).collect();
    let shuffled = [5, 11, 0, 7, 3, 9, 1, 10, 2, 8, 4, 6];
    // Commits after both, the slow one among them, tell nothing of the time before.
    let (answer, other) = (asked(&in_order, 5, 6), asked(&shuffled, 5, 6));
    assert!(answer.contains("Noise as in 5 earlier runs"), "{answer}");
    let rows = |answer: &str| {
        answer
            .lines()
            .filter(|line| line.starts_with("parse"))
            .collect::<String>()
    };
    assert_eq!(rows(&answer), rows(&other));
    assert!(rows(&answer).contains("parse"), "{answer}");
}
