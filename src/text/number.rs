//! Numbers as text. The only code that scales or formats one.

/// Significant digits of a [`significant`] number, as APL prints them.
const DIGITS: usize = 10;

/// A number that is written without exponent has fewer digits before its point, or zeros after it,
/// than this.
const FAR: i32 = 21;

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

impl Unit {
    const fn new(name: &'static str, of: &'static str, factor: Factor) -> Self {
        Self { name, of, factor }
    }

    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::new("ns", "ns", Factor::Ten(0)),
        Self::new("us", "ns", Factor::Ten(3)),
        Self::new("ms", "ns", Factor::Ten(6)),
        Self::new("s", "ns", Factor::Ten(9)),
        Self::new("B", "bytes", Factor::Ten(0)),
        Self::new("kB", "bytes", Factor::Ten(3)),
        Self::new("KiB", "bytes", Factor::Two(10)),
        Self::new("MB", "bytes", Factor::Ten(6)),
        Self::new("MiB", "bytes", Factor::Two(20)),
        Self::new("GB", "bytes", Factor::Ten(9)),
        Self::new("GiB", "bytes", Factor::Two(30)),
        Self::new("1", "count", Factor::Ten(0)),
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

    /// Names of the units that fit a metric of this unit.
    fn names(of: &str) -> String {
        let names: Vec<_> = Self::ALL
            .iter()
            .filter(|unit| unit.of == of)
            .map(|unit| unit.name)
            .collect();
        names.join(", ")
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
}

impl Scale {
    /// The scale of a metric whose costs are stored in a base unit, in the unit that is asked for
    /// or the usual one.
    ///
    /// # Errors
    /// With the reason, if the unit does not fit.
    pub(crate) fn of(metric: &str, base: &str, unit: Option<Unit>) -> Result<Self, String> {
        if let Some(unit) = unit.filter(|unit| unit.of != base) {
            let fitting = Unit::names(base);
            return Err(format!(
                "--unit {} does not fit {metric}: expected {fitting}",
                unit.name
            ));
        }
        let usual = match base {
            "ns" => Factor::Ten(6),
            _ => Factor::Ten(0),
        };
        let factor = unit.map_or(usual, |unit| unit.factor);
        let unit_name = match (base, unit) {
            ("ns", None) => "msec",
            ("ns", Some(unit)) if unit.factor == usual => "msec",
            ("bytes", None) => "bytes",
            ("bytes", Some(unit)) if unit.factor == usual => "bytes",
            (_, Some(unit)) if unit.factor != usual => unit.name,
            _ => "",
        };
        let title = match base {
            "count" if unit_name.is_empty() => metric.to_owned(),
            "count" => format!("{unit_name} {metric}"),
            _ => unit_name.to_owned(),
        };
        Ok(Self {
            title,
            unit: unit_name,
            factor,
            is_time: base == "ns",
        })
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
        let whole = self.factor == Factor::Ten(0) && value.fract() == 0.0;
        let scaled = match self.factor {
            Factor::Ten(power) => value / 10_f64.powi(i32::from(power)),
            Factor::Two(power) => value / 2_f64.powi(i32::from(power)),
        };
        fixed(scaled, if whole { 0 } else { decimals })
    }

    /// A figure, rounded, and its unit.
    pub(crate) fn with_unit(&self, value: f64, decimals: usize) -> String {
        format!("{} {}", self.rounded(value, decimals), self.unit)
            .trim_end()
            .to_owned()
    }

    /// All digits.
    pub(crate) fn exact(&self, value: f64) -> String {
        match self.factor {
            Factor::Ten(power) => shifted(value, -i32::from(power)),
            // Dividing by a power of two changes no digit of the fraction.
            Factor::Two(power) => shifted(value / 2_f64.powi(i32::from(power)), 0),
        }
    }

    /// Ten digits.
    pub(crate) fn significant(&self, value: f64) -> String {
        match self.factor {
            Factor::Ten(power) => significant(value, -i32::from(power)),
            Factor::Two(power) => significant(value / 2_f64.powi(i32::from(power)), 0),
        }
    }
}

/// A time in milliseconds, with all its digits.
pub(crate) fn milliseconds(nanoseconds: f64) -> String {
    shifted(nanoseconds, -6)
}

/// A number as APL writes it.
pub(crate) fn apl(number: &str) -> String {
    number.replace('-', "¯")
}

/// So many decimals.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let figure = format!("{value:.decimals$}");
    match figure.strip_prefix('-') {
        // What rounds to nothing is not less than nothing.
        Some(rest) if !rest.contains(|digit| ('1'..='9').contains(&digit)) && value.is_finite() => {
            rest.to_owned()
        }
        _ => figure,
    }
}

/// All digits that tell the number from every other.
pub(crate) fn shortest(value: f64) -> String {
    shifted(value, 0)
}

