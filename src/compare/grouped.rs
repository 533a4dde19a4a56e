//! Figures of what reports show: groups of functions, what filters leave, costs with everything called.
//!
//! Each run answers the same report, and the rows meet by their names. Which functions a filter fits is decided once for both
//! sides: by the name of the identity, or by any name that a run has for it. Decided by each run for itself, hiding a function
//! and comparing would not be the same in the other order.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::matched::Matched;
use super::pairs::{Folders, moved, renamed_module};
use super::request::{By, CompareError, Request};
use super::run::ComparedRun;
use super::table::{Column, Dictionary, Item, Items};
use crate::report::{self, Argument, ReportError, Value};
use crate::store::{FunctionIdentity, StoreError};
use crate::text::cell::NO_NAME;

/// The flags of reports that fit functions by regular expressions.
const FILTERS: [&str; 3] = ["focus", "ignore", "hide"];

/// What a filter fits in all runs: keys of identities.
pub(super) struct Fitting {
    flag: String,
    keys: BTreeSet<Vec<u8>>,
}

/// Finds what the filters of a request fit in any run; the dictionaries have learnt all functions.
pub(super) fn fitting(
    dictionaries: &[&Dictionary],
    request: &Request,
    folders: &[Folders],
) -> Result<Vec<Fitting>, CompareError> {
    let mut found = Vec::new();
    for (flag, text) in request.arguments.iter().filter_map(filter) {
        let regex = report::regular_expression(text, flag)
            .map_err(|error| CompareError::Usage(error.to_string()))?;
        let mut keys = BTreeSet::new();
        for dictionary in dictionaries {
            keys.extend(dictionary.fitting(|name| regex.is_match(name)));
        }
        if !folders.is_empty() && !keys.is_empty() {
            // Several of base may be one of new: the second round finds those which the first one has passed.
            let pairs = pairs(dictionaries, folders);
            for (base, new) in pairs.iter().chain(&pairs) {
                if keys.contains(base) || keys.contains(new) {
                    keys.extend([base.clone(), new.clone()]);
                }
            }
        }
        if keys.is_empty() && flag == "focus" {
            return Err(CompareError::NothingSelected(format!(
                "--{flag}: no function of any run fits {text}"
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

/// Asks a run for its figures in a metric.
pub(super) fn grouped(
    run: &ComparedRun<'_>,
    metric: &str,
    fitting: &[Fitting],
    dictionary: &Dictionary,
    request: &Request,
    items: &mut Items,
) -> Result<Result<Grouped, String>, CompareError> {
    let has_function = request.arguments.iter().any(|(flag, _)| flag == "fn");
    if request.by == By::Caller && !has_function {
        return Err(CompareError::Usage(
            "--by caller: expected --fn NAME, the function whose callers are compared".to_owned(),
        ));
    }
    let (report, by) = match &request.by {
        By::Function => ("summary", "identity"),
        By::Caller => ("calls", "identity"),
        By::Line => ("lines", ""),
        By::Group(by) => ("summary", by.as_str()),
    };
    let Some(report) = report::by_name(report) else {
        return Err(CompareError::Usage(format!("there is no report {report}")));
    };
    let mut arguments: Vec<(String, Argument)> = request
        .arguments
        .iter()
        .filter(|argument| filter(argument).is_none())
        .cloned()
        .collect();
    for Fitting { flag, keys } in fitting {
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
    if !by.is_empty() {
        arguments.push(("by".to_owned(), Argument::Text(by.to_owned())));
    }
    let asked = report::Request {
        metric: Some(metric.to_owned()),
        arguments,
        ..report::Request::default()
    };
    let mut answer = match report::ask(run.database, report, &run.run, &asked) {
        Ok(answer) => answer,
        // Another run may have what this one has not; its cost is nothing here.
        Err(ReportError::NothingSelected(message)) => return Ok(Err(message)),
        Err(ReportError::Usage(message)) => return Err(CompareError::Usage(message)),
        Err(ReportError::Store(error)) => return Err(error.into()),
    };
    let place = |names: &[&str]| {
        let mut columns = answer.columns.iter();
        columns.position(|column| names.contains(&column.name.as_ref()))
    };
    let name = match request.by {
        By::Line | By::Caller => place(&["element"]),
        _ => place(&["function"]),
    };
    let (module, file) = (
        place(&["module", "caller_module"]),
        place(&["file", "caller_file"]),
    );
    let cost = place(&[if request.cumulative {
        "cumulative"
    } else {
        "exclusive"
    }]);
    let calls = place(&["calls"]);
    let selected = answer.subject.as_ref().and_then(|subject| subject.selected);
    let script = std::mem::take(&mut answer.script);
    let (mut column, mut unknown) = (Column::default(), BTreeMap::new());
    answer.each(|row| {
        let text = |at: Option<usize>| match at.map(|at| &row[at]) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let names = [text(name), text(module), text(file)];
        let item = items.of(key(&names), || Item {
            is_named: !matches!(names[0].as_str(), "" | NO_NAME),
            names: names.clone(),
            matched: Matched::Identity,
        });
        match cost.map(|at| &row[at]) {
            Some(Value::Real(cost)) => column.add_cost(item, *cost),
            #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
            Some(Value::Integer(cost)) => column.add_cost(item, *cost as f64),
            _ => {
                unknown.insert(item, names);
            }
        }
        let calls = match calls.map(|at| &row[at]) {
            Some(Value::Integer(calls)) => u64::try_from(*calls).ok(),
            _ => None,
        };
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

/// What makes rows of reports one: their names, each with its length.
pub(super) fn key(names: &[String; 3]) -> Vec<u8> {
    let mut key = Vec::new();
    for name in names {
        key.extend(name.len().to_le_bytes());
        key.extend(name.as_bytes());
    }
    key
}
