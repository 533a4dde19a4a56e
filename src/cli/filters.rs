//! Filters of comparisons: what of the runs is looked at.

use clap::Args;

use crate::report::Argument;

/// What of the runs is looked at.
#[derive(Debug, Args)]
pub(super) struct FilterArgs {
    /// Only what happened below functions whose name, module or file fits
    #[arg(long, value_name = "REGEX")]
    focus: Option<String>,
    /// Without what happened below functions whose name, module or file fits
    #[arg(long, value_name = "REGEX")]
    ignore: Option<String>,
    /// Without such functions, whose cost goes to their callers
    #[arg(long, value_name = "REGEX")]
    hide: Option<String>,
    /// Only what happened in this thread: its name, PROCESS/THREAD, or the end of it that no other has
    #[arg(long, value_name = "NAME")]
    thread: Option<String>,
    /// Only samples with this label, KEY=VALUE or just KEY; several times: with all of them
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
