//! Figures in units for people: the only code that scales a figure.
//!
//! Files, SQL, CSV, XML and JSON have fixed units, so that programs need not look for one. What
//! people read is scaled by itself, by these rules:
//!
//! 1. A figure by itself has the largest unit in which it is at least 1: ns, us, msec, s; bytes,
//!    KiB, MiB, GiB. (A figure that rounding would turn into 1000.0 of a unit has the next one.)
//!    Counts are not scaled: samples and instructions are compared digit by digit.
//! 2. It has one decimal, or as many as it takes that a thousandth of it is not 0.0: `68.4 msec`,
//!    `5.23 msec`, `2.600 s`. Whole numbers of a base unit have none, and others one where it is at least 1.
//! 3. A column has one unit and one number of decimals, those of the total of the run, because
//!    readers compare its figures with one another and with those of other reports about the run.
//!    Where these would not show a hundredth of what is selected, they are those of the selection.
//!    A figure of a base unit that would be 0.0, though it is more, has two digits: there is no
//!    smaller unit.
//! 4. Averages have a unit each: in one column they may be hours and nanoseconds.
//! 5. A unit or a number of decimals that is asked for is taken.

use super::number::{push_fixed, push_shifted, significant};

/// A unit that figures can be shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name on the command line.
    name: &'static str,
    /// The unit of the metrics that it fits.
    of: &'static str,
    factor: Factor,
}

/// How many of a metric's base unit make one of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    /// A power of ten.
    Ten(u8),
    /// A power of two.
    Two(u8),
}

impl Factor {
    /// The base unit itself.
    const ONE: Self = Self::Ten(0);

    /// How many base units it is.
    fn size(self) -> f64 {
        match self {
            Self::Ten(power) => 10_f64.powi(i32::from(power)),
            Self::Two(power) => 2_f64.powi(i32::from(power)),
        }
    }

    /// A number of base units as one of the unit.
    fn scaled(self, value: f64) -> f64 {
        value / self.size()
    }
}

impl Unit {
    const fn new(name: &'static str, of: &'static str, factor: Factor) -> Self {
        Self { name, of, factor }
    }

    /// All units; those of one base unit are in ascending order.
    pub const ALL: [Self; 14] = [
        Self::new("ns", "ns", Factor::ONE),
        Self::new("us", "ns", Factor::Ten(3)),
        Self::new("ms", "ns", Factor::Ten(6)),
        Self::new("s", "ns", Factor::Ten(9)),
        Self::new("B", "bytes", Factor::ONE),
        Self::new("kB", "bytes", Factor::Ten(3)),
        Self::new("KiB", "bytes", Factor::Two(10)),
        Self::new("MB", "bytes", Factor::Ten(6)),
        Self::new("MiB", "bytes", Factor::Two(20)),
        Self::new("GB", "bytes", Factor::Ten(9)),
        Self::new("GiB", "bytes", Factor::Two(30)),
        Self::new("1", "count", Factor::ONE),
        Self::new("k", "count", Factor::Ten(3)),
        Self::new("M", "count", Factor::Ten(6)),
    ];

