//! From a question to its answer: understands it, finds what its names mean, and runs its one
//! statement.

use std::collections::BTreeSet;

use rusqlite::Row;

use super::answer::{Answer, Author, Callers, Pruned, Rows, Subject};
use super::catalog::{Report, ShownNodes};
use super::computed;
use super::error::{ReportError, failure};
use super::header::Needs;
use super::names::RunNames;
use super::node_rows::{self, ChainRows, PathRows, TreeRows, percent};
use super::nodes::{LeftOut, NodeQuestion, Start, Tree, add_up, bottom_up, paths};
use super::plan::{is_from_nodes, plan, sets_with};
use super::question::{Base, Groups, Question, Request, has_tree};
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
    let mut asked = Asked {
        database,
        question: &question,
        selection: &selection,
        parts: &parts,
        tables: BTreeSet::new(),
        selected: None,
    };
    asked.check_groups()?;
    let nodes = if is_from_nodes(&question, &selection) {
        Some(asked.node_question()?)
    } else {
        None
    };
    if let Some(nodes) = &nodes {
        asked.add_up_nodes(&names, nodes)?;
    }
    let total = asked.total()?;
    let selected = asked.selected()?;
    let base = match question.base {
        Base::Selection => selected.unwrap_or(total),
        Base::Total => total,
    };
    let exclusive_left = question.shows("exclusive") && nodes.is_some() && asked.is_recorded()?;
    let (rows, pruned) = asked.rows(nodes, base)?;
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
        exclusive_left,
        callers: asked.callers(selected)?,
        pruned,
    };
    let many_rows = question.header.many_rows;
    let mut answer = Answer {
        subject: Some(subject),
        script: parts.shown(question.report.sql),
        columns: question.header.columns,
        remarks: selection.remarks,
        rows,
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
struct Asked<'d, 'a> {
    database: &'d Database,
    question: &'a Question<'a>,
    selection: &'a Selection,
    parts: &'a Parts,
    /// Parts of the statement that are tables.
    tables: BTreeSet<&'static str>,
    /// The cost of what is selected, where nodes were added up.
    selected: Option<f64>,
}

impl<'d> Asked<'d, '_> {
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

    /// All rows of two columns that a SELECT over the parts of the statement gives.
    fn pairs(&self, select: &str) -> Result<Vec<(i64, i64)>, StoreError> {
        let sql = self
            .parts
            .aside(self.question.report.sql, select, &self.tables);
        let rows = || -> rusqlite::Result<Vec<(i64, i64)>> {
            let mut statement = self.parts.prepare(self.database.connection(), &sql)?;
            let mut rows = statement.raw_query();
            let mut pairs = Vec::new();
            while let Some(row) = rows.next()? {
                pairs.push((row.get(0)?, row.get(1)?));
            }
            Ok(pairs)
        };
        rows().map_err(|source| failure(self.database, source))
    }

    /// Refuses groups by module or file where no function has any.
    fn check_groups(&self) -> Result<(), ReportError> {
        let what = match self.question.groups {
            Groups::Modules => "module",
            Groups::Files => "file",
            _ => return Ok(()),
        };
        if self
            .aside(GROUPS_ARE_KNOWN, |row| row.get(0))?
            .unwrap_or(false)
        {
            return Ok(());
        }
        let run = self.question.run.run_id;
        Err(ReportError::NothingSelected(format!(
            "no function of run {run} has a {what}"
        )))
    }

    /// Adds up nodes; refuses a question that selects nothing.
    fn add_up_nodes(
        &mut self,
        names: &RunNames<'_>,
        nodes: &NodeQuestion,
    ) -> Result<(), ReportError> {
        let is_all =
            self.selection.target == Target::Run && !self.selection.is_filtered(self.question);
        // The rows of a whole run need no sum.
        if is_all && self.question.report.nodes.is_some() {
            return Ok(());
        }
        let wants = computed::wants(self.question);
        let connection = self.database.connection();
        let failed = |source| failure(self.database, source);
        let sums = add_up(connection, nodes, wants).map_err(failed)?;
        let run = self.question.run.run_id;
        if !sums.is_any && !is_all {
            return Err(ReportError::NothingSelected(
                if self.selection.target == Target::Nodes {
                    let path = self.question.path.unwrap_or_default();
                    format!("no call in run {run} follows the path {path}")
                } else {
                    "the filters leave nothing of what is selected".to_owned()
                },
            ));
        }
        match self.question.groups {
            Groups::Containers(kind) if sums.containers.is_empty() => {
                return Err(ReportError::NothingSelected(format!(
                    "there is no {} in what is selected of run {run}",
                    kind.name()
                )));
            }
            _ => {}
        }
        self.tables = computed::fill(connection, self.question, wants, &sums).map_err(failed)?;
        if is_all {
            // Of the whole run, the file states what it cost.
            self.tables.remove("selected");
        } else {
            self.selected = Some(sums.selected);
        }
        if let Groups::Label(key) = self.question.groups {
            let has = "SELECT EXISTS (SELECT 1 FROM known_groups);";
            if !self.aside(has, |row| row.get(0))?.unwrap_or(false) {
                let unknown = names.unknown_label(key, None, true)?;
                return Err(ReportError::NothingSelected(unknown));
            }
        }
        Ok(())
    }

    /// The question for a pass over nodes.
    fn node_question(&self) -> Result<NodeQuestion, StoreError> {
        let groups = match self.question.groups {
            Groups::Modules | Groups::Files => Some(
                self.pairs("SELECT function_id, group_id FROM group_of;")?
                    .into_iter()
                    .collect(),
            ),
            _ => None,
        };
        let labels = if self.question.labels.is_empty() {
            None
        } else {
            let sets = self.pairs("SELECT set_id, 0 FROM wanted_sets;")?;
            Some(sets.into_iter().map(|(set, _)| set).collect())
        };
        Ok(computed::node_question(
            self.question,
            self.selection,
            groups,
            labels,
            self.database.stop(),
        ))
    }

    /// The rows of the answer, and what depth and thresholds leave out of them.
    fn rows(
        &self,
        nodes: Option<NodeQuestion>,
        base: f64,
    ) -> Result<(Rows<'d>, Option<Pruned>), StoreError> {
        let connection = self.database.connection();
        let failed = |source| failure(self.database, source);
        let pruned = |left: LeftOut| Pruned {
            rows: left.rows,
            cost: left.cost,
            percent: percent(left.cost, base),
        };
        let limits = node_rows::limits(self.question, base);
        Ok(match self.question.report.nodes.zip(nodes) {
            None => {
                let sql = self.parts.statement(self.question.report.sql, &self.tables);
                let statement = self.parts.prepare(connection, &sql).map_err(failed)?;
                (Rows::Statement(statement), None)
            }
            Some((ShownNodes::Tree, nodes)) => {
                let rows = TreeRows {
                    tree: Tree::new(connection, nodes).map_err(failed)?,
                    limits,
                    with_code: self.question.code,
                };
                let left = if self.question.prunes() {
                    Some(pruned(rows.left_out().map_err(failed)?))
                } else {
                    None
                };
                (Rows::Computed(Box::new(rows)), left)
            }
            Some((ShownNodes::BottomUp, nodes)) => {
                let start = match (self.question.path, self.question.exclusive) {
                    (None, _) => Start::Everywhere,
                    (Some(_), false) => Start::Selection,
                    (Some(_), true) => Start::SelectionItself,
                };
                let (rows, left) = bottom_up(connection, &nodes, start, &limits).map_err(failed)?;
                let rows = ChainRows {
                    connection,
                    rows,
                    total: base,
                };
                let left = self.question.prunes().then(|| pruned(left));
                (Rows::Computed(Box::new(rows)), left)
            }
            Some((ShownNodes::Paths, nodes)) => {
                let rows = paths(connection, &nodes, &limits).map_err(failed)?;
                let rows = PathRows { rows, total: base };
                (Rows::Computed(Box::new(rows)), None)
            }
        })
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
        if self.selected.is_some() {
            return Ok(self.selected);
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
}
