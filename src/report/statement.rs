//! One statement from named parts: `WITH part AS (…), … SELECT …`.
//!
//! Each part is a fixed text of ours. A part is in the statement if something in it mentions its
//! name. `$word` is replaced by another fixed text, and `:name` is a bound parameter: no
//! text of a user ever becomes SQL.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, Statement};

use super::dialect::{Dialect, spelled_with};
use crate::base::hex::hex;

/// Parts that SQLite is to look into rather than to compute as a whole: they are read in ranges.
const LOOKED_INTO: [&str; 3] = ["labels_of_nodes", "metric_nodes", "shifted_edges"];

/// The parts of a statement, with the texts of its words and its values.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: BTreeMap<Cow<'static, str>, Rc<str>>,
    words: Vec<(&'static str, Cow<'static, str>)>,
    values: BTreeMap<Cow<'static, str>, SqlValue>,
}

impl Parts {
    /// Says what a name in a statement means: the SELECT in a file of ours.
    pub(super) fn part(&mut self, name: impl Into<Cow<'static, str>>, text: &'static str) {
        self.parts
            .insert(name.into(), without_comments(text).into());
    }

    /// Says what several names mean, each by a part `name AS (` … `)` of a file of ours.
    pub(super) fn file(&mut self, text: &'static str) {
        let Named { parts, select } = &*named(text);
        debug_assert!(select.trim().is_empty(), "it is in no part: {select}");
        for (name, body) in parts {
            self.parts.insert(Cow::Borrowed(name), Rc::clone(body));
        }
    }

    /// Gives a name the meaning of another one.
    pub(super) fn same(&mut self, name: &'static str, other: &str) {
        if let Some(body) = self.parts.get(other).cloned() {
            self.parts.insert(name.into(), body);
        }
    }

    /// The same for a text whose words are of this part alone.
    pub(super) fn part_with(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        text: &str,
        words: &[(&str, &str)],
    ) {
        let text = without_comments(text);
        let (mut body, mut rest) = (String::new(), text.as_str());
        while let Some(at) = rest.find('$') {
            body.push_str(&rest[..at]);
            rest = &rest[at..];
            let known = words.iter().find(|(word, _)| rest.starts_with(word));
            let (word, meaning) = known.copied().unwrap_or(("$", "$"));
            body.push_str(meaning);
            rest = &rest[word.len()..];
        }
        body.push_str(rest);
        self.parts.insert(name.into(), body.into());
    }

    /// Says which text replaces a word. Words may hold words that are said later.
    pub(super) fn word(&mut self, word: &'static str, text: impl Into<Cow<'static, str>>) {
        self.words.push((word, text.into()));
    }

    /// Says what a parameter is.
    pub(super) fn value(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<SqlValue>) {
        self.values.insert(name.into(), value.into());
    }

    /// The statement of a report: its own parts and its SELECT are its text, the others come from
    /// here, but for those that are tables already.
    pub(super) fn statement(&self, report: &'static str, tables: &BTreeSet<&str>) -> String {
        let Named { parts, select } = &*named(report);
        self.joined(parts, select, tables, &|text| text.to_owned())
    }

    /// Another SELECT over the parts of a report.
    pub(super) fn aside(
        &self,
        report: &'static str,
        select: &str,
        tables: &BTreeSet<&str>,
    ) -> String {
        let own = &named(report).parts;
        let select = without_comments(select);
        self.joined(own, &select, tables, &|text| text.to_owned())
    }

    /// The statement of a report for people: with values in the places of parameters, and nothing
    /// left to tables.
    pub(super) fn shown(&self, report: &'static str) -> String {
        let Named { parts, select } = &*named(report);
        self.joined(parts, select, &BTreeSet::new(), &|text| {
            self.with_values(text)
        })
    }

