//! The arithmetic of comparisons, by scipy (Debian: python3-scipy), and by R and its package limma (r-base-core,
//! r-bioc-limma); and what holds for all figures.

#![expect(
    clippy::cast_precision_loss,
    reason = "numbers of runs, and 53 bits of a random number"
)]

use crate::support::random::Random;
use crate::support::tools;
use profdb_statistics::counts;
use profdb_statistics::dispersion::Prior;
use profdb_statistics::distribution::{
    binomial_odds_interval, binomial_two_sided, chi_square_median, digamma, fisher_upper_quantile,
    inverse_trigamma, normal_above, normal_upper_quantile, student_two_sided,
    student_upper_quantile, trigamma,
};
use profdb_statistics::factors::SizeFactors;
use profdb_statistics::multiple::{false_discovery_rates, holm};
use profdb_statistics::normalize;
use profdb_statistics::ranks::{mann_whitney, shift};
use profdb_statistics::repeats::runs_needed;
use profdb_statistics::times;
use profdb_statistics::{Estimate, Figures, Shape, Sides};
use proptest::prelude::*;
use std::io::Write;
use std::process::Stdio;

/// Relative difference that is rounding.
const ROUNDING: f64 = 1e-9;

/// What is asked, with the numbers that we answer; one that is not compared is NaN.
struct Questions(Vec<(String, Vec<f64>)>);

impl Questions {
    fn ask(&mut self, name: &str, numbers: &[f64], answer: &[f64]) {
        let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:e}")).collect();
        self.0
            .push((format!("{name} {}", numbers.join(" ")), answer.to_vec()));
    }

    /// Compares the answers with those of a script that asks `SciPy`.
    fn compare_with_scipy(&self) {
        tools::require_python_module("scipy");
        self.compare("python3", "tests/support/statistics.py");
    }

    /// Compares the answers with those of a script that asks R and limma.
    fn compare_with_r(&self) {
        tools::require_r_package("limma", "r-bioc-limma");
        self.compare("Rscript", "tests/support/statistics.R");
    }

    /// Compares the answers with those of a script.
    fn compare(&self, program: &str, script: &str) {
        let mut child = tools::command(program)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was found");
        let mut input = child.stdin.take().expect("it is piped");
        let lines: Vec<&str> = self.0.iter().map(|(line, _)| line.as_str()).collect();
        let text = lines.join("\n") + "\n";
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let output = child.wait_with_output().expect("its answers are text");
        writer.join().expect("no panic").expect("it reads all");
        assert!(output.status.success(), "{script}");
        let answers = String::from_utf8(output.stdout).expect("numbers");
        let answers: Vec<&str> = answers.lines().collect();
        assert_eq!(answers.len(), self.0.len(), "{script}");
        for ((line, ours), theirs) in self.0.iter().zip(answers) {
            let theirs: Vec<f64> = theirs
                .split_whitespace()
                .map(|number| number.to_lowercase().parse().expect(theirs))
                .collect();
            assert_eq!(ours.len(), theirs.len(), "{line}");
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert!(
                    ours.is_nan() || is_close(*ours, theirs),
                    "{line}: {ours}, not {theirs}"
                );
            }
        }
    }
}

#[expect(
    clippy::float_cmp,
    reason = "infinite numbers and 0 are equal or are not"
)]
fn is_close(ours: f64, theirs: f64) -> bool {
    ours == theirs || (ours - theirs).abs() <= ROUNDING * ours.abs().max(theirs.abs())
}

fn sample(seed: u64, values: usize) -> Vec<f64> {
    let mut random = Random(seed);
    // Sums of three: neither normal nor far from it.
    let mut one = || (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..values).map(|_| one() + one() + one()).collect()
}

