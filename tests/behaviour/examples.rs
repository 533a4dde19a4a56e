//! The examples of help texts and manual pages work.

#![cfg(unix)]

use crate::support::program::PROFDB;
use crate::support::tools;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

/// Examples of the long help of a command and of those below it, by command.
fn examples(command: &clap::Command, above: &str, found: &mut Vec<(String, Vec<String>)>) {
    let name = format!("{above}{}", command.get_name());
    let help = command.get_after_long_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let shown = help.lines().filter_map(|line| line.strip_prefix("  "));
    let shown = shown.filter(|line| line.starts_with("profdb "));
    found.push((name.clone(), shown.map(str::to_owned).collect()));
    for below in command.get_subcommands() {
        examples(below, &format!("{name} "), found);
    }
}

#[test]
fn every_command_has_examples_of_itself_and_they_work() {
    let mut found = Vec::new();
    examples(&profdb::cli::program(), "", &mut found);
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let program = Path::new(PROFDB);
    let programs = program.parent().expect("its folder").display();
    for (name, examples) in found {
        assert!(!examples.is_empty(), "{name} has no examples");
        for example in examples {
            assert!(example.starts_with(&name), "{name}: {example}");
            let place = tempfile::tempdir().expect("a folder");
            let folder = place.path();
            let copy = |case: &str, name: &str| {
                fs::copy(cases.join(case), folder.join(name)).expect("a copy");
            };
            fs::create_dir(folder.join("profiles")).expect("a folder");
            fs::create_dir(folder.join("src")).expect("a folder");
            copy("dyalog_xml/shop-tree/run.xml", "run.xml");
            copy("dyalog_xml/shop-tree/run.xml", "profiles/a.xml");
            copy("pprof/labels/run.pb", "cpu.pprof");
            fs::write(folder.join("perf.budget"), "total <= 10 s\nany <= +10 %\n")
                .expect("room for a small file");
            fs::write(folder.join("question.sql"), "SELECT count(*) FROM runs\n")
                .expect("room for a small file");
            fs::write(
                folder.join("src/Shop.aplf"),
                "r←Load x\nr←Read x\nr←r,1\nr←fmt∆Num¨r\n",
            )
            .expect("room for a small file");
            let run = |line: &str| {
                let line = format!("PATH='{programs}':$PATH; {line}");
                let mut shell = tools::shell();
                let output = shell
                    .args(["-c", &line])
                    .current_dir(folder)
                    .env_remove("PROFDB_DB")
                    .output()
                    .expect("a shell");
                let complained = String::from_utf8_lossy(&output.stderr).into_owned();
                assert_eq!(output.status.code(), Some(0), "{line}\n{complained}");
            };
            run("profdb import --tag branch=main run.xml");
            run("profdb import --db theirs.db --title other run.xml");
            if name == "profdb serve" {
                serves(&example, folder, &programs.to_string());
                continue;
            }
            run(&example);
        }
    }
}

/// An example that goes on until it is ended, once it has said where it is.
fn serves(example: &str, folder: &Path, programs: &str) {
    let line = format!("PATH='{programs}':$PATH; exec {example}");
    let mut shell = tools::shell();
    let mut child = shell
        .args(["-c", &line])
        .current_dir(folder)
        .env_remove("PROFDB_DB")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let mut first = String::new();
    let out = child.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut first).expect("a line");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(
        first.starts_with("http://127.0.0.1:"),
        cfg!(feature = "serve"),
        "{example}: {first}"
    );
}

/// Appends the number of lines of the short help of a command and of its subcommands, at 80 columns.
fn short_help_lengths(command: &clap::Command, parent: &str, lengths: &mut Vec<(String, usize)>) {
    let name = format!("{parent}{}", command.get_name());
    let help = command.clone().term_width(80).render_help().to_string();
    lengths.push((name.clone(), help.lines().count()));
    for subcommand in command.get_subcommands() {
        short_help_lengths(subcommand, &format!("{name} "), lengths);
    }
}

#[test]
fn short_help_of_each_command_has_at_most_60_lines() {
    let mut lengths = Vec::new();
    short_help_lengths(&profdb::cli::program(), "", &mut lengths);
    assert!(lengths.len() > 30, "{lengths:?}");
    let longest = lengths.iter().max_by_key(|(_, lines)| *lines);
    assert!(
        longest.is_some_and(|(_, lines)| *lines <= 60),
        "{longest:?}"
    );
}
