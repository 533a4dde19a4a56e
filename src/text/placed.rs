//! Functions of one name: the places that tell them apart, and texts that name a function together with its place
//! (`NAME (FILE)`, `FILE:NAME`, `NAME:LINE`, `FILE:LINE`, `NAME[LINE]`).

use std::iter;

use hashbrown::{HashMap, HashSet};

/// Separates a name from its place in parentheses.
pub(crate) const BEFORE_PLACE: &str = " (";

/// Separates a file from a module in parentheses.
const BEFORE_MODULE: &str = ", ";

/// Place of a function without module, file and line.
const NO_PLACE: &str = "no file";

/// One way to read a text as a function with a place. Names and paths may contain colons and parentheses themselves, so
/// that a text has several readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaceReading<'t> {
    /// Name of the function.
    pub(crate) name: Option<&'t str>,
    /// Module, file, or the last parts of the path of one of them. With a module, a file.
    pub(crate) place: Option<&'t str>,
    /// Module, or the last parts of its path.
    pub(crate) module: Option<&'t str>,
    /// Line where the definition starts, or a line with figures.
    pub(crate) line: Option<i64>,
    /// The line is one with figures, not the first line of the definition.
    pub(crate) is_with_figures: bool,
    /// Paths are complete: their last parts do not fit.
    pub(crate) is_whole: bool,
}

impl PlaceReading<'_> {
    /// Returns whether a function with this name, this module and file, and this first line is meant.
    pub(crate) fn fits(&self, name: &str, [module, file]: [&str; 2], line: i64) -> bool {
        let is_path = |known: &str, wanted: &str| {
            known == wanted || (!self.is_whole && ends_in(known, wanted))
        };
        let is_place =
            |place: &str| is_path(file, place) || (self.module.is_none() && is_path(module, place));
        self.name.is_none_or(|wanted| wanted == name)
            && self.place.is_none_or(is_place)
            && self.module.is_none_or(|wanted| is_path(module, wanted))
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
/// `FILE:NAME`, `FILE:LINE`, `FILE:NAME:LINE`. A place in parentheses may have a line and a module: `FILE:LINE, MODULE`.
/// A complete path comes before the last parts of one.
pub(crate) fn readings(text: &str) -> Vec<PlaceReading<'_>> {
    let mut all = Vec::new();
    for (name, inner) in placed(text) {
        if inner == NO_PLACE {
            all.push(PlaceReading {
                name: Some(name),
                place: Some(""),
                module: Some(""),
                ..PlaceReading::default()
            });
        }
        let modules = inner.match_indices(BEFORE_MODULE);
        let with_modules =
            modules.map(|(at, mark)| (&inner[..at], Some(&inner[at + mark.len()..])));
        for (place, module) in iter::once((inner, None)).chain(with_modules) {
            let whole = PlaceReading {
                name: Some(name),
                place: Some(place).filter(|place| !place.is_empty()),
                module,
                ..PlaceReading::default()
            };
            all.push(whole);
            if let Some((file, line)) = with_line(place) {
                all.push(PlaceReading {
                    place: Some(file).filter(|file| !file.is_empty()),
                    line: Some(line),
                    ..whole
                });
            }
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
    all.extend(with_bracket(text));
    let both = |reading| {
        [true, false].map(|is_whole| PlaceReading {
            is_whole,
            ..reading
        })
    };
    all.into_iter().flat_map(both).collect()
}

/// Returns the readings of a text as `NAME[LINE]`, `NAME[LINE:COLUMN]` or the same with `FILE:` before the line, which
/// reports print for a line.
fn with_bracket(text: &str) -> impl Iterator<Item = PlaceReading<'_>> {
    let parts = split_bracket(text).into_iter();
    parts.flat_map(|(name, inner)| {
        let with_column = with_line(inner).map(|(rest, _)| rest);
        let texts = [Some(inner), with_column].into_iter().flatten();
        texts.filter_map(move |text| {
            let (place, line) = match with_line(text) {
                Some((file, line)) => (Some(file), line),
                None => (None, line_number(text)?),
            };
            Some(PlaceReading {
                name: Some(name),
                place,
                line: Some(line),
                is_with_figures: true,
                ..PlaceReading::default()
            })
        })
    })
}

/// Splits `NAME[TEXT]`.
pub(crate) fn split_bracket(text: &str) -> Option<(&str, &str)> {
    let parts = text.strip_suffix(']')?.rsplit_once('[')?;
    Some(parts).filter(|(name, _)| !name.is_empty())
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
        ..PlaceReading::default()
    })
}

/// Splits `TEXT:LINE`.
fn with_line(text: &str) -> Option<(&str, i64)> {
    let (rest, digits) = text.rsplit_once(':')?;
    Some((rest, line_number(digits)?))
}

/// Returns the number of a line.
fn line_number(digits: &str) -> Option<i64> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|line| *line > 0 && is_number)
}

/// Returns name and place of `NAME (PLACE)`, the reading with the shortest name first.
pub(crate) fn placed(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let open = text.strip_suffix(')').into_iter();
    open.flat_map(|open| {
        let marks = open.match_indices(BEFORE_PLACE);
        marks.map(|(at, mark)| (&open[..at], &open[at + mark.len()..]))
    })
}

/// The definition of a function, of which others may have the same name.
pub(crate) struct Namesake<'t> {
    pub(crate) module: &'t str,
    pub(crate) file: &'t str,
    /// Line where it starts; 0 if unknown.
    pub(crate) line: i64,
    /// Column where it starts; without a line, a number of the importer that tells equal definitions apart.
    pub(crate) column: i64,
    /// It is a function, not a container such as a thread.
    pub(crate) is_code: bool,
}

