//! Every case folder, as written: `tests/cases/<format>/<slug>/case.md` holds prose, commands and
//! their exact output, byte for byte; `case.in/` is the input, and the commands run in a copy of
//! it.
//!
//! A line `$ ...` is a command, which lines `> ...` continue, a line `? N` after it its exit code
//! if that is not 0, and what follows up to the next command is its output, standard output and
//! standard error in the order in which they come, and an empty line. Output whose last line does
//! not end is followed by the line [`UNENDED`].
//!
//! `UPDATE_CASES=1 cargo test --test properties commands` writes what the commands have said into the
//! files, to be read before it is committed; with `dyalog_xml/recursion` in the place of `commands`
//! it does so for one case.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{env, fs, io};

use libtest_mimic::{Failed, Trial};
use profdb::formats::FORMATS;

use crate::support::harness::trial;
use crate::support::program::PROFDB;
use crate::support::tools;

/// Commands that may stand in a case: ours, and the stock shell, because what is imported must be
/// readable without ours.
const COMMANDS: [&str; 2] = ["profdb", "sqlite3"];

/// The largest input that a case may bring, in bytes.
const LARGEST: u64 = 64 * 1024;

/// Says of the output before it that its last line does not end.
const UNENDED: &str = "\\ no newline at the end\n";

/// Two tests for each case: its form, and its commands.
pub(crate) fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut trials = Vec::new();
    for group in folders(&root) {
        let name = group
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // Cases of the command line as a whole are in `cli`, those of writers in `export`, of
        // reports in `reports`, and `manual` is a tour.
        let is_known = ["cli", "export", "manual", "reports"].contains(&name.as_str())
            || FORMATS.iter().any(|format| format.name == name);
        trials.push(trial(format!("{name}::is_a_group_of_cases"), move || {
            if is_known {
                Ok(())
            } else {
                Err(format!("there is no format {name}").into())
            }
        }));
        for case in folders(&group) {
            let shown = case
                .strip_prefix(&root)
                .unwrap_or(&case)
                .display()
                .to_string();
            let folder = case.clone();
            trials.push(trial(format!("{shown}::is_complete"), move || {
                is_complete(&folder)
            }));
            trials.push(trial(format!("{shown}::commands"), move || says(&case)));
        }
    }
    trials
}

/// One command of a case with what is expected of it.
struct Step<'a> {
    /// What stands before it.
    before: &'a str,
    /// Its lines as they stand there.
    lines: &'a str,
    code: &'a str,
    output: String,
}

/// The commands of a case, and what stands after the last one.
fn steps(text: &str) -> (Vec<Step<'_>>, &str) {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let (mut start, mut begin, mut at) = (0, 0, 0);
    let (mut in_block, mut in_output) = (false, false);
    for line in text.split_inclusive('\n') {
        let here = at;
        at += line.len();
        if line.starts_with("```") {
            in_block = !in_block;
            in_output = false;
        } else if in_block && line.starts_with("$ ") {
            steps.push(Step {
                before: &text[start..here],
                lines: line,
                code: "0",
                output: String::new(),
            });
            (in_output, start, begin) = (true, at, here);
        } else if in_output && let Some(step) = steps.last_mut() {
            // Lines with `? ` and `> ` mean something only directly after the command: later,
            // output may begin like that.
            let is_first = step.output.is_empty() && step.code == "0";
            match (line.strip_prefix("? "), line.starts_with("> ")) {
                (Some(code), _) if is_first => step.code = code.trim_end(),
                (None, true) if is_first && here == begin + step.lines.len() => {
                    step.lines = &text[begin..at];
                }
                _ => step.output.push_str(line),
            }
            start = at;
        }
    }
    for step in &mut steps {
        // The empty line after an output is no part of it.
        if let Some(output) = step.output.strip_suffix('\n') {
            step.output.truncate(output.len());
        }
        if let Some(output) = step.output.strip_suffix(UNENDED) {
            step.output.truncate(output.len().saturating_sub(1));
        }
    }
    (steps, &text[start..])
}

/// Runs the commands of a case, one after the other, in one copy of its input.
fn says(case: &Path) -> Result<(), Failed> {
    let file = case.join("case.md");
    let text = fs::read_to_string(&file)?;
    let (steps, rest) = steps(&text);
    let place = tempfile::tempdir()?;
    copy(&case.join("case.in"), place.path())?;
    let mut written = String::new();
    let mut wrong = String::new();
    for step in &steps {
        let (code, output) = run(step.lines, place.path())?;
        let output = String::from_utf8(output).map_err(|_| "the output is not UTF-8")?;
        if code != step.code || output != step.output {
            let difference = difference(&step.output, &output);
            let _ = writeln!(
                wrong,
                "{}expected {}, found {code}\n{difference}",
                step.lines, step.code
            );
        }
        let _ = write!(written, "{}{}", step.before, step.lines);
        if code != "0" {
            let _ = writeln!(written, "? {code}");
        }
        let unended = if output.is_empty() || output.ends_with('\n') {
            String::new()
        } else {
            format!("\n{UNENDED}")
        };
        let _ = writeln!(written, "{output}{unended}");
    }
    written.push_str(rest);
    if env::var_os("UPDATE_CASES").is_some() && written != text {
        fs::write(file, written)?;
        return Ok(());
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.into())
    }
}

