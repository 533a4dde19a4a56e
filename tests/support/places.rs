//! The places of the trees in a database, read from the tables one by one, with what each cost
//! itself; all else is added up here, by definition and without regard to time.

#![expect(
    clippy::type_complexity,
    reason = "rows and keys of answers, each used once"
)]

use std::collections::{BTreeMap, BTreeSet};

use profdb::store::Database;
use rusqlite::types::Value;

/// A cell of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Unknown,
    Number(f64),
    Text(String),
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Unknown,
            #[expect(clippy::cast_precision_loss, reason = "counts of small trees")]
            Value::Integer(number) => Self::Number(number as f64),
            Value::Real(number) => Self::Number(number),
            Value::Text(text) => Self::Text(text),
            Value::Blob(_) => panic!("no view has bytes"),
        }
    }
}

impl Cell {
    /// Sums may have been added up in another order.
    pub(crate) fn is_close(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => {
                (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
            }
            _ => self == other,
        }
    }

    /// As SQLite sorts: NULL first.
    pub(crate) fn compare(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.total_cmp(other),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Number(_) => 1,
            Self::Text(_) => 2,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    pub kind: String,
    pub module: String,
    pub file: String,
    /// What it is whatever the build: number, name and module.
    pub identity: (i64, String, String),
}

impl Function {
    pub(crate) fn is_container(&self) -> bool {
        !matches!(self.kind.as_str(), "function" | "pseudo")
    }
}

/// A place of the tree: a function, or a line of it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub node: i64,
    /// Its place in the list.
    pub parent: Option<usize>,
    pub function: i64,
    /// File, line and column.
    pub line: Option<(String, i64, i64)>,
    pub calls: Option<f64>,
    /// What it cost itself, by metric.
    pub cost: BTreeMap<String, f64>,
    /// Labels of samples taken here, and what they cost, by metric.
    pub labels: Vec<(String, BTreeSet<(String, String)>, f64)>,
}

/// The trees of all runs.
pub(crate) struct Places {
    pub functions: BTreeMap<i64, Function>,
    /// By run, each in the order of the nodes.
    runs: BTreeMap<i64, Vec<Place>>,
    /// Names of metrics in the order of the file, and their totals, by run; the default one first.
    pub metrics: BTreeMap<i64, Vec<(String, f64)>>,
}

/// Rows of a statement on tables.
fn rows(database: &Database, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = database.connection().prepare(sql).expect(sql);
    let columns = statement.column_count();
    let rows = statement
        .query_map([], |row| (0..columns).map(|at| row.get(at)).collect())
        .expect(sql);
    rows.collect::<Result<_, _>>().expect(sql)
}

fn integer(value: &Value) -> i64 {
    match value {
        Value::Integer(number) => *number,
        other => panic!("{other:?}"),
    }
}

fn optional(value: &Value) -> Option<i64> {
    (*value != Value::Null).then(|| integer(value))
}

fn real(value: &Value) -> f64 {
    match value {
        Value::Real(number) => *number,
        other => panic!("{other:?}"),
    }
}

fn string(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => format!("{number} (number)"),
        Value::Null => String::new(),
        other => panic!("{other:?}"),
    }
}