#[test]
fn distributions_are_those_of_scipy_and_r() {
    // Quantiles of scipy before 1.12, and its intervals, have nine digits.
    let (mut questions, mut of_r) = (Questions(Vec::new()), Questions(Vec::new()));
    for z in [0.0, 0.1, 1.0, 3.0, 6.0, 10.0, 25.0] {
        questions.ask("normal_above", &[z], &[normal_above(z)]);
    }
    for p in [1e-12, 0.001, 0.025, 0.3, 0.9, 0.999] {
        of_r.ask("normal_upper_quantile", &[p], &[normal_upper_quantile(p)]);
    }
    for df in [
        1.0, 2.0, 2.9, 4.0, 7.3, 18.0, 333.3, 999.0, 1000.0, 1e4, 1e6, 1e8, 1e11, 1e14,
    ] {
        for t in [1e-6, 0.01, 0.3, 1.0, 2.0, 3.7, 6.0, 10.0, 40.0] {
            questions.ask("student_two_sided", &[t, df], &[student_two_sided(t, df)]);
            if df < 1e12 {
                of_r.ask("student_two_sided", &[t, df], &[student_two_sided(t, df)]);
            }
        }
        for p in [1e-9, 1e-4, 0.025, 0.3, 0.9, 0.975] {
            let ours = student_upper_quantile(p, df);
            of_r.ask("student_upper_quantile", &[p, df], &[ours]);
        }
    }
    for df1 in [1.0, 2.9, 4.0, 8.0, 18.0, 38.0] {
        questions.ask("chi_square_median", &[df1], &[chi_square_median(df1)]);
        for df2 in [1.0, 2.0, 5.0, 30.0, 1e5, 1e12] {
            for p in [0.95, 0.5, 0.05, 1e-5] {
                // R's own quantiles of it have eight digits.
                let quantile = fisher_upper_quantile(p, df1, df2);
                of_r.ask("fisher_above", &[quantile, df1, df2], &[p]);
            }
        }
    }
    for x in [0.001, 0.1, 0.5, 1.0, 1.5, 2.0, 8.0, 30.0, 1e4, 1e8] {
        questions.ask("digamma", &[x], &[digamma(x)]);
        questions.ask("trigamma", &[x], &[trigamma(x)]);
        let back = inverse_trigamma(trigamma(x));
        assert!(is_close(back, x), "{x}: {back}");
    }
    for n in [1.0_f64, 3.0, 10.0, 19.0, 100.0, 4000.0] {
        for k in [0.0, 1.0, (n / 3.0).floor(), (n / 2.0).floor(), n] {
            for q in [0.5, 0.23, 0.9] {
                let ours = binomial_two_sided(k, n, q);
                questions.ask("binomial_two_sided", &[k, n, q], &[ours]);
            }
            let (low, high) = binomial_odds_interval(k, n, 0.05);
            // R has the probability.
            let answer = [low, high].map(|odds| {
                if odds.is_infinite() {
                    1.0
                } else {
                    odds / (1.0 + odds)
                }
            });
            of_r.ask("binomial_interval", &[k, n, 0.05], &answer);
        }
    }
    questions.compare_with_scipy();
    of_r.compare_with_r();
}

