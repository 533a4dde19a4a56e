//! How the rows of two sides were found to be one function.

/// How the rows of two sides were found to be one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched {
    /// They have one identity.
    Identity,
    /// Their folders were found to be one, or said to be.
    Folder,
    /// Their programs or libraries were found to be one, or said to be.
    Module,
    /// They have one name, which nothing else has.
    Name,
    /// One name, which nothing else has, and equal exact costs, callers and callees.
    Figures,
    /// Their first lines have one text, which nothing else of the identity has.
    Text,
    /// They have moved by as many lines as the functions before and after them.
    Anchored,
}

impl Matched {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Folder => "folder",
            Self::Module => "module",
            Self::Name => "name",
            Self::Figures => "figures",
            Self::Text => "text",
            Self::Anchored => "anchored",
        }
    }
}
