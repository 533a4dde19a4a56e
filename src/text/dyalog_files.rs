//! Files of Dyalog's `]PROFILE` as its two known versions write them: what readers and writers have
//! to agree on.

/// The version whose trees have ticks, times corrected for the timer's cost, and inclusive and
/// exclusive under each other's title.
pub(crate) const V0_9: &str = "0.9.0";

/// The version whose files have no ticks, times as measured, and right titles.
pub(crate) const V1_37: &str = "1.37";

/// Whether a version corrects the times of trees for the timer's cost.
pub(crate) fn corrects_trees(version: &str) -> bool {
    version.starts_with("0.")
}

/// What a file looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As version 0.9.0 writes it.
    Old,
    /// As version 1.37 writes it.
    New,
}

/// What a run knows of the timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// It knows how often it was read.
    pub(crate) readings: bool,
    /// What has been subtracted from the times per reading, in ns; `None` if unknown.
    pub(crate) applied: Option<f64>,
}

impl Style {
    /// The style that holds what is known of the timer: ticks and corrected times are those of
    /// 0.9.0.
    pub(crate) fn of(timer: Timer) -> Self {
        let is_corrected = timer.applied.is_some_and(|applied| applied != 0.0);
        // Files of 1.37 have neither ticks nor corrected times: written in its style, both would be
        // lost.
        if timer.readings || is_corrected {
            Self::Old
        } else {
            Self::New
        }
    }

    /// The line of rows of whole functions, which have none.
    pub(crate) fn no_line(self, rows: Rows) -> &'static str {
        match (self, rows) {
            // Version 1.37 does so in trees only; its totals, and all files of 0.9.0, have an empty
            // line.
            (Self::New, Rows::Tree) => "¯1",
            _ => "",
        }
    }

    /// The title that a column has in this style: 0.9.0 swaps inclusive and exclusive.
    pub(crate) fn title(self, title: &str) -> String {
        let swapped = [("Inclusive", "Exclusive"), ("Exclusive", "Inclusive")];
        let other = swapped
            .iter()
            .find_map(|(one, other)| Some(format!("{other}{}", title.strip_prefix(one)?)));
        other
            .filter(|_| self == Self::Old)
            .unwrap_or_else(|| title.to_owned())
    }
}

/// What a file has rows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Places in the tree of calls.
    Tree,
    /// Totals of functions and lines.
    Totals,
}

/// What is known of the times of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times<'v> {
    pub(crate) style: Style,
    pub(crate) rows: Rows,
    /// The rows have ticks.
    pub(crate) ticks: bool,
    /// What the run says of its version.
    pub(crate) version: Option<&'v str>,
    /// What one reading of the timer costs, in ns.
    pub(crate) timer: Option<f64>,
    /// What has been subtracted per reading from the times as they are written, in ns; `None` if
    /// unknown.
    pub(crate) applied: Option<f64>,
    /// What has been subtracted per reading from the times as the run has them, in ns; `None` if
    /// unknown.
    pub(crate) stored: Option<f64>,
}

/// What a file says of its version and the timer, so that readers make of the times what they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stated<'v> {
    pub(crate) version: Option<&'v str>,
    /// `TimerBias`, in ns.
    pub(crate) bias: Option<f64>,
    /// What readers take to be subtracted from the times that they see or make, unless some are
    /// negative.
    pub(crate) read: Option<f64>,
    /// The version says that the times are corrected, negative or not.
    pub(crate) corrects: bool,
}

impl<'v> Times<'v> {
    /// What is to be said. The version is left out where it would be that of the other style.
    pub(crate) fn stated(&self) -> Stated<'v> {
        let Self {
            timer,
            applied,
            stored,
            ..
        } = *self;
        let old = self.version.filter(|version| corrects_trees(version));
        let own = match self.style {
            Style::Old => self.version.filter(|version| *version != V1_37),
            Style::New => self.version.filter(|version| !corrects_trees(version)),
        };
        let raw = Stated {
            version: own,
            bias: timer,
            read: Some(0.0),
            corrects: false,
        };
        match (self.rows, self.style, applied) {
            (Rows::Tree, Style::Old, Some(applied)) if self.ticks || applied != 0.0 => Stated {
                version: old.or(Some(V0_9)),
                bias: Some(applied),
                read: Some(applied),
                corrects: true,
            },
            // Readers would take the cost of the timer for what the times are corrected by.
            (Rows::Tree, Style::Old, None) if old.is_some() => Stated {
                bias: None,
                read: None,
                ..raw
            },
            (Rows::Tree, Style::Old, None) if self.ticks => Stated { read: None, ..raw },
            (Rows::Tree, ..) => Stated {
                version: own.filter(|version| !corrects_trees(version)),
                ..raw
            },
            // Readers correct totals with ticks.
            (Rows::Totals, ..) if !self.ticks => raw,
            (Rows::Totals, _, Some(0.0)) if stored == timer => Stated {
                read: timer.or(Some(0.0)),
                ..raw
            },
            (Rows::Totals, _, Some(0.0)) => {
                let bias = stored.filter(|stored| *stored != 0.0);
                Stated {
                    bias,
                    read: bias.or(Some(0.0)),
                    ..raw
                }
            }
            (Rows::Totals, ..) => Stated { bias: None, ..raw },
        }
    }
}
