//! What is answered, and how it is written.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::json;

use super::super::database::{DatabaseArgs, find_run, open_to_read};
use super::super::diff_tree;
use super::super::failure::{Failure, complain, unanswered};
use super::super::heard;
use super::flags::CarriedOut;
use super::statement;
use super::words::{Words, pairs, set, words};
use crate::base::error::Stop;
use crate::page::{self, Block, PageError, Served, UnionBlocks};
use crate::serve::{Body, Head, Question, Reply};
use crate::store::{Database, RunInfo};

const JSON: &str = "application/json";

/// The type of what is said instead of an answer (RFC 9457).
const PROBLEM: &str = "application/problem+json";

/// A parameter of the page's own: refusals come with the status of answers, as browsers write every other one to the console
/// as an error of the page.
const TOLD: &str = "errors";

/// Bytes of compressed columns that are kept for the next question.
const MOST_KEPT: usize = 32 << 20;

type Blocks = Vec<Block>;

/// Answers questions about a database.
pub(super) struct Answers {
    path: PathBuf,
    served: Served,
    program: clap::Command,
    carried_out: CarriedOut,
    /// The run whose tree was asked for last, and the columns that were found along with what was asked.
    kept: Option<(String, Blocks)>,
    /// The words of the comparison that was asked for last, and the trees of both sides.
    union: Option<(Vec<OsString>, UnionBlocks)>,
}