/// Where functions have nothing in common and there is one, tests are those of every textbook.
#[test]
fn tests_of_one_function_are_those_of_scipy_and_r() {
    let (mut questions, mut of_r) = (Questions(Vec::new()), Questions(Vec::new()));
    for (seed, n0, n1) in [
        (1, 3, 3),
        (2, 1, 4),
        (3, 5, 1),
        (4, 10, 7),
        (5, 20, 20),
        (6, 30, 25),
    ] {
        let logs = sample(seed, n0 + n1);
        let both = [&[n0 as f64], &logs[..]].concat();
        let given = SizeFactors::Given(vec![0.0; n0 + n1]);
        let ours = times::test(&exponentials(n0, &logs, 1), &given)[0].p;
        // R knows a side of one run.
        if n0.min(n1) == 1 {
            of_r.ask("pooled_test", &both, &[ours]);
        } else {
            questions.ask("pooled_test", &both, &[ours]);
        }
        let ours = mann_whitney(&logs[..n0], &logs[n0..]);
        let how = if n0 * n1 <= 400 { "exact" } else { "normal" };
        questions.ask(&format!("mann_whitney_{how}"), &both, &[ours]);
        // Ties are counted out here and there, too, where there are not too many choices for that.
        let tied: Vec<f64> = logs.iter().map(|value| (value * 3.0).round()).collect();
        let ours = mann_whitney(&tied[..n0], &tied[n0..]);
        let both = [&[n0 as f64], &tied[..]].concat();
        let how = match n0 * n1 {
            ..=100 => "counted",
            101..=400 => continue,
            _ => "normal",
        };
        if tied.iter().any(|value| !is_close(*value, tied[0])) {
            questions.ask(&format!("mann_whitney_{how}"), &both, &[ours]);
        }
    }
    for rounds in [2, 3, 7] {
        let ratios: Vec<f64> = sample(9, rounds).iter().map(|value| value - 1.2).collect();
        // The factor of the rounds is all there is, and its variance is the function's.
        let ours = times::test_pairs(&Figures::new(rounds, ratios.clone()))[0].p;
        questions.ask("paired_test", &ratios, &[ours]);
    }
    questions.compare_with_scipy();
    of_r.compare_with_r();
}

/// `rows` functions whose logarithms are given, those of base first.
fn exponentials(n0: usize, logs: &[f64], rows: usize) -> Sides {
    let runs = logs.len() / rows;
    let part = |from: usize, to: usize| {
        let values = logs.chunks(runs).flat_map(|row| &row[from..to]);
        Figures::new(to - from, values.map(|log| log.exp()).collect())
    };
    Sides {
        base: part(0, n0),
        new: part(n0, runs),
    }
}

#[test]
fn moderation_and_corrections_are_those_of_r() {
    let mut questions = Questions(Vec::new());
    for (seed, count) in [(1, 1), (2, 2), (3, 5), (4, 200)] {
        let p: Vec<f64> = sample(seed, count)
            .iter()
            .map(|value| (value / 3.0).powi(6))
            .collect();
        questions.ask("false_discovery_rates", &p, &false_discovery_rates(&p));
        questions.ask("holm", &p, &holm(&p));
    }
    // Variances that differ much, little, and less than chance would make them.
    for (seed, count, power) in [(6, 3, 4), (7, 40, 6), (8, 400, 3), (9, 40, 1)] {
        for df in [1.0, 2.9, 4.0, 18.0] {
            let mut variances: Vec<f64> = sample(seed, count)
                .iter()
                .map(|value| value.powi(power))
                .collect();
            // One that is exactly 0.
            if count == 40 {
                variances[7] = 0.0;
            }
            let prior = Prior::fit(&variances, df);
            let squeezed = variances
                .iter()
                .map(|&variance| prior.moderate(variance, df).value);
            let ours: Vec<f64> = [prior.df, prior.scale]
                .into_iter()
                .chain(squeezed)
                .collect();
            questions.ask("squeeze", &[&[df], &variances[..]].concat(), &ours);
        }
    }
    for (seed, n0, n1, functions) in [(11, 3, 3, 60), (12, 1, 3, 25), (13, 4, 10, 200)] {
        let logs = sample(seed, (n0 + n1) * functions);
        let given = SizeFactors::Given(vec![0.0; n0 + n1]);
        let estimates = times::test(&exponentials(n0, &logs, functions), &given);
        // Functions that vary much more than the others keep their variance here: they are not compared.
        let own = (n0 + n1 - 2) as f64;
        let p: Vec<f64> = estimates.iter().map(|estimate| estimate.p).collect();
        let df: Vec<f64> = estimates.iter().map(degrees).collect();
        let sizes = [n0 as f64, n1 as f64];
        assert!(df.iter().filter(|&&df| df > own).count() > functions * 8 / 10);
        let numbers = [&sizes, &logs[..]].concat();
        let is_own = df.iter().chain(&df).map(|&df| df <= own);
        let ours = [&p[..], &df].concat().into_iter().zip(is_own);
        let ours: Vec<f64> = ours
            .map(|(ours, is_own)| if is_own { f64::NAN } else { ours })
            .collect();
        questions.ask("moderated", &numbers, &ours);
    }
    for (seed, n0, n1) in [(14, 5, 5), (15, 6, 11), (16, 20, 20), (17, 3, 3)] {
        let values = sample(seed, n0 + n1);
        for alpha in [0.05, 0.19] {
            let (estimate, interval) = shift(&values[..n0], &values[n0..], alpha);
            let Some((low, high)) = interval else {
                continue;
            };
            let numbers = [&[alpha, n0 as f64], &values[..]].concat();
            questions.ask("shift", &numbers, &[estimate, low, high]);
        }
    }
    // Sides of which one varies much more.
    for (seed, n0, n1) in [(18, 5, 5), (19, 6, 9), (20, 12, 5)] {
        let mut logs = sample(seed, n0 + n1);
        for log in &mut logs[n0..] {
            *log *= 6.0;
        }
        let ours = times::test(
            &exponentials(n0, &logs, 1),
            &SizeFactors::Given(vec![0.0; n0 + n1]),
        )[0]
        .p;
        questions.ask("welch", &[&[n0 as f64], &logs[..]].concat(), &[ours]);
    }
    questions.compare_with_r();
}

