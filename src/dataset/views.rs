//! The tables and the public views of a dataset, for the engines that read it.

use std::fmt::Write as _;

use super::place::{ENDING, PARTITION};
use super::tables::{Kind, Rule, TABLES, Table};
use crate::base::query::query;
use crate::report::{Dialect, spelled};

/// The views, each after those that it reads. Where the database's views have a number of the database's, these have the key.
pub const VIEWS: [(&str, &str); 20] = [
    query!("dataset/views", "identity_info"),
    query!("dataset/views", "ancestors"),
    query!("dataset/views", "call_lines"),
    query!("dataset/views", "callees"),
    query!("dataset/views", "calls"),
    query!("dataset/views", "changes"),
    query!("dataset/views", "cumulative"),
    query!("dataset/views", "exclusive"),
    query!("dataset/views", "function_labels"),
    query!("dataset/views", "history"),
    query!("dataset/views", "labels"),
    query!("dataset/views", "lines"),
    query!("dataset/views", "recursion"),
    query!("dataset/views", "run_list"),
    query!("dataset/views", "source_lines"),
    query!("dataset/views", "subtrees"),
    query!("dataset/views", "summary"),
    query!("dataset/views", "tags"),
    query!("dataset/views", "tree"),
    query!("dataset/views", "function_tree"),
];

/// The expressions of columns that files do not have as they are, by rule.
const RULES: &str = include_str!("../../queries/dataset/columns.sql");

/// Columns whose values are added up by whoever asks, and whose sums may need more than 64 bits.
const ADDED_UP: [&str; 2] = ["calls", "primitive"];

/// The statements that make the tables and views of a dataset known to an engine. `dataset` is its folder, or the address of it;
/// `has_files` says of which tables it has files: engines refuse to look for those that are not there, so that all others are
/// tables without rows.
///
/// # Errors
/// When the engine takes signs in the name for patterns of names and has no way to quote them; in words.
pub fn views(
    dialect: Dialect,
    dataset: &str,
    has_files: &dyn Fn(&str) -> bool,
) -> Result<String, String> {
    let dataset = match dataset.trim_end_matches('/') {
        "" => "/",
        trimmed => trimmed,
    };
    let place = quoted(dialect, dataset)?;
    let create = match dialect {
        Dialect::Spark => "CREATE OR REPLACE TEMPORARY VIEW",
        Dialect::DuckDb | Dialect::ClickHouse => "CREATE OR REPLACE VIEW",
    };
    let mut script = format!(
        "-- Tables and views of the profdb dataset {} for {}.\n",
        dataset.replace(char::is_control, "?"),
        dialect.name()
    );
    script.push_str(dialect.before());
    for table in &TABLES {
        let select = if has_files(table.name) {
            read(dialect, &place, table)
        } else {
            nothing(dialect, table)
        };
        let _ = writeln!(script, "\n{create} {} AS\n{select};", table.name);
    }
    let _ = writeln!(script, "\n{create} run_tags AS\n{};", tags(dialect));
    let ending = dialect.after_view();
    for (name, text) in VIEWS {
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("--"));
        let select = spelled(&lines.collect::<Vec<_>>().join("\n"), dialect);
        let _ = writeln!(script, "\n{create} {name} AS\n{select}{ending};");
    }
    Ok(script)
}

/// A place in which no sign means more than itself, where the engine looks for files whose names are like a pattern. Tried with
/// each engine (`tests/figures/datasets.rs`).
fn quoted(dialect: Dialect, dataset: &str) -> Result<String, String> {
    let refused = |sign: char| {
        Err(format!(
            "{}: {} reads `{sign}` in a path as a pattern and cannot quote it; rename the directory, or make a symbolic link to it",
            dataset.replace(char::is_control, "?"),
            dialect.name()
        ))
    };
    let with = |signs: &[char], before: &str, after: &str| {
        let mut place = String::new();
        for sign in dataset.chars() {
            if signs.contains(&sign) {
                place.extend([before, sign.encode_utf8(&mut [0; 4]), after]);
            } else {
                place.push(sign);
            }
        }
        place
    };
    match dialect {
        // Hadoop's patterns.
        Dialect::Spark => Ok(with(&['*', '?', '[', ']', '{', '}', '\\'], "\\", "")),
        // A class of one sign is this sign. Before other patterns a backslash is not found, whether it is doubled or not.
        Dialect::DuckDb if dataset.contains('\\') => refused('\\'),
        Dialect::DuckDb => Ok(with(&['*', '?', '['], "[", "]")),
        Dialect::ClickHouse => match dataset.chars().find(|sign| "*?{}".contains(*sign)) {
            Some(sign) => refused(sign),
            None => Ok(dataset.to_owned()),
        },
    }
}

