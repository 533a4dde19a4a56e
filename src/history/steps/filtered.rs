//! What filters leave of every row at every position: the figures that a comparison would have.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::super::aliases::Aliases;
use super::super::normalize::figures_of_runs;
use super::super::reading::{HistoryError, Measured, Subject};
use super::matrix::{Frame, Row, Sparse};
use super::request::Request;
use crate::compare::{self, By, Within, newest_name};
use crate::events::Noise;
use crate::store::{Database, Fitting};

/// Returns the functions, modules or files of which the filters leave a cost, only the wanted ones if there are any. The frame gets
/// the totals that they leave.
pub(super) fn filtered_rows(
    database: &Database,
    measured: &Measured,
    frame: &mut Frame,
    request: &Request,
    wanted: Option<&[Subject]>,
) -> Result<(Vec<Row>, Aliases), HistoryError> {
    let by = request.by;
    let asked = compare::Request {
        by: match by {
            Fitting::Function => By::Function,
            by => By::Group(by.name().to_owned()),
        },
        arguments: request.arguments.clone(),
        noise: Some(frame.noise),
        ..compare::Request::default()
    };
    let found = figures_of_runs(database, measured, asked)?;
    let one = Aliases::of_folders(found.folders);
    // The names that what is asked for has in the newest run.
    let newest = |[name, module, file]: &[String; 3]| {
        let new_module = newest_name(Within::Module, module, &one.folders);
        let new_file = newest_name(Within::Folder, file, &one.folders);
        [
            [name.clone(), module.clone(), file.clone()],
            [name.clone(), new_module.clone(), file.clone()],
            [name.clone(), module.clone(), new_file.clone()],
            [name.clone(), new_module, new_file],
        ]
    };
    let wanted: Option<BTreeSet<[String; 3]>> = wanted.map(|subjects| {
        let names = subjects.iter().flat_map(|subject| newest(&subject.names));
        names.collect()
    });
    let mut identities: HashMap<[String; 3], i64> = HashMap::new();
    if by == Fitting::Function {
        for function in database.identified_functions()? {
            identities.insert(function.names, function.identity_id);
        }
    }
    let sparse = |figure: &dyn Fn(&compare::table::Column) -> f64| -> Sparse {
        let figures = (0..).zip(found.columns.iter().map(figure));
        figures.filter(|(_, figure)| *figure != 0.0).collect()
    };
    let mut rows = Vec::new();
    for (place, item) in found.items.iter().enumerate() {
        let name = item.names[0].clone();
        let names = match by {
            Fitting::Function => item.names.clone(),
            Fitting::Module => [String::new(), name, String::new()],
            Fitting::File => [String::new(), String::new(), name],
        };
        let costs = sparse(&|column| column.costs.get(place).copied().unwrap_or(0.0));
        let is_wanted = wanted.as_ref().is_none_or(|wanted| wanted.contains(&names));
        if costs.is_empty() || !is_wanted {
            continue;
        }
        let samples = if frame.noise == Noise::Sampled {
            let of = |column: &compare::table::Column| -> f64 {
                let samples = column
                    .samples
                    .as_ref()
                    .and_then(|samples| samples.get(place));
                samples.copied().unwrap_or(0.0)
            };
            sparse(&of)
        } else {
            Vec::new()
        };
        rows.push(Row {
            identity_id: identities.get(&names).copied(),
            names,
            costs,
            samples,
        });
    }
    rows.sort_by(|one, other| one.names.cmp(&other.names));
    frame.select(&found.totals);
    Ok((rows, one))
}
