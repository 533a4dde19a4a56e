//! What a page says of itself: who has made it, of what, and by which words its questions are asked of this program.

use serde_json::{Value, json};

/// How the questions of a page are asked on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The words after `profdb report NAME`, whichever run is asked: the database or the file.
    pub words: Vec<String>,
    /// The words name the run themselves: they lead to a file.
    pub names_run: bool,
}

impl Command {
    pub(super) fn json(&self) -> Value {
        json!({"words": self.words, "names_run": self.names_run})
    }
}