impl Places {
    pub(crate) fn read(database: &Database) -> Self {
        let sql = "SELECT f.function_id, f.name, f.kind, f.module, f.file, i.identity_id, i.name, i.module
                   FROM functions AS f JOIN identities AS i ON i.identity_id = f.identity_id";
        let functions = rows(database, sql)
            .iter()
            .map(|row| {
                let [name, kind, module, file] = [1, 2, 3, 4].map(|at| string(&row[at]));
                (
                    integer(&row[0]),
                    Function {
                        name,
                        kind,
                        module,
                        file,
                        identity: (integer(&row[5]), string(&row[6]), string(&row[7])),
                    },
                )
            })
            .collect();
        let sql = "SELECT m.run_id, m.name, m.total, m.metric_id FROM metrics AS m JOIN runs AS r ON r.run_id = m.run_id
                   ORDER BY m.run_id, m.metric_id <> r.default_metric_id, m.position";
        let mut metrics: BTreeMap<i64, Vec<(String, f64)>> = BTreeMap::new();
        let mut of_metric = BTreeMap::new();
        for row in rows(database, sql) {
            let run = metrics.entry(integer(&row[0])).or_default();
            run.push((string(&row[1]), real(&row[2])));
            of_metric.insert(integer(&row[3]), string(&row[1]));
        }
        let mut runs = BTreeMap::new();
        let mut at = BTreeMap::new();
        for row in rows(
            database,
            "SELECT run_id, first_node, last_node FROM runs ORDER BY run_id",
        ) {
            let run = integer(&row[0]);
            let mut places: Vec<Place> = Vec::new();
            if let (Some(first), Some(end)) = (optional(&row[1]), optional(&row[2])) {
                let sql = format!(
                    "SELECT node_id, parent_id, function_id, file, line, col, calls, exclusive FROM nodes
                     WHERE node_id BETWEEN {first} AND {end} ORDER BY node_id"
                );
                for row in rows(database, &sql) {
                    let node = integer(&row[0]);
                    at.insert(node, (run, places.len()));
                    #[expect(clippy::cast_precision_loss, reason = "counts of small trees")]
                    let calls = optional(&row[6]).map(|calls| calls as f64);
                    places.push(Place {
                        node,
                        parent: optional(&row[1]).map(|parent| at[&parent].1),
                        function: integer(&row[2]),
                        line: optional(&row[4]).map(|line| {
                            (string(&row[3]), line, optional(&row[5]).unwrap_or_default())
                        }),
                        calls,
                        cost: [(metrics[&run][0].0.clone(), real(&row[7]))].into(),
                        labels: Vec::new(),
                    });
                }
            }
            runs.insert(run, places);
        }
        let place =
            |node: &Value, runs: &mut BTreeMap<i64, Vec<Place>>, change: &dyn Fn(&mut Place)| {
                let (run, at) = at[&integer(node)];
                change(&mut runs.get_mut(&run).expect("a run")[at]);
            };
        for row in rows(
            database,
            "SELECT metric_id, node_id, exclusive FROM node_costs",
        ) {
            let metric = &of_metric[&integer(&row[0])];
            place(&row[1], &mut runs, &|place| {
                place.cost.insert(metric.clone(), real(&row[2]));
            });
        }
        let mut sets: BTreeMap<(i64, i64), BTreeSet<(String, String)>> = BTreeMap::new();
        for row in rows(
            database,
            "SELECT run_id, set_id, key, value FROM label_sets",
        ) {
            let set = sets
                .entry((integer(&row[0]), integer(&row[1])))
                .or_default();
            set.insert((string(&row[2]), string(&row[3])));
        }
        let sql = "SELECT l.metric_id, l.node_id, l.exclusive, m.run_id, l.set_id
                   FROM node_labels AS l JOIN metrics AS m ON m.metric_id = l.metric_id";
        for row in rows(database, sql) {
            let metric = &of_metric[&integer(&row[0])];
            let set = &sets[&(integer(&row[3]), integer(&row[4]))];
            place(&row[1], &mut runs, &|place| {
                place
                    .labels
                    .push((metric.clone(), set.clone(), real(&row[2])));
            });
        }
        Self {
            functions,
            runs,
            metrics,
        }
    }

    pub(crate) fn run(&self, run: i64) -> Run<'_> {
        Run {
            all: self,
            places: self.runs.get(&run).map_or(&[], Vec::as_slice),
            run,
        }
    }
}

/// The tree of one run.
#[derive(Clone, Copy)]
pub(crate) struct Run<'p> {
    pub all: &'p Places,
    pub places: &'p [Place],
    run: i64,
}

/// What a function cost: calls, exclusive and cumulative.
pub(crate) struct Total {
    pub calls: Option<f64>,
    pub exclusive: f64,
    pub cumulative: f64,
}

/// A sum of which one part is unknown is unknown.
pub(crate) fn sum(parts: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    parts.into_iter().sum()
}