/// The expression of a column of a table, over its files.
fn expression(table: &Table, column: &str) -> String {
    let Some(rule) = table.rule(column) else {
        return format!("t.{column}");
    };
    let (name, by, usual) = match rule {
        Rule::Before(by) => ("minus", by.name, None),
        Rule::After(by) => ("plus", by.name, None),
        Rule::Cost(_) => ("cost", "", None),
        Rule::CostOr(_, usual) => ("cost_or", "", Some(usual)),
        Rule::Other(_, usual) => ("other", "", Some(usual)),
        Rule::IdentityName(_) => ("identity_name", "", None),
    };
    let mut rules = RULES.lines().filter_map(|line| line.split_once(": "));
    let text = rules.find_map(|(rule, text)| (rule == name).then_some(text));
    let text = text.expect("every rule has its line");
    let usual = usual.map(|usual| expression(table, usual));
    text.replace("$name", column)
        .replace("$distance", by)
        .replace("$usual", &usual.unwrap_or_default())
}

/// A SELECT of the rows of a table, with the day of their partition.
fn read(dialect: Dialect, dataset: &str, table: &Table) -> String {
    let mut columns = Vec::new();
    for column in table.columns {
        let name = column.name;
        let expression = expression(table, name);
        columns.push(if ADDED_UP.contains(&name) {
            format!("CAST({expression} AS {}) AS {name}", dialect.whole())
        } else {
            format!("{expression} AS {name}")
        });
    }
    let folder = format!("{dataset}/{}", table.name);
    let files = dialect.literal(&format!("{folder}/*/*.{ENDING}"));
    let (day, from) = match dialect {
        Dialect::Spark => (
            "CAST(t.day AS STRING)".to_owned(),
            format!("parquet.`{}` AS t", folder.replace('`', "``")),
        ),
        // Where a folder above is called like that of a day, its name would be taken for the day.
        Dialect::DuckDb if dataset.contains(PARTITION) => (
            format!("regexp_extract(t.filename, '/{PARTITION}([^/]*)/[^/]*$', 1)"),
            format!("read_parquet({files}, hive_partitioning = false, filename = true) AS t"),
        ),
        Dialect::DuckDb => (
            "t.day".to_owned(),
            format!(
                "read_parquet({files}, hive_partitioning = true, hive_types = {{'day': VARCHAR}}) AS t"
            ),
        ),
        // The type of a day is not to be guessed: some are no dates.
        Dialect::ClickHouse => (
            format!("extract(t._path, '/{PARTITION}([^/]*)/[^/]*$')"),
            format!(
                "{} AS t\nSETTINGS use_hive_partitioning = 0",
                source(dataset, &files)
            ),
        ),
    };
    format!("SELECT {}, {day} AS day\nFROM {from}", columns.join(", "))
}

/// A SELECT of no rows, with the columns that those of a table have.
fn nothing(dialect: Dialect, table: &Table) -> String {
    let mut columns = Vec::new();
    for column in table.columns {
        let name = column.name;
        columns.push(match column.kind {
            Kind::Tags => format!("{} AS {name}", dialect.no_tags()),
            _ if ADDED_UP.contains(&name) => format!("CAST(NULL AS {}) AS {name}", dialect.whole()),
            Kind::Text | Kind::Function => format!("CAST(NULL AS {}) AS {name}", dialect.text()),
            Kind::Integer => format!("CAST(NULL AS {}) AS {name}", dialect.integer()),
            Kind::Real | Kind::Scale => format!("CAST(NULL AS {}) AS {name}", dialect.double()),
        });
    }
    let day = format!("CAST(NULL AS {}) AS day", dialect.text());
    format!("SELECT {}, {day}\nWHERE 1 = 0", columns.join(", "))
}

/// The function by which `ClickHouse` reads files of a place.
fn source(dataset: &str, files: &str) -> String {
    if dataset.starts_with("s3://")
        || dataset.starts_with("gs://")
        || dataset.starts_with("https://")
    {
        format!("s3({files}, Parquet)")
    } else {
        format!("file({files}, Parquet)")
    }
}

/// A SELECT of the tags of runs, one row each.
fn tags(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Spark => {
            "SELECT r.run_uid AS run_uid, t.key AS key, t.value AS value\nFROM runs AS r LATERAL VIEW EXPLODE(r.tags) t AS key, value"
        }
        Dialect::DuckDb => {
            "SELECT r.run_uid AS run_uid, UNNEST(map_keys(r.tags)) AS key, UNNEST(map_values(r.tags)) AS value\nFROM runs AS r"
        }
        Dialect::ClickHouse => {
            "SELECT r.run_uid AS run_uid, t.1 AS key, t.2 AS value\nFROM runs AS r\nARRAY JOIN CAST(r.tags AS Array(Tuple(String, String))) AS t"
        }
    }
}
