//! Rows of statements, wherever the page comes from.

use std::fs;

use serde_json::json;

use super::browser;
use crate::shown::{Shown, first_difference, said};

/// Asks in the page, and waits for rows.
#[track_caller]
fn ask(shown: &mut Shown, sql: &str) {
    let asked = "Number(document.querySelector('.sql').dataset.asked ?? 0)";
    let before = shown.browser.value(asked);
    shown.browser.value(&format!(
        "(document.querySelector('.sql > textarea').value = {}, document.querySelector('.sql .main').click())",
        json!(sql)
    ));
    shown.wait(&format!("{asked} > {before}"));
    let fault = "document.querySelector('.sql .rows-place .warning')?.innerText ?? null";
    assert_eq!(shown.browser.value(fault), json!(null), "{sql}");
}

/// What is offered of rows is what the command writes: two columns of one name are two, numbers have their digits, and nothing
/// in a text ends a field.
#[test]
fn rows_are_offered_as_the_command_writes_them() {
    let mut shown = browser("rows");
    let file = shown.folder.join("a.folded");
    fs::write(&file, "main;parse 5\n").expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[("view", "sql")]);
    let mut reals = vec![
        "0.1",
        "1e300",
        "-1e-9",
        "12345678905.0",
        "9007199254740993.0",
    ];
    // The digits of these have no pattern.
    let made: Vec<String> = (0_u32..400)
        .map(|at| {
            let digits = u64::from(at.wrapping_mul(2_654_435_761)) * 1_000_003;
            format!("{}{digits}e{}", ["", "-"][at as usize % 2], at % 40)
        })
        .map(|number| format!("{number}0").replace("e0", "e-1"))
        .collect();
    reals.extend(made.iter().map(String::as_str));
    let values: Vec<String> = reals
        .iter()
        .map(|real| format!("({real}, CAST(SUBSTR('{real}', 1, 9) AS INTEGER))"))
        .collect();
    for sql in [
        "SELECT 1 AS a, 2 AS a, 'x' AS b, NULL AS b",
        "SELECT 9223372036854775807 AS most, 1000000000000000 AS many, 1e15 AS real, -1000000000000001, 9e999 AS more, -9e999",
        "SELECT 'a,b' AS \"c,\"\"d\", 'say \"hi\"' AS e, char(10) || 'x' AS f, '<b>&amp;|`*_[~$\\' AS g, ' h ' AS i, '' AS j",
        "SELECT x'0aff' AS bytes, 'é⎕∆' AS text, char(8238) AS hidden",
        "SELECT name FROM functions WHERE 0",
        &format!(
            "WITH v (real, whole) AS (VALUES {}) SELECT * FROM v",
            values.join(", ")
        ),
    ] {
        ask(&mut shown, sql);
        let words = ["sql", sql, "--db", "x.db"];
        shown.texts_are_as_said(".sql", &words);
        let json = shown.offered_as(".sql", "JSON");
        let expected = said(&shown.folder, &[&words[..], &["--format", "json"]].concat());
        assert!(json == expected, "{}", first_difference(&json, &expected));
    }
    // What is cut is said, beside the rows and where they are offered.
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n";
    ask(&mut shown, many);
    let said = "Only the first 1000 rows are shown; the command prints all.";
    assert_eq!(shown.text(".sql .cut"), said);
    assert_eq!(shown.offered_as(".sql", "CSV").lines().count(), 1001);
    let first = "SELECT 1";
    ask(&mut shown, first);
    assert_eq!(shown.text(".sql .cut"), "");
    shown.was_quiet();
}
