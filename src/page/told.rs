//! Answers of commands that a page shows as they are: what changed, and what was from run to run. Their rows are those of
//! `--format json`; the union of two trees is there as columns, as JSON of so many places would be ten times as large.

use serde_json::{Value, json};

use super::column::{self, Block, Column, size};
use super::error::PageError;
use super::tree::EVERYTHING;
use crate::compare::PlaceItem;
use crate::compare::tree::Place;
use crate::report::Answer;
use crate::report::render::{Format, Layout, RenderError, render, titled_of};

/// What a union tree is in SQL.
const UNION: &str = include_str!("../../queries/page/union.sql");

/// How often a union tree is cut anew until it fits.
const TRIES: u32 = 8;

/// An answer of a command.
#[derive(Clone, Debug)]
pub struct Told {
    /// Which view shows it: diff, history or steps.
    pub view: &'static str,
    /// The words of the command that gives it.
    pub words: Vec<String>,
    /// Statements that give the figures of it, if there are any.
    pub sql: Option<String>,
    /// What is above its table for people.
    lines: Vec<String>,
    /// What the command writes in each of the formats, the first of which is what the page shows.
    texts: [Vec<u8>; FORMATS.len()],
}

/// The format of what a page shows.
pub(super) const SHOWN: &str = "json";

/// Formats by their names on the command line. The page offers all of them.
const FORMATS: [(&str, Format); 3] = [
    (SHOWN, Format::Json),
    ("csv", Format::Csv),
    ("markdown", Format::Markdown),
];

impl Told {
    /// Takes an answer as the formats write it. People may be told it in other rows.
    ///
    /// # Errors
    /// When a database fails.
    pub fn of(
        view: &'static str,
        words: Vec<String>,
        answer: &mut Answer<'_>,
        mut for_people: Option<&mut Answer<'_>>,
    ) -> Result<Self, PageError> {
        let heading = answer.heading.as_ref();
        let lines = heading.map_or_else(Vec::new, |heading| heading.lines.clone());
        let mut texts = [const { Vec::new() }; FORMATS.len()];
        for ((_, format), text) in FORMATS.iter().zip(&mut texts) {
            *text = match (format, &mut for_people) {
                (Format::Markdown, Some(told)) => written(told, *format)?,
                _ => written(answer, *format)?,
            };
        }
        Ok(Self {
            view,
            words,
            sql: None,
            lines,
            texts,
        })
    }

    /// What the page knows of it before it is opened.
    pub(super) fn about(&self) -> Value {
        json!({"view": self.view, "words": self.words, "sql": self.sql, "lines": self.lines})
    }

    /// Its rows as compressed texts: names of formats, that which the page shows first.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
        FORMATS
            .iter()
            .zip(&self.texts)
            .map(|((name, _), text)| (*name, column::bytes(text)))
    }
}

/// An answer in a format.
fn written(answer: &mut Answer<'_>, format: Format) -> Result<Vec<u8>, PageError> {
    let layout = Layout {
        format,
        ..Layout::default()
    };
    let mut text = Vec::new();
    render(answer, &layout, &mut text).map_err(|error| match error {
        RenderError::Usage(message) => PageError::TooLarge(message),
        RenderError::Output(error) => error.into(),
        RenderError::Store(error) => error.into(),
    })?;
    Ok(text)
}

/// The union of the trees of two sides.
#[derive(Clone, Debug)]
pub struct UnionTree<'t> {
    /// Places in pre-order.
    pub places: &'t [Place],
    /// What is at them.
    pub items: &'t [PlaceItem],
    /// The words of the command that gives it.
    pub words: Vec<String>,
    /// A statement that gives the same where names are the same, if the runs are in a database.
    pub sql: Option<String>,
    /// The columns of the command by format, as [`titled_of`] has them.
    titled: Value,
    /// What is above its table for people.
    lines: Vec<String>,
    /// The object of the command, without rows.
    object: Vec<u8>,
}

impl<'t> UnionTree<'t> {
    /// The union of places; `answer` is that of the command of these words, without rows.
    ///
    /// # Errors
    /// When a database fails.
    pub fn of(
        (places, items): (&'t [Place], &'t [PlaceItem]),
        words: Vec<String>,
        answer: &mut Answer<'_>,
        sql: Option<String>,
    ) -> Result<Self, PageError> {
        let heading = answer.heading.as_ref();
        let lines = heading.map_or_else(Vec::new, |heading| heading.lines.clone());
        Ok(Self {
            places,
            items,
            words,
            sql,
            titled: titled_of(answer),
            lines,
            object: written(answer, Format::Json)?,
        })
    }

    /// The statement for runs of a database, those of base and those of new.
    #[must_use]
    pub fn statement(metric: &str, [base, new]: [&[i64]; 2]) -> String {
        let list = |runs: &[i64]| {
            let numbers: Vec<String> = runs.iter().map(i64::to_string).collect();
            numbers.join(", ")
        };
        UNION
            .replace(":count_of_base", &base.len().to_string())
            .replace(":count_of_new", &new.len().to_string())
            .replace(":runs", &list(&[base, new].concat()))
            .replace(":base", &list(base))
            .replace(":new", &list(new))
            .replace(":metric", &format!("'{}'", metric.replace('\'', "''")))
    }
}

