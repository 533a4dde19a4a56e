//! Functions of one name as tables tell them apart: with the module or file in parentheses after the name.

/// What is between a name and its place.
const BEFORE_PLACE: &str = " (";

/// Name and place of a function as a table has them, `NAME (PLACE)`. Either may have parentheses of its own, so that a text may be
/// read in several ways: first that with the shortest name.
pub(crate) fn placed(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let open = text.strip_suffix(')').into_iter();
    open.flat_map(|open| {
        let marks = open.match_indices(BEFORE_PLACE);
        marks.map(|(at, mark)| (&open[..at], &open[at + mark.len()..]))
    })
}
