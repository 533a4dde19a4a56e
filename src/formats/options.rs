//! Options of formats: what the user may say besides the file.

use std::collections::BTreeMap;

/// An option of a format; a flag of the command line.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionDef {
    /// Its name, without dashes. Several formats may have the same option.
    pub name: &'static str,
    /// What is written after it.
    pub takes: Takes,
    /// What it means, with the default.
    pub meaning: &'static str,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is a flag.
    Nothing,
    /// One of these words.
    Word(&'static [&'static str]),
    /// [`Separators`](crate::text::separators::Separators), as text.
    Separators,
    /// A share of the whole in percent, as text.
    Percentage,
    /// Any text.
    Text,
}

/// Name of the option to draw what a writer has written. Its caller does that: a writer starts no
/// program.
pub const DRAWN_SVG: &str = "svg";

/// Name of the option to read the sound part of a damaged file.
pub(super) const KEEP_BEFORE_ERROR: &str = "keep-before-error";

/// The option to read the sound part of a damaged file.
pub(super) const KEEP_BEFORE_ERROR_OPTION: OptionDef = OptionDef {
    name: KEEP_BEFORE_ERROR,
    takes: Takes::Nothing,
    meaning: "import the part of a damaged file before the error, with a note",
};

/// The options that are given for a file to read or to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<&'static str, String>);

impl Options {
    /// Gives an option; the value of a flag does not matter.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.insert(name, value.into());
    }

    /// Takes an option away and gives its value back, if it was given.
    pub fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Names and values of those that are given, in the order of the names.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Whether a flag is given.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The value of an option, if it is given.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The name of one that is not among these.
    #[must_use]
    pub fn foreign<'o>(
        &self,
        known: impl IntoIterator<Item = &'o OptionDef>,
    ) -> Option<&'static str> {
        let known: Vec<&str> = known.into_iter().map(|option| option.name).collect();
        self.0.keys().copied().find(|name| !known.contains(name))
    }

    /// Takes over what others say.
    pub fn extend(&mut self, others: &Self) {
        let others = others.0.iter();
        self.0
            .extend(others.map(|(name, value)| (*name, value.clone())));
    }

    /// The options as text, in one order always: a run of the same file with other options is
    /// another run.
    #[must_use]
    pub fn describe(&self) -> String {
        // The map is sorted by name, so that the order in which options are given does not matter.
        let parts: Vec<_> = self
            .0
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        parts.join("\n")
    }
}
