//! Figures of what reports show: groups of functions, what filters leave, costs with everything called.
//!
//! Each run answers the same report, and the rows meet by their names, which are those of identities: a module, a file, a thread or
//! the function of a line is what the rules make of it. Which functions a filter fits is decided once for both
//! sides: by the name of the identity, or by any name that a run has for it. Decided by each run for itself, hiding a function
//! and comparing would not be the same in the other order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hashbrown::HashMap;

use super::items::{Dictionary, Item, Items};
use super::matched::Matched;
use super::pairs::{Between, Folders, Within, basename, moved, renamed_module};
use super::request::{By, CompareError, Request};
use super::run::ComparedRun;
use super::table::{Column, Table};
use super::ways::{Known, Way, is_way, ways, with_pairs};
use crate::events::FunctionDef;
use crate::identity::Rules;
use crate::report::{self, Argument, ReportError, Value};
use crate::store::{Database, FunctionIdentity, StoreError};
use crate::text::cell::NO_NAME;

/// The flags of reports that fit functions by regular expressions.
const FILTERS: [&str; 3] = ["focus", "ignore", "hide"];

/// What a filter fits in all runs: keys of identities.
struct Fitting {
    flag: String,
    keys: BTreeSet<Vec<u8>>,
}

/// What the flags of a request mean in all runs.
#[derive(Default)]
pub(super) struct Meant {
    filters: Vec<Fitting>,
    ways: Vec<Way>,
}

impl Meant {
    /// Returns keys of the identities that `--fn` names.
    pub(super) fn named(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.ways.iter().filter_map(Way::named).flatten()
    }

    /// Returns notes for functions that the comparison does not tell from those that `--fn` names.
    pub(super) fn notes(&self) -> impl Iterator<Item = &String> {
        self.ways.iter().flat_map(Way::notes)
    }
}

/// Finds what the flags of a request mean in any run; the dictionaries have learnt all functions.
pub(super) fn meant(
    runs: &[Known<'_, '_>],
    dictionaries: &[&Dictionary],
    request: &Request,
    folders: &[Folders],
) -> Result<Meant, CompareError> {
    let names_any =
        |argument: &(String, Argument)| filter(argument).is_some() || is_way(argument).is_some();
    if !request.arguments.iter().any(names_any) {
        return Ok(Meant::default());
    }
    let pairs = if folders.is_empty() {
        Vec::new()
    } else {
        pairs(dictionaries, folders)
    };
    Ok(Meant {
        filters: fitting(dictionaries, request, &pairs)?,
        ways: ways(runs, &request.arguments, &pairs)?,
    })
}

/// Finds what the filters of a request fit in any run. `pairs` has identities of base and of new that are one.
fn fitting(
    dictionaries: &[&Dictionary],
    request: &Request,
    pairs: &[(Vec<u8>, Vec<u8>)],
) -> Result<Vec<Fitting>, CompareError> {
    let mut found = Vec::new();
    for (flag, text) in request.arguments.iter().filter_map(filter) {
        let regex = report::regular_expression(text, flag)
            .map_err(|error| CompareError::Usage(error.to_string()))?;
        let mut keys = BTreeSet::new();
        for dictionary in dictionaries {
            keys.extend(dictionary.fitting(|name| regex.is_match(name)));
        }
        with_pairs(&mut keys, pairs);
        if keys.is_empty() && flag == "focus" {
            return Err(CompareError::NothingSelected(format!(
                "--{flag}: no function of any run matches {text}"
            )));
        }
        found.push(Fitting {
            flag: flag.to_owned(),
            keys,
        });
    }
    Ok(found)
}

/// Keys of identities that are one because their folders or modules are.
fn pairs(dictionaries: &[&Dictionary], folders: &[Folders]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let all = || dictionaries.iter().flat_map(|dictionary| dictionary.code());
    let known: HashMap<&[String; 3], &Vec<u8>> = all()
        .map(|identity| (&identity.names, &identity.key))
        .collect();
    let pair = |identity: &FunctionIdentity| {
        let [name, module, file] = &identity.names;
        let there = moved(file, folders);
        let its = renamed_module(module, folders);
        if there == *file && its == module {
            return None;
        }
        let mut places = [(its, &there), (module.as_str(), &there), (its, file)].into_iter();
        let other = places.find_map(|(module, file)| {
            let place = [name.clone(), module.to_owned(), file.clone()];
            known.get(&place).filter(|_| place != identity.names)
        })?;
        Some((identity.key.clone(), (*other).clone()))
    };
    all().filter_map(pair).collect()
}

