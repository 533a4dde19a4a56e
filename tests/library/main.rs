//! Facts about single modules, asserted by what the library and the program do.

mod budgets;
mod call_paths;
mod dialects;
mod identity_rules;
mod report_headers;
mod run_identities;
mod run_sets;
mod series;

#[path = "../support"]
mod support {
    pub(crate) mod described_runs;
    pub(crate) mod made_runs;
}