/// Why there is no answer.
enum Refusal {
    /// There is no such question.
    Unknown,
    /// The run has no such block.
    Nothing,
    /// The question makes no sense.
    Wrong(String),
    /// It failed, which has been said.
    Failed(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Answers {
    pub(super) fn new(
        path: &Path,
        served: Served,
        program: clap::Command,
        carried_out: CarriedOut,
    ) -> Self {
        Self {
            path: path.to_owned(),
            served,
            program,
            carried_out,
            kept: None,
            union: None,
        }
    }

    /// Answers a question.
    pub(super) fn answer(&mut self, question: Question, reply: Reply, stop: &Stop) {
        let writer = Writer(Rc::new(RefCell::new(Way {
            reply: Some(reply),
            body: None,
            kind: JSON,
            is_compressed: false,
            is_told: false,
        })));
        let (outcome, said) = heard::listen(Box::new(writer.clone()), || match question {
            Question::Of { path, query } => self.of(&path, &query, &writer, stop),
            Question::Statement(body) => self.statement(&body, &writer, stop),
        });
        writer.end(outcome, &said);
    }

    fn of(&mut self, path: &str, query: &str, writer: &Writer, stop: &Stop) -> Result<(), Refusal> {
        // Also of a query that makes no sense otherwise.
        let mut names = query.split('&').filter_map(|pair| pair.split('=').next());
        writer.0.borrow_mut().is_told = names.any(|name| name == TOLD);
        let mut pairs = pairs(query).map_err(Refusal::Wrong)?;
        pairs.retain(|(name, _)| name != TOLD);
        match path {
            "about" => self.about(&pairs, stop),
            "tree" => self.tree(&pairs, writer, stop),
            "union" => self.union(pairs, writer, stop),
            path => {
                let found = words(&self.program, path, &pairs).ok_or(Refusal::Unknown)?;
                let Words { words, kind } = found.map_err(Refusal::Wrong)?;
                let is_sql = words.iter().any(|word| word == "--show-sql");
                writer.0.borrow_mut().kind = if is_sql {
                    "text/plain; charset=utf-8"
                } else {
                    kind
                };
                self.carried_out(&words, stop).map_err(Refusal::Failed)
            }
        }
    }

    /// Carries out a command.
    fn carried_out(&mut self, words: &[String], stop: &Stop) -> Result<(), Failure> {
        let all = self.with_database(words);
        (self.carried_out)(&mut self.program, &all, stop)
    }

    /// The words of a command with the name of the program and that of the database.
    fn with_database(&self, words: &[String]) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec!["profdb".into()];
        // The name of the database comes before what may be words without flags.
        let at = words
            .iter()
            .position(|word| word.starts_with("--"))
            .unwrap_or(words.len());
        let mut named = OsString::from("--db=");
        named.push(&self.path);
        all.extend(words[..at].iter().map(OsString::from));
        all.push(named);
        all.extend(words[at..].iter().map(OsString::from));
        all
    }

    /// What is known of the trees of two sides as one, or a column of them.
    fn union(
        &mut self,
        mut pairs: Vec<(String, String)>,
        writer: &Writer,
        stop: &Stop,
    ) -> Result<(), Refusal> {
        let block = pairs.iter().position(|(name, _)| name == "block");
        let block = block.map(|at| pairs.remove(at).1);
        let is_given = |side: &str| pairs.iter().any(|(name, _)| name == side);
        if !(is_given("base") && is_given("new")) {
            return Err(Refusal::Wrong("union: expected base and new".to_owned()));
        }
        let path = format!("report/{}", diff_tree::TREE);
        let found = words(&self.program, &path, &pairs).ok_or(Refusal::Unknown)?;
        let all = self.with_database(&found.map_err(Refusal::Wrong)?.words);
        // Columns are asked for one after the other; rules may change before the next question.
        let is_kept = self.union.as_ref().is_some_and(|(of, _)| *of == all);
        if !is_kept || block.is_none() {
            let matches = self.program.try_get_matches_from_mut(&all);
            let matches = matches.map_err(|error| Refusal::Wrong(error.to_string()))?;
            let matches = matches.subcommand().and_then(|(_, all)| all.subcommand());
            let (_, matches) = matches.ok_or(Refusal::Unknown)?;
            self.union = Some((all, diff_tree::union_blocks(matches, stop)?));
        }
        let Some((_, union)) = &self.union else {
            return Err(Refusal::Nothing);
        };
        let Some(block) = block else {
            return written(union.about.to_string().as_bytes());
        };
        let known = union.blocks.iter().find(|(name, _)| *name == block);
        let (_, bytes) = known.ok_or(Refusal::Nothing)?;
        writer.0.borrow_mut().kind = "application/octet-stream";
        writer.0.borrow_mut().is_compressed = true;
        written(bytes)
    }

    fn open(&self, stop: &Stop) -> Result<Database, Failure> {
        open_to_read(&DatabaseArgs::named(Some(self.path.clone())), stop)
    }

    /// What is known of the database, or of a run.
    fn about(&self, pairs: &[(String, String)], stop: &Stop) -> Result<(), Refusal> {
        let [run] = parameters(pairs, ["run"])?;
        let database = self.open(stop)?;
        let about = match run {
            Some(run) => page::about(&database, &chosen(&database, run, stop)?),
            None => self.served.about(&database),
        };
        let about = about.map_err(|error| failed(error, stop))?;
        written(about.to_string().as_bytes())
    }

    /// A column of the tree of a run, or another of its blocks.
    fn tree(
        &mut self,
        pairs: &[(String, String)],
        writer: &Writer,
        stop: &Stop,
    ) -> Result<(), Refusal> {
        let [run, block] = parameters(pairs, ["run", "block"])?;
        let (Some(run), Some(block)) = (run, block) else {
            return Err(Refusal::Wrong("tree: expected run and block".to_owned()));
        };
        let database = self.open(stop)?;
        let found = chosen(&database, run, stop)?;
        let uid = database.run_uid(found.run_id);
        let uid = uid
            .map_err(|error| super::super::failure::database(error, stop))?
            .unwrap_or_default();
        let is_block = |(name, _): &&Block| name == block;
        let kept = self.kept.iter().filter(|(of, _)| *of == uid);
        let mut known = kept.flat_map(|(_, blocks)| blocks);
        let bytes = if let Some((_, bytes)) = known.find(is_block) {
            bytes.clone()
        } else {
            let blocks = page::blocks(&database, &found, block);
            let blocks = blocks.map_err(|error| failed(error, stop))?;
            let found = blocks.iter().find(is_block);
            let Some((_, bytes)) = found.cloned() else {
                return Err(Refusal::Nothing);
            };
            // A walk through the tree finds all its columns, which never change.
            if blocks.len() > 1 {
                self.keep(uid, blocks);
            }
            bytes
        };
        writer.0.borrow_mut().kind = "application/octet-stream";
        writer.0.borrow_mut().is_compressed = true;
        written(&bytes)
    }

    /// Keeps columns of a run, instead of those of another one.
    fn keep(&mut self, uid: String, blocks: Blocks) {
        let mut all = match self.kept.take() {
            Some((of, blocks)) if of == uid => blocks,
            _ => Vec::new(),
        };
        all.retain(|(name, _)| blocks.iter().all(|(other, _)| other != name));
        let mut size: usize = blocks.iter().map(|(_, bytes)| bytes.len()).sum();
        // What was asked for is written in any case, older ones only as far as there is room.
        all.retain(|(_, bytes)| {
            size += bytes.len();
            size <= MOST_KEPT
        });
        all.extend(blocks);
        self.kept = Some((uid, all));
    }

    /// A statement of the user's own.
    fn statement(&self, body: &[u8], writer: &Writer, stop: &Stop) -> Result<(), Refusal> {
        let asked: Option<serde_json::Value> = serde_json::from_slice(body).ok();
        let is_told = asked.as_ref().is_some_and(|asked| !asked[TOLD].is_null());
        writer.0.borrow_mut().is_told = is_told;
        let sql = asked.as_ref().and_then(|asked| asked["sql"].as_str());
        let Some(sql) = sql else {
            return Err(Refusal::Wrong("expected {\"sql\": \"...\"}".to_owned()));
        };
        let answer = statement::answer(self.open(stop)?, sql, stop)?;
        written(answer.as_bytes())
    }
}

/// The values of parameters, of which there are no others.
fn parameters<'p, const N: usize>(
    pairs: &'p [(String, String)],
    names: [&str; N],
) -> Result<[Option<&'p str>; N], Refusal> {
    let mut values = [None; N];
    for (name, value) in pairs {
        let place = names.iter().position(|known| known == name);
        let place = place.ok_or_else(|| Refusal::Wrong(format!("there is no parameter {name}")))?;
        values[place] = Some(value.as_str());
    }
    Ok(values)
}

