//! The places with the highest own cost, with the way to them.

use std::cmp::Ordering;

use rusqlite::Connection;

use super::limits::{Limits, write_line};
use super::names::Names;
use super::pass::{LineNodes, Needs, Open, Pass, Selected, Visit, pass, span};
use super::question::NodeQuestion;
use super::read::{Finder, FoundLine, Next};

/// Nodes that are looked at with one threshold.
const STRETCH: i64 = 1 << 16;

/// Places that are kept besides those that are wanted, so that they are seldom sorted.
const SPARE: usize = 1024;

/// A place with the way to it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct PathRow {
    pub(in crate::report) node_id: i64,
    /// Functions on the way, with the last one.
    pub(in crate::report) frames: i64,
    /// Their names, with the calling lines where known.
    pub(in crate::report) path: String,
    /// The way begins further up.
    pub(in crate::report) is_cut: bool,
    pub(in crate::report) calls: Option<i64>,
    pub(in crate::report) exclusive: f64,
    pub(in crate::report) cumulative: Option<f64>,
}

/// The most expensive places, the first ones first, and what is selected where that is less than the
/// whole run.
///
/// # Errors
/// When the database fails, and when the question is interrupted.
pub(in crate::report) fn paths(
    connection: &Connection,
    question: &NodeQuestion,
    limits: &Limits,
) -> rusqlite::Result<(Vec<PathRow>, Selected)> {
    let mut best = Best::new(limits);
    let mut selected = Selected::default();
    let is_plain = question.path.is_empty()
        && !question.filters.any()
        && question.costs.metric.in_nodes
        && question.costs.shift == 0.0;
    if is_plain {
        scan(connection, question, &mut best)?;
    } else {
        let mut choosing = Choosing {
            best,
            is_filtered: question.filters.any(),
        };
        let needs = Needs {
            // The way leads by lines; without filters it is looked up afterwards.
            lines: if choosing.is_filtered {
                LineNodes::Nodes
            } else {
                LineNodes::Nothing
            },
            ..Needs::default()
        };
        selected = pass(connection, question, needs, &mut choosing)?.selected;
        best = choosing.best;
    }
    best.reduce();
    let mut names = Names::new(connection)?;
    let mut finder = Finder::new(connection)?;
    let mut rows = Vec::new();
    for place in best.places {
        let way = match place.way {
            Some(way) => way,
            None => way_of(&mut finder, place.node, limits.depth)?,
        };
        let mut frames = 0;
        let mut path = String::new();
        for at in way.ups.iter().rev() {
            frames += 1;
            path.push_str(&names.of(at.function)?.name);
            if let Some(FoundLine { line, col, file }) = &at.line {
                write_line(&mut path, file.as_deref(), *line, *col);
            }
            path.push_str(" > ");
        }
        path.truncate(path.len() - " > ".len());
        rows.push(PathRow {
            node_id: place.node,
            frames,
            path,
            is_cut: way.is_cut,
            calls: place.calls,
            exclusive: place.exclusive,
            cumulative: place.cumulative,
        });
    }
    Ok((rows, selected))
}

/// A place, and the way to it if that is not looked up afterwards.
struct Chosen {
    node: i64,
    calls: Option<i64>,
    exclusive: f64,
    cumulative: Option<f64>,
    way: Option<Way>,
}

/// The way to a place, from there to the root.
#[derive(Default)]
struct Way {
    ups: Vec<Up>,
    is_cut: bool,
}

/// A function on the way, with the line that calls.
struct Up {
    function: i64,
    line: Option<FoundLine>,
}

/// The best places so far.
struct Best<'l> {
    limits: &'l Limits,
    wanted: usize,
    places: Vec<Chosen>,
    /// What the last of them cost, when there are enough.
    least: f64,
}

impl<'l> Best<'l> {
    fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            wanted: limits.first.map_or(usize::MAX, |first| {
                usize::try_from(first).unwrap_or(usize::MAX)
            }),
            places: Vec::new(),
            least: f64::NEG_INFINITY,
        }
    }

    /// Whether a cost may be among the best.
    fn wants(&self, exclusive: f64) -> bool {
        exclusive != 0.0
            && exclusive >= self.least
            && self.limits.is_much(exclusive)
            && self.wanted > 0
    }

    fn add(&mut self, place: Chosen) {
        self.places.push(place);
        if self.places.len() >= self.wanted.saturating_add(SPARE) {
            self.reduce();
        }
    }

    /// Keeps only the best, in their order.
    fn reduce(&mut self) {
        self.places.sort_unstable_by(|left, right| {
            let by_cost = right.exclusive.partial_cmp(&left.exclusive);
            by_cost
                .unwrap_or(Ordering::Equal)
                .then(left.node.cmp(&right.node))
        });
        if self.places.len() >= self.wanted {
            self.places.truncate(self.wanted);
            if let Some(last) = self.places.last() {
                self.least = last.exclusive;
            }
        }
    }
}