    /// The statement of a report over a run of a dataset, with values in the places of parameters.
    ///
    /// # Errors
    /// What of it not all engines have.
    pub(super) fn portable(
        &self,
        report: &'static str,
        of_run: &OfRun<'_>,
    ) -> Result<String, &'static str> {
        let OfRun {
            dialect,
            uid,
            places,
        } = of_run;
        let Named { parts: own, select } = &*named(report);
        let tables = &named(RUN).parts;
        let portable = PORTABLE.map(|(ours, theirs)| (named(ours), named(theirs)));
        // Values come last: nothing in them is a word of the statement.
        let finish = |text: &str| {
            let text = with_lists(&self.spelled_out(text), &self.values, places);
            // The number that the run has among the tables of one run.
            renamed(&replace_word(&text, ":run", "1"))
        };
        let body = |name: &str| {
            if let Some(table) = tables.get(name) {
                return Some(table.to_string());
            }
            let text = own.get(name).or_else(|| self.parts.get(name))?;
            // Other files have parts of the same names.
            let theirs = portable.iter().find_map(|(ours, theirs)| {
                let is_ours = ours.parts.get(name) == Some(text);
                theirs.parts.get(name).filter(|_| is_ours)
            });
            Some(finish(theirs.unwrap_or(text)))
        };
        let mut bodies = Vec::new();
        let select = finish(select);
        let mut unseen = self.names(own);
        unseen.extend(tables.keys().copied());
        collect(&select, &body, &mut unseen, &mut bodies);
        let mut text = String::new();
        for (at, (name, body)) in bodies.iter().enumerate() {
            if words_of(body).any(|word| word == name) {
                return Err("it contains a recursive query");
            }
            let before = if at == 0 { "WITH " } else { "" };
            let after = if at + 1 < bodies.len() { ")," } else { ")" };
            let body = body.replace('\n', "\n  ");
            let _ = writeln!(text, "{before}{name} AS (\n  {body}\n{after}");
        }
        let select = select.trim_end().trim_end_matches(';');
        let sql = format!("{text}{select}");
        if words_of(&sql).any(|word| ONLY_SQLITE.contains(&word)) {
            return Err("it uses functions that only SQLite has");
        }
        let sql = spelled_with(&sql, *dialect, &|name| match self.values.get(name) {
            _ if name == "uid" => Some(dialect.literal(uid)),
            Some(SqlValue::Text(text)) => Some(dialect.text_value(text)),
            value => value.map(literal),
        });
        Ok(format!("{sql}{};\n", dialect.after()))
    }

    /// The SELECT of a report, and every part that it or another text may mention, with parameters in them.
    pub(super) fn spelled(
        &self,
        report: &'static str,
        other: &str,
    ) -> (String, Vec<(String, String)>) {
        let Named { parts: own, select } = &*named(report);
        let select = self.spelled_out(select);
        let body = |name: &str| -> Option<String> {
            let text = own.get(name).or_else(|| self.parts.get(name))?;
            Some(self.spelled_out(text))
        };
        let mut bodies = Vec::new();
        let text = format!("{select}{other}");
        collect(&text, &body, &mut self.names(own), &mut bodies);
        (select, bodies)
    }

    /// The names of all parts, those of a report's own text among them.
    fn names<'p>(&'p self, own: &OwnParts) -> HashSet<&'p str> {
        let parts = self.parts.keys().map(AsRef::as_ref);
        own.keys().copied().chain(parts).collect()
    }

    /// The names of the parameters, with what they are.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, &SqlValue)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_ref(), value))
    }

    /// Prepares a statement and binds the values that it mentions.
    pub(super) fn prepare<'c>(
        &self,
        connection: &'c Connection,
        sql: &str,
    ) -> rusqlite::Result<Statement<'c>> {
        let mut statement = connection.prepare(sql)?;
        for at in 1..=statement.parameter_count() {
            let name = statement.parameter_name(at).unwrap_or_default();
            let value = self.values.get(name.trim_start_matches(':'));
            let value = value.unwrap_or_else(|| panic!("{name} has a value, for it is in\n{sql}"));
            statement.raw_bind_parameter(at, value)?;
        }
        Ok(statement)
    }

    fn joined(
        &self,
        own: &OwnParts,
        select: &str,
        tables: &BTreeSet<&str>,
        finish: &dyn Fn(&str) -> String,
    ) -> String {
        let body = |name: &str| -> Option<String> {
            let text = own.get(name).or_else(|| self.parts.get(name))?;
            Some(finish(&self.spelled_out(text)))
        };
        let mut bodies = Vec::new();
        let mut unseen = self.names(own);
        unseen.retain(|name| !tables.contains(name));
        let select = finish(&self.spelled_out(select));
        collect(&select, &body, &mut unseen, &mut bodies);
        let mut text = String::new();
        let is_recursive = bodies
            .iter()
            .any(|(name, body)| words_of(body).any(|word| word == name));
        let with = if is_recursive {
            "WITH RECURSIVE"
        } else {
            "WITH"
        };
        for (at, (name, body)) in bodies.iter().enumerate() {
            let before = if at == 0 {
                format!("{with} ")
            } else {
                String::new()
            };
            let hint = if LOOKED_INTO.contains(&name.as_str()) {
                "NOT MATERIALIZED "
            } else {
                ""
            };
            let after = if at + 1 < bodies.len() { ")," } else { ")" };
            let line = format!("{before}{name} AS {hint}({body}{after}");
            if line.contains('\n') {
                let body = body.replace('\n', "\n  ");
                let _ = writeln!(text, "{before}{name} AS {hint}(\n  {body}\n{after}");
            } else {
                let _ = writeln!(text, "{line}");
            }
        }
        text + &select + "\n"
    }

    /// A text in which the words have been replaced.
    fn spelled_out(&self, text: &str) -> String {
        let mut spelled = String::with_capacity(2 * text.len());
        spell(text, &self.words, &mut spelled);
        debug_assert!(
            !spelled.contains('$'),
            "a word without meaning in {spelled}"
        );
        spelled
    }

    /// A text with literals in place of its parameters.
    fn with_values(&self, text: &str) -> String {
        let mut shown = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(':') {
            let name: String = rest[at + 1..]
                .chars()
                .take_while(|&c| is_of_a_word(c))
                .collect();
            shown.push_str(&rest[..at]);
            if let Some(value) = self.values.get(name.as_str()) {
                shown.push_str(&literal(value));
            } else {
                shown.push(':');
                shown.push_str(&name);
            }
            rest = &rest[at + 1 + name.len()..];
        }
        shown + rest
    }
}