/// All digits of the number times a power of ten: only the point moves, so nothing is rounded.
pub(crate) fn shifted(value: f64, power: i32) -> String {
    if !value.is_finite() {
        // Only plain SQL comes to this.
        return value.to_string();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    positional(mantissa, exponent.parse::<i32>().unwrap_or(0) + power)
}

/// Ten digits of the number times a power of ten, without zeros at the end.
pub(crate) fn significant(value: f64, power: i32) -> String {
    let scientific = format!("{value:.*e}", DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    positional(mantissa, exponent.parse::<i32>().unwrap_or(0) + power)
}

/// Writes `d.ddd` times ten to the `exponent` without exponent, unless it is far from the digits.
fn positional(mantissa: &str, exponent: i32) -> String {
    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa
        .chars()
        .filter(|character| *character != '.')
        .collect();
    if digits.bytes().all(|digit| digit == b'0') {
        return "0".to_owned();
    }
    if !(-FAR..FAR).contains(&exponent) {
        return format!("{sign}{mantissa}E{exponent}");
    }
    let Ok(before) = usize::try_from(exponent + 1) else {
        let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or(0));
        return format!("{sign}0.{zeros}{digits}");
    };
    match (before, digits.len()) {
        (0, _) => format!("{sign}0.{digits}"),
        (before, length) if before >= length => {
            format!("{sign}{digits}{}", "0".repeat(before - length))
        }
        (before, _) => format!("{sign}{}.{}", &digits[..before], &digits[before..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let table: &[(f64, i32, &str, &str)] = &[
            // value, power, all digits, ten digits
            (
                68_400_494.877_920_43,
                -6,
                "68.40049487792043",
                "68.40049488",
            ),
            (100.0, 0, "100", "100"),
            (0.0, -6, "0", "0"),
            (-887.179_497, -6, "-0.000887179497", "-0.000887179497"),
            (1e6, -6, "1", "1"),
            (1.5, -6, "0.0000015", "0.0000015"),
            (123_456_789_012.0, 0, "123456789012", "123456789000"),
            (0.1, 0, "0.1", "0.1"),
            (1e300, 0, "1E300", "1E300"),
            (12.5e-30, 0, "1.25E-29", "1.25E-29"),
        ];
        for (value, power, all, ten) in table {
            assert_eq!(shifted(*value, *power), *all);
            assert_eq!(significant(*value, *power), *ten);
        }
    }

    #[test]
    fn figures_say_their_unit() {
        let table: &[([&str; 3], f64, usize, [&str; 3])] = &[
            // metric, its unit, unit asked for, value, decimals; title, figure, exact
            (
                ["time", "ns", ""],
                58_200_000.0,
                1,
                ["msec", "58.2 msec", "58.2"],
            ),
            (
                ["time", "ns", "ms"],
                58_249_000.0,
                3,
                ["msec", "58.249 msec", "58.249"],
            ),
            (["time", "ns", "us"], 1_500.5, 1, ["us", "1.5 us", "1.5005"]),
            (
                ["time", "ns", "ns"],
                1_500.5,
                1,
                ["ns", "1500.5 ns", "1500.5"],
            ),
            (["time", "ns", "ns"], 1_500.0, 1, ["ns", "1500 ns", "1500"]),
            (["time", "ns", "s"], 1.5e9, 0, ["s", "2 s", "1.5"]),
            (
                ["time", "ns", ""],
                -40_000.0,
                1,
                ["msec", "0.0 msec", "-0.04"],
            ),
            (
                ["alloc", "bytes", ""],
                1536.0,
                1,
                ["bytes", "1536 bytes", "1536"],
            ),
            (
                ["alloc", "bytes", "B"],
                1536.5,
                1,
                ["bytes", "1536.5 bytes", "1536.5"],
            ),
            (
                ["alloc", "bytes", "kB"],
                1536.0,
                1,
                ["kB", "1.5 kB", "1.536"],
            ),
            (
                ["alloc", "bytes", "KiB"],
                1536.0,
                2,
                ["KiB", "1.50 KiB", "1.5"],
            ),
            (
                ["alloc", "bytes", "GiB"],
                1_073_741_824.0,
                1,
                ["GiB", "1.0 GiB", "1"],
            ),
            (["samples", "count", ""], 12.0, 1, ["samples", "12", "12"]),
            (["samples", "count", "1"], 12.0, 1, ["samples", "12", "12"]),
            (
                ["samples", "count", "k"],
                1_234.0,
                1,
                ["k samples", "1.2 k", "1.234"],
            ),
        ];
        for ([name, of, unit], value, decimals, expected) in table {
            let scale = Scale::of(name, of, Unit::by_name(unit)).expect("a unit that fits");
            let found = [
                scale.title.clone(),
                scale.with_unit(*value, *decimals),
                scale.exact(*value),
            ];
            assert_eq!(found, *expected, "{name} {unit}");
        }
    }

    #[test]
    fn a_unit_of_something_else_is_refused() {
        let table = [
            (
                "time",
                "ns",
                "kB",
                "--unit kB does not fit time: expected ns, us, ms, s",
            ),
            (
                "ticks",
                "count",
                "ms",
                "--unit ms does not fit ticks: expected 1, k, M",
            ),
        ];
        for (name, of, unit, expected) in table {
            assert_eq!(
                Scale::of(name, of, Unit::by_name(unit)),
                Err(expected.to_owned())
            );
        }
    }
}
