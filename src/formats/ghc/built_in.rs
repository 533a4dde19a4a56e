//! The built-in cost centres of GHC, as its logs are read and written.

/// What the RTS itself costs, by label and module. `MAIN` and `SUBSUMED` are not among these: what
/// a program does outside of all other centres is its own cost.
pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    ("SYSTEM", "MAIN"),
    ("SYSTEM", "SYSTEM"),
    ("GC", "GC"),
    ("OVERHEAD_of", "PROFILING"),
    ("DONT_CARE", "MAIN"),
    ("IDLE", "IDLE"),
];

/// The root of their stacks, which are apart from those of the program.
pub(crate) const ROOT: &str = "(built-in)";

/// The name of a centre of which only the number is known.
pub(crate) fn made_up(number: u64) -> String {
    format!("<cc {number}>")
}

/// The number in such a name.
pub(crate) fn number(name: &str) -> Option<u64> {
    // `made_up` has to give the name back: `<cc 07>` is a label of the program's own.
    let digits = name.strip_prefix("<cc ")?.strip_suffix('>')?;
    digits
        .parse()
        .ok()
        .filter(|number| made_up(*number) == name)
}
