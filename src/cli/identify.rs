//! `profdb identify`

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::args::directory_prefix;
use super::database::{DatabaseArgs, WaitArgs, open_to_change};
use super::failure::{Failure, complain, database, line, unread};
use crate::base::error::Stop;
use crate::identity::{Origin, Refused, RuleLine, Rules, read_rules, same_root};
use crate::store::{Identified, StoreError};

/// Bytes of a file of rules.
const MOST_BYTES: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct Identify {
    /// File with rules that precede the built-in ones
    ///
    /// One rule per line: `name /REGEX/ -> TEXT`; also `module`, `file` or `container`.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Directory that was renamed, as OLD=NEW; repeatable
    #[arg(long = "root", value_name = "OLD=NEW", value_parser = root)]
    roots: Vec<Root>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    wait: WaitArgs,
}

/// Two folders whose files are the same.
#[derive(Clone, Debug)]
struct Root {
    old: String,
    new: String,
}

fn root(text: &str) -> Result<Root, String> {
    let directories = text.split_once('=').map(|(old, new)| Root {
        old: directory_prefix(old),
        new: directory_prefix(new),
    });
    directories
        .filter(|Root { old, new }| old != new && old != "/" && !text.starts_with('='))
        .ok_or_else(|| "expected OLD=NEW with two directories".to_owned())
}

/// The text of a file of rules.
fn text_of(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut start = File::open(file)?.take(MOST_BYTES + 1);
    start.read_to_string(&mut text)?;
    if start.limit() == 0 {
        let limit = format!("the rules have more than {MOST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, limit));
    }
    Ok(text)
}

pub(super) fn run(identify: &Identify, stop: &Stop) -> Result<(), Failure> {
    let of_file = match &identify.rules {
        Some(file) => {
            let name = file.display();
            let text = text_of(file)
                .map_err(|error| complain(format!("{name}: {error}"), unread(&error)))?;
            let base = file.file_name().unwrap_or(file.as_os_str());
            read_rules(&base.to_string_lossy(), &text)
                .map_err(|error| complain(format!("{name}: {error}"), Failure::Input))?
        }
        None => Vec::new(),
    };
    let lines: Vec<usize> = of_file.iter().map(|RuleLine { line, .. }| *line).collect();
    let of_file = of_file.into_iter().map(|RuleLine { rule, .. }| rule);
    let roots = identify.roots.iter();
    let of_roots = roots.flat_map(|Root { old, new }| same_root(old, new));
    // A rule that cannot be used is one of the user's, which come first: those of the file, then those
    // of --root.
    let refused = |refused: &Refused| match (refused.rule(), &identify.rules) {
        (rule, Some(file)) if rule < lines.len() => complain(
            format!("{}: line {}: {refused}", file.display(), lines[rule]),
            Failure::Input,
        ),
        _ => complain(format!("--root: {refused}"), Failure::Usage),
    };
    let rules = Rules::with(of_file.chain(of_roots).collect()).map_err(|error| refused(&error))?;
    rules.come_to_rest().map_err(|error| refused(&error))?;
    let mut target = open_to_change(&identify.database, &identify.wait, stop)?;
    let identified = target
        .identify_functions(&rules)
        .map_err(|error| match error {
            StoreError::Rules { source, .. } => refused(&source),
            error => database(error, stop),
        })?;
    let Identified {
        functions,
        identities,
    } = identified;
    let own = rules
        .all()
        .iter()
        .filter(|rule| rule.origin == Origin::User);
    let by = match own.count() {
        0 => "the built-in rules".to_owned(),
        1 => "1 own rule and the built-in rules".to_owned(),
        several => format!("{several} own rules and the built-in rules"),
    };
    line(format!(
        "{}: {functions} functions have {identities} identities by {by}; {} share one with others",
        target.path().display(),
        functions - identities,
    ))
}