/// A run of a dataset.
pub(super) struct OfRun<'r> {
    pub(super) dialect: Dialect,
    pub(super) uid: &'r str,
    /// Places of its functions, by their numbers in the database.
    pub(super) places: &'r BTreeMap<i64, i64>,
}

/// Tables of one run of a dataset in the shape of those of the database.
const RUN: &str = include_str!("../../queries/dataset/run.sql");

/// Words that only SQLite has, and tables that are of no run.
const ONLY_SQLITE: [&str; 5] = [
    "GROUP_CONCAT",
    "GLOB",
    "json_each",
    "source_lines",
    "PRINTF",
];

/// Files of parts that have words only SQLite has, each with the file that has some of them in words of all engines.
const PORTABLE: [(&str, &str); 2] = [
    (
        include_str!("../../queries/fragments/containers.sql"),
        include_str!("../../queries/dataset/containers.sql"),
    ),
    (
        include_str!("../../queries/fragments/left_nodes.sql"),
        include_str!("../../queries/dataset/left_nodes.sql"),
    ),
];

/// Tables whose rows are those of a run.
const TABLES: [&str; 11] = [
    "runs",
    "metrics",
    "functions",
    "identities",
    "function_info",
    "line_info",
    "nodes",
    "function_nodes",
    "node_costs",
    "edges",
    "label_sets",
];

/// An SQL text after FROM or JOIN that reads the tables of a run.
fn renamed(text: &str) -> String {
    let mut text = text.to_owned();
    for table in TABLES.iter().chain(&["node_labels"]) {
        for word in ["FROM", "JOIN"] {
            text = replace_word(
                &text,
                &format!("{word} {table}"),
                &format!("{word} run_{table}"),
            );
        }
    }
    text
}

/// A text in which lists of functions are spelled out, by their places in the run.
fn with_lists(
    text: &str,
    values: &BTreeMap<Cow<'static, str>, SqlValue>,
    places: &BTreeMap<i64, i64>,
) -> String {
    let mut text = text.to_owned();
    for (name, value) in values {
        let SqlValue::Text(value) = value else {
            continue;
        };
        let Ok(numbers) = serde_json::from_str::<Vec<i64>>(value) else {
            continue;
        };
        let found: Vec<String> = numbers
            .iter()
            .filter_map(|number| Some(places.get(number)?.to_string()))
            .collect();
        let list = if found.is_empty() {
            "NULL".to_owned()
        } else {
            found.join(", ")
        };
        text = text
            .replace(
                &format!("(SELECT value FROM json_each(:{name}))"),
                &format!("({list})"),
            )
            .replace(
                &format!("SELECT value AS function_id FROM json_each(:{name})"),
                &format!(
                    "SELECT f.function_id FROM functions AS f WHERE f.function_id IN ({list})"
                ),
            );
    }
    text
}

/// Adds the parts that a text mentions, each after those that it mentions itself. `unseen` are the names of parts that no text has mentioned
/// so far: most words of a text are none, and nothing else is asked of them.
fn collect(
    text: &str,
    body: &dyn Fn(&str) -> Option<String>,
    unseen: &mut HashSet<&str>,
    bodies: &mut Vec<(String, String)>,
) {
    for word in words_of(text) {
        // No part is called like a number or a keyword of SQL.
        let may_be_a_part = word.starts_with(|first: char| first.is_ascii_lowercase());
        if !(may_be_a_part && unseen.remove(word)) {
            continue;
        }
        if let Some(body_of_word) = body(word) {
            collect(&body_of_word, body, unseen, bodies);
            bodies.push((word.to_owned(), body_of_word));
        }
    }
}

