//! From a question to its answer: understands it, finds what its names mean, and runs its one
//! statement.

use std::collections::BTreeSet;

use rusqlite::Row;

use super::answer::{Answer, Author, Callers, Pruned, Rows, Subject};
use super::catalog::Report;
use super::error::{ReportError, failure};
use super::header::Needs;
use super::names::RunNames;
use super::plan::{is_from_nodes, plan, sets_with};
use super::question::{Groups, Question, Request, has_tree};
use super::selection::{Selection, Target};
use super::statement::Parts;
use crate::store::{Database, MetricInfo, RunInfo, StoreError};

const RECORDED: &str = include_str!("../../queries/remarks/recorded.sql");
const CALLERS: &str = include_str!("../../queries/remarks/callers.sql");
const GROUPS_ARE_KNOWN: &str = include_str!("../../queries/remarks/groups_are_known.sql");

/// Asks a report of a run.
///
/// # Errors
/// When the run does not know enough for the report, when a name is unknown, or when the database
/// fails.
pub fn ask<'d>(
    database: &'d Database,
    report: &'static Report,
    run: &RunInfo,
    request: &Request,
) -> Result<Answer<'d>, ReportError> {
    let metrics = database.metrics(run.run_id)?;
    let question = Question::new(report, run, &metrics, request)?;
    let names = RunNames::new(database, run, question.names);
    check_labels(&names, database, &question)?;
    let selection = Selection::new(&question, &names)?;
    let parts = plan(&question, &selection);
    let asked = Asked {
        database,
        question: &question,
        selection: &selection,
        parts: &parts,
        tables: BTreeSet::new(),
    };
    asked.check(&names)?;
    let total = asked.total()?;
    let selected = asked.selected()?;
    let text = question.report.sql;
    let statement = parts
        .prepare(
            database.connection(),
            &parts.statement(text, &asked.tables),
        )
        .map_err(|source| failure(database, source))?;
    let subject = Subject {
        report: question.report.name,
        run: run.clone(),
        metric: MetricInfo {
            total,
            ..question.metric.clone()
        },
        timer_readings: question.readings.is_some(),
        selected,
        bias: question.bias,
        exclusive_left: question.shows("exclusive")
            && is_from_nodes(&question, &selection)
            && asked.is_recorded()?,
        callers: asked.callers(selected)?,
        pruned: asked.left_out()?,
    };
    let many_rows = question.header.many_rows;
    let mut answer = Answer {
        subject: Some(subject),
        script: parts.shown(text),
        columns: question.header.columns,
        remarks: selection.remarks,
        rows: Rows::Statement(statement),
        author: Author::Us,
        database,
    };
    if !many_rows {
        answer.keep()?;
    }
    Ok(answer)
}

/// Refuses labels that no sample has. This is looked at label by label, so that the message names
/// the one that leaves nothing.
fn check_labels(
    names: &RunNames<'_>,
    database: &Database,
    question: &Question<'_>,
) -> Result<(), ReportError> {
    if question.header.needs == Needs::Labels {
        names.check_labels()?;
    }
    if !has_tree(question.run) {
        return Ok(());
    }
    for (at, (key, value)) in question.labels.iter().enumerate() {
        let parts = sets_with(question.run.run_id, &question.labels[..=at]);
        let sql = parts.statement("SELECT COUNT(*) FROM wanted_sets;", &BTreeSet::new());
        let sets: i64 = one(database, &parts, &sql, |row| row.get(0))?.unwrap_or_default();
        if sets == 0 {
            let unknown = names.unknown_label(key, *value, at > 0)?;
            return Err(ReportError::NothingSelected(unknown));
        }
    }
    Ok(())
}

/// The one row that a statement gives, if it gives one.
fn one<T>(
    database: &Database,
    parts: &Parts,
    sql: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    let row = || -> rusqlite::Result<Option<T>> {
        let mut statement = parts.prepare(database.connection(), sql)?;
        let mut rows = statement.raw_query();
        rows.next()?.map(read).transpose()
    };
    row().map_err(|source| failure(database, source))
}

/// A question that is being answered.
struct Asked<'a> {
    database: &'a Database,
    question: &'a Question<'a>,
    selection: &'a Selection,
    parts: &'a Parts,
    /// Parts of the statement that are tables.
    tables: BTreeSet<&'static str>,
}