/// A union tree as blocks.
pub struct UnionBlocks {
    /// What the page knows of it before it is opened.
    pub about: Value,
    /// Names and compressed bytes.
    pub blocks: Vec<Block>,
}

impl UnionTree<'_> {
    /// The tree, of which the places that cost least are left out until it fits so many bytes.
    #[must_use]
    pub fn blocks(&self, room: usize) -> UnionBlocks {
        let mut found = self.cut(EVERYTHING);
        if size(&found.blocks) <= room {
            return found;
        }
        let mut costs: Vec<f64> = self.places.iter().map(larger).collect();
        costs.sort_by(|one, other| other.total_cmp(one));
        let mut most = costs.len();
        for _ in 0..TRIES {
            let fits = most as u128 * room as u128 / size(&found.blocks).max(1) as u128 * 9 / 10;
            most = usize::try_from(fits).unwrap_or(most).min(most);
            let below = costs.get(most).copied().unwrap_or(f64::INFINITY);
            found = self.cut(below.next_up());
            if size(&found.blocks) <= room {
                break;
            }
        }
        found
    }

    /// Those places that cost at least so much in one of the two.
    fn cut(&self, below: f64) -> UnionBlocks {
        let left_out = self.items.len() as u64;
        let mut writer = Writer {
            steps: Column::new(),
            items: Column::new(),
            owns: [Column::new(), Column::new()],
            written: 0,
            last_depth: 0,
        };
        // For each open place: what is left out below it.
        let mut open: Vec<Option<[f64; 2]>> = Vec::new();
        let mut left = [0.0; 2];
        let mut kept = 0_u64;
        let mut skipped_below = u32::MAX;
        for place in self.places {
            if place.depth > skipped_below {
                continue;
            }
            skipped_below = u32::MAX;
            writer.close(&mut open, place.depth as usize, left_out);
            if larger(place) < below {
                skipped_below = place.depth;
                add(&mut left, place.all);
                if let Some(above) = open.last_mut() {
                    add(above.get_or_insert([0.0; 2]), place.all);
                }
                continue;
            }
            let own = [0, 1].map(|side: usize| place.is_in[side].then_some(place.own[side]));
            writer.write(place.depth.into(), place.item.into(), own);
            kept += 1;
            open.push(None);
        }
        writer.close(&mut open, 0, left_out);
        let all = |of: &dyn Fn(&PlaceItem) -> Value| self.items.iter().map(of).collect::<Vec<_>>();
        let names = json!({
            "name": all(&|item| json!(item.names[0])),
            "module": all(&|item| json!(item.names[1])),
            "file": all(&|item| json!(item.names[2])),
            "verdict": all(&|item| json!(item.verdict.map(crate::compare::judge::Verdict::name))),
        });
        let mut about = json!({
            "words": self.words,
            "sql": self.sql,
            "places": writer.written,
            "titled": self.titled,
            "lines": self.lines,
        });
        if kept < self.places.len() as u64 {
            about["left"] =
                json!({"kept": kept, "of": self.places.len(), "base": left[0], "new": left[1]});
        }
        let [base, new] = writer.owns;
        UnionBlocks {
            about,
            blocks: vec![
                ("names".to_owned(), column::text(&names.to_string())),
                ("object".to_owned(), column::bytes(&self.object)),
                ("steps".to_owned(), writer.steps.finish()),
                ("items".to_owned(), writer.items.finish()),
                ("own-0".to_owned(), base.finish()),
                ("own-1".to_owned(), new.finish()),
            ],
        }
    }
}

/// The columns of a union tree.
struct Writer {
    steps: Column,
    items: Column,
    owns: [Column; 2],
    written: u64,
    last_depth: u64,
}

impl Writer {
    fn write(&mut self, depth: u64, item: u64, own: [Option<f64>; 2]) {
        self.steps
            .number((self.last_depth + 1).saturating_sub(depth));
        self.items.number(item);
        for (column, cost) in self.owns.iter_mut().zip(own) {
            column.cost(cost);
        }
        self.last_depth = depth;
        self.written += 1;
    }

    /// Closes places until so many are open. What was left out below one of them is a place of its own.
    fn close(&mut self, open: &mut Vec<Option<[f64; 2]>>, depth: usize, left_out: u64) {
        while open.len() > depth {
            if let Some(Some(left)) = open.pop() {
                self.write(open.len() as u64 + 1, left_out, left.map(Some));
            }
        }
    }
}

/// Adds the costs of both sides.
fn add(sum: &mut [f64; 2], costs: [f64; 2]) {
    for (sum, cost) in sum.iter_mut().zip(costs) {
        *sum += cost;
    }
}

/// What a place costs in the side where it costs more, without its sign.
fn larger(place: &Place) -> f64 {
    place.all[0].abs().max(place.all[1].abs())
}