fn filter((flag, value): &(String, Argument)) -> Option<(&str, &str)> {
    match value {
        Argument::Text(text) if FILTERS.contains(&flag.as_str()) => Some((flag, text)),
        _ => None,
    }
}

/// What a run answers.
pub(super) struct Grouped {
    /// Its figures.
    pub column: Column,
    /// Rows whose cost it does not know, with their names.
    pub unknown: BTreeMap<usize, [String; 3]>,
    /// The cost of what the filters leave; `None` for the whole run.
    pub selected: Option<f64>,
    /// The statements that give the figures, for the sqlite3 shell.
    pub script: String,
}

/// Why a run has nothing to show.
pub(super) enum Nothing {
    /// It has not what is selected, which is a cost of 0.
    Selected(String),
    /// None of its functions has a name to add costs up by, whatever they cost.
    Named(String),
}

impl Nothing {
    /// The reason in words.
    pub(super) fn reason(&self) -> &str {
        let (Self::Selected(reason) | Self::Named(reason)) = self;
        reason
    }
}

/// Asks a run for its figures in a metric.
pub(super) fn grouped(
    run: &ComparedRun<'_>,
    metric: &str,
    meant: &Meant,
    dictionary: &Dictionary,
    request: &Request,
    items: &mut Items,
) -> Result<Result<Grouped, Nothing>, CompareError> {
    let has_function = request.arguments.iter().any(|(flag, _)| flag == "fn");
    if request.by == By::Caller && !has_function {
        return Err(CompareError::Usage(
            "--by caller: expected --fn NAME, the function whose callers are compared".to_owned(),
        ));
    }
    let report = match &request.by {
        By::Function | By::Group(_) => "summary",
        By::Caller => "calls",
        By::Line => "lines",
    };
    let Some(report) = report::by_name(report) else {
        return Err(CompareError::Usage(format!("there is no report {report}")));
    };
    let mut arguments: Vec<(String, Argument)> = request
        .arguments
        .iter()
        .filter(|argument| filter(argument).is_none() && is_way(argument).is_none())
        .cloned()
        .collect();
    arguments.extend(meant.ways.iter().map(|way| way.argument(dictionary)));
    for Fitting { flag, keys } in &meant.filters {
        let functions = dictionary.functions_of(keys);
        if functions.is_empty() && flag == "focus" {
            return Ok(Ok(Grouped {
                column: Column::default(),
                unknown: BTreeMap::new(),
                selected: Some(0.0),
                script: String::new(),
            }));
        }
        arguments.push((flag.clone(), Argument::Functions(functions)));
    }
    if !request.cumulative && request.by == By::Line {
        arguments.push(("exclusive".to_owned(), Argument::Flag));
    }
    // What the database holds for identities is none where other rules apply: its functions are asked for, and added up here.
    let has_identities = dictionary.rules.is_none();
    if let Some(by) = groups(&request.by, has_identities) {
        arguments.push(("by".to_owned(), by));
    }
    let asked = report::Request {
        metric: Some(metric.to_owned()),
        arguments,
        ..report::Request::default()
    };
    let mut answer = match report::ask(run.database, report, &run.run, &asked) {
        Ok(answer) => answer,
        // Another run may have what this one has not; its cost is nothing here.
        Err(ReportError::NothingSelected(reason)) => {
            return Ok(Err(Nothing::Selected(run.of(&reason))));
        }
        Err(error @ ReportError::Several(_)) => {
            return Ok(Err(Nothing::Selected(run.of(&error.to_string()))));
        }
        Err(ReportError::NoGroups(reason)) => return Ok(Err(Nothing::Named(run.of(&reason)))),
        Err(ReportError::Usage(message)) => return Err(CompareError::Usage(message)),
        Err(ReportError::Store(error)) => return Err(error.into()),
    };
    let place = |names: &[&str]| {
        let mut columns = answer.columns.iter();
        columns.position(|column| names.contains(&column.name.as_ref()))
    };
    let [name, module, file] = [
        place(&[if request.by == By::Caller {
            "element"
        } else {
            "function"
        }]),
        place(&["module", "caller_module"]),
        place(&["file", "caller_file"]),
    ];
    // The number of a value of a label is none of a function.
    let is_of_functions = !matches!(&request.by, By::Group(word) if word.starts_with("label:"));
    let id = place(&["id"]).filter(|_| !has_identities && is_of_functions);
    let line = [place(&["line"]), place(&["col"]), place(&["line_file"])];
    let cost = place(&[if request.cumulative {
        "cumulative"
    } else {
        "exclusive"
    }]);
    let calls = place(&["calls"]);
    let selected = answer.subject.as_ref().and_then(|subject| subject.selected);
    let script = with_run(&answer.script, run.run.run_id);
    let (mut column, mut unknown) = (Column::default(), BTreeMap::new());
    let mut paths = Paths::default();
    let mut met = BTreeSet::new();
    answer.each(|row| {
        let text = |at: Option<usize>| match at.map(|at| &row[at]) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let number = |at: Option<usize>| match at.map(|at| &row[at]) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        let identity = number(id).and_then(|id| dictionary.learnt(id));
        let mut names = match (&request.by, identity) {
            (By::Group(word), Some(identity)) => of_group(word, &identity.names),
            (_, Some(identity)) => identity.names.clone(),
            _ => [text(name), text(module), text(file)],
        };
        let is_named = !matches!(names[0].as_str(), "" | NO_NAME);
        if request.by == By::Line {
            let [line, col, other_file] = line;
            let other_file = text(other_file);
            if !other_file.is_empty() {
                names[2] = paths.of(&other_file, run.database, dictionary)?;
            }
            names[0] = line_name(&names, number(line), number(col), !other_file.is_empty());
        }
        let item = items.of(key(&names), || Item {
            is_named,
            names: names.clone(),
            matched: Matched::Identity,
            is_asked: false,
        });
        let cost = match cost.map(|at| &row[at]) {
            Some(Value::Real(cost)) => Some(*cost),
            #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
            Some(Value::Integer(cost)) => Some(*cost as f64),
            _ => None,
        };
        // What functions and lines cost with everything called may overlap; threads do not, nor do calls by several functions.
        let may_overlap = request.cumulative
            && match &request.by {
                By::Line => true,
                By::Function => !has_identities,
                By::Group(word) => !has_identities && matches!(word.as_str(), "module" | "file"),
                By::Caller => false,
            };
        let is_again = may_overlap && !met.insert(item);
        if let Some(cost) = cost.filter(|_| !is_again) {
            column.add_cost(item, cost);
        } else {
            column.forget_cost(item);
            unknown.insert(item, names);
        }
        let calls = number(calls).and_then(|calls| u64::try_from(calls).ok());
        column.add_calls(item, calls);
        Ok::<_, StoreError>(())
    })?;
    Ok(Ok(Grouped {
        column,
        unknown,
        selected,
        script,
    }))
}

