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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_in_every_way() {
        let table: &[(&str, &[(&str, &str)])] = &[
            ("f (a.c)", &[("f", "a.c")]),
            (
                "f (x) (a (1).c)",
                &[
                    ("f", "x) (a (1).c"),
                    ("f (x)", "a (1).c"),
                    ("f (x) (a", "1).c"),
                ],
            ),
            (" (a.c)", &[("", "a.c")]),
            ("f(a.c)", &[]),
            ("f (a.c) ", &[]),
            ("f", &[]),
            ("", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(placed(text).collect::<Vec<_>>(), *expected, "{text}");
        }
    }
}
