//! Categories of samples, which become labels.

use super::tables::NONE;
use crate::base::error::{ImportError, Position};
use crate::events::{Label, LabelValue, LabelsId, Sink};
use crate::formats::common::counted::Counted;
use crate::formats::common::json::{Reader, Within, column};
use crate::text::escape;

/// The viewer's categories, for files that have no list.
const CATEGORIES: [&str; 8] = [
    "Other",
    "Idle",
    "Layout",
    "JavaScript",
    "GC / CC",
    "Network",
    "Graphics",
    "DOM",
];

/// The first version with a list of categories.
pub(super) const HAS_CATEGORIES: f64 = 12.0;

/// A category, with its subcategories by number.
#[derive(Default)]
pub(super) struct Category {
    name: String,
    pub(super) subcategories: Vec<String>,
}

impl Category {
    /// Those of a file without a list.
    pub(super) fn of_the_viewer() -> Vec<Self> {
        let category = |name: &str| Self {
            name: name.to_owned(),
            subcategories: vec!["Other".to_owned()],
        };
        CATEGORIES.map(category).into()
    }
}

/// Returns the labels of a category and its subcategory. Numbers that are not in the file are counted.
pub(super) fn labels(
    categories: &[Category],
    (category, subcategory): (u32, u32),
    at: Position,
    missing: &mut Counted,
    sink: &mut dyn Sink,
) -> Option<LabelsId> {
    let Some(Category {
        name,
        subcategories,
    }) = categories.get(category as usize)
    else {
        missing.add_with(at, || category.to_string());
        return None;
    };
    let label = |key, value| Label {
        key,
        value: LabelValue::Text(value),
        unit: "",
    };
    let mut labels = vec![label("category", name)];
    match subcategories.get(subcategory as usize) {
        Some(name) => labels.push(label("subcategory", name)),
        // The first one is what writers say that have none.
        None if subcategory == NONE || subcategory == 0 => {}
        None => missing.add_with(at, || format!("subcategory {subcategory} of {name}")),
    }
    Some(sink.labels(&labels))
}

/// Reads an item of the list of categories.
pub(super) fn category(json: &mut Reader<'_, '_>) -> Result<Category, ImportError> {
    let mut category = Category::default();
    let mut within = Within::default();
    let mut name = Vec::new();
    let mut text = Vec::new();
    while json.member(&mut within, &mut name)?.is_some() {
        match name.as_slice() {
            b"name" => {
                json.text(&mut text)?;
                category.name = escape::text(&text).into_owned();
            }
            b"subcategories" if json.is_next(b'[')? => {
                category.subcategories = column(json, |json| {
                    json.text(&mut text)?;
                    Ok(escape::text(&text).into_owned())
                })?;
            }
            _ => json.skip()?,
        }
    }
    Ok(category)
}
