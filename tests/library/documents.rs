//! Pages as documents: their policy, their questions, and blocks of unusual length.

use std::io::Read as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use profdb::events::FunctionDef;
use profdb::page::{
    Command, Content, MOST_BYTES, Request, Served, Source, Sql, script, style, write,
};
use profdb::store::{Database, RunInfo};
use sha2::{Digest as _, Sha256};

use crate::support::described_runs::{add_run, emit_root, emit_time};
use crate::support::made_runs::made_up;
use crate::support::random::Random;

const QUESTIONS: &str = include_str!("../../docs/questions.md");

fn run_of_one_function() -> (Database, RunInfo) {
    let mut database = Database::in_memory().expect("memory");
    add_run(&mut database, &made_up(), |sink| {
        let time = emit_time(sink);
        emit_root(sink, FunctionDef::named("f"), None, time, 1.0);
    });
    let run = database.run(None).expect("a database").expect("a run");
    (database, run)
}

fn page_of((database, run): &(Database, RunInfo), sql: Sql) -> String {
    let content = Content {
        runs: vec![(database, run)],
        ..Content::default()
    };
    let request = Request {
        command: Command::default(),
        max_size: MOST_BYTES,
        source: Source::Left,
        sql,
    };
    let mut page = Vec::new();
    write(&content, &request, &mut page).expect("a page");
    String::from_utf8(page).expect("UTF-8")
}

#[test]
fn policy_of_a_page_allows_its_script_and_its_style() {
    let page = page_of(&run_of_one_function(), Sql::Left);
    let (_, policy) = page
        .split_once("Content-Security-Policy\" content=\"")
        .expect("a policy");
    let (policy, _) = policy.split_once('"').expect("an end");
    for (directive, text) in [("script-src", script()), ("style-src", style())] {
        let digest = BASE64_STANDARD.encode(Sha256::digest(text));
        let allowed = format!("{directive} 'sha256-{digest}';");
        assert!(policy.contains(&allowed), "{allowed}: {policy}");
        assert!(page.contains(text), "{directive}");
    }
}

#[test]
fn page_has_every_question_with_its_statement() {
    let served = Served {
        command: Command::default(),
        name: "x.db".to_owned(),
        first: None,
    };
    let (database, _) = run_of_one_function();
    let about = served.about(&database).expect("a database");
    let questions = about["questions"].as_array().expect("a list");
    assert_eq!(questions.len(), QUESTIONS.matches("\n### ").count());
    assert_eq!(questions[0][0], "Which functions cost most by themselves?");
    for question in questions {
        let statement = question[1].as_str().expect("a statement");
        assert!(statement.starts_with("SELECT") || statement.starts_with("WITH"));
    }
}

#[test]
fn key_longer_than_a_piece_of_a_column_is_complete() {
    let (database, run) = run_of_one_function();
    let mut random = Random(1);
    let key: Vec<u8> = (0..200_000)
        .map(|_| random.next().to_le_bytes()[0])
        .collect();
    let sql = "UPDATE identities SET identity_key = ?1 WHERE name = 'f'";
    let changed = database.connection().execute(sql, [&key]);
    assert_eq!(changed, Ok(1));
    let page = page_of(&(database, run), Sql::Inside);
    let pieces = page.split("data-block=\"1/more-names\">").skip(1);
    let packed: Vec<u8> = pieces
        .flat_map(|piece| {
            let (letters, _) = piece.split_once('<').expect("an end");
            BASE64_STANDARD.decode(letters).expect("base64")
        })
        .collect();
    let mut bytes = Vec::new();
    let read = GzDecoder::new(&*packed).read_to_end(&mut bytes);
    read.expect("gzip");
    assert!(bytes.ends_with(&key), "{} bytes", bytes.len());
}
