//! From a question to its answer: understands it, finds what its names mean, and runs its one
//! statement.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Row;

use super::all_metrics::{self, Part};
use super::answer::{Answer, Author, Callers, Placed, Pruned, Rows, Subject, Unknown};
use super::catalog::{Report, ShownNodes};
use super::computed;
use super::dialect::Dialect;
use super::error::{ReportError, failure};
use super::header::{Column, Meaning, Needs};
use super::names::RunNames;
use super::node_rows::{self, ChainRows, PathRows, TreeRows, percent};
use super::nodes::{LeftOut, NodeQuestion, Selected, Start, Tree, Wants, add_up, bottom_up, paths};
use super::one_by_one::ask_each;
use super::plan::{is_from_nodes, plan, sets_with};
use super::question::{Argument, Base, Groups, Question, Request, SORT, has_tree};
use super::selection::{Selection, Target};
use super::statement::{OfRun, Parts};
use crate::events::ROUNDING;
use crate::store::{Cell, Combination, Database, MetricInfo, RunInfo, StoreError};
use crate::text::cell::Value;

const RECORDED: &str = include_str!("../../queries/remarks/recorded.sql");
const CALLERS: &str = include_str!("../../queries/remarks/callers.sql");
const GROUPS_ARE_KNOWN: &str = include_str!("../../queries/remarks/groups_are_known.sql");

/// Asks a report of a run. Where the cost that it shows by default is unknown in every row, it shows
/// one that is known, and says so; so it does where what the rows are to be sorted by is unknown.
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
    let mut answer = match ask_for_known_costs(database, report, run, &metrics, request) {
        Err(ReportError::Several(functions)) => {
            let ask = |one: &Request| self::ask(database, report, run, one);
            return ask_each(database, report, run, request, &functions, ask);
        }
        answer => answer?,
    };
    let Some(unknown) = unknown_order(&mut answer, request)? else {
        return Ok(answer);
    };
    let mut by_cost = request.clone();
    by_cost.arguments.retain(|(name, _)| name != SORT);
    let mut answer = ask_for_known_costs(database, report, run, &metrics, &by_cost)?;
    let sorted_by = answer.subject.as_ref().map(Subject::cost);
    answer.remarks.push(format!(
        "{}: --{SORT} {unknown}: unknown in all rows; sorted by {}",
        run.said(),
        sorted_by.unwrap_or_default()
    ));
    Ok(answer)
}

/// What the rows were to be sorted by, if no row knows it.
fn unknown_order<'q>(
    answer: &mut Answer<'_>,
    request: &'q Request,
) -> Result<Option<&'q str>, StoreError> {
    // Of the cost that is shown, it has been looked at already.
    let Some(order) = request.text_of(SORT).filter(|order| *order != "cost") else {
        return Ok(None);
    };
    // Where all metrics are side by side, the rows have the order of the first one, whose columns come first.
    let is_it = |column: &Column<'_>| column.name.rsplit('.').next() == Some(order);
    let Some(at) = answer.columns.iter().position(is_it) else {
        return Ok(None);
    };
    // Rows that know it come first, so that one is enough.
    match answer.each(|row| Err(Look::Seen(row[at] == Value::Null))) {
        Err(Look::Failed(error)) => Err(error),
        Err(Look::Seen(true)) => Ok(Some(order)),
        Ok(()) | Err(Look::Seen(false)) => Ok(None),
    }
}

/// How a look at the first row of an answer ends.
enum Look {
    /// It was seen, and does not know what is looked for.
    Seen(bool),
    Failed(StoreError),
}

impl From<StoreError> for Look {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// Asks a report of a run. Where the cost that it shows by default is unknown in every row, it shows
/// one that is known, and says so.
fn ask_for_known_costs<'d>(
    database: &'d Database,
    report: &'static Report,
    run: &RunInfo,
    metrics: &[MetricInfo],
    request: &Request,
) -> Result<Answer<'d>, ReportError> {
    if all_metrics::are_asked_for(metrics, request) {
        return ask_all(database, report, run, metrics, request);
    }
    let (answer, known) = answer(database, report, run, metrics, request)?;
    let Known::Not { in_part } = known else {
        return Ok(answer);
    };
    let unknown = Unknown {
        metric: answer
            .subject
            .map_or_else(String::new, |subject| subject.metric.name),
        in_part,
    };
    for other in others(&unknown, metrics, request) {
        let (mut answer, known) = self::answer(database, report, run, metrics, &other)?;
        if let (Known::Yes, Some(subject)) = (known, &mut answer.subject) {
            answer.remarks.push(unknown.remark(subject));
            subject.instead = Some(unknown);
            return Ok(answer);
        }
    }
    // Tables of the session are those of the last question.
    Ok(self::answer(database, report, run, metrics, request)?.0)
}

