//! Names that a command prints or proposes select the same functions in every other command.

use std::collections::BTreeMap;

use profdb::base::error::Stop;
use profdb::compare::{self, ComparedRun};
use profdb::events::{Frame, FunctionDef, Noise, Sample, Sink as _, Unit};
use profdb::history::{answer, history, series};
use profdb::profile::TreeBuilder;
use profdb::report::render::{Layout, render};
use profdb::report::{self, Argument, Request, Value, by_name};
use profdb::store::{Database, Fitting, RunInfo, StoreError};

use crate::support::made_runs::{Batches, made_up, write};

/// Functions of a run, each called by the first one, with their samples: 1, 2, 4 and so on.
struct Sampled {
    functions: Vec<FunctionDef<'static>>,
    database: Database,
    run: RunInfo,
}

impl Sampled {
    fn new(functions: Vec<FunctionDef<'static>>) -> Self {
        let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
        let metric = builder.metric("samples", Unit::Count, Noise::Sampled);
        let root = Frame::function(builder.function(FunctionDef::named("the root")));
        for (at, function) in functions.iter().enumerate() {
            let frame = Frame::function(builder.function(*function));
            builder.sample(Sample {
                stack: &[root, frame],
                shared: 0,
                calls: None,
                values: &[(metric, cost(at))],
                labels: None,
            });
        }
        let mut database = Database::in_memory().expect("memory");
        write(builder, &made_up(), &mut database);
        let run = database.run(None).expect("a database").expect("a run");
        Self {
            functions,
            database,
            run,
        }
    }

    fn asked(text: &str) -> Vec<(String, Argument)> {
        vec![("fn".to_owned(), Argument::Text(text.to_owned()))]
    }

    fn answer(&self, report: &str, text: Option<&str>) -> Result<report::Answer<'_>, String> {
        let request = Request {
            arguments: text.map(Self::asked).unwrap_or_default(),
            ..Request::default()
        };
        let report = by_name(report).expect("a report");
        report::ask(&self.database, report, &self.run, &request).map_err(|error| error.to_string())
    }

    /// Returns the cost that a report selects.
    fn selected(&self, text: &str) -> Result<Option<f64>, String> {
        let answer = self.answer("calls", Some(text))?;
        Ok(answer.subject.expect("a subject").selected)
    }

    /// Returns the cost that a comparison selects, and whether a note says that functions are added up.
    fn compared(&self, text: &str) -> Result<(f64, bool), String> {
        let run = || ComparedRun {
            database: &self.database,
            run: self.run.clone(),
            tags: Vec::new(),
        };
        let request = compare::Request {
            arguments: Self::asked(text),
            ..compare::Request::default()
        };
        let comparison = compare::compare(&[run()], &[run()], &request);
        let comparison = comparison.map_err(|error| error.to_string())?;
        let mut warnings = comparison.warnings.iter();
        let has_note = warnings.any(|warning| warning.contains("do not tell them apart"));
        Ok((comparison.total.costs[0], has_note))
    }

    /// Returns the exclusive cost in a history, and whether a note says that functions are added up.
    fn in_history(&self, text: &str) -> Result<(f64, bool), String> {
        let mut all = series(&self.database, None, &[]).expect("a database");
        let name = Some((Fitting::Function, text));
        let named = history(&self.database, all.remove(0), None, name);
        let named = named.map_err(|error| error.to_string())?;
        let costs = named.subjects.iter().flat_map(|(_, figures)| figures);
        Ok((
            costs.map(|figure| figure.exclusive).sum(),
            named.note.is_some(),
        ))
    }

    /// Asserts that a text selects exactly one function in every command. Comparisons add up functions that differ by line only.
    fn check(&self, text: &str, function: usize) {
        let own = cost(function);
        assert_eq!(self.selected(text), Ok(Some(own)), "{text}: report");
        let place = |at: usize| {
            let FunctionDef {
                name, module, file, ..
            } = self.functions[at];
            (name, module, file)
        };
        let merged = (0..self.functions.len()).filter(|at| place(*at) == place(function));
        let merged: Vec<f64> = merged.map(cost).collect();
        let expected = (merged.iter().sum(), merged.len() > 1);
        assert_eq!(self.compared(text), Ok(expected), "{text}: diff");
        assert_eq!(self.in_history(text), Ok(expected), "{text}: history");
    }

    /// Returns the first cells of the rows of a text table, by their costs.
    fn printed(&self, report: &str, width: Option<usize>) -> Vec<(String, f64)> {
        let mut answer = self.answer(report, None).expect("an answer");
        let find = |name: &str| answer.columns.iter().position(|column| column.name == name);
        let exclusive = find("exclusive").expect("a column");
        let mut costs = Vec::new();
        let read = answer.each(|row| {
            costs.push(match row[exclusive] {
                Value::Real(cost) => cost,
                _ => 0.0,
            });
            Ok::<_, StoreError>(())
        });
        read.expect("a database");
        let layout = Layout {
            width,
            ..Layout::default()
        };
        let mut table = Vec::new();
        render(&mut answer, &layout, &mut table).expect("memory");
        let table = String::from_utf8(table).expect("text");
        let rows = table
            .lines()
            .skip_while(|line| !line.contains("Element") && !line.contains("Path"));
        let is_path = report == "paths";
        let cell = |row: &str| {
            let mut cells = row
                .split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty());
            let cell = if is_path { cells.last() } else { cells.next() };
            cell.unwrap_or_default().to_owned()
        };
        rows.skip(1).map(cell).zip(costs).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn cost(at: usize) -> f64 {
    (1_u64 << at) as f64
}

