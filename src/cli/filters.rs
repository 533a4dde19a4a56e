//! Filters of comparisons: what of the runs is looked at.

use clap::Args;

use crate::report::Argument;

/// What of the runs is looked at.
#[derive(Debug, Args)]
pub(super) struct FilterArgs {
    /// Only calls below functions that match
    ///
    /// The name, module and file of functions are compared.
    #[arg(long, value_name = "REGEX")]
    focus: Option<String>,
    /// Drop calls below functions that match
    ///
    /// The name, module and file of functions are compared.
    #[arg(long, value_name = "REGEX")]
    ignore: Option<String>,
    /// Remove matching functions; callers get their cost
    #[arg(long, value_name = "REGEX")]
    hide: Option<String>,
    /// Only this thread: NAME or PROCESS/THREAD
    ///
    /// The end of a name is enough if it is unique.
    #[arg(long, value_name = "NAME")]
    thread: Option<String>,
    /// Only samples with this label: KEY=VALUE or KEY
    ///
    /// Repeat the flag to require several labels.
    #[arg(long, value_name = "KEY=VALUE")]
    label: Vec<String>,
}

impl FilterArgs {
    /// The flags that are given, as reports take them.
    pub(super) fn arguments(&self) -> impl Iterator<Item = (String, Argument)> {
        let texts = [
            ("focus", &self.focus),
            ("ignore", &self.ignore),
            ("hide", &self.hide),
            ("thread", &self.thread),
        ];
        let given = texts
            .into_iter()
            .filter_map(|(flag, text)| Some((flag, text.clone()?)));
        let labels = self.label.iter().map(|label| ("label", label.clone()));
        given
            .chain(labels)
            .map(|(flag, text)| (flag.to_owned(), Argument::Text(text)))
    }
}
