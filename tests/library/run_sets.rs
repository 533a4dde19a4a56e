//! Sets of runs, as users write them.

use profdb::store::{RunSet, Tag};
use proptest::collection::btree_map;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

fn tagged(tags: &[(&str, &str)], last: Option<usize>) -> RunSet {
    let tags = tags.iter().map(|(key, value)| Tag {
        key: (*key).to_owned(),
        value: (*value).to_owned(),
    });
    RunSet::Tagged {
        tags: tags.collect(),
        last,
    }
}

fn numbers(numbers: &[i64]) -> RunSet {
    RunSet::Numbers(numbers.iter().copied().collect())
}

#[test]
fn run_set_of_each_form_is_read() {
    let uid = |text: &str| RunSet::Uid(text.to_owned());
    let name = |text: &str| RunSet::Name(text.to_owned());
    let word = |text: &str| RunSet::Word(text.to_owned());
    let file = |text: &str| RunSet::File(text.into());
    let table = [
        ("latest", RunSet::Latest),
        (" latest ", RunSet::Latest),
        ("3", numbers(&[3])),
        ("0003", numbers(&[3])),
        ("3,4,9", numbers(&[3, 4, 9])),
        ("9, 4 ,4,3", numbers(&[3, 4, 9])),
        ("76632", numbers(&[76632])),
        ("9223372036854775807", numbers(&[i64::MAX])),
        ("last 10", tagged(&[], Some(10))),
        ("commit=abc", tagged(&[("commit", "abc")], None)),
        ("commit=3", tagged(&[("commit", "3")], None)),
        ("commit=", tagged(&[("commit", "")], None)),
        (
            "commit=,host=a",
            tagged(&[("commit", ""), ("host", "a")], None),
        ),
        (
            "commit=a, host=b last 2",
            tagged(&[("commit", "a"), ("host", "b")], Some(2)),
        ),
        ("flags=-O2=x", tagged(&[("flags", "-O2=x")], None)),
        ("ci/branch=fix/it", tagged(&[("ci/branch", "fix/it")], None)),
        ("latest=1", tagged(&[("latest", "1")], None)),
        ("last=1 last 1", tagged(&[("last", "1")], Some(1))),
        ("3=4", tagged(&[("3", "4")], None)),
        ("host='a, b'", tagged(&[("host", "a, b")], None)),
        ("host='it''s' last 1", tagged(&[("host", "it's")], Some(1))),
        ("host=it's", tagged(&[("host", "it's")], None)),
        (
            "\"my host\"=\"a \"\"b\"\"\"",
            tagged(&[("my host", "a \"b\"")], None),
        ),
        ("größe=∆ü", tagged(&[("größe", "∆ü")], None)),
        ("7663a", uid("7663a")),
        ("beef", uid("beef")),
        ("bee", word("bee")),
        ("BEEF", word("BEEF")),
        ("last", word("last")),
        ("latest run", word("latest run")),
        ("last night", word("last night")),
        ("3 4", word("3 4")),
        ("2026.folded", word("2026.folded")),
        ("out/run.xml", word("out/run.xml")),
        ("Zürich by night", word("Zürich by night")),
        ("-1", word("-1")),
        ("'3'", name("3")),
        ("\"a=b, c\"", name("a=b, c")),
        ("'tis", word("'tis")),
        ("./3", file("./3")),
        ("./latest", file("./latest")),
        ("../a=b", file("../a=b")),
        ("/tmp/3,x", file("/tmp/3,x")),
        ("-", file("-")),
        (".", file(".")),
    ];
    for (text, expected) in table {
        assert_eq!(text.parse(), Ok(expected), "{text}");
    }
}

#[test]
fn run_set_with_a_mistake_reports_its_place() {
    let table = [
        ("", 1, "the end"),
        ("  ", 3, "the end"),
        ("3,", 3, "the end"),
        ("3,x", 3, "\"x\""),
        ("3,,4", 3, "\",4\""),
        ("3,4.xml", 4, "\".xml\""),
        ("99999999999999999999", 1, "\"99999999999999999999\""),
        ("last 0", 6, "\"0\""),
        ("a=b last 0", 10, "\"0\""),
        ("a=b last 1 c", 12, "\"c\""),
        ("a=b c", 5, "\"c\""),
        ("a=b,c", 6, "the end"),
        ("a=b,=c", 5, "\"=c\""),
        ("a=b,a=c", 5, "\"a=c\""),
        ("ä=b,ä=c", 5, "\"ä=c\""),
        ("a=\"b", 5, "the end"),
        ("a=\"b\"c", 6, "\"c\""),
        ("my key=b", 7, "\"=b\""),
        ("=b", 1, "\"=b\""),
    ];
    for (text, at, found) in table {
        let error = text.parse::<RunSet>().expect_err(text);
        assert_eq!(error.at(), at, "{text}: {error}");
        assert!(!error.expected().is_empty(), "{text}");
        let message = format!("expected {}, found {found}", error.expected());
        assert!(error.to_string().contains(&message), "{text}: {error}");
    }
}

#[test]
fn tag_keys_are_separated_by_commas() {
    let read = |text| Tag::keys(text).map_err(|error| error.at());
    assert_eq!(read("branch"), Ok(vec!["branch".to_owned()]));
    assert_eq!(
        read(" a , 'b,c' "),
        Ok(vec!["a".to_owned(), "b,c".to_owned()])
    );
    assert_eq!(read(""), Err(1));
    assert_eq!(read("a,"), Err(3));
    assert_eq!(read("a=b"), Err(2));
}

/// Runs a property on random values. A failure is reported with the smallest value.
fn check<S: Strategy>(values: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if let Err(failure) = TestRunner::new(config).run(&values, property) {
        panic!("{failure}");
    }
}

#[test]
fn run_set_that_is_printed_is_read_again() {
    let tags = btree_map(
        "[a=,'\" ./\\-3é]{1,4}|latest|last",
        "[a=,'\" ./\\-3é]{0,4}",
        1..4,
    );
    let last = option::of(1..20_usize);
    check((tags, last, "[a=,'\" ./3é]{1,5}"), |(tags, last, name)| {
        let tags: Vec<(&str, &str)> = tags
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let set = tagged(&tags, last);
        prop_assert_eq!(set.to_string().parse(), Ok(set));
        let set = RunSet::Name(name);
        prop_assert_eq!(set.to_string().parse(), Ok(set));
        Ok(())
    });
}

#[test]
fn any_text_is_read_or_refused_within_its_length() {
    check("[a-c3-5=,'\" ./é]{0,12}|.{0,8}", |text| {
        match text.parse::<RunSet>() {
            Ok(set) => prop_assert_eq!(set.to_string().parse(), Ok(set)),
            Err(error) => {
                prop_assert!((1..=text.chars().count() + 1).contains(&error.at()));
            }
        }
        Ok(())
    });
}