/// Asks a report of a run once for each metric, and shows them side by side. Where the cost that it
/// shows by default is unknown in all of them, it shows own costs, and says so.
fn ask_all<'d>(
    database: &'d Database,
    report: &'static Report,
    run: &RunInfo,
    metrics: &[MetricInfo],
    request: &Request,
) -> Result<Answer<'d>, ReportError> {
    let questions = all_metrics::questions(report, run, metrics, request)?;
    let asked = |question: &Request| -> Result<(Part, Known), ReportError> {
        let (mut answer, known) = answer(database, report, run, metrics, question)?;
        // Before the next one takes the tables of the session.
        Ok((Part::of(&mut answer)?, known))
    };
    let parts: Vec<_> = questions.iter().map(asked).collect::<Result<_, _>>()?;
    let is_known = parts.iter().any(|(_, known)| *known == Known::Yes);
    let mut parts: Vec<Part> = parts.into_iter().map(|(part, _)| part).collect();
    if !is_known {
        let own = questions.iter().map(|question| {
            let unknown = Unknown {
                metric: question.metric.clone().unwrap_or_default(),
                in_part: false,
            };
            let (mut part, known) = asked(&others(&unknown, &[], question)[0])?;
            if known == Known::Yes
                && let Some(subject) = &mut part.subject
            {
                part.remarks.push(unknown.remark(subject));
                subject.instead = Some(unknown);
            }
            Ok(part)
        });
        parts = own.collect::<Result<_, ReportError>>()?;
    }
    Ok(all_metrics::joined(database, parts, request))
}

/// What may be asked for in place of a cost that is unknown, the likeliest first: own costs, and
/// other metrics unless one was named.
fn others(unknown: &Unknown, metrics: &[MetricInfo], request: &Request) -> Vec<Request> {
    let of = |metric: &str, exclusive: bool| {
        let mut other = request.clone();
        other.metric = Some(metric.to_owned());
        if exclusive {
            other
                .arguments
                .push(("exclusive".to_owned(), Argument::Flag));
        }
        other
    };
    let mut others = vec![of(&unknown.metric, true)];
    if request.metric.is_none() && !unknown.in_part {
        let rest = metrics
            .iter()
            .filter(|metric| metric.name != unknown.metric);
        others.extend(rest.flat_map(|metric| [of(&metric.name, false), of(&metric.name, true)]));
    }
    others
}

/// Whether the cost is known that a report shows by default.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// In some row; or there is no row, or no other cost was to be shown.
    Yes,
    /// In no row; in few ones, where groups are added up without paths.
    Not { in_part: bool },
}

/// Asks a report for the costs of a request, known or not.
fn answer<'d>(
    database: &'d Database,
    report: &'static Report,
    run: &RunInfo,
    metrics: &[MetricInfo],
    request: &Request,
) -> Result<(Answer<'d>, Known), ReportError> {
    let question = Question::new(report, run, metrics, request)?;
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
    asked.check_groups(&names)?;
    let nodes = if is_from_nodes(&question, &selection) {
        Some(asked.node_question()?)
    } else {
        None
    };
    let exclusive_left = question.shows("exclusive") && nodes.is_some() && asked.is_recorded()?;
    let total = asked.total()?;
    let (rows, pruned) = match (question.report.nodes, nodes) {
        (Some(shown), Some(nodes)) => asked.nodes(shown, nodes, total)?,
        (_, nodes) => {
            if let Some(nodes) = nodes {
                asked.add_up_nodes(&names, &nodes)?;
            }
            (asked.rows()?, None)
        }
    };
    let selected = asked.selected()?;
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
        exclusive: question.exclusive,
        beside: None,
        instead: None,
        exclusive_left,
        callers: asked.callers(selected)?,
        pruned,
    };
    let mut answer = Answer {
        subject: Some(subject),
        heading: None,
        script: match request.dialect {
            None => parts.shown(question.report.sql),
            Some(dialect) => portable(database, &question, &parts, dialect)?,
        },
        columns: columns(&question),
        remarks: selection.remarks.clone(),
        dispensable: Vec::new(),
        namesakes: Vec::new(),
        placed: Placed::default(),
        rows,
        author: Author::Us,
        database,
    };
    if !question.header.many_rows {
        answer.keep()?;
    }
    // A report on the lines of functions has nothing to say where none is known.
    if question.shows("callees") && answer.is_empty() {
        let path = question.path.map_or("", |path| path.text);
        return Err(ReportError::NothingSelected(format!(
            "{} has no line numbers for {path}; report callees shows its callees, report data its cost",
            question.run.said()
        )));
    }
    // So has one on lines, but an empty table may be read by a program.
    if question.shows("line_file") && answer.is_empty() && !question.run.knows_lines {
        answer.remarks.push(format!(
            "{} has no line numbers; report summary shows functions",
            question.run.said()
        ));
    }
    let known = asked.known(&mut answer)?;
    if let Some(remark) = unknown_alone(&answer) {
        answer.remarks.push(remark);
    }
    Ok((answer, known))
}