/// The run that a parameter means.
fn chosen(database: &Database, run: &str, stop: &Stop) -> Result<RunInfo, Refusal> {
    let set = set(run).map_err(Refusal::Wrong)?;
    Ok(find_run(database, Some(&set), stop)?)
}

fn failed(error: PageError, stop: &Stop) -> Failure {
    match error {
        PageError::Report(error) => unanswered(error, stop),
        error @ (PageError::Output(_) | PageError::TooLarge(_)) => complain(error, Failure::Output),
    }
}

/// Writes a whole answer.
fn written(bytes: &[u8]) -> Result<(), Refusal> {
    let written = heard::Output.write_all(bytes);
    written.map_err(|_| Refusal::Failed(Failure::ClosedPipe))
}

/// The way of an answer to whoever asked. It begins with the first byte: until then it may become a refusal.
struct Way {
    reply: Option<Reply>,
    body: Option<Body>,
    kind: &'static str,
    is_compressed: bool,
    /// Refusals have the status of answers.
    is_told: bool,
}

#[derive(Clone)]
struct Writer(Rc<RefCell<Way>>);

impl Way {
    fn begin(&mut self, remarks: &[String]) -> io::Result<&mut Body> {
        if let Some(reply) = self.reply.take() {
            let head = Head {
                status: 200,
                kind: self.kind,
                is_compressed: self.is_compressed,
                remarks: remarks.iter().map(|remark| encoded(remark)).collect(),
            };
            self.body = Some(reply.begin(head)?);
        }
        self.body
            .as_mut()
            .ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut way = self.0.borrow_mut();
        let remarks = if way.reply.is_some() {
            heard::said()
        } else {
            Vec::new()
        };
        way.begin(&remarks)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Writer {
    /// Ends the answer, or says why there is none.
    fn end(self, outcome: Result<(), Refusal>, said: &[String]) {
        let mut way = self.0.borrow_mut();
        let refusal = match outcome {
            Ok(()) => {
                // An answer may have no bytes.
                if way.begin(said).is_ok()
                    && let Some(body) = way.body.take()
                {
                    let _ = body.end();
                }
                return;
            }
            Err(refusal) => refusal,
        };
        // What has begun breaks off here, and whoever asked sees that.
        let Some(reply) = way.reply.take() else {
            return;
        };
        let (status, kind, message) = match refusal {
            Refusal::Unknown => (404, "unknown", String::new()),
            Refusal::Nothing => (204, "nothing", String::new()),
            Refusal::Wrong(message) => (400, "usage", message),
            Refusal::Failed(failure) => {
                let (status, kind) = match failure {
                    Failure::Usage => (400, "usage"),
                    Failure::NothingSelected | Failure::Input | Failure::CheckFailed => {
                        (422, "nothing_selected")
                    }
                    Failure::Interrupted => (503, "interrupted"),
                    Failure::ClosedPipe | Failure::Output | Failure::Database | Failure::Limit => {
                        (500, "failed")
                    }
                };
                (status, kind, said.join("\n"))
            }
        };
        let head = Head {
            status: if way.is_told && status > 204 {
                200
            } else {
                status
            },
            kind: PROBLEM,
            is_compressed: false,
            remarks: Vec::new(),
        };
        let body = if message.is_empty() {
            String::new()
        } else {
            json!({"error": message, "kind": kind, "status": status}).to_string()
        };
        reply.whole(head, body.as_bytes());
    }
}

/// A text as a header has it: letters besides those of ASCII, and `%`, as URLs have them.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if (b' '..=b'~').contains(&byte) && byte != b'%' {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
