//! Reads the figures of all runs into one table.

use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::HashMap;

use super::bounds::bounds;
use super::doubts::{check_named, nothing_selected};
use super::grouped::{Meant, Nothing, grouped, key, meant};
use super::items::{Dictionary, Items};
use super::judge::Noise;
use super::metrics::Chosen;
use super::pairs::Folders;
use super::request::{By, CompareError, Request};
use super::run::ComparedRun;
use super::table::{Column, Metrics, Table};
use super::whole::{Costs, whole_costs};
use crate::store::{Database, FunctionSums, StoreError};

/// What was read of all runs.
pub(super) struct Read<'d> {
    pub(super) table: Table,
    pub(super) functions: Functions<'d>,
    /// What the filters leave of each run; `None` for whole runs.
    pub(super) selected: Option<[Vec<f64>; 2]>,
    /// What they leave of the earlier runs, or their totals.
    pub(super) earlier_totals: Vec<f64>,
    /// The statements of the reports that were asked, for the sqlite3 shell; empty where none was.
    pub(super) script: String,
}

/// Reads the figures of all functions of whole runs, whatever a request is about; `None` where there are none: a run without
/// functions may have labels, lines or threads.
pub(super) fn read_whole<'d>(
    sides: &[Vec<&ComparedRun<'d>>; 2],
    chosen: &[Vec<Chosen>; 2],
    earlier: &[(ComparedRun<'d>, Chosen)],
    noise: Noise,
    request: &Request,
) -> Result<Option<Read<'d>>, CompareError> {
    let whole = request.of_whole_runs();
    match read(sides, chosen, earlier, noise, &whole, &[], &mut Vec::new()) {
        Ok(found) => Ok(Some(found)),
        Err(CompareError::NothingSelected(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the figures of all runs. Functions of `folders` that are one fit a filter together.
pub(super) fn read<'d>(
    sides: &[Vec<&ComparedRun<'d>>; 2],
    chosen: &[Vec<Chosen>; 2],
    earlier: &[(ComparedRun<'d>, Chosen)],
    noise: Noise,
    request: &Request,
    folders: &[Folders],
    warnings: &mut Vec<String>,
) -> Result<Read<'d>, CompareError> {
    let mut reader = Reader::default();
    reader.functions.agree(sides, warnings)?;
    if !request.knows_definitions() {
        let earlier = earlier.iter().map(|(run, chosen)| (run, chosen));
        let given = sides.iter().flatten().copied().zip(chosen.iter().flatten());
        let all: Vec<_> = given.chain(earlier).collect();
        for (run, chosen) in &all {
            let dictionary = reader.functions.dictionary(run.database);
            dictionary.learn(run, chosen.metrics.calls)?;
        }
        let databases = &reader.functions.databases;
        let dictionaries: Vec<&Dictionary> =
            databases.iter().map(|(_, dictionary)| dictionary).collect();
        let known: Vec<(&ComparedRun<'_>, &Dictionary)> = all
            .iter()
            .filter_map(|(run, _)| {
                let of_run = |(database, _): &&(&Database, Dictionary)| {
                    std::ptr::eq(*database, run.database)
                };
                let (_, dictionary) = databases.iter().find(of_run)?;
                Some((*run, dictionary))
            })
            .collect();
        reader.meant = meant(&known, &dictionaries, request, folders)?;
    }
    let given = sides.iter().zip(chosen).map(|(runs, chosen)| {
        let runs = runs.iter().copied().zip(chosen);
        runs.collect::<Vec<(&ComparedRun<'d>, &Chosen)>>()
    });
    let sets: Vec<Vec<(&ComparedRun<'d>, &Chosen)>> = given
        .chain([earlier.iter().map(|(run, chosen)| (run, chosen)).collect()])
        .collect();
    let mut columns: Vec<Vec<Column>> = Vec::new();
    for runs in sets {
        let mut read = Vec::new();
        for (run, chosen) in runs {
            read.push(reader.column(run, chosen, noise, request)?);
        }
        columns.push(read);
    }
    let history = columns.pop().unwrap_or_default();
    let new = columns.pop().unwrap_or_default();
    let columns = [columns.pop().unwrap_or_default(), new];
    let Reader {
        mut functions,
        items,
        unknown,
        selected,
        script,
        nothing,
        meant,
        ..
    } = reader;
    warnings.extend(meant.notes().cloned());
    if let (true, Some((_, nothing))) = (items.is_empty(), nothing.first()) {
        return Err(CompareError::NothingSelected(nothing.reason().to_owned()));
    }
    check_named(chosen, &nothing)?;
    let is_selected = selected.iter().any(Option::is_some);
    let mut selected = selected.into_iter();
    let mut costs = |chosen: &mut dyn Iterator<Item = &Chosen>| -> Vec<f64> {
        chosen
            .map(|chosen| selected.next().flatten().unwrap_or(chosen.metric.total))
            .collect()
    };
    let of_sides = [0, 1].map(|side: usize| costs(&mut chosen[side].iter()));
    let earlier_totals = costs(&mut earlier.iter().map(|(_, chosen)| chosen));
    if is_selected {
        warnings.extend(nothing_selected(&of_sides, &nothing));
    }
    let selected = is_selected.then_some(of_sides);
    if items.is_empty() {
        return Err(CompareError::NothingSelected(match request.by {
            By::Line => "no run has costs of lines; compare functions".to_owned(),
            _ => "the runs have no costs to compare".to_owned(),
        }));
    }
    if request.by == By::Function && !request.knows_definitions() {
        for (_, dictionary) in &mut functions.databases {
            dictionary.settle(|identity| items.known(&key(&identity.names)));
        }
    }
    let asked = if request.by == By::Function {
        functions.items_of(&meant.named().collect(), &items)
    } else {
        Vec::new()
    };
    let mut table = Table::new(items, columns, history);
    for row in asked
        .into_iter()
        .filter_map(|item| table.row(item))
        .collect::<Vec<_>>()
    {
        table.items[row].is_asked = true;
    }
    if !unknown.is_empty() {
        warnings.push(format!(
            "left out, because a run lacks their inclusive cost: {}",
            match unknown.len() {
                1 => "1 row".to_owned(),
                rows => format!("{rows} rows"),
            }
        ));
        // Rows are in another order than that in which items were read.
        let rows = unknown.into_iter().filter_map(|item| table.row(item));
        let rows: BTreeSet<usize> = rows.collect();
        table.drop_rows(&rows);
    }
    table.weigh_samples();
    Ok(Read {
        table,
        functions,
        selected,
        earlier_totals,
        script,
    })
}

/// What is gathered while runs are read.
#[derive(Default)]
struct Reader<'d> {
    functions: Functions<'d>,
    /// Where the figures of the functions of each database are, if nothing but them is read.
    sums: Vec<(&'d Database, FunctionSums<'d>)>,
    items: Items,
    meant: Meant,
    unknown: BTreeSet<usize>,
    /// What the filters leave, run by run.
    selected: Vec<Option<f64>>,
    script: String,
    /// Runs that have nothing to show, by their place among all that are read, and why.
    nothing: Vec<(usize, Nothing)>,
}

impl<'d> Reader<'d> {
    /// The figures of a run.
    fn column(
        &mut self,
        run: &ComparedRun<'d>,
        chosen: &Chosen,
        noise: Noise,
        request: &Request,
    ) -> Result<Column, CompareError> {
        let metrics = Metrics {
            samples: chosen.metrics.samples.filter(|_| noise == Noise::Sampled),
            ..chosen.metrics
        };
        let mut column = if request.knows_definitions() {
            let mut known = self.sums.iter();
            let known = known.position(|(database, _)| std::ptr::eq(*database, run.database));
            let at = if let Some(at) = known {
                at
            } else {
                self.sums
                    .push((run.database, run.database.function_sums()?));
                self.sums.len() - 1
            };
            let dictionary = self.functions.dictionary(run.database);
            let asked = if request.cumulative {
                Costs::WithCalled
            } else {
                Costs::Own
            };
            let (sums, items) = (&self.sums[at].1, &mut self.items);
            let total = chosen.metric.total;
            let (column, unknown) =
                whole_costs(run, metrics, total, asked, sums, dictionary, items)?;
            self.unknown.extend(unknown);
            if request.cumulative && request.statements {
                let shown = grouped(
                    run,
                    &chosen.metric.name,
                    &self.meant,
                    dictionary,
                    request,
                    &mut Items::default(),
                )?;
                self.script
                    .push_str(&shown.map_or_else(|_| String::new(), |shown| shown.script));
            }
            column
        } else {
            self.grouped(run, chosen, metrics, request)?
        };
        if let (None, Some(quantum), Noise::Sampled) = (&column.samples, chosen.quantum, noise) {
            column.samples = Some(column.costs.iter().map(|cost| cost / quantum).collect());
        }
        if let Some(cost) = column.costs.iter().find(|cost| !cost.is_finite()) {
            return Err(CompareError::NothingSelected(format!(
                "{} has a cost of {cost}, which cannot be compared",
                run.said()
            )));
        }
        Ok(column)
    }

    /// The figures of a run that a report shows.
    fn grouped(
        &mut self,
        run: &ComparedRun<'_>,
        chosen: &Chosen,
        metrics: Metrics,
        request: &Request,
    ) -> Result<Column, CompareError> {
        let mut databases = self.functions.databases.iter();
        let dictionary = databases.find(|(database, _)| std::ptr::eq(*database, run.database));
        let Some((_, dictionary)) = dictionary else {
            return Ok(Column::default());
        };
        let asked = |metric: &str, items: &mut Items| {
            grouped(run, metric, &self.meant, dictionary, request, items)
        };
        let found = match asked(&chosen.metric.name, &mut self.items)? {
            Ok(found) => found,
            Err(nothing) => {
                self.nothing.push((self.selected.len(), nothing));
                self.selected.push(Some(0.0));
                return Ok(Column {
                    samples: metrics.samples.map(|_| Vec::new()),
                    ..Column::default()
                });
            }
        };
        let mut column = found.column;
        let unknown = bounds(
            run,
            &chosen.metric,
            found.unknown,
            dictionary,
            request,
            &mut column,
        )?;
        if request.by == By::Function {
            // A row of the report is one, however many functions of the run it is.
            let shown = std::mem::take(&mut column.functions);
            column.functions = vec![0; shown.len()];
            run.database.each_function_sum(metrics.calls, |sum| {
                let identity = dictionary.learnt(sum.function_id);
                let item = identity
                    .filter(|identity| identity.is_code())
                    .and_then(|identity| self.items.known(&key(&identity.names)));
                // Functions of the run outside of the selection do not count.
                if let Some(item) = item.filter(|item| shown.get(*item) > Some(&0)) {
                    column.count(item);
                }
            })?;
        }
        self.unknown.extend(unknown);
        self.selected.push(found.selected);
        self.script.push_str(&found.script);
        column.samples = match metrics.samples {
            None => None,
            Some(samples) if samples == metrics.cost => Some(column.costs.clone()),
            Some(samples) => {
                let known = run.database.metrics(run.run.run_id)?;
                let name = known.iter().find(|metric| metric.metric_id == samples);
                match name {
                    None => None,
                    Some(metric) => match asked(&metric.name, &mut self.items)? {
                        Ok(found) => Some(found.column.costs),
                        Err(_) => Some(Vec::new()),
                    },
                }
            }
        };
        Ok(column)
    }
}

/// The functions of each database, by the items that they belong to.
#[derive(Default)]
pub(super) struct Functions<'d> {
    databases: Vec<(&'d Database, Dictionary)>,
}

impl<'d> Functions<'d> {
    /// Sees to it that identities of all databases are made by one set of rules: those of the first run of base.
    fn agree(
        &mut self,
        sides: &[Vec<&ComparedRun<'d>>; 2],
        warnings: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let first = sides[0][0].database;
        let digest = first.identity_digest()?;
        let mut rules = None;
        for run in sides.iter().flatten() {
            if run.database.identity_digest()? == digest {
                continue;
            }
            if rules.is_none() {
                rules = Some(Arc::new(first.identity_rules()?));
                warnings.push(format!(
                    "{} has other identity rules than base; the rules of base apply",
                    run.said()
                ));
            }
            self.dictionary(run.database).rules.clone_from(&rules);
        }
        Ok(())
    }

    pub(super) fn dictionary(&mut self, database: &'d Database) -> &mut Dictionary {
        let known = self
            .databases
            .iter()
            .position(|(known, _)| std::ptr::eq(*known, database));
        let at = known.unwrap_or_else(|| {
            self.databases.push((database, Dictionary::default()));
            self.databases.len() - 1
        });
        &mut self.databases[at].1
    }

    /// Returns the items of some identities.
    fn items_of(&self, keys: &BTreeSet<&Vec<u8>>, items: &Items) -> Vec<usize> {
        let learnt = self.databases.iter().flat_map(|(_, known)| known.code());
        learnt
            .filter(|identity| keys.contains(&identity.key))
            .filter_map(|identity| items.known(&key(&identity.names)))
            .collect()
    }

    /// Returns name, module and file of the functions that have the name of a row, as far as functions have been learnt.
    pub(super) fn namesakes(&self, table: &Table, by: &By) -> Vec<[String; 3]> {
        if !matches!(by, By::Function | By::Caller) {
            return Vec::new();
        }
        let items = table.items.iter();
        let names: BTreeSet<&str> = items.map(|item| item.names[0].as_str()).collect();
        let learnt = self.databases.iter().flat_map(|(_, known)| known.code());
        let names = learnt
            .map(|identity| &identity.names)
            .filter(|[name, ..]| names.contains(name.as_str()));
        names
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// How many functions of one database belong to each row, at most.
    pub(super) fn of_each_row(&self, table: &Table) -> Vec<usize> {
        let mut most = vec![0; table.items.len()];
        for (_, dictionary) in &self.databases {
            let mut of_row = vec![0; table.items.len()];
            let known = dictionary.functions().filter_map(|(_, item)| item);
            for row in known.filter_map(|item| table.row(item)) {
                of_row[row] += 1;
            }
            for (most, of_row) in most.iter_mut().zip(of_row) {
                *most = of_row.max(*most);
            }
        }
        most
    }

    /// The functions of a database that belong to some rows, with these, in the order of their numbers.
    pub(super) fn of_rows(
        &self,
        database: &Database,
        table: &Table,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<(i64, usize)> {
        let known = self.databases.iter();
        let of_database = known.filter(|(known, _)| std::ptr::eq(*known, database));
        of_database
            .flat_map(|(_, dictionary)| dictionary.functions())
            .filter_map(|(function, item)| {
                let row = table.row(item?)?;
                is_wanted(row).then_some((function, row))
            })
            .collect()
    }

    /// Who called each of some rows in any run: rows; callers that only hold others are left out.
    pub(super) fn callers(
        &self,
        sides: &[Vec<&ComparedRun<'_>>; 2],
        chosen: &[Vec<Chosen>; 2],
        table: &Table,
        rows: &[usize],
    ) -> Result<Vec<BTreeSet<usize>>, StoreError> {
        self.related(sides, chosen, table, rows, Database::callers_of)
    }

    /// Whom each of some rows called in any run, as [`Self::callers`].
    pub(super) fn callees(
        &self,
        sides: &[Vec<&ComparedRun<'_>>; 2],
        chosen: &[Vec<Chosen>; 2],
        table: &Table,
        rows: &[usize],
    ) -> Result<Vec<BTreeSet<usize>>, StoreError> {
        self.related(sides, chosen, table, rows, Database::callees_of)
    }

    fn related(
        &self,
        sides: &[Vec<&ComparedRun<'_>>; 2],
        chosen: &[Vec<Chosen>; 2],
        table: &Table,
        rows: &[usize],
        related: impl Fn(&Database, i64, i64) -> Result<Vec<i64>, StoreError>,
    ) -> Result<Vec<BTreeSet<usize>>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut callers = vec![BTreeSet::new(); rows.len()];
        let place: HashMap<usize, usize> = rows
            .iter()
            .enumerate()
            .map(|(at, row)| (*row, at))
            .collect();
        for (database, dictionary) in &self.databases {
            let row_of =
                |function: i64| dictionary.known(function).and_then(|item| table.row(item));
            let wanted: Vec<(i64, usize)> = self
                .of_rows(database, table, |row| place.contains_key(&row))
                .into_iter()
                .map(|(function, row)| (function, place[&row]))
                .collect();
            let runs = sides.iter().flatten().zip(chosen.iter().flatten());
            for (run, chosen) in runs.filter(|(run, _)| std::ptr::eq(run.database, *database)) {
                for (function, at) in &wanted {
                    let found = related(run.database, chosen.metrics.calls, *function)?;
                    callers[*at].extend(found.into_iter().filter_map(row_of));
                }
            }
        }
        Ok(callers)
    }
}
