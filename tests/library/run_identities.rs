//! Identities of runs, and their short forms.

use std::collections::BTreeSet;

use profdb::input::Fingerprint;
use profdb::store::{Database, RunMeta, RunSet};

use crate::support::described_runs::add_run;
use crate::support::made_runs::made_up;

fn meta(title: Option<&str>, tags: &[(&str, &str)]) -> RunMeta {
    let tags = tags
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    RunMeta {
        format: "format",
        source_name: "run".to_owned(),
        fingerprint: Fingerprint {
            sha256: [7; 32],
            bytes: 1,
        },
        title: title.map(str::to_owned),
        tags,
        again: false,
        ..made_up()
    }
}

/// The expected values were computed by the first version of the program.
#[test]
fn uid_of_a_run_without_title_and_tags_is_that_of_its_content() {
    assert_eq!(meta(None, &[]).uid(0), "76632f18fa2a3c48ed1100f4e31f9645");
    assert_eq!(meta(None, &[]).uid(1), "d269b55c8b0c4d5d1bdbf1f8b10cc2c8");
}

#[test]
fn uids_of_runs_with_other_titles_or_tags_differ() {
    let table = [
        meta(None, &[]),
        meta(Some(""), &[]),
        meta(Some("-"), &[]),
        meta(Some("a"), &[]),
        meta(None, &[("a", "")]),
        meta(None, &[("a", "b")]),
        meta(None, &[("ab", "")]),
        meta(None, &[("a", "b"), ("c", "d")]),
        meta(None, &[("a", "bc"), ("d", "")]),
        meta(None, &[("a", "b\nc=d")]),
        meta(Some("a"), &[("b", "c")]),
        meta(Some("ab"), &[("c", "")]),
        meta(None, &[("+", "a"), ("b", "c")]),
    ];
    let uids: BTreeSet<String> = table
        .iter()
        .flat_map(|meta| [meta.uid(0), meta.uid(1)])
        .collect();
    assert_eq!(uids.len(), 2 * table.len());
}

#[test]
fn uid_depends_neither_on_the_order_of_tags_nor_on_replaced_tags() {
    let one = meta(None, &[("a", "b"), ("c", "d")]).uid(0);
    assert_eq!(meta(None, &[("c", "d"), ("a", "b")]).uid(0), one);
    assert_eq!(
        meta(None, &[("a", "x"), ("c", "d"), ("a", "b")]).uid(0),
        one
    );
}

#[test]
fn short_uid_is_read_as_the_start_of_a_uid() {
    let mut database = Database::in_memory().expect("memory");
    for uid in ["a1234567890", "a1234567891"] {
        let run = add_run(&mut database, &made_up(), |_| {});
        let sql = "UPDATE runs SET run_uid = ?1 WHERE run_id = ?2";
        let changed = database.connection().execute(sql, (uid, run));
        assert_eq!(changed, Ok(1));
    }
    // The uids of the two runs are equal in ten characters, then in five.
    for (other, table) in [
        ("a1234567892", &[("3e98ad62d6195c39", "3e98ad62d61")][..]),
        (
            "a1234",
            &[
                ("3e98ad62d6195c39", "3e98ad62"),
                ("1234567890123a39", "1234567890123a"),
                ("1234567a", "1234567a"),
                ("a", "a"),
                ("1234567890", "1234567890"),
                ("größer als man denkt", "größer als man denkt"),
            ],
        ),
    ] {
        let sql = "UPDATE runs SET run_uid = ?1 WHERE run_id = 2";
        assert_eq!(database.connection().execute(sql, [other]), Ok(1));
        let uids = database.short_uids().expect("a database");
        for (uid, expected) in table {
            let short = uids.short(uid);
            assert_eq!(short, *expected, "{uid}");
            if short != *uid {
                assert_eq!(short.parse(), Ok(RunSet::Uid(short.to_owned())));
            }
        }
    }
}