/// The statement of a report with the number of the run before its columns, which tells the rows of several runs apart.
fn with_run(statement: &str, run: i64) -> String {
    // What comes after the last SELECT is ours, whatever names are before it.
    const SELECT: &str = "\nSELECT\n";
    match statement.rsplit_once(SELECT) {
        Some((parts, columns)) => format!("{parts}{SELECT}  {run} AS run_id,\n{columns}"),
        None => statement.to_owned(),
    }
}

/// What a report is asked to count as one: what the identities of the database say, or nothing where they are not those by which runs
/// are compared. The values of labels are what they are.
fn groups(by: &By, has_identities: bool) -> Option<Argument> {
    match by {
        By::Group(word) if word.starts_with("label:") => Some(Argument::Text(word.clone())),
        By::Group(word) if has_identities => Some(Argument::OfIdentities(word.clone())),
        By::Line if has_identities => Some(Argument::OfIdentities("line".to_owned())),
        By::Function | By::Caller if has_identities => Some(Argument::Text("identity".to_owned())),
        // A thread holds functions, so that its cost is not that of one.
        By::Group(word) if matches!(word.as_str(), "thread" | "process") => {
            Some(Argument::Text(word.clone()))
        }
        _ => None,
    }
}

/// Name, module and file of the group that an identity is in, as reports have them.
#[must_use]
pub fn of_group(word: &str, [name, module, file]: &[String; 3]) -> [String; 3] {
    let known = |part: &String| match part.as_str() {
        "" => format!("({word} unknown)"),
        part => part.to_owned(),
    };
    match word {
        "module" => [known(module), module.clone(), String::new()],
        "file" => [known(file), String::new(), file.clone()],
        _ => [name.clone(), String::new(), String::new()],
    }
}

