//! What `profdb diff` says of what it compares: whose figures rows of statements are, what figures are of, what both sides have, and
//! what became of all that was selected.

use std::fmt::Write as _;

use serde_json::Value;

use super::comparing::{Folder, row};

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
