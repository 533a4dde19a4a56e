//! Reads what `sqlite_schema` holds of a table, view, index or trigger: names, and the comments
//! that explain them.

use profdb::store::Database;

/// Words that say what a cost is counted in.
const UNITS: &[&str] = &["ns", "bytes", "count", "%"];

/// Phrases that do so.
const UNIT_PHRASES: &[&str] = &["in unit", "the metric's unit"];

/// Words in the names of view columns that carry a cost.
const COSTS: &[&str] = &[
    "exclusive",
    "cumulative",
    "seen",
    "outermost",
    "total",
    "pct",
];

/// Words that no sentence ends with: what ends with one goes on elsewhere.
const WITHIN: &[&str] = &["a", "an", "and", "or", "the"];

/// A table, view, index or trigger.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) kind: String,
    pub(crate) name: String,
    /// The table of an index or trigger; of tables and views their own name.
    pub(crate) table: String,
    pub(crate) about: String,
    pub(crate) columns: Vec<Column>,
    /// Keys and the like with what is said of them.
    pub(crate) constraints: Vec<(String, String)>,
    /// First line of the first comment, as it stands in the statement.
    pub(crate) first_comment: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) meaning: String,
}

/// Everything that `.schema` shows, tables and views in the order in which they were made.
pub(crate) fn objects(database: &Database) -> Vec<Object> {
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema
               WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY rowid";
    let mut statement = database.connection().prepare(sql).expect("a statement");
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let found: Result<Vec<(String, String, String, String)>, _> =
        statement.query_map([], read).expect("a schema").collect();
    let object = |(kind, name, table, sql): (String, String, String, String)| {
        let first_comment = sql
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("--"))
            .map(str::to_owned);
        let mut object = Object {
            about: String::new(),
            columns: Vec::new(),
            constraints: Vec::new(),
            kind,
            name,
            table,
            first_comment,
        };
        match object.kind.as_str() {
            "trigger" => object.about = leading_comment(sql.lines().skip(1)),
            "index" => object.about = parts(&sql).0,
            _ => describe(database, &sql, &mut object),
        }
        object
    };
    found.expect("rows").into_iter().map(object).collect()
}

