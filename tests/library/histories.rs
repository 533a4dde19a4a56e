//! Histories of one series: sparklines, and steps that lead back to an earlier level.

use profdb::events::{FunctionDef, Noise};
use profdb::history::reading::Figure;
use profdb::history::steps::{Request, of_history};
use profdb::history::{History, answer, history, series};
use profdb::store::Database;

use crate::support::described_runs::{add_run, emit_root, emit_time};
use crate::support::made_runs::made_up;

/// Returns a history with one run for each cost.
fn history_of(costs: &[f64]) -> (Database, History) {
    let mut database = Database::in_memory().expect("memory");
    add_run(&mut database, &made_up(), |sink| {
        let time = emit_time(sink);
        emit_root(sink, FunctionDef::named("f"), None, time, 1.0);
    });
    let series = series(&database, None, &[]).expect("a database");
    let series = series.into_iter().next().expect("a series");
    let mut history = history(&database, series, None, None).expect("a metric");
    let (position, run) = (
        history.series.positions[0].clone(),
        history.measured.runs[0],
    );
    history.series.positions = vec![position; costs.len()];
    let runs = (0..costs.len()).map(|at| {
        let mut run = run;
        (run.position, run.metric.run) = (at, at);
        run
    });
    history.measured.runs = runs.collect();
    history.subjects[0].1 = costs
        .iter()
        .map(|cost| Figure {
            calls: None,
            exclusive: *cost,
            cumulative: Some(*cost),
            functions: 0,
        })
        .collect();
    (database, history)
}

/// Returns the line with the sparkline of a history.
fn sparkline(costs: &[f64]) -> String {
    let (database, history) = history_of(costs);
    let heading = answer(&database, &history).heading.expect("a heading");
    heading
        .lines
        .into_iter()
        .nth(1)
        .expect("a line for the run")
}

#[test]
fn sparkline_shows_the_smallest_and_the_largest_cost() {
    let table: [(&[f64], &str); 7] = [
        (&[], ""),
        (&[5.0], "▄"),
        (&[5.0, 5.0], "▄▄"),
        (&[0.0, 1.0], "▁█"),
        (&[7.0, 0.0, 3.0, 1.0], "█▁▄▂"),
        (&[1e308, -1e308], "█▁"),
        (&[1.0, f64::NAN], "▄▄"),
    ];
    for (costs, expected) in table {
        let line = sparkline(costs);
        assert!(line.contains(&format!(": {expected}  ")), "{line}");
        assert!(!line.contains("a bar for"), "{line}");
    }
}

#[test]
fn sparkline_of_many_costs_has_a_bar_for_several_positions() {
    let costs: Vec<f64> = (0..121).map(f64::from).collect();
    let line = sparkline(&costs);
    let bars: String = line
        .chars()
        .filter(|bar| "▁▂▃▄▅▆▇█".contains(*bar))
        .collect();
    assert_eq!(bars.chars().count(), 41, "{line}");
    assert!(bars.starts_with('▁') && bars.ends_with('█'), "{line}");
    assert!(line.ends_with(", a bar for 3 positions"), "{line}");
}

/// Returns what the last step of a series of three levels is called.
fn why(levels: [f64; 3], noise: Noise, factors: &[f64]) -> String {
    let costs = levels.iter().flat_map(|level| {
        factors
            .iter()
            .cycle()
            .take(12)
            .map(move |factor| level * factor)
    });
    let costs: Vec<f64> = costs.collect();
    let (database, history) = history_of(&costs);
    let request = Request {
        noise: Some(noise),
        ..Request::default()
    };
    let changes = of_history(&database, &history, &request).expect("a database");
    let steps = &changes[0].steps;
    assert_eq!(steps.len(), 2, "{levels:?}: {steps:?}");
    steps[1].reason.clone()
}

#[test]
fn step_beyond_an_earlier_level_is_not_called_a_return() {
    const BACK: &str = "the earlier level returns";
    const BEYOND: &str = "beyond the earlier level";
    for (levels, expected) in [
        // The cost rises, then falls.
        ([100.0, 120.0, 100.0], BACK),
        ([100.0, 120.0, 97.0], BACK),
        ([100.0, 120.0, 90.0], BEYOND),
        ([100.0, 120.0, 104.0], BACK),
        // The cost falls, then rises.
        ([100.0, 80.0, 101.0], BACK),
        ([100.0, 80.0, 115.0], BEYOND),
        ([100.0, 80.0, 96.0], BACK),
        // A step from or to nothing has no ratio.
        ([4.0, 5.0, 0.0], BACK),
        ([4.0, 0.0, 5.0], BACK),
    ] {
        assert_eq!(why(levels, Noise::Exact, &[1.0]), expected, "{levels:?}");
    }
    // An interval that includes the level of before does not show that the step leads beyond it.
    let levels = [100.0, 140.0, 95.0];
    assert_eq!(why(levels, Noise::Exact, &[1.0]), BEYOND);
    let factors = [0.97, 1.03, 0.98, 1.02, 1.0, 0.99];
    assert_eq!(why(levels, Noise::Timed, &factors), BACK);
}
