//! A rule: which part of a function's row it changes, where it holds, and what it puts in place of
//! what it matches.

/// Which part of a function's row a rule changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// The name of code.
    Name,
    /// The module.
    Module,
    /// The source file.
    File,
    /// The name of a container: a process, a thread, a part of a recording.
    Container,
}

impl Field {
    /// All fields.
    pub const ALL: [Self; 4] = [Self::Name, Self::Module, Self::File, Self::Container];

    /// Finds one by the word of the database and of rule files.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.word() == word)
    }

    /// The word of the database and of rule files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Module => "module",
            Self::File => "file",
            Self::Container => "container",
        }
    }
}

/// Whose a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The program's.
    BuiltIn,
    /// The user's.
    User,
}

impl Origin {
    /// The word of the database.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
        }
    }
}

/// A rule, as the database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Whose it is.
    pub origin: Origin,
    /// What it takes away, in words; where it is from, if it is the user's.
    pub about: String,
    /// What it changes.
    pub field: Field,
    /// Extensions of the source files in which it holds, with blanks between; `-` for functions
    /// without a file. Empty: everywhere.
    pub files: String,
    /// A regular expression of the package regex. What its group `file` matches is the file of a
    /// function that has none. Where it has a group `nfc`, the text is put in normalization form C of
    /// Unicode besides; where it has a group `hash`, what that matches must look like a hash: it has
    /// digits and letters, and is hexadecimal, or has a capital and a digit before a letter; where it
    /// has a group `unique`, what that matches must look like a number of GHC's.
    pub pattern: String,
    /// What is put for what the pattern matches; `$1` or `${1}` is a group.
    pub replacement: String,
}