/// Returns the exit code and output of a command. Skips the test if its program is missing.
fn run(lines: &str, place: &Path) -> Result<(String, Vec<u8>), Failed> {
    let words: Vec<&str> = lines
        .lines()
        .map(|line| line.get(2..).unwrap_or_default())
        .collect();
    // No shell: what a case shows depends on none, and has neither variables nor pipes.
    let words = shlex::split(&words.join("\n")).ok_or("the quotes of the command do not match")?;
    let program = match words.first().map(String::as_str) {
        // Graphviz draws for it.
        Some("profdb") => {
            if words.iter().any(|word| word == "--svg") {
                // Graphviz draws for it.
                tools::require("dot");
            }
            PathBuf::from(PROFDB)
        }
        Some(other) => tools::require(other),
        None => return Err("there is no command".into()),
    };
    // One pipe for both keeps their order.
    let (mut reader, writer) = io::pipe()?;
    let mut command = tools::command_at(program);
    command
        .args(&words[1..])
        .current_dir(place)
        // A command that waits for input would else wait for whoever runs the tests.
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    // Neither the environment nor the settings of whoever runs the tests may be seen.
    command
        .env("PROFDB_DB", "")
        .env("HOME", "/nonexistent")
        .env("XDG_CONFIG_HOME", "/nonexistent");
    let mut child = command.spawn()?;
    // The reader sees the end only when no writer is open any more.
    drop(command);
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    let status = child.wait()?;
    let code = status.code();
    let code = code.map_or_else(|| status.to_string(), |code| code.to_string());
    Ok((code, output))
}

/// The lines in which two outputs differ, from the first to the last.
fn difference(expected: &str, found: &str) -> String {
    let [expected, found] =
        [expected, found].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let same = expected
        .iter()
        .zip(&found)
        .take_while(|(expected, found)| expected == found)
        .count();
    let [left, right] = [&expected[same..], &found[same..]];
    let end = left
        .iter()
        .rev()
        .zip(right.iter().rev())
        .take_while(|(left, right)| left == right)
        .count();
    let mut shown = String::new();
    for (sign, lines) in [
        ('-', &left[..left.len() - end]),
        ('+', &right[..right.len() - end]),
    ] {
        for line in lines {
            let _ = writeln!(shown, "{sign} {line:?}");
        }
    }
    shown
}

/// What a reader expects of a case.
fn is_complete(case: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(case.join("case.md"))?;
    let mut faults = Vec::new();
    if !text.starts_with(char::is_alphabetic) {
        faults.push("expected a first paragraph that tells the point".to_owned());
    }
    if !text.lines().any(|line| line.starts_with("Provenance: ")) {
        faults.push("expected a paragraph that starts with `Provenance: `".to_owned());
    }
    let input = case.join("case.in");
    if !input.is_dir() {
        faults.push("expected a folder case.in".to_owned());
    }
    for file in files(&input) {
        let bytes = fs::metadata(&file).map_or(u64::MAX, |file| file.len());
        if bytes > LARGEST {
            faults.push(format!(
                "expected at most {LARGEST} bytes in {}, found {bytes}",
                file.display()
            ));
        }
    }
    let mut in_block = false;
    for (number, line) in text.lines().enumerate() {
        let at = number + 1;
        if let Some(language) = line.strip_prefix("```") {
            in_block = !in_block;
            if in_block && language != "console" {
                faults.push(format!(
                    "line {at}: expected a block `console`, found {language:?}"
                ));
            }
        } else if in_block
            && let Some(command) = line.strip_prefix("$ ")
            && !COMMANDS
                .iter()
                .any(|known| command.split(' ').next() == Some(known))
        {
            faults.push(format!(
                "line {at}: expected one of {COMMANDS:?}, found {command:?}"
            ));
        }
    }
    if steps(&text).0.is_empty() {
        faults.push("expected commands".to_owned());
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for path in entries(from) {
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            fs::create_dir(&target)?;
            copy(&path, &target)?;
        } else if path.file_name().is_some_and(|name| name != ".keep") {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder)
        .into_iter()
        .filter(|path| path.is_dir())
        .collect()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (folders, mut found): (Vec<_>, Vec<_>) =
        entries(folder).into_iter().partition(|path| path.is_dir());
    found.extend(folders.iter().flat_map(|folder| files(folder)));
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).map(|entries| {
        entries
            .map(|entry| entry.expect("readable").path())
            .collect()
    });
    let mut paths: Vec<PathBuf> = read.unwrap_or_default();
    paths.sort();
    paths
}
