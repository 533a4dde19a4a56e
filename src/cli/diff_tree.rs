//! `profdb report diff_tree BASE NEW` and `profdb report diff_paths BASE NEW`

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use super::args::{count, share};
use super::failure::{Failure, complain, explain, say};
use super::output::{OutputArgs, print};
use super::page::untold;
use super::sides::{SidesArgs, digest_of_rules, not_compared};
use crate::base::error::Stop;
use crate::compare::tree::Place;
use crate::compare::{self, ComparedRun, Comparison, PlaceItem, Request, Shown, View};
#[cfg(feature = "serve")]
use crate::page::UnionBlocks;
use crate::page::UnionTree;

/// The names of the two reports.
pub(super) const TREE: &str = "diff_tree";
pub(super) const PATHS: &str = "diff_paths";

#[derive(Debug, Args)]
struct DiffTree {
    #[command(flatten)]
    sides: SidesArgs,
    /// Nodes to print: all, or only those of one side
    #[arg(long, value_name = "WORD", default_value = "all")]
    view: ViewArg,
    /// Show exclusive cost
    #[arg(long)]
    exclusive: bool,
    /// Print at most N levels
    #[arg(long, value_name = "N", value_parser = count)]
    depth: Option<u64>,
    /// Only nodes of N % or more of the larger total
    #[arg(long, value_name = "N", value_parser = share)]
    min_pct: Option<f64>,
    /// Print only the first N rows
    #[arg(long, value_name = "N", value_parser = count)]
    first: Option<u64>,
    #[command(flatten)]
    output: OutputArgs,
}

/// The names of views.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ViewArg {
    /// Nodes of either side
    All,
    /// Nodes that only new has
    New,
    /// Nodes that only base has
    Gone,
}

/// The two commands.
pub(super) fn commands() -> [Command; 2] {
    let command = |name: &'static str, alias: &'static str| {
        DiffTree::augment_args(Command::new(name))
            .alias(alias)
            .infer_long_args(true)
    };
    [
        command(TREE, "diff-tree")
            .about("The call trees of two sets of runs, merged: base and new cost of every node"),
        command(PATHS, "diff-paths").about("The call paths whose exclusive cost changed most"),
    ]
}

/// Answers one of the two.
pub(super) fn run(name: &str, matches: &ArgMatches, stop: &Stop) -> Result<(), Failure> {
    let diff = DiffTree::from_arg_matches(matches).map_err(|error| explain(&error))?;
    let target = diff.output.target(&diff.sides.inputs())?;
    let layout = diff.output.layout(None, Vec::new());
    layout
        .check(true)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let opened = diff.sides.open(stop)?;
    let (base, new) = (opened.runs(0, stop)?, opened.runs(1, stop)?);
    let (comparison, places, items) = trees(&diff.sides, [&base, &new], stop)?;
    for warning in &comparison.warnings {
        say(warning);
    }
    let any = base[0].database;
    let rules = digest_of_rules(any, stop)?;
    let shown = Shown {
        view: match diff.view {
            ViewArg::All => View::All,
            ViewArg::New => View::New,
            ViewArg::Gone => View::Gone,
        },
        depth: diff.depth,
        min_pct: diff.min_pct,
        exclusive: diff.exclusive,
        first: diff
            .first
            .map(|first| usize::try_from(first).unwrap_or(usize::MAX)),
    };
    let answer = if name == PATHS {
        compare::paths_answer
    } else {
        compare::tree_answer
    };
    let mut answer = answer(any, &comparison, &places, &items, rules.as_deref(), shown);
    print(&mut answer, &layout, &target, stop)
}

/// The trees of two sides as one.
pub(super) type Trees = (Comparison, Vec<Place>, Vec<PlaceItem>);

/// Compares the trees of two sides.
pub(super) fn trees(
    sides: &SidesArgs,
    [base, new]: [&[ComparedRun<'_>]; 2],
    stop: &Stop,
) -> Result<Trees, Failure> {
    let request = Request {
        all: true,
        ..sides.request()
    };
    compare::compare_trees(base, new, &request).map_err(|error| not_compared(error, stop))
}

/// The same for a page, which says by these words how the command is asked.
pub(super) fn union<'t>(
    sides: &SidesArgs,
    [base, new]: [&[ComparedRun<'_>]; 2],
    (comparison, places, items): &'t Trees,
    words: Vec<String>,
    stop: &Stop,
) -> Result<UnionTree<'t>, Failure> {
    let any = base[0].database;
    let rules = digest_of_rules(any, stop)?;
    let no_rows = Shown {
        first: Some(0),
        ..Shown::default()
    };
    let mut answer =
        compare::tree_answer(any, comparison, places, items, rules.as_deref(), no_rows);
    let sql = sides.are_stored().then(|| {
        let of =
            |runs: &[ComparedRun<'_>]| runs.iter().map(|run| run.run.run_id).collect::<Vec<_>>();
        UnionTree::statement(&comparison.metric.0, [&of(base), &of(new)])
    });
    UnionTree::of((places, items), words, &mut answer, sql).map_err(|error| untold(error, stop))
}

/// The same as blocks, nothing left out.
#[cfg(feature = "serve")]
pub(super) fn union_blocks(matches: &ArgMatches, stop: &Stop) -> Result<UnionBlocks, Failure> {
    let diff = DiffTree::from_arg_matches(matches).map_err(|error| explain(&error))?;
    let opened = diff.sides.open(stop)?;
    let (base, new) = (opened.runs(0, stop)?, opened.runs(1, stop)?);
    let sides = [&base[..], &new[..]];
    let trees = trees(&diff.sides, sides, stop)?;
    let union = union(&diff.sides, sides, &trees, Vec::new(), stop)?;
    Ok(union.blocks(usize::MAX))
}
