//! The report `data` of runs of `]PROFILE` 0.9.0, whose columns have inclusive figures first. Version 0.9.0 titles the exclusive
//! figures inclusive and the inclusive figures exclusive, in CSV as in XML.

use super::xml::style_of;
use crate::report::Answer;
use crate::report::header::Meaning;
use crate::text::cell::Shown;
use crate::text::dyalog_files::Style;

/// The report.
const DATA: &str = "data";

/// Exclusive figures, each with the inclusive ones.
const PAIRS: [[Meaning; 2]; 2] = [
    [Meaning::Exclusive, Meaning::Cumulative],
    [Meaning::ExclusiveReadings, Meaning::CumulativeReadings],
];

/// Returns the positions of the columns of each pair, if the answer is such a report.
fn pairs(answer: &Answer<'_>, columns: &[Shown]) -> Vec<[usize; 2]> {
    let subject = answer.subject.as_ref();
    let is_old_data =
        subject.is_some_and(|subject| subject.report == DATA && style_of(subject) == Style::Old);
    let position = |meaning: Meaning| {
        let is_it = |shown: &Shown| answer.columns[shown.at].shows == Some(meaning);
        columns.iter().position(is_it).filter(|_| is_old_data)
    };
    let both = |[own, whole]: [Meaning; 2]| Some([position(own)?, position(whole)?]);
    PAIRS.into_iter().filter_map(both).collect()
}

/// Puts inclusive figures before exclusive ones in a table, with their titles.
pub(in super::super) fn order_columns(answer: &Answer<'_>, columns: &mut [Shown]) {
    for [own, whole] in pairs(answer, columns) {
        columns.swap(own, whole);
    }
}

/// Gives columns of CSV the titles of version 0.9.0.
pub(in super::super) fn title_columns(answer: &Answer<'_>, columns: &mut [Shown]) {
    for [own, whole] in pairs(answer, columns) {
        let title = std::mem::take(&mut columns[own].title);
        columns[own].title = std::mem::replace(&mut columns[whole].title, title);
    }
}
