//! `profdb diff BASE NEW`

use clap::{Args, ValueEnum};

use super::args::{count, percentage, share};
use super::diff_tree;
use super::failure::{Failure, complain, say};
use super::filters::FilterArgs;
use super::output::{OutputArgs, Target, print};
use super::page::{HtmlArgs, untold, without_flags, without_page};
use super::sides::{SidesArgs, digest_of_rules, not_compared};
use crate::base::error::Stop;
use crate::compare::judge::{Limits, Test, Verdict};
use crate::compare::{self, By, ComparedRun, Comparison, Readers, Request};
use crate::page::{Content, Told};
use crate::report::Argument;
use crate::report::render::Format;

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are set or not"
)]
pub(super) struct Diff {
    #[command(flatten)]
    sides: SidesArgs,
    /// Print one row per group
    ///
    /// Groups are function, module, file, thread, process, line, caller (of the function of --fn)
    /// and label:KEY.
    #[arg(long, value_name = "WORD", default_value = "function", value_parser = by)]
    by: By,
    /// Compare inclusive cost
    #[arg(long, conflicts_with = "exclusive")]
    cumulative: bool,
    /// Compare exclusive cost (the default)
    #[arg(long)]
    exclusive: bool,
    /// Only this function and its callees: NAME, A,B or A>B
    ///
    /// `A,B` is B anywhere below A; `A>B` is B called directly by A; `*` and `?` are wildcards.
    #[arg(long = "fn", value_name = "PATH")]
    function: Option<String>,
    #[command(flatten)]
    filters: FilterArgs,
    /// Test only functions of N % or more of the total
    #[arg(long, value_name = "N", default_value = "0.1", value_parser = share)]
    min_share: f64,
    /// Smallest relevant change, in percent
    ///
    /// A function whose change is shown to be smaller gets the verdict `same`.
    #[arg(long, value_name = "N", default_value = "5", value_parser = effect)]
    min_effect: f64,
    /// False discovery rate of the verdicts
    ///
    /// Confidence intervals have the level 1 - P.
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = probability)]
    alpha: f64,
    /// Statistical test: fitting or mwu
    ///
    /// `fitting` is the test for the noise model of the metric, `mwu` is the Mann-Whitney U test.
    /// Paired runs are tested by their ratios, without this flag.
    #[arg(long, value_name = "TEST", default_value = "fitting")]
    test: TestArg,
    /// Include functions below --min-share
    #[arg(long)]
    all: bool,
    /// Sort by this column
    #[arg(long, value_name = "WORD", default_value = "delta")]
    sort: SortArg,
    /// Print only the first N rows
    #[arg(long, value_name = "N", value_parser = count)]
    first: Option<u64>,
    /// Exit with 1 if anything is slower or new
    #[arg(long)]
    exit_code: bool,
    /// Print the SQL statements for the costs of the runs
    #[arg(long, conflicts_with_all = ["outfile", "html"])]
    show_sql: bool,
    #[command(flatten)]
    html: HtmlArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// What stands above the statements of a comparison.
const NOT_SQL: &str = "-- The costs of each run. profdb computes ratios, intervals, p, q and verdicts from them (docs/comparing.md).\n";

/// The names of tests.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum TestArg {
    /// The test for the noise model of the metric
    Fitting,
    /// The Mann-Whitney U test
    Mwu,
}

/// What may come first.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SortArg {
    /// The largest change
    Delta,
    /// The ratio that is farthest from 1
    Ratio,
    /// The smallest false discovery rate
    Q,
    /// The largest cost in base
    Base,
    /// The largest cost in new
    New,
    /// The name
    Name,
}

fn by(text: &str) -> Result<By, String> {
    match text {
        "function" => Ok(By::Function),
        "caller" => Ok(By::Caller),
        "line" => Ok(By::Line),
        "module" | "file" | "thread" | "process" => Ok(By::Group(text.to_owned())),
        text => match text.strip_prefix("label:") {
            Some(key) if !key.is_empty() => Ok(By::Group(text.to_owned())),
            _ => Err(
                "expected function, module, file, thread, process, line, caller or label:KEY"
                    .to_owned(),
            ),
        },
    }
}

pub(super) fn effect(text: &str) -> Result<f64, String> {
    percentage(text)
        .ok()
        .filter(|effect| *effect > 0.0)
        .ok_or_else(|| "expected a percentage above 0, such as 5".to_owned())
}

pub(super) fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|number| *number > 0.0 && *number < 0.5)
        .ok_or_else(|| "expected a probability above 0 and below 0.5, such as 0.05".to_owned())
}

pub(super) fn run(diff: &Diff, words: Vec<String>, stop: &Stop) -> Result<(), Failure> {
    compared(diff, words, stop).map_err(|failure| match failure {
        // 1 says that something has changed.
        Failure::Output if diff.exit_code => Failure::Input,
        failure => failure,
    })
}