fn is_of_a_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The words of a text, outside of texts in quotes.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split('\'').step_by(2).flat_map(|code| Words { code })
}

/// By byte, whether it is of a word.
const OF_A_WORD: [bool; 256] = {
    let mut all = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        all[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    all
};

/// Words of a text without quotes. All that is not ASCII is between words, so that bytes tell where they begin and end.
struct Words<'t> {
    code: &'t str,
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let is_of_a_word = |byte: u8| OF_A_WORD[usize::from(byte)];
        let start = self.code.bytes().position(is_of_a_word)?;
        let code = &self.code[start..];
        let end = code.bytes().position(|byte| !is_of_a_word(byte));
        let (word, rest) = code.split_at(end.unwrap_or(code.len()));
        self.code = rest;
        Some(word)
    }
}

/// Adds a text in which each `$word` is replaced by what it means, in whose text the words after it are replaced.
fn spell(text: &str, words: &[(&'static str, Cow<'static, str>)], to: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        to.push_str(&rest[..at]);
        let name = rest[at + 1..].split(|character| !is_of_a_word(character));
        let end = at + 1 + name.map(str::len).next().unwrap_or(0);
        let word = &rest[at..end];
        match words.iter().position(|(known, _)| *known == word) {
            Some(place) => spell(&words[place].1, &words[place + 1..], to),
            None => to.push_str(word),
        }
        rest = &rest[end..];
    }
    to.push_str(rest);
}

/// Replaces a word, and not the beginning of a longer one.
fn replace_word(text: &str, word: &str, meaning: &str) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let after = &rest[at + word.len()..];
        replaced.push_str(&rest[..at]);
        if after.starts_with(is_of_a_word) {
            replaced.push_str(word);
        } else {
            replaced.push_str(meaning);
        }
        rest = after;
    }
    replaced + rest
}

/// A text of ours without its comments, and without the end of its last line.
fn without_comments(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"))
        .collect();
    lines.join("\n")
}

/// Parts by their names.
type OwnParts = BTreeMap<&'static str, Rc<str>>;

/// A text of ours: its named parts, and the SELECT that follows, if it has one.
struct Named {
    parts: OwnParts,
    select: String,
}

/// The parts of a text of ours. A page has dozens of statements of the same few texts.
fn named(text: &'static str) -> Rc<Named> {
    thread_local! {
        static KNOWN: RefCell<HashMap<&'static str, Rc<Named>>> = RefCell::default();
    }
    KNOWN
        .with_borrow_mut(|known| Rc::clone(known.entry(text).or_insert_with(|| split(text).into())))
}

/// Looks for the parts of a text of ours. A part begins with `name AS (` at the start of a line, and ends with a line that
/// closes it.
fn split(text: &'static str) -> Named {
    let mut parts = BTreeMap::new();
    let mut part: Option<(&str, Vec<&str>)> = None;
    let mut select = Vec::new();
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"));
    for line in lines {
        if let Some((name, mut body)) = part.take() {
            if line.starts_with(')') {
                parts.insert(name, body.join("\n").into());
            } else {
                body.push(line.strip_prefix("  ").unwrap_or(line));
                part = Some((name, body));
            }
            continue;
        }
        let name = line.trim_start_matches("WITH ").strip_suffix(" AS (");
        match name.filter(|name| name.chars().all(is_of_a_word)) {
            Some(name) => part = Some((name, Vec::new())),
            None => select.push(line),
        }
    }
    Named {
        parts,
        select: select.join("\n"),
    }
}

/// A value as SQL has it.
pub(super) fn literal(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => "NULL".to_owned(),
        SqlValue::Integer(value) => value.to_string(),
        // `{:?}` writes 7.0 where `{}` writes 7, which SQL reads as an integer.
        SqlValue::Real(value) => format!("{value:?}"),
        SqlValue::Text(text) => text_literal(text),
        SqlValue::Blob(bytes) => format!("x'{}'", hex(bytes)),
    }
}

/// Text in quotes; what would end a line or the text early is given by its bytes.
fn text_literal(text: &str) -> String {
    if text.contains(char::is_control) {
        format!("CAST(x'{}' AS TEXT)", hex(text.as_bytes()))
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}