impl<'p> Run<'p> {
    pub(crate) fn function(self, at: usize) -> &'p Function {
        &self.all.functions[&self.places[at].function]
    }

    /// Function places.
    pub(crate) fn calls(self) -> impl Iterator<Item = usize> + use<'p> {
        (0..self.places.len()).filter(move |at| self.places[*at].line.is_none())
    }

    /// What is above a place, the nearest first.
    pub(crate) fn above(self, at: usize) -> impl Iterator<Item = usize> + use<'p> {
        std::iter::successors(self.places[at].parent, move |at| self.places[*at].parent)
    }

    /// Functions above a place.
    pub(crate) fn callers(self, at: usize) -> impl Iterator<Item = usize> + use<'p> {
        self.above(at)
            .filter(move |at| self.places[*at].line.is_none())
    }

    pub(crate) fn is_outermost(self, at: usize) -> bool {
        self.callers(at)
            .all(|above| self.places[above].function != self.places[at].function)
    }

    pub(crate) fn exclusive(self, at: usize, metric: &str) -> f64 {
        self.places[at]
            .cost
            .get(metric)
            .copied()
            .unwrap_or_default()
    }

    /// Function places at a place and below it: places are in pre-order, so that these follow it, and
    /// the parent of each of them is the place or follows it, too.
    pub(crate) fn below(self, top: usize) -> impl Iterator<Item = usize> + use<'p> {
        let below = (top + 1..self.places.len())
            .take_while(move |at| self.places[*at].parent.is_some_and(|parent| parent >= top));
        std::iter::once(top)
            .chain(below)
            .filter(move |at| self.places[*at].line.is_none())
    }

    pub(crate) fn cumulative(self, at: usize, metric: &str) -> f64 {
        self.below(at)
            .map(|below| self.exclusive(below, metric))
            .sum()
    }

    /// The function that called, and the line.
    pub(crate) fn caller(self, at: usize) -> Option<usize> {
        self.callers(at)
            .next()
            .filter(|caller| !self.function(*caller).is_container())
    }

    pub(crate) fn functions(self) -> BTreeMap<i64, Vec<usize>> {
        let mut found: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for at in self.calls().filter(|at| !self.function(*at).is_container()) {
            found.entry(self.places[at].function).or_default().push(at);
        }
        found
    }

    /// Of functions, by number.
    pub(crate) fn totals(self, metric: &str) -> BTreeMap<i64, Total> {
        let total = |at: Vec<usize>| Total {
            calls: sum(at.iter().map(|at| self.places[*at].calls)),
            exclusive: at.iter().map(|at| self.exclusive(*at, metric)).sum(),
            cumulative: at
                .iter()
                .filter(|at| self.is_outermost(**at))
                .map(|at| self.cumulative(*at, metric))
                .sum(),
        };
        self.functions()
            .into_iter()
            .map(|(function, at)| (function, total(at)))
            .collect()
    }

    pub(crate) fn total(self, metric: &str) -> f64 {
        let metrics = &self.all.metrics[&self.run];
        metrics
            .iter()
            .find(|(name, _)| name == metric)
            .map_or(0.0, |(_, total)| *total)
    }

    /// Pairs of callee and caller, with the places of the callee.
    pub(crate) fn pairs(self) -> BTreeMap<(i64, Option<i64>), Vec<usize>> {
        let mut found: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for at in self.calls().filter(|at| !self.function(*at).is_container()) {
            let caller = self.caller(at).map(|caller| self.places[caller].function);
            found
                .entry((self.places[at].function, caller))
                .or_default()
                .push(at);
        }
        found
    }

    pub(crate) fn name(self, function: i64) -> &'p str {
        &self.all.functions[&function].name
    }

    /// What places cost where the function is not open already.
    pub(crate) fn outermost(self, places: &[usize], metric: &str) -> f64 {
        let outermost = places.iter().filter(|at| self.is_outermost(**at));
        outermost.map(|at| self.cumulative(*at, metric)).sum()
    }

    pub(crate) fn named(self, name: &str) -> impl Iterator<Item = usize> + use<'p, '_> {
        self.calls()
            .filter(move |at| self.function(*at).name == name)
    }

    /// What a name cost as a caller of `at`: functions by name that are above.
    pub(crate) fn ancestors(self, at: usize) -> BTreeSet<i64> {
        self.callers(at)
            .map(|above| self.places[above].function)
            .collect()
    }
}

impl Run<'_> {
    pub(crate) fn measures(self, metric: &str) -> bool {
        self.all
            .metrics
            .get(&self.run)
            .is_some_and(|metrics| metrics.iter().any(|(name, _)| name == metric))
    }

    /// Totals in a metric that the run may not have.
    pub(crate) fn totals_of(self, metric: &str) -> BTreeMap<i64, Total> {
        if self.measures(metric) {
            self.totals(metric)
        } else {
            BTreeMap::new()
        }
    }
}