fn compared(diff: &Diff, words: Vec<String>, stop: &Stop) -> Result<(), Failure> {
    let target = diff.output.target(&diff.sides.inputs())?;
    let layout = diff.output.layout(None, Vec::new());
    layout
        .check(true)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let page = diff.html.target(&diff.sides.inputs())?;
    let opened = diff.sides.open(stop)?;
    let (base, new) = (opened.runs(0, stop)?, opened.runs(1, stop)?);
    let comparison =
        compare::compare(&base, &new, &request(diff)).map_err(|error| not_compared(error, stop))?;
    for warning in &comparison.warnings {
        say(warning);
    }
    let any = &base[0].database;
    if diff.show_sql {
        if !diff.sides.are_stored() {
            return Err(complain(
                "--show-sql needs runs of the database; import the files first",
                Failure::Usage,
            ));
        }
        let script = format!("{NOT_SQL}{}", comparison.script);
        return target.write(stop, |out| Ok(out.write_all(script.as_bytes())?));
    }
    let rules = digest_of_rules(any, stop)?;
    if let Some(page) = page {
        let words = without_page(words);
        write_page(diff, words, &page, [&base, &new], &comparison, stop)?;
        return if diff.exit_code && is_worse(&comparison) {
            Err(Failure::CheckFailed)
        } else {
            Ok(())
        };
    }
    let readers = match layout.format {
        Format::Text | Format::Markdown => Readers::People,
        _ => Readers::Programs,
    };
    let mut answer = compare::answer(any, &comparison, rules.as_deref(), readers);
    match print(&mut answer, &layout, &target, stop) {
        // The reader has seen enough, and the answer is what it is.
        Err(Failure::ClosedPipe) if diff.exit_code => {}
        printed => printed?,
    }
    if diff.exit_code && is_worse(&comparison) {
        return Err(Failure::CheckFailed);
    }
    Ok(())
}

/// Flags of this command that a union tree has not.
const NOT_OF_TREES: &[(&str, bool)] = &[
    ("--by", true),
    ("--cumulative", false),
    ("--exclusive", false),
    ("--min-share", true),
    ("--min-effect", true),
    ("--alpha", true),
    ("--test", true),
    ("--all", false),
    ("--sort", true),
    ("--first", true),
    ("--exit-code", false),
];

/// Writes the page of a comparison.
fn write_page(
    diff: &Diff,
    words: Vec<String>,
    target: &Target,
    [base, new]: [&[ComparedRun<'_>]; 2],
    comparison: &Comparison,
    stop: &Stop,
) -> Result<(), Failure> {
    let any = base[0].database;
    let rules = digest_of_rules(any, stop)?;
    let [mut programs, mut people] = [Readers::Programs, Readers::People]
        .map(|readers| compare::answer(any, comparison, rules.as_deref(), readers));
    let told = Told::of("diff", words.clone(), &mut programs, Some(&mut people));
    let mut told = told.map_err(|error| untold(error, stop))?;
    if diff.sides.are_stored() {
        told.sql = Some(format!("{NOT_SQL}{}", comparison.script));
    }
    let asked = request(diff);
    // Trees are compared as a whole, and only where there are any.
    let mut runs = base.iter().chain(new);
    let has_trees = runs.all(|run| run.run.fidelity == "tree")
        && asked.by == By::Function
        && asked.arguments.is_empty();
    let sides = [base, new];
    let trees = has_trees.then(|| diff_tree::trees(&diff.sides, sides, stop));
    let trees = trees.transpose()?;
    let union = trees.as_ref().map(|trees| {
        let named = without_flags(words.into_iter().skip(1), NOT_OF_TREES);
        let command = ["report", "diff_tree"].map(str::to_owned);
        let words = command.into_iter().chain(named).collect();
        diff_tree::union(&diff.sides, sides, trees, words, stop)
    });
    let union = union.transpose()?;
    let [base, new] = [0, 1].map(|side: usize| comparison.sides[side].said());
    let content = Content {
        title: format!("{base} -> {new}"),
        told: vec![told],
        union,
        ..Content::default()
    };
    diff.html
        .write(target, diff.sides.database.words(), &content, stop)
}

fn request(diff: &Diff) -> Request {
    let function = diff.function.clone();
    let function = function.map(|path| ("fn".to_owned(), Argument::Text(path)));
    Request {
        by: diff.by.clone(),
        cumulative: diff.cumulative,
        arguments: function
            .into_iter()
            .chain(diff.filters.arguments())
            .collect(),
        limits: Limits {
            alpha: diff.alpha,
            min_effect: diff.min_effect / 100.0,
            min_share: diff.min_share / 100.0,
            test: match diff.test {
                TestArg::Fitting => Test::Fitting,
                TestArg::Mwu => Test::Ranks,
            },
        },
        all: diff.all,
        first: diff
            .first
            .map(|first| usize::try_from(first).unwrap_or(usize::MAX)),
        sort: match diff.sort {
            SortArg::Delta => compare::Sort::Delta,
            SortArg::Ratio => compare::Sort::Ratio,
            SortArg::Q => compare::Sort::Rate,
            SortArg::Base => compare::Sort::Base,
            SortArg::New => compare::Sort::New,
            SortArg::Name => compare::Sort::Name,
        },
        statements: diff.show_sql || diff.html.is_asked_for(),
        ..diff.sides.request()
    }
}

/// Whether anything is slower or new.
fn is_worse(comparison: &Comparison) -> bool {
    let total = comparison.total.judgement.verdict;
    comparison.worse > 0 || matches!(total, Some(Verdict::Slower | Verdict::New))
}