    /// Finds a unit by its name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name == name)
    }

    /// How many bytes it is; `None` if it is no unit of memory.
    #[must_use]
    pub fn bytes(self) -> Option<u64> {
        let factor = match self.factor {
            Factor::Ten(digits) => 10_u64.checked_pow(digits.into()),
            Factor::Two(bits) => 1_u64.checked_shl(bits.into()),
        };
        factor.filter(|_| self.of == "bytes")
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        self.name
    }

    /// Whether it fits metrics of a unit: `ns`, `bytes` or `count`.
    pub(crate) fn is_of(self, unit: &str) -> bool {
        self.of == unit
    }

    /// How many of the base unit it is.
    pub(crate) fn size(self) -> f64 {
        self.factor.size()
    }

    /// Names of the units that fit a metric of this unit.
    pub(crate) fn names(of: &str) -> String {
        let names: Vec<_> = Self::ALL
            .iter()
            .filter(|unit| unit.of == of)
            .map(|unit| unit.name)
            .collect();
        names.join(", ")
    }

    /// The largest unit in which a figure of a base unit is at least 1; the base unit if none is.
    fn fitting(of: &str, figure: f64) -> Option<Self> {
        /// Half of the last digit of a figure with one decimal.
        const ROUNDED: f64 = 0.05;
        let is_step = |unit: &Self| match of {
            "bytes" => unit.factor == Factor::ONE || matches!(unit.factor, Factor::Two(_)),
            "count" => unit.factor == Factor::ONE,
            _ => true,
        };
        let fits = |smaller: &Self, larger: &Self| {
            figure.abs() < larger.factor.size() - ROUNDED * smaller.factor.size()
        };
        let steps = Self::ALL.into_iter().filter(|unit| unit.of == of);
        let mut found: Option<Self> = None;
        for step in steps.filter(is_step) {
            if found.is_some_and(|smaller| fits(&smaller, &step)) {
                break;
            }
            found = Some(step);
        }
        found
    }
}

/// How the costs of a metric are shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    /// The unit as titles of tables have it: `msec`, `bytes`, or the name of the metric.
    pub(crate) title: String,
    /// The unit without the metric; empty for a plain count.
    unit: &'static str,
    factor: Factor,
    is_time: bool,
    /// Decimals of its figures where none are asked for.
    decimals: usize,
}

impl Scale {
    /// The scale of a metric whose costs are stored in a base unit, in the unit that is asked for
    /// or the usual one: milliseconds, bytes, a count.
    ///
    /// # Errors
    /// With the reason, if the unit does not fit.
    pub(crate) fn of(metric: &str, base: &str, unit: Option<Unit>) -> Result<Self, String> {
        if let Some(unit) = unit.filter(|unit| unit.of != base) {
            let fitting = Unit::names(base);
            let expected = if fitting.is_empty() {
                "it has no other unit".to_owned()
            } else {
                format!("expected {fitting}")
            };
            return Err(format!(
                "--unit {} does not fit {metric}: {expected}",
                unit.name
            ));
        }
        Ok(Self::in_unit(metric, base, unit))
    }

    /// The scale of a metric in a unit of its base unit, or in the usual one.
    fn in_unit(metric: &str, base: &str, unit: Option<Unit>) -> Self {
        let usual = match base {
            "ns" => Factor::Ten(6),
            _ => Factor::ONE,
        };
        let factor = unit.map_or(usual, |unit| unit.factor);
        let unit_name = match (base, unit) {
            ("ns", None) => "msec",
            ("ns", Some(unit)) if unit.factor == usual => "msec",
            ("bytes", None) => "bytes",
            ("bytes", Some(unit)) if unit.factor == usual => "bytes",
            (_, Some(unit)) if unit.factor != usual => unit.name,
            ("%", _) => "%",
            _ => "",
        };
        let title = match base {
            "count" if unit_name.is_empty() => metric.to_owned(),
            "%" => metric.to_owned(),
            "count" => format!("{unit_name} {metric}"),
            _ => unit_name.to_owned(),
        };
        Self {
            title,
            unit: unit_name,
            factor,
            is_time: base == "ns",
            decimals: 1,
        }
    }

    /// The scale that fits a figure: rules 1 and 2. The usual one fits 0.
    pub(crate) fn fitting(metric: &str, base: &str, figure: f64) -> Self {
        let is_figure = figure != 0.0 && figure.is_finite();
        let unit = Unit::fitting(base, figure).filter(|_| is_figure);
        Self::in_unit(metric, base, unit).with_decimals_for(figure)
    }

    /// The scale with as many decimals as show a thousandth of a figure: rule 2.
    pub(crate) fn with_decimals_for(self, figure: f64) -> Self {
        /// A REAL has no more digits than this.
        const MOST: usize = 15;
        let thousandth = self.factor.scaled(figure.abs()) / 1000.0;
        let is_large = self.factor == Factor::ONE && figure.abs() >= 1.0;
        let decimals = if is_large || !(thousandth > 0.0 && thousandth.is_finite()) {
            1
        } else {
            let mut decimals = 1..MOST;
            decimals
                .find(|decimals| is_seen(thousandth, *decimals))
                .unwrap_or(MOST)
        };
        Self { decimals, ..self }
    }