fn degrees(estimate: &Estimate) -> f64 {
    match estimate.shape {
        Shape::Student { df, .. } => df,
        Shape::Binomial { .. } | Shape::Order { .. } => panic!("times are not counted"),
    }
}

/// As the formula of the sample size of two means says it (Chow, Shao and Wang, "Sample size calculations in clinical research",
/// 2003, formula 3.2.3), by tables of the normal distribution.
#[test]
fn runs_needed_are_those_of_the_tables() {
    // 2 ((1.95996 + 0.84162) * 0.1 / 0.04879)^2 = 65.9
    for (deviation, effect, tests, expected) in [
        (0.1, 0.05, 1, 66.0),
        (0.1, 0.5, 1, 3.0),
        // z of 0.05 / 80 is 3.2272, and of 0.05 / 800 3.8357.
        (0.1, 0.1, 40, 37.0),
        (0.1, 0.1, 400, 49.0),
        (f64::INFINITY, 0.05, 1, f64::INFINITY),
        (0.0, 0.05, 1, 3.0),
    ] {
        let runs = runs_needed(deviation, effect, 0.05, tests);
        assert!(
            is_close(runs, expected),
            "{deviation} {effect} {tests}: {runs}"
        );
    }
}

/// Figures of some functions in runs of either side and of a history: zeros, equal ones, tiny and huge ones among them.
fn matrices() -> impl Strategy<Value = (Sides, Figures)> {
    let figure = prop_oneof![
        3 => Just(0.0),
        3 => (1_u32..40).prop_map(f64::from),
        2 => (1_u32..2_000_000_000).prop_map(f64::from),
        1 => Just(7.0),
        1 => Just(1e18),
    ];
    let counts = (1_usize..5, 1_usize..5, 2_usize..9, 0_usize..7);
    counts.prop_flat_map(move |(n0, n1, h, functions)| {
        let figures = |runs: usize| {
            prop_oneof![
                proptest::collection::vec(figure.clone(), runs * functions),
                // Each function the same in all runs.
                proptest::collection::vec(figure.clone(), functions).prop_map(move |row| {
                    row.iter().flat_map(|&value| vec![value; runs]).collect()
                }),
            ]
            .prop_map(move |values| Figures::new(runs, values))
        };
        (figures(n0), figures(n1), figures(h))
            .prop_map(|(base, new, history)| (Sides { base, new }, history))
    })
}