/// The place of a function in tables.
pub(crate) struct FunctionPlace {
    /// The name alone does not tell it from other functions of the run.
    pub(crate) is_needed: bool,
    /// `FILE`, `FILE:LINE`, `FILE:LINE:COLUMN` or a module, as short as tells the function apart; `#NUMBER` follows if
    /// nothing else does.
    pub(crate) apart: String,
    /// `FILE:LINE` as far as known.
    pub(crate) full: String,
}

/// Returns the places of functions of one name.
pub(crate) fn places(group: &[Namesake<'_>]) -> Vec<FunctionPlace> {
    let files = shortened(group.iter().map(|function| function.file));
    let modules = shortened(group.iter().map(|function| function.module));
    let in_file = counts(group.iter().map(|function| function.file));
    let in_module = counts(group.iter().map(|function| function.module));
    let marks = marks_of_equals(group);
    let full = |function: &Namesake<'_>, mark: &PlaceEnd| {
        let file = files[function.file];
        match mark {
            PlaceEnd::Column(column) => format!("{file}:{}:{column}", function.line),
            _ if function.line > 0 => format!("{file}:{}", function.line),
            _ => file.to_owned(),
        }
    };
    let by_file: Vec<String> = group
        .iter()
        .zip(&marks)
        .map(|(function, mark)| {
            let file = function.file;
            if file.is_empty() || in_file[file] > 1 {
                full(function, mark)
            } else {
                files[file].to_owned()
            }
        })
        .collect();
    let by_file_counts = counts(by_file.iter().map(String::as_str));
    let is_placeless = |function: &Namesake<'_>| {
        function.is_code
            && function.module.is_empty()
            && function.file.is_empty()
            && function.line == 0
    };
    let code = group.iter().filter(|function| function.is_code).count();
    // With several such functions, the text would tell none of them apart.
    let has_placeless = code > 1
        && group
            .iter()
            .filter(|function| is_placeless(function))
            .count()
            == 1;
    let apart = |function: &Namesake<'_>, place: &str| {
        let module = modules[function.module];
        if has_placeless && is_placeless(function) {
            return NO_PLACE.to_owned();
        }
        let is_enough = place.is_empty() || in_module[function.module] == 1;
        if module.is_empty() || (by_file_counts[place] == 1 && !place.is_empty()) {
            place.to_owned()
        } else if is_enough && !by_file_counts.contains_key(module) {
            module.to_owned()
        } else {
            format!("{place}{BEFORE_MODULE}{module}")
        }
    };
    let with_number = |text: String, mark: &PlaceEnd| match mark {
        PlaceEnd::Number(number) => format!("{text}#{number}"),
        _ => text,
    };
    let all_full: Vec<String> = group
        .iter()
        .zip(&marks)
        .map(|(function, mark)| full(function, mark))
        .collect();
    let full_counts = counts(all_full.iter().map(String::as_str));
    let place = |(at, function): (usize, &Namesake<'_>)| FunctionPlace {
        is_needed: group.len() > 1,
        apart: with_number(apart(function, &by_file[at]), &marks[at]),
        full: match modules[function.module] {
            _ if function.file.is_empty() => String::new(),
            module if !module.is_empty() && full_counts[all_full[at].as_str()] > 1 => {
                let text = format!("{}{BEFORE_MODULE}{module}", all_full[at]);
                with_number(text, &marks[at])
            }
            _ => with_number(all_full[at].clone(), &marks[at]),
        },
    };
    group.iter().enumerate().map(place).collect()
}

/// The end of a place that tells functions of one name, module, file and line apart.
#[derive(Clone)]
enum PlaceEnd {
    /// The place needs no end.
    None,
    /// Column where the definition starts.
    Column(i64),
    /// Position in the order of columns, from 1.
    Number(usize),
}

/// Returns the mark of each function.
fn marks_of_equals(group: &[Namesake<'_>]) -> Vec<PlaceEnd> {
    let mut equals: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, function) in group.iter().enumerate().filter(|(_, of)| of.is_code) {
        let definition = (function.module, function.file, function.line);
        equals.entry(definition).or_default().push(at);
    }
    let mut marks = vec![PlaceEnd::None; group.len()];
    for ((_, _, line), mut equal) in equals.into_iter().filter(|(_, equal)| equal.len() > 1) {
        equal.sort_by_key(|at| group[*at].column);
        let columns: HashSet<i64> = equal.iter().map(|at| group[*at].column).collect();
        let is_column = line > 0 && columns.len() == equal.len();
        for (number, at) in (1..).zip(equal) {
            marks[at] = if is_column {
                PlaceEnd::Column(group[at].column)
            } else {
                PlaceEnd::Number(number)
            };
        }
    }
    marks
}

/// Returns how often each text occurs.
fn counts<'t>(texts: impl Iterator<Item = &'t str>) -> HashMap<&'t str, usize> {
    let mut counts = HashMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

/// Returns for each path its shortest end that no other one of the paths has.
fn shortened<'t>(paths: impl Iterator<Item = &'t str>) -> HashMap<&'t str, &'t str> {
    let paths: HashSet<&str> = paths.collect();
    let ends = counts(paths.iter().flat_map(|path| path_ends(path)));
    let shortest = |path: &'t str| path_ends(path).find(|end| ends[end] == 1).unwrap_or(path);
    paths.iter().map(|path| (*path, shortest(path))).collect()
}

/// Returns the ends of a path that begin with a part of it, the shortest first.
fn path_ends(path: &str) -> impl Iterator<Item = &str> {
    let is_separator = |character: char| matches!(character, '/' | '\\');
    let separators = path
        .rmatch_indices(is_separator)
        .map(|(at, _)| &path[at + 1..]);
    separators.filter(|end| !end.is_empty()).chain([path])
}