    /// Decimals of a figure of its column where none are asked for: rule 3.
    pub(crate) fn decimals_of(&self, value: f64) -> usize {
        /// Powers of ten up to here are exact.
        const MOST: usize = 22;
        let size = value.abs();
        if self.factor != Factor::ONE || size == 0.0 || is_seen(size, self.decimals) {
            return self.decimals;
        }
        let mut decimals = self.decimals..MOST;
        decimals
            .find(|decimals| is_seen(size / 10.0, *decimals))
            .unwrap_or(MOST)
    }

    /// The scale of a column: that of the total of the run, or of what is selected where the former
    /// would not show a hundredth of it (rule 3).
    pub(crate) fn of_column(metric: &str, base: &str, total: f64, selected: f64) -> Self {
        let scale = Self::fitting(metric, base, total);
        let hundredth = scale.factor.scaled(selected.abs()) / 100.0;
        let is_large = scale.factor == Factor::ONE && selected.abs() >= 1.0;
        let is_shown = is_large || is_seen(hundredth, scale.decimals);
        if selected == 0.0 || is_shown {
            scale
        } else {
            Self::fitting(metric, base, selected)
        }
    }

    /// The unit's name; empty for a plain count.
    pub(crate) fn unit(&self) -> &'static str {
        self.unit
    }

    /// Whether the costs are times.
    pub(crate) fn is_time(&self) -> bool {
        self.is_time
    }

    /// Rounded for people. Whole numbers of a base unit have no decimals.
    pub(crate) fn rounded(&self, value: f64, decimals: usize) -> String {
        let mut text = String::new();
        self.push_rounded(value, decimals, &mut text);
        text
    }

    /// Adds [`rounded`](Self::rounded) to a text.
    pub(crate) fn push_rounded(&self, value: f64, decimals: usize, text: &mut String) {
        let whole = self.factor == Factor::ONE && is_whole(value);
        push_fixed(
            self.factor.scaled(value),
            if whole { 0 } else { decimals },
            text,
        );
    }

    /// A figure, rounded, and its unit.
    pub(crate) fn with_unit(&self, value: f64, decimals: usize) -> String {
        let mut text = self.rounded(value, decimals);
        if !self.unit.is_empty() {
            text.extend([" ", self.unit]);
        }
        text
    }

    /// Adds all digits to a text.
    pub(crate) fn push_exact(&self, value: f64, text: &mut String) {
        match self.factor {
            Factor::Ten(power) => push_shifted(value, -i32::from(power), text),
            // Dividing by a power of two changes no digit of the fraction.
            Factor::Two(_) => push_shifted(self.factor.scaled(value), 0, text),
        }
    }

    /// Ten digits.
    pub(crate) fn significant(&self, value: f64) -> String {
        match self.factor {
            Factor::Ten(power) => significant(value, -i32::from(power)),
            Factor::Two(_) => significant(self.factor.scaled(value), 0),
        }
    }
}

/// A figure by itself, in the unit that fits it, with its name: rules 1 and 2.
pub(crate) fn figure(metric: &str, base: &str, value: f64) -> String {
    let scale = Scale::fitting(metric, base, value);
    scale.with_unit(value, scale.decimals_of(value))
}

/// Whether a positive figure with so many decimals is more than 0.
fn is_seen(figure: f64, decimals: usize) -> bool {
    // There are 15 decimals at most.
    let digit = 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
    figure * digit >= 0.5
}

/// Whether a number is whole, but for what sums of REALs are off by.
fn is_whole(value: f64) -> bool {
    const ROUNDING: f64 = 4.0 * f64::EPSILON;
    (value - value.round()).abs() <= ROUNDING * value.abs()
}
