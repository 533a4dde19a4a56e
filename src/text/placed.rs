//! Texts that name a function together with its place: `NAME (FILE)`, `FILE:NAME`, `NAME:LINE`, `FILE:LINE`.

/// Separates a name from its place in parentheses.
const BEFORE_PLACE: &str = " (";

/// One way to read a text as a function with a place. Names and paths may contain colons and parentheses themselves, so
/// that a text has several readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaceReading<'t> {
    /// Name of the function.
    pub(crate) name: Option<&'t str>,
    /// Module, file, or the last parts of the path of the file.
    pub(crate) place: Option<&'t str>,
    /// Line where the definition starts.
    pub(crate) line: Option<i64>,
}

impl PlaceReading<'_> {
    /// Returns whether a function with this name, this module and file, and this first line is meant.
    pub(crate) fn fits(&self, name: &str, places: &[&str], line: i64) -> bool {
        let is_place = |place: &str| places.iter().any(|known| ends_in(known, place));
        self.name.is_none_or(|wanted| wanted == name)
            && self.place.is_none_or(is_place)
            && self.line.is_none_or(|wanted| wanted == line)
    }
}

/// Returns whether a path is the given one or ends in it at the beginning of a part.
fn ends_in(path: &str, wanted: &str) -> bool {
    let before = path.strip_suffix(wanted);
    !wanted.is_empty()
        && before.is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
}

/// Returns the readings of a text, of which the first one that a function fits counts: `NAME (PLACE)`, `NAME:LINE`,
/// `FILE:NAME`, `FILE:LINE`, `FILE:NAME:LINE`. A place in parentheses may have a line, too.
pub(crate) fn readings(text: &str) -> Vec<PlaceReading<'_>> {
    let mut all = Vec::new();
    for (name, inner) in placed(text) {
        let whole = PlaceReading {
            name: Some(name),
            place: Some(inner),
            line: None,
        };
        all.push(whole);
        if let Some((file, line)) = with_line(inner) {
            all.push(PlaceReading {
                place: Some(file).filter(|file| !file.is_empty()),
                line: Some(line),
                ..whole
            });
        }
    }
    let lined = with_line(text).filter(|(rest, _)| !rest.is_empty());
    if let Some((rest, line)) = lined {
        all.push(PlaceReading {
            name: Some(rest),
            line: Some(line),
            ..PlaceReading::default()
        });
    }
    all.extend(files_and_names(text, None));
    if let Some((rest, line)) = lined {
        all.push(PlaceReading {
            place: Some(rest),
            line: Some(line),
            ..PlaceReading::default()
        });
        all.extend(files_and_names(rest, Some(line)));
    }
    all
}

/// Returns the readings of a text as `FILE:NAME`, one for each colon.
fn files_and_names(text: &str, line: Option<i64>) -> impl Iterator<Item = PlaceReading<'_>> {
    let colons = text.match_indices(':').map(|(at, _)| at);
    let parts = colons.map(|at| (&text[..at], &text[at + 1..]));
    let both = parts.filter(|(file, name)| !file.is_empty() && !name.is_empty());
    both.map(move |(file, name)| PlaceReading {
        name: Some(name),
        place: Some(file),
        line,
    })
}

/// Splits `TEXT:LINE`.
fn with_line(text: &str) -> Option<(&str, i64)> {
    let (rest, digits) = text.rsplit_once(':')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let line = digits.parse().ok().filter(|line| *line > 0 && is_number)?;
    Some((rest, line))
}

/// Returns name and place of `NAME (PLACE)`, the reading with the shortest name first.
fn placed(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let open = text.strip_suffix(')').into_iter();
    open.flat_map(|open| {
        let marks = open.match_indices(BEFORE_PLACE);
        marks.map(|(at, mark)| (&open[..at], &open[at + mark.len()..]))
    })
}
