//! Sums of floating-point numbers with compensation.
//!
//! Reference: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen",
//! ZAMM 54 (1974).

/// A sum with what rounding has taken from it, as SQLite's SUM keeps it, too: it is exact enough for
/// any number of parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    /// Adds a part.
    pub(crate) fn add(&mut self, part: f64) {
        let sum = self.sum + part;
        self.lost += if self.sum.abs() > part.abs() {
            (self.sum - sum) + part
        } else {
            (part - sum) + self.sum
        };
        self.sum = sum;
    }

    /// Adds what another sum has added up.
    pub(crate) fn merge(&mut self, other: Self) {
        self.add(other.sum);
        self.lost += other.lost;
    }

    /// What the parts add up to.
    pub(crate) fn value(self) -> f64 {
        // Infinite parts leave no difference that could be told.
        if self.lost.is_finite() {
            self.sum + self.lost
        } else {
            self.sum
        }
    }
}
