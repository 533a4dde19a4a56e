//! The commands of every case: `tests/cases/<group>/<slug>.md` has prose, inputs
//! (`tests/support/case_files.rs`), commands and their exact output. The commands run in a folder that
//! has the inputs and no other file.
//!
//! In a block `console`, a line `$ ...` is a command, which lines `> ...` continue. A line `? N`
//! after it is its exit code if that is not 0. The lines up to the next command are its output,
//! standard output and standard error in the order in which they come, and an empty line. Output
//! whose last line has no end is followed by the line [`UNENDED`].
//!
//! `UPDATE_CASES=1 cargo test --test properties commands` writes the output of the commands into the
//! files. Read the difference before you commit it. With `dyalog_xml/recursion` in the place of
//! `commands`, it does so for one case.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use libtest_mimic::{Failed, Trial};
use profdb::formats::FORMATS;

#[cfg(unix)]
use super::workers;
use crate::support::case_files::{self, Case, Place, UNENDED, cases, is_embedded, named};
use crate::support::harness::trial;
use crate::support::{program, tools};

/// Commands that may stand in a case: the program, and the shell of SQLite, which must be able to
/// read what was imported.
const COMMANDS: [&str; 2] = ["profdb", "sqlite3"];

/// Bytes of the largest input that a case may have.
const LARGEST: usize = 64 * 1024;

/// Groups of cases that are about the program as a process: each of their commands starts it. The
/// commands of other groups run in a worker.
const OF_PROCESSES: [&str; 1] = ["cli"];

/// Groups of cases that are not about the format of that name.
const OTHER_GROUPS: [&str; 4] = ["cli", "export", "manual", "reports"];

