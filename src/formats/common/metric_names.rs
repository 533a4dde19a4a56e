//! Names of metrics, each once.

/// The names that metrics of a file have taken: a run has no two metrics of one name, and users
/// choose one by it.
#[derive(Default)]
pub(in crate::formats) struct MetricNames {
    /// A file has a few hundred metrics at most: to look at all is fast enough.
    taken: Vec<String>,
}

impl MetricNames {
    /// Whether a metric has the name already.
    pub(in crate::formats) fn has(&self, name: &str) -> bool {
        self.taken.iter().any(|taken| taken == name)
    }

    /// The name for the next metric: the one given or, if it is taken, the first that is free of
    /// `NAME 2`, `NAME 3` and so on.
    pub(in crate::formats) fn take(&mut self, name: &str) -> String {
        let mut free = name.to_owned();
        for number in 2.. {
            if !self.has(&free) {
                break;
            }
            free = format!("{name} {number}");
        }
        self.taken.push(free.clone());
        free
    }
}