/// Columns as SQLite knows them, with what the statement says of each.
fn describe(database: &Database, sql: &str, object: &mut Object) {
    let (about, parts) = parts(sql);
    object.about = about;
    let sql = "SELECT name, type FROM pragma_table_xinfo(?1) ORDER BY cid";
    let mut statement = database.connection().prepare(sql).expect("a statement");
    let columns = statement
        .query_map([&object.name], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("columns");
    let columns: Vec<(String, String)> = columns.collect::<Result<_, _>>().expect("columns");
    let find = |name: &str| {
        parts
            .iter()
            .find(|part| part.code.split_whitespace().next() == Some(name))
    };
    for (name, kind) in &columns {
        let meaning = find(name)
            .map(|part| part.comment.clone())
            .unwrap_or_default();
        object.columns.push(Column {
            name: name.clone(),
            kind: kind.clone(),
            meaning,
        });
    }
    let is_column = |part: &&Part| {
        columns
            .iter()
            .any(|(name, _)| part.code.split_whitespace().next() == Some(name))
    };
    let others = parts.iter().filter(|part| !is_column(part));
    object.constraints = others
        .map(|part| (part.code.clone(), part.comment.clone()))
        .collect();
}

/// What lies between two commas: its code in one line, and its comments.
#[derive(Debug, Default)]
struct Part {
    code: String,
    comment: String,
}

/// Comments at the beginning of lines, until the first line of something else.
fn leading_comment<'s>(lines: impl Iterator<Item = &'s str>) -> String {
    let comment = lines.map_while(|line| line.trim_start().strip_prefix("--"));
    comment.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Splits what stands in the outermost parentheses: the comment at the beginning, and the parts.
///
/// A comment belongs to the code before it on its line. On a line of its own it continues what is said
/// above it, without other lines between them, if it begins in the same column of the text as one of the
/// comments of that part, else it belongs to the part that follows.
fn parts(sql: &str) -> (String, Vec<Part>) {
    // `ALTER TABLE ... ADD COLUMN` leaves `name TYPE /* meaning */` behind, and goes on in the same
    // line.
    let sql = sql.replace("/*", "--").replace("*/", "\n");
    let body = sql.find('(').map_or("", |open| &sql[open + 1..]);
    let about = leading_comment(body.lines().skip(1));
    let said = body
        .lines()
        .skip(1)
        .take_while(|line| line.trim_start().starts_with("--"))
        .count();
    let mut parts = Vec::new();
    let mut part = Part::default();
    let mut depth = 1;
    // The columns where comments begin of the part that is above.
    let mut above: Vec<usize> = Vec::new();
    for line in body.lines().skip(usize::from(said > 0) + said) {
        let Line { code, comment } = Line::of(line);
        if code.trim().is_empty() {
            match comment {
                Some((at, text)) if above.contains(&at) => {
                    add(target(&mut parts, &mut part), text);
                }
                Some((_, text)) => add(&mut part.comment, text),
                None => above.clear(),
            }
            continue;
        }
        if part.code.trim().is_empty() || comment.is_none() {
            above.clear();
        }
        above.extend(comment.map(|(at, _)| at));
        for character in code.chars() {
            depth += match character {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            match character {
                _ if depth == 0 => break,
                ',' if depth == 1 => finish(&mut parts, &mut part),
                _ => part.code.push(character),
            }
        }
        part.code.push(' ');
        if let Some((_, text)) = comment {
            add(target(&mut parts, &mut part), text);
        }
        if depth == 0 {
            break;
        }
    }
    finish(&mut parts, &mut part);
    (about, parts)
}

fn finish(parts: &mut Vec<Part>, part: &mut Part) {
    let part = std::mem::take(part);
    let code = part.code.split_whitespace().collect::<Vec<_>>().join(" ");
    if !code.is_empty() {
        parts.push(Part { code, ..part });
    }
}

/// The comment of the latest part that has code.
fn target<'p>(parts: &'p mut [Part], part: &'p mut Part) -> &'p mut String {
    match parts.last_mut() {
        Some(last) if part.code.trim().is_empty() => &mut last.comment,
        _ => &mut part.comment,
    }
}

fn add(comment: &mut String, text: &str) {
    if !comment.is_empty() {
        comment.push(' ');
    }
    comment.push_str(text);
}

/// A line of a statement.
struct Line<'s> {
    code: &'s str,
    /// Where the comment begins, and its text.
    comment: Option<(usize, &'s str)>,
}

impl<'s> Line<'s> {
    /// No text in our schema holds the mark of a comment.
    fn of(line: &'s str) -> Self {
        match line.split_once("--") {
            Some((code, text)) => Self {
                code,
                comment: Some((code.len(), text.trim())),
            },
            None => Self {
                code: line,
                comment: None,
            },
        }
    }
}

/// What is missing in the comments, one line each.
pub(crate) fn faults(objects: &[Object]) -> Vec<String> {
    let mut faults = Vec::new();
    for object in objects
        .iter()
        .filter(|object| matches!(object.kind.as_str(), "table" | "view"))
    {
        let Object { kind, name, .. } = object;
        if object.about.is_empty() {
            faults.push(format!(
                "{kind} {name}: has no comment after its opening parenthesis"
            ));
        }
        for column in &object.columns {
            if is_half(&column.meaning) {
                faults.push(format!(
                    "{kind} {name}: the comment of column {} ends within a sentence: {}",
                    column.name, column.meaning
                ));
            }
            if column.meaning.is_empty() {
                faults.push(format!(
                    "{kind} {name}: column {} has no comment",
                    column.name
                ));
            } else if carries_cost(object, column) && !names_unit(&column.meaning) {
                let (known, phrases) = (UNITS.join(", "), UNIT_PHRASES.join("\", \""));
                faults.push(format!(
                    "{kind} {name}: the comment of column {} names no unit ({known}, \"{phrases}\"): {}",
                    column.name, column.meaning
                ));
            }
        }
    }
    faults
}

fn is_half(meaning: &str) -> bool {
    let last = meaning.split_whitespace().next_back();
    last.is_some_and(|word| WITHIN.contains(&word))
}

fn carries_cost(object: &Object, column: &Column) -> bool {
    if object.kind == "table" {
        return column.kind == "REAL";
    }
    // Views of single words, `exclusive_pct`, `cum_pct`, `cumulative_avg`; `is_outermost` is yes or no.
    let mut words = column.name.split('_');
    !column.name.starts_with("is_") && words.any(|word| COSTS.contains(&word))
}

fn names_unit(meaning: &str) -> bool {
    let mut words =
        meaning.split(|character: char| !character.is_alphanumeric() && character != '%');
    words.any(|word| UNITS.contains(&word))
        || UNIT_PHRASES.iter().any(|phrase| meaning.contains(phrase))
}

#[test]
fn comments_are_found_where_they_belong() {
    let sql = "CREATE TABLE t (\n  -- What it is,\n  -- in two lines.\n  a INTEGER, -- first\n             \
               -- goes on\n  -- Why there is b.\n  b TEXT\n    CHECK (b IN ('x', 'y')), -- second\n  \
               d TEXT      -- third,\n    \
               CHECK (d <> ''), -- pushed\n              -- aside\n  -- The key.\n  UNIQUE (a, b)\n, \
               c REAL /* fourth, in ns */) STRICT";
    let (about, parts) = parts(sql);
    assert_eq!(about, "What it is, in two lines.");
    let found: Vec<_> = parts
        .iter()
        .map(|part| (part.code.as_str(), part.comment.as_str()))
        .collect();
    let expected = [
        ("a INTEGER", "first goes on"),
        ("b TEXT CHECK (b IN ('x', 'y'))", "Why there is b. second"),
        ("d TEXT CHECK (d <> '')", "third, pushed aside"),
        ("UNIQUE (a, b)", "The key."),
        ("c REAL", "fourth, in ns"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_unit_is_a_word_of_its_own() {
    for meaning in [
        "in ns",
        "% of the run's total",
        "cost of it, in unit",
        "cost, in the metric's unit; NULL if unknown",
    ] {
        assert!(names_unit(meaning), "{meaning}");
    }
    for meaning in ["recursion counted once", "the transaction", "its own units"] {
        assert!(!names_unit(meaning), "{meaning}");
    }
}
