//! Checks of the repository itself: documents, language, module dependencies, queries, packages.

mod docs;
mod files;
mod headers;
mod language;
mod layers;
mod made;
mod plans;
mod supply;
mod tidy;

#[path = "../support"]
mod support {
    pub(crate) mod program;
    #[expect(
        dead_code,
        reason = "the last program of tests lists what was not tried"
    )]
    pub(crate) mod tools;
}