impl Asked<'_> {
    /// What a SELECT over the parts of the statement says.
    fn aside<T>(
        &self,
        select: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let sql = self
            .parts
            .aside(self.question.report.sql, select, &self.tables);
        one(self.database, self.parts, &sql, read)
    }

    /// Refuses a question that selects nothing.
    fn check(&self, names: &RunNames<'_>) -> Result<(), ReportError> {
        let run = self.question.run.run_id;
        let is_filtered = self.selection.is_filtered(self.question);
        let has = |select: &str| -> Result<bool, StoreError> {
            Ok(self.aside(select, |row| row.get(0))?.unwrap_or(false))
        };
        if self.selection.target == Target::Nodes
            && !has("SELECT EXISTS (SELECT 1 FROM subtrees);")?
        {
            let path = self.question.path.unwrap_or_default();
            return Err(ReportError::NothingSelected(format!(
                "no call in run {run} follows the path {path}"
            )));
        }
        if self.selection.target == Target::Run
            && is_filtered
            && !has("SELECT EXISTS (SELECT 1 FROM subtrees);")?
        {
            return Err(ReportError::NothingSelected(
                "the filters leave nothing of what is selected".to_owned(),
            ));
        }
        let known = match self.question.groups {
            Groups::Functions => true,
            Groups::Modules | Groups::Files => has(GROUPS_ARE_KNOWN)?,
            Groups::Containers(_) | Groups::Label(_) => {
                has("SELECT EXISTS (SELECT 1 FROM known_groups);")?
            }
        };
        if known {
            return Ok(());
        }
        Err(ReportError::NothingSelected(match self.question.groups {
            Groups::Label(key) => names.unknown_label(key, None, true)?,
            Groups::Containers(kind) => format!(
                "there is no {} in what is selected of run {run}",
                kind.name()
            ),
            Groups::Files => format!("no function of run {run} has a file"),
            _ => format!("no function of run {run} has a module"),
        }))
    }

    /// The total of the run, with the timer bias of the question.
    fn total(&self) -> Result<f64, StoreError> {
        let total = self.aside("SELECT q.total FROM question AS q;", |row| row.get(0))?;
        Ok(total.flatten().unwrap_or(0.0))
    }

    /// The cost of what is selected; `None` if that is the whole run or if the cost is unknown.
    fn selected(&self) -> Result<Option<f64>, StoreError> {
        if self.selection.target == Target::Run && !self.selection.is_filtered(self.question) {
            return Ok(None);
        }
        let cost = self.aside("SELECT s.cost FROM selected AS s;", |row| row.get(0))?;
        Ok(cost.flatten())
    }

    /// Whether the file itself states exclusive costs of functions.
    fn is_recorded(&self) -> Result<bool, StoreError> {
        Ok(self.aside(RECORDED, |row| row.get(0))?.unwrap_or(false))
    }

    /// What the callers of a function add up to, where that is not what the function cost. A
    /// function without callers has none that could differ. In a tree, callers' nodes make up the
    /// function's; a file of edges states both, and they may differ.
    fn callers(&self, selected: Option<f64>) -> Result<Option<Callers>, StoreError> {
        if self.selection.target != Target::Functions
            || has_tree(self.question.run)
            || !self.question.shows("caller")
        {
            return Ok(None);
        }
        let found: Option<(i64, Option<f64>)> =
            self.aside(CALLERS, |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(match found {
            None | Some((0, _)) => None,
            // The two are added up in different orders, and each addition rounds.
            Some((_, Some(sum)))
                if selected.is_some_and(|cost| (sum - cost).abs() <= 1e-9 * cost.abs()) =>
            {
                None
            }
            Some((_, sum)) => Some(Callers { sum }),
        })
    }

    /// What depth and thresholds leave out.
    fn left_out(&self) -> Result<Option<Pruned>, StoreError> {
        let Some(select) = self.question.report.left_out else {
            return Ok(None);
        };
        if !self.question.prunes() {
            return Ok(None);
        }
        self.aside(select, |row| {
            Ok(Pruned {
                rows: row.get(0)?,
                cost: row.get(1)?,
                percent: row.get(2)?,
            })
        })
    }
}