/// Returns the columns of an answer. Costs per call are left out of a mean, whose numbers of calls are rounded.
fn columns(question: &Question<'_>) -> Vec<Column<'static>> {
    let mut columns = question.header.columns.clone();
    let combined = question.run.combined.as_ref();
    if combined.is_some_and(|combined| combined.combination == Combination::Mean) {
        let averages = columns.iter_mut();
        averages
            .filter(|column| column.shows == Some(Meaning::Average))
            .for_each(|column| column.media.clear());
    }
    columns
}

/// What there is to say of a report that shows nothing but cumulative costs, where it knows none.
fn unknown_alone(answer: &Answer<'_>) -> Option<String> {
    let of = |wanted: &[Meaning]| {
        let mut columns = answer.columns.iter();
        columns.position(|column| column.shows.is_some_and(|shows| wanted.contains(&shows)))
    };
    let others = [Meaning::Cost, Meaning::Own, Meaning::Exclusive];
    let (Some(cost), None, false) = (of(&[Meaning::Cumulative]), of(&others), answer.is_empty())
    else {
        return None;
    };
    let subject = answer.subject.as_ref();
    let subject = subject.filter(|_| answer.knows(cost) == Some(false))?;
    let (run, metric) = (subject.run.said(), &subject.metric.name);
    Some(format!(
        "{run}: cumulative {metric} is unknown: report exclusive shows exclusive {metric}"
    ))
}

/// The statement that gives the answer over a dataset with the run.
fn portable(
    database: &Database,
    question: &Question<'_>,
    parts: &Parts,
    dialect: Dialect,
) -> Result<String, ReportError> {
    let mut places = BTreeMap::new();
    let run = question.run.run_id;
    database.each_dataset_row("functions", run, |cells| {
        if let Some(Cell::Integer(number)) = cells.first() {
            places.insert(*number, i64::try_from(places.len()).unwrap_or(i64::MAX) + 1);
        }
    })?;
    let uid = database
        .dataset_run(run)?
        .map_or_else(String::new, |run| run.run_uid);
    let of_run = OfRun {
        dialect,
        uid: &uid,
        places: &places,
    };
    parts.portable(question.report.sql, &of_run).map_err(|why| {
        ReportError::Usage(format!(
            "--dialect: report {} has no statement for {} because {why}; without --dialect, the statement for SQLite is shown",
            question.report.name,
            dialect.name()
        ))
    })
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
    fn check_groups(&self, names: &RunNames<'_>) -> Result<(), ReportError> {
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
        let run = self.question.run.said();
        let instead = names.instead_of(what)?;
        Err(ReportError::NoGroups(format!(
            "no function of {run} has a {what}; {instead}"
        )))
    }

    /// Whether the question is about all that the run cost.
    fn is_all(&self) -> bool {
        self.selection.target == Target::Run && !self.selection.is_filtered(self.question)
    }

    /// Remembers what is selected, if it is less than the whole run; refuses a question that selects
    /// nothing.
    fn select(&mut self, selected: Selected) -> Result<(), ReportError> {
        // Of the whole run, the file states what it cost.
        if self.is_all() {
            return Ok(());
        }
        if selected.is_any {
            self.selected = Some(selected.cost);
            return Ok(());
        }
        Err(ReportError::NothingSelected(
            if self.selection.target == Target::Nodes {
                let run = self.question.run.said();
                let path = self.question.path.map_or("", |path| path.text);
                format!("no call in {run} matches the path {path}")
            } else {
                "the filters remove everything that is selected".to_owned()
            },
        ))
    }

    /// Adds up nodes; refuses a question that selects nothing.
    fn add_up_nodes(
        &mut self,
        names: &RunNames<'_>,
        nodes: &NodeQuestion,
    ) -> Result<(), ReportError> {
        let filled = BTreeSet::from(computed::FILLED);
        let statement = self.parts.statement(self.question.report.sql, &filled);
        let wants = computed::wants(self.question, &statement);
        let connection = self.database.connection();
        let failed = |source| failure(self.database, source);
        let sums = add_up(connection, nodes, wants).map_err(failed)?;
        let run = self.question.run.said();
        self.select(sums.selected)?;
        match self.question.groups {
            Groups::Containers(kind) if sums.containers.is_empty() => {
                return Err(ReportError::NothingSelected(format!(
                    "the selected part of {run} has no {}",
                    kind.name()
                )));
            }
            _ => {}
        }
        self.tables = computed::fill(connection, self.question, wants, &sums).map_err(failed)?;
        if self.is_all() {
            self.tables.remove("selected");
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
            Groups::Identities | Groups::Modules | Groups::Files => Some(
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

    /// The rows of the answer that the statement of the report gives.
    fn rows(&self) -> Result<Rows<'d>, StoreError> {
        let sql = self.parts.statement(self.question.report.sql, &self.tables);
        let statement = self.parts.prepare(self.database.connection(), &sql);
        let statement = statement.map_err(|source| failure(self.database, source))?;
        Ok(Rows::Statement(statement))
    }

    /// The rows of an answer that shows nodes, and what depth and thresholds leave out of them.
    /// Refuses a question that selects nothing.
    fn nodes(
        &mut self,
        shown: ShownNodes,
        nodes: NodeQuestion,
        total: f64,
    ) -> Result<(Rows<'d>, Option<Pruned>), ReportError> {
        let connection = self.database.connection();
        let failed = |source| failure(self.database, source);
        let is_of_all = self.question.base == Base::Total || self.is_all();
        // What is selected is known after the pass that finds the rows.
        let base = |selected: &Selected| if is_of_all { total } else { selected.cost };
        let pruned = |left: LeftOut, base: f64| Pruned {
            rows: left.rows,
            cost: left.cost,
            percent: percent(left.cost, base),
        };
        let prunes = self.question.prunes();
        let mut limits = node_rows::limits(self.question, total);
        Ok(match shown {
            ShownNodes::Tree => {
                let (tree, selected) = Tree::new(connection, nodes).map_err(failed)?;
                limits.total = base(&selected);
                let rows = TreeRows {
                    tree,
                    limits,
                    with_code: self.question.code,
                };
                let left = if prunes {
                    let left = rows.left_out().map_err(failed)?;
                    Some(pruned(left, limits.total))
                } else {
                    None
                };
                self.select(selected)?;
                (Rows::Computed(Box::new(rows)), left)
            }
            ShownNodes::BottomUp => {
                let start = match (self.question.path, self.question.exclusive) {
                    (None, _) => Start::Everywhere,
                    (Some(_), false) => Start::Selection,
                    (Some(_), true) => Start::SelectionItself,
                };
                let (rows, left, selected) =
                    bottom_up(connection, &nodes, start, &limits, base).map_err(failed)?;
                let total = base(&selected);
                self.select(selected)?;
                let rows = ChainRows {
                    connection,
                    rows,
                    total,
                };
                let left = prunes.then(|| pruned(left, total));
                (Rows::Computed(Box::new(rows)), left)
            }
            ShownNodes::Paths => {
                if !is_of_all && limits.min_pct.is_some() {
                    // Places are dropped on the way, and so 100 % has to be known before.
                    let sums = add_up(connection, &nodes, Wants::default()).map_err(failed)?;
                    limits.total = sums.selected.cost;
                }
                let (rows, selected) = paths(connection, &nodes, &limits).map_err(failed)?;
                let total = base(&selected);
                self.select(selected)?;
                let rows = PathRows { rows, total };
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
        if self.is_all() || self.selection.target == Target::EachFunction {
            return Ok(None);
        }
        if self.selected.is_some() {
            return Ok(self.selected);
        }
        let cost = self.aside("SELECT s.cost FROM selected AS s;", |row| row.get(0))?;
        Ok(cost.flatten())
    }

    /// Whether the cost that the report shows by default is known.
    fn known(&self, answer: &mut Answer<'_>) -> Result<Known, StoreError> {
        let mut columns = answer.columns.iter();
        let Some(cost) = columns.position(|column| column.shows == Some(Meaning::Cost)) else {
            return Ok(Known::Yes);
        };
        // What functions of a group cost with what they called is known without paths only where the
        // group is one function: these would come first, and all that matters after them.
        let is_grouped = matches!(
            self.question.groups,
            Groups::Identities | Groups::Modules | Groups::Files
        ) && !is_from_nodes(self.question, self.selection)
            && !self.question.exclusive;
        if !is_grouped && answer.knows(cost) == Some(true) {
            return Ok(Known::Yes);
        }
        let counts = "SELECT COUNT(*), COUNT(e.cost) FROM entries AS e;";
        let counts: Option<(i64, i64)> =
            self.aside(counts, |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(match counts.unwrap_or_default() {
            (rows, 0) if rows > 0 => Known::Not { in_part: false },
            (rows, known) if is_grouped && known < rows => Known::Not { in_part: true },
            _ => Known::Yes,
        })
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
                if selected.is_some_and(|cost| (sum - cost).abs() <= ROUNDING * cost.abs()) =>
            {
                None
            }
            Some((_, sum)) => Some(Callers { sum }),
        })
    }
}
