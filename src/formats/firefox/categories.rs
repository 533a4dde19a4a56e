//! Categories of samples, which become labels.

use super::tables::NONE;
use crate::base::error::{ImportError, Position};
use crate::events::{Label, LabelValue, LabelsId, Sink};
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

/// The labels of a category and its subcategory.
pub(super) fn labels(
    categories: &[Category],
    (category, subcategory): (u32, u32),
    at: Position,
    sink: &mut dyn Sink,
) -> Result<LabelsId, ImportError> {
    let wrong = |what: &str, length: usize, number: u32| {
        ImportError::malformed(
            at,
            format!("the number of a {what} below {length}"),
            number.to_string(),
        )
    };
    let found = categories.get(category as usize);
    let Category {
        name,
        subcategories,
    } = found.ok_or_else(|| wrong("category", categories.len(), category))?;
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
        None => return Err(wrong("subcategory", subcategories.len(), subcategory)),
    }
    Ok(sink.labels(&labels))
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