/// The name of a row that is a line: the function, and where it is. Of a file that is not the function's own it has the last name, as
/// the path of a checkout is not part of what lasts.
fn line_name(
    [function, _, file]: &[String; 3],
    line: Option<i64>,
    col: Option<i64>,
    is_other_file: bool,
) -> String {
    let mut name = format!("{function}[");
    if is_other_file {
        name.push_str(basename(file));
        name.push(':');
    }
    name.extend(line.map(|line| line.to_string()));
    name.extend(col.map(|col| format!(":{col}")));
    name.push(']');
    name
}

/// Paths of lines that lie in other files than their functions, as the rules of identities make them.
#[derive(Default)]
struct Paths {
    rules: Option<Arc<Rules>>,
    known: HashMap<String, String>,
}

impl Paths {
    fn of(
        &mut self,
        path: &str,
        database: &Database,
        dictionary: &Dictionary,
    ) -> Result<String, StoreError> {
        if let Some(known) = self.known.get(path) {
            return Ok(known.clone());
        }
        let rules = match self.rules.as_ref().or(dictionary.rules.as_ref()) {
            Some(rules) => Arc::clone(rules),
            None => Arc::new(database.identity_rules()?),
        };
        // Rules for paths are for those of functions: any name will do.
        let identity = rules.identity(&FunctionDef {
            file: path,
            ..FunctionDef::named("line")
        });
        let found = identity.file.into_owned();
        self.rules = Some(rules);
        self.known.insert(path.to_owned(), found.clone());
        Ok(found)
    }
}

/// The program by which a thread or process is called, where it has another name in base than in new: that of new. Linux names a
/// process by its program, and its first thread, too.
pub(super) fn program_of<'f>(name: &str, folders: &'f [Folders]) -> Option<&'f str> {
    let mut modules = folders.iter().filter(|one| one.part == Within::Module);
    let one = modules.find(|one| is_called(name, &one.base) || is_called(name, &one.new))?;
    Some(&one.new)
}

/// Pairs threads and processes that are called as their programs, where these are one under two names.
pub(super) fn pair_containers(table: &mut Table, folders: &[Folders], by: &By) {
    if !matches!(by, By::Group(word) if matches!(word.as_str(), "thread" | "process")) {
        return;
    }
    for one in folders.iter().filter(|one| one.part == Within::Module) {
        let find = |module: &str| {
            let mut items = table.items.iter();
            items.position(|item| is_called(&item.names[0], module))
        };
        let pair = find(&one.base).zip(find(&one.new));
        let is_alone = |side: usize, row: usize| {
            one.between == Between::Runs || table.cost(1 - side, row) == 0.0
        };
        let is_free =
            |(base, new): &(usize, usize)| base != new && is_alone(0, *base) && is_alone(1, *new);
        if let Some(pair) = pair.filter(is_free) {
            table.join(&[pair], Matched::Module);
        }
    }
}

/// Whether a thread or process is called as a program.
fn is_called(name: &str, program: &str) -> bool {
    let is_cut = name.len() == MOST_OF_NAME && program.starts_with(name);
    !name.is_empty() && (name == program || is_cut)
}

/// The most bytes that Linux keeps of the name of a thread.
const MOST_OF_NAME: usize = 15;

/// What makes rows of reports one: their names, each with its length.
pub(super) fn key(names: &[String; 3]) -> Vec<u8> {
    let mut key = Vec::new();
    for name in names {
        key.extend(name.len().to_le_bytes());
        key.extend(name.as_bytes());
    }
    key
}