/// What holds of an estimate, whatever the figures are.
fn is_sound(estimate: &Estimate, base: &[f64], new: &[f64]) -> Result<(), TestCaseError> {
    let sum = |side: &[f64]| side.iter().sum::<f64>();
    prop_assert!((0.0..=1.0).contains(&estimate.p), "{estimate:?}");
    prop_assert!(!estimate.ln_ratio.is_nan(), "{estimate:?}");
    prop_assert!(estimate.dispersion >= 1.0 && estimate.dispersion.is_finite());
    prop_assert_eq!(
        estimate.ln_ratio.is_infinite(),
        (sum(base) > 0.0) != (sum(new) > 0.0)
    );
    prop_assert!(!estimate.deviation(base.len(), new.len()).is_nan());
    let mut outer = (0.0, f64::INFINITY);
    for alpha in [0.01, 0.05, 0.1] {
        let (low, high) = estimate.interval(alpha);
        prop_assert!(
            low >= outer.0 && high <= outer.1 && low <= high,
            "{estimate:?}"
        );
        outer = (low, high);
    }
    Ok(())
}

fn are_sound(estimates: &[Estimate], sides: &Sides) -> Result<(), TestCaseError> {
    prop_assert_eq!(estimates.len(), sides.functions());
    for (function, estimate) in estimates.iter().enumerate() {
        let (base, new) = (sides.base.row(function), sides.new.row(function));
        is_sound(estimate, base, new)?;
        if base
            .iter()
            .chain(new)
            .all(|figure| is_close(*figure, base[0]))
        {
            prop_assert!(
                is_close(estimate.p, 1.0),
                "{estimate:?} of {base:?} {new:?}"
            );
        }
    }
    Ok(())
}

proptest! {
    /// No figures make a comparison say what is no number, and equal figures are no change.
    #[test]
    fn figures_of_all_kinds_have_answers((sides, history) in matrices()) {
        let none = SizeFactors::Given(vec![0.0; sides.base.runs() + sides.new.runs()]);
        for shared in [&SizeFactors::Estimated, &none] {
            are_sound(&counts::test_with_history(&history, &sides, shared), &sides)?;
            are_sound(&times::test_with_history(&history, &sides, shared), &sides)?;
            if sides.base.runs() + sides.new.runs() > 2 {
                are_sound(&counts::test(&sides, shared), &sides)?;
                are_sound(&times::test(&sides, shared), &sides)?;
            }
        }
        let factors = [normalize::factors_of_counts(&sides), normalize::factors_of_times(&sides)];
        for factors in factors.into_iter().flatten() {
            prop_assert_eq!(factors.len(), sides.base.runs() + sides.new.runs());
            prop_assert!(factors.iter().all(|factor| factor.is_finite()));
        }
    }

    /// Base and new are alike to the tests: the ratio turns, and what is known of it stays.
    #[test]
    fn sides_that_change_places_turn_the_ratio((sides, history) in matrices()) {
        let turned = Sides { base: sides.new.clone(), new: sides.base.clone() };
        let both = |test: &dyn Fn(&Sides) -> Vec<Estimate>| {
            for (one, other) in test(&sides).iter().zip(test(&turned)) {
                prop_assert!((one.ln_ratio + other.ln_ratio).abs() < 1e-9 || one.ln_ratio.is_infinite());
                prop_assert!((one.p - other.p).abs() <= 1e-6, "{one:?} {other:?}");
            }
            Ok(())
        };
        both(&|sides| counts::test_with_history(&history, sides, &SizeFactors::Estimated))?;
        both(&|sides| times::test_with_history(&history, sides, &SizeFactors::Estimated))?;
        if sides.base.runs() + sides.new.runs() > 2 {
            both(&|sides| counts::test(sides, &SizeFactors::Estimated))?;
            both(&|sides| times::test(sides, &SizeFactors::Estimated))?;
        }
    }
}