/// One trial for each case, and one for each group.
pub(crate) fn trials() -> Vec<Trial> {
    let groups = case_files::groups().into_iter().map(|group| {
        let is_known = OTHER_GROUPS.contains(&group.as_str())
            || FORMATS.iter().any(|format| format.name == group);
        trial(format!("{group}::is_a_group_of_cases"), move || {
            if is_known {
                Ok(())
            } else {
                Err(format!("there is no format {group}").into())
            }
        })
    });
    let cases = cases().into_iter().map(|case| {
        trial(format!("{}::commands", case.name()), move || {
            is_complete(&case)?;
            run_commands(&case)
        })
    });
    groups.chain(cases).collect()
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
    let mut block: Option<(&str, &str)> = None;
    let mut in_output = false;
    for line in text.split_inclusive('\n') {
        let here = at;
        at += line.len();
        if let Some(changed) = changed_block(block, line) {
            block = changed;
            in_output = false;
        } else if block.is_some_and(|(_, language)| language == "console") && line.starts_with("$ ")
        {
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

/// The block that a line begins, as its fence and its language, or `Some(None)` if it ends one.
/// `None` if the line does neither.
fn changed_block<'a>(
    block: Option<(&str, &str)>,
    line: &'a str,
) -> Option<Option<(&'a str, &'a str)>> {
    let line = line.trim_end_matches('\n');
    match block {
        Some((fence, _)) => (line == fence).then_some(None),
        None if line.starts_with("```") => {
            let language = line.trim_start_matches('`');
            Some(Some((&line[..line.len() - language.len()], language)))
        }
        None => None,
    }
}

/// Runs the commands of a case, one after the other, in one folder. Skips the trial at the first
/// command whose program is missing.
fn run_commands(case: &Case) -> Result<(), Failed> {
    let text = case.text();
    let (steps, rest) = steps(&text);
    let place = tempfile::tempdir()?;
    case.write_inputs(place.path());
    let is_of_process = OF_PROCESSES.contains(&case.group.as_str());
    let mut written = String::new();
    let mut wrong = String::new();
    for step in &steps {
        let (code, output) = run(step.lines, place.path(), is_of_process)?;
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
        fs::write(case.file(), written)?;
        return Ok(());
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.into())
    }
}

/// Returns the exit code and the output of a command. Skips the trial if its program is missing.
fn run(lines: &str, place: &Path, is_of_process: bool) -> Result<(String, Vec<u8>), Failed> {
    let words: Vec<&str> = lines
        .lines()
        .map(|line| line.get(2..).unwrap_or_default())
        .collect();
    // Cases depend on no shell: their commands have neither variables nor pipes.
    let words = shlex::split(&words.join("\n")).ok_or("the quotes of the command do not match")?;
    let Some((program, arguments)) = words.split_first() else {
        return Err("there is no command".into());
    };
    if program != "profdb" {
        return Ok(run_process(tools::command(program), arguments, place)?);
    }
    // Graphviz draws the pictures of `--svg`.
    if arguments.iter().any(|word| word == "--svg") {
        tools::require("dot");
    }
    #[cfg(unix)]
    if !is_of_process {
        return Ok(workers::run(place, &words)?);
    }
    Ok(run_process(program::command(), arguments, place)?)
}

/// Runs a program to its end.
fn run_process(
    mut command: Command,
    arguments: &[String],
    place: &Path,
) -> io::Result<(String, Vec<u8>)> {
    // One pipe for both keeps their order.
    let (mut reader, writer) = io::pipe()?;
    command
        .args(arguments)
        .current_dir(place)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    isolate(&mut command);
    let mut child = command.spawn()?;
    // The reader sees the end only when no writer is open any more.
    drop(command);
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    let status = child.wait()?;
    let code = status
        .code()
        .map_or_else(|| status.to_string(), |code| code.to_string());
    Ok((code, output))
}

/// Hides the settings of the person who runs the tests from a command.
pub(crate) fn isolate(command: &mut Command) {
    command
        .env("PROFDB_DB", "")
        .env("HOME", "/nonexistent")
        .env("XDG_CONFIG_HOME", "/nonexistent");
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

/// Checks that a case has the parts that a reader expects, and all its inputs.
fn is_complete(case: &Case) -> Result<(), Failed> {
    let text = case.text();
    let mut faults = Vec::new();
    if !text.starts_with(char::is_alphabetic) {
        faults.push("expected a first paragraph that tells the point".to_owned());
    }
    if !text.lines().any(|line| line.starts_with("Provenance: ")) {
        faults.push("expected a paragraph that starts with `Provenance: `".to_owned());
    }
    faults.extend(faults_of_inputs(case, &text)?);
    let mut block: Option<(&str, &str)> = None;
    let mut has_console = false;
    for (number, line) in text.lines().enumerate() {
        let at = number + 1;
        if let Some(changed) = changed_block(block, line) {
            block = changed;
            let Some((_, language)) = block else { continue };
            has_console |= language == "console";
            // Only inputs are blocks `text`, and they come before all commands.
            if language != "console" && (language != "text" || has_console) {
                faults.push(format!(
                    "line {at}: expected a block `console`, found {language:?}"
                ));
            }
        } else if block.is_some_and(|(_, language)| language == "console")
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
    if block.is_some() {
        faults.push("expected the end of the last block".to_owned());
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

/// Compares the inputs that a case names with those that it has.
fn faults_of_inputs(case: &Case, text: &str) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let named = named(text)?;
    let blocks = |place: &Place| matches!(place, Place::Block(_));
    let expected = named.iter().filter(|input| blocks(&input.place)).count();
    let texts = text.lines().filter(|line| {
        let language = line.trim_start_matches('`');
        line.starts_with("```") && language == "text"
    });
    if texts.count() != expected {
        faults.push("expected a line ``Input `NAME`:`` before each block `text`".to_owned());
    }
    let mut names = BTreeSet::new();
    for input in &named {
        if !names.insert(&input.name) {
            faults.push(format!("{}: expected one input of this name", input.name));
        }
    }
    let folder = case.folder_of_files();
    let files: BTreeSet<PathBuf> = if folder.is_dir() {
        case_files::files(&folder).into_iter().collect()
    } else {
        BTreeSet::new()
    };
    let linked = named
        .iter()
        .filter(|input| matches!(input.place, Place::File));
    let linked: BTreeSet<PathBuf> = linked.map(|input| folder.join(&input.name)).collect();
    for file in files.symmetric_difference(&linked) {
        let is_there = if files.contains(file) {
            "is not named by the case"
        } else {
            "does not exist"
        };
        faults.push(format!("{} {is_there}", file.display()));
    }
    if !faults.is_empty() {
        return Ok(faults);
    }
    for (name, bytes) in case.inputs() {
        let is_block = |input: &&case_files::Named| blocks(&input.place) && input.name == name;
        let is_in_text = named.iter().any(|input| is_block(&input));
        if bytes.len() > LARGEST {
            let length = bytes.len();
            faults.push(format!(
                "{name}: expected at most {LARGEST} bytes, found {length}"
            ));
        }
        if is_in_text != is_embedded(&bytes) {
            let form = if is_in_text { "a file" } else { "a block" };
            faults.push(format!(
                "{name}: expected {form} (tests/support/case_files.rs)"
            ));
        }
    }
    Ok(faults)
}