/// Chooses among all nodes of a run by the costs that they hold themselves.
fn scan(
    connection: &Connection,
    question: &NodeQuestion,
    best: &mut Best<'_>,
) -> rusqlite::Result<()> {
    let Some((first, last)) = span(connection, question.run)? else {
        return Ok(());
    };
    // Nearly all nodes are dropped inside of SQLite, by two columns.
    let sql = "SELECT n.node_id, n.calls, n.exclusive, n.cumulative
        FROM nodes AS n
        CROSS JOIN functions AS f
        WHERE n.node_id BETWEEN ?1 AND ?2 AND n.exclusive >= ?3 AND n.exclusive <> 0 AND n.line IS NULL
          AND f.function_id = n.function_id AND f.kind IN ('function', 'pseudo')
        ORDER BY n.node_id";
    let mut statement = connection.prepare(sql)?;
    // A damaged database may have nodes that are far apart: only stretches that begin with one are read.
    let mut next =
        connection.prepare("SELECT MIN(node_id) FROM nodes WHERE node_id BETWEEN ?1 AND ?2")?;
    let mut after = Some(first);
    while let Some(begin) = after
        && let Some(from) = next.query_row((begin, last), |row| row.get::<_, Option<i64>>(0))?
    {
        let to = last.min(from.saturating_add(STRETCH - 1));
        let mut rows = statement.query((from, to, best.least))?;
        while let Some(row) = rows.next()? {
            let exclusive = row.get(2)?;
            if best.wants(exclusive) {
                best.add(Chosen {
                    node: row.get(0)?,
                    calls: row.get(1)?,
                    exclusive,
                    cumulative: row.get(3)?,
                    way: None,
                });
            }
        }
        drop(rows);
        best.reduce();
        after = to.checked_add(1);
    }
    Ok(())
}

/// Chooses among nodes as they close.
struct Choosing<'l> {
    best: Best<'l>,
    is_filtered: bool,
}

impl Visit for Choosing<'_> {
    fn opened(&mut self, node: &Open, pass: &Pass<'_, '_>) -> rusqlite::Result<Next> {
        if !self.is_filtered {
            self.choose(node, pass)?;
        }
        Ok(Next::Node)
    }

    fn closed(&mut self, node: &Open, pass: &Pass<'_, '_>) -> rusqlite::Result<()> {
        if self.is_filtered {
            self.choose(node, pass)?;
        }
        Ok(())
    }
}

impl Choosing<'_> {
    fn choose(&mut self, node: &Open, pass: &Pass<'_, '_>) -> rusqlite::Result<()> {
        if !node.is_in_selection
            || node.place.is_some()
            || pass.is_container(node.function)
            || !self.best.wants(node.exclusive)
        {
            return Ok(());
        }
        self.best.add(Chosen {
            node: node.id,
            calls: node.calls,
            exclusive: node.exclusive,
            cumulative: node.cumulative,
            // What filters leave of the nodes above is not stored anywhere.
            way: if self.is_filtered {
                Some(visible_way(node, pass, self.best.limits.depth)?)
            } else {
                None
            },
        });
        Ok(())
    }
}

/// The way to a node by those that filters leave.
fn visible_way(node: &Open, pass: &Pass<'_, '_>, depth: Option<i64>) -> rusqlite::Result<Way> {
    let mut way = Walk::new(pass.functions.all[node.function].id, depth);
    let mut at = node;
    while let Some(above) = pass.above(at) {
        let line = match above.place {
            Some(place) => Some(FoundLine {
                line: place.line,
                col: place.col,
                file: pass.places.file(&place)?,
            }),
            None => None,
        };
        if !way.goes_on(pass.functions.all[above.function].id, line) {
            break;
        }
        at = above;
    }
    Ok(way.way)
}

/// The way to a node, looked up.
fn way_of(finder: &mut Finder<'_>, node: i64, depth: Option<i64>) -> rusqlite::Result<Way> {
    let Some(mut at) = finder.find(node)? else {
        return Ok(Way::default());
    };
    let mut way = Walk::new(at.function, depth);
    // So that a damaged tree does not lead in circles.
    while let Some(parent) = at.parent.filter(|parent| *parent < at.id)
        && let Some(mut above) = finder.find(parent)?
    {
        if !way.goes_on(above.function, above.line.take()) {
            break;
        }
        at = above;
    }
    Ok(way.way)
}

/// A walk to the root.
struct Walk {
    way: Way,
    depth: Option<i64>,
    frames: i64,
    /// It has reached a line: the function node above adds no frame.
    is_at_line: bool,
}

impl Walk {
    fn new(function: i64, depth: Option<i64>) -> Self {
        let ups = vec![Up {
            function,
            line: None,
        }];
        Self {
            way: Way { ups, is_cut: false },
            depth,
            frames: 1,
            is_at_line: false,
        }
    }

    /// Takes the node above, if the walk goes so far.
    fn goes_on(&mut self, function: i64, line: Option<FoundLine>) -> bool {
        if self.is_at_line {
            self.is_at_line = line.is_some();
            return true;
        }
        if self.depth.is_some_and(|depth| self.frames >= depth) {
            self.way.is_cut = true;
            return false;
        }
        self.is_at_line = line.is_some();
        self.way.ups.push(Up { function, line });
        self.frames += 1;
        true
    }
}