fn defined(name: &'static str, [module, file, line]: [&'static str; 3]) -> FunctionDef<'static> {
    FunctionDef {
        module,
        file,
        first_line: line.parse().unwrap_or_default(),
        ..FunctionDef::named(name)
    }
}

#[test]
fn printed_spelling_selects_its_function_in_every_command() {
    let groups: [&[[&str; 3]]; 6] = [
        &[
            ["", "a/x.py", "3"],
            ["", "a/x.py", "9"],
            ["", "b/x.py", "3"],
        ],
        &[["", "x.py", ""], ["", "b/x.py", ""], ["", "c/b/x.py", ""]],
        &[["m", "", ""], ["n", "", ""], ["", "", ""]],
        &[["m", "x.py", "3"], ["n", "x.py", "3"], ["n", "x.py", "4"]],
        &[["", "../python/work.py", "1"], ["", "work.py", "1"]],
        &[["", "/usr/lib/work.py", "7"]],
    ];
    let names = ["f", "<lambda>", "<lambda>", "f", "<lambda>", "f"];
    for (group, name) in groups.iter().zip(names) {
        let of_group = group.iter().map(|place| defined(name, *place));
        let other = defined("g", ["m", "x.py", "3"]);
        let run = Sampled::new(of_group.chain([other]).collect());
        let mut texts = BTreeMap::new();
        for width in [None, Some(80), Some(100), Some(160)] {
            for report in ["summary", "exclusive", "paths"] {
                let printed = run.printed(report, width);
                let printed = printed.iter().filter(|(_, own)| *own > 0.0);
                let mut rows = 0;
                for (text, own) in printed {
                    let at =
                        (0..run.functions.len()).find(|at| cost(*at).to_bits() == own.to_bits());
                    let at = at.expect("the cost of a function");
                    let text = text.strip_prefix("the root > ").unwrap_or(text);
                    texts.insert(text.to_owned(), at);
                    rows += 1;
                }
                assert_eq!(rows, run.functions.len(), "{report} {width:?} {group:?}");
            }
        }
        for (text, at) in texts {
            run.check(&text, at);
        }
        // A history prints names with places, too.
        let mut all = series(&run.database, None, &[]).expect("a database");
        let all_functions = history(
            &run.database,
            all.remove(0),
            None,
            Some((Fitting::Function, "*")),
        );
        let all_functions = all_functions.expect("a history");
        let mut table = Vec::new();
        let mut answer = answer(&run.database, &all_functions);
        render(&mut answer, &Layout::default(), &mut table).expect("memory");
        let table = String::from_utf8(table).expect("text");
        let labels = table
            .lines()
            .filter_map(|line| line.split_once(", exclusive: "));
        let mut costs: Vec<f64> = Vec::new();
        for (label, _) in labels.filter(|(label, _)| *label != "the root") {
            let (in_history, _) = run.in_history(label).expect(label);
            assert_eq!(
                run.compared(label).map(|(own, _)| own),
                Ok(in_history),
                "{label}"
            );
            costs.push(in_history);
        }
        let sum: f64 = costs.iter().sum();
        let expected = cost(run.functions.len()) - 1.0;
        assert_eq!(sum.to_bits(), expected.to_bits(), "{table}");
    }
}

#[test]
fn proposed_name_selects_its_function_in_every_command() {
    let names = [
        "std::vector<int, long>::push",
        "operator->",
        "<genexpr>",
        "parse (old)",
        "*FOO-BAR*",
        "table[35]",
        "'quoted name'",
        "a > b > c",
        "module:function:12",
    ];
    let functions = names.iter().map(|name| defined(name, ["", "", ""]));
    let run = Sampled::new(functions.collect());
    for (at, name) in names.iter().enumerate() {
        run.check(name, at);
        let mistyped: String = name
            .replace('e', "ee")
            .replace('O', "OO")
            .replace(" b ", " bb ");
        let mistyped = mistyped.replace("operator", "opeerator");
        for message in [
            run.selected(&mistyped).map(|_| ()),
            run.compared(&mistyped).map(|_| ()),
            run.in_history(&mistyped).map(|_| ()),
        ] {
            let message = message.expect_err(&mistyped);
            if message.contains("the nearest: ") {
                assert!(message.contains(name), "{mistyped}: {message}");
            }
        }
    }
}

#[test]
fn name_of_identity_selects_its_functions_in_reports() {
    let names = [
        "shop::render::h00000000000000a1",
        "work.constprop.0",
        "plain",
    ];
    let functions = names.iter().map(|name| defined(name, ["", "", ""]));
    let run = Sampled::new(functions.collect());
    for (at, name) in ["shop::render", "work", "plain"].into_iter().enumerate() {
        run.check(name, at);
    }
    assert!(run.selected("shop::rend").is_err());
}
