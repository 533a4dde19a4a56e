//! The tables of a dataset, each a folder, and their columns. docs/scale.md is made from them, and so is `profdb-dataset.json`.

use std::sync::LazyLock;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// A signed number of 64 bits.
    Integer,
    /// A floating-point number of 64 bits.
    Real,
    /// The key of a function: text. A row of the database has the number of the function in its place.
    Function,
    /// What digits are divided by: a power of ten, or 0, as a floating-point number.
    Scale,
    /// A map from text to text.
    Tags,
}

impl Kind {
    /// What the column is called in `profdb-dataset.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text | Self::Function => "string",
            Self::Integer => "int64",
            Self::Real | Self::Scale => "double",
            Self::Tags => "map<string, string>",
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in files and in SQL.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// It may be NULL, which means unknown.
    pub is_optional: bool,
    /// What it says.
    pub meaning: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name, and that of its folder.
    pub name: &'static str,
    /// What a row of it is.
    pub meaning: &'static str,
    /// Its columns in SQL, the uid of the run first.
    pub columns: &'static [Column],
    /// Those of them that files do not have, and how they are made of columns that files have in the place of each.
    pub made: &'static [Made],
    /// By which columns the rows of a run are sorted; files have them.
    pub order: &'static [&'static str],
}

const fn column(
    name: &'static str,
    kind: Kind,
    is_optional: bool,
    meaning: &'static str,
) -> Column {
    Column {
        name,
        kind,
        is_optional,
        meaning,
    }
}

const fn text(name: &'static str, meaning: &'static str) -> Column {
    column(name, Kind::Text, false, meaning)
}

const fn text_or_null(name: &'static str, meaning: &'static str) -> Column {
    column(name, Kind::Text, true, meaning)
}

const fn integer(name: &'static str, meaning: &'static str) -> Column {
    column(name, Kind::Integer, false, meaning)
}

const fn integer_or_null(name: &'static str, meaning: &'static str) -> Column {
    column(name, Kind::Integer, true, meaning)
}

const fn real(name: &'static str, meaning: &'static str) -> Column {
    column(name, Kind::Real, false, meaning)
}

const fn real_or_null(name: &'static str, meaning: &'static str) -> Column {
    column(name, Kind::Real, true, meaning)
}

const fn function(name: &'static str, meaning: &'static str) -> Column {
    column(name, Kind::Function, false, meaning)
}

/// The run that a row belongs to.
const RUN: Column = text("run_uid", "the run: runs.run_uid");

/// The metric that a row belongs to.
const METRIC: Column = text("metric", "the metric of the run: metrics.metric");

const RECORDED: Column = integer(
    "recorded",
    "1 if the file itself states any of these figures; else 0",
);

/// The columns of files that have the exclusive cost.
const EXCLUSIVE: CostColumns = CostColumns {
    digits: integer_or_null(
        "exclusive_digits",
        "digits of exclusive without the decimal point; NULL if there are too many, or if it is unknown",
    ),
    scale: column(
        "exclusive_scale",
        Kind::Scale,
        false,
        "divisor of exclusive_digits, a power of ten (divide as floating-point numbers)",
    ),
    other: real_or_null("exclusive_other", "exclusive if it has too many digits"),
};

/// Those that have the cumulative cost.
const CUMULATIVE: CostColumns = CostColumns {
    digits: integer_or_null(
        "cumulative_digits",
        "digits of cumulative without the decimal point; NULL if cumulative_other has the cost, if it equals exclusive, or if it is unknown",
    ),
    scale: column(
        "cumulative_scale",
        Kind::Scale,
        false,
        "divisor of cumulative_digits, a power of ten; 0 if the cost is unknown",
    ),
    other: real_or_null("cumulative_other", "cumulative if it has too many digits"),
};

const OUTERMOST_OTHER: Column = real_or_null(
    "outermost_other",
    "outermost if it differs from cumulative; infinity if it is unknown and cumulative is known",
);
const SEEN_OTHER: Column = real_or_null(
    "seen_other",
    "seen if it differs from cumulative; infinity if it is unknown and cumulative is known",
);

/// The columns of files that have a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostColumns {
    /// The cost as a decimal number without its point.
    pub digits: Column,
    /// What that is divided by.
    pub scale: Column,
    /// The cost where it has too many digits.
    pub other: Column,
}

/// How a column of SQL is made of columns of files that do not have it as it is. `queries/dataset/columns.sql` has the expression of
/// each for engines, `src/dataset/made.rs` has it for imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The number of the node that is so many before this one.
    Before(Column),
    /// The number of the node that is so many after this one.
    After(Column),
    /// A cost.
    Cost(CostColumns),
    /// A cost that equals the cost in a previous column of SQL if its own columns are NULL. A scale of 0 means unknown.
    CostOr(CostColumns, &'static str),
    /// A cost by one column: infinite is unknown, NULL is the cost in a column of SQL that comes before.
    Other(Column, &'static str),
    /// What an identity is called: by this column, or as the function, where there is an identity.
    IdentityName(Column),
}

impl Rule {
    /// The columns of files that are in the place of the column of SQL.
    fn stored(self) -> Vec<Column> {
        match self {
            Self::Before(column)
            | Self::After(column)
            | Self::Other(column, _)
            | Self::IdentityName(column) => vec![column],
            Self::Cost(cost) | Self::CostOr(cost, _) => vec![cost.digits, cost.scale, cost.other],
        }
    }
}

/// A column of SQL, and how it is made.
pub type Made = (&'static str, Rule);

const COSTS: [Made; 2] = [
    ("exclusive", Rule::Cost(EXCLUSIVE)),
    ("cumulative", Rule::CostOr(CUMULATIVE, "exclusive")),
];

/// The tables. `runs` is the last one that is written: a run is there when its row is.
pub const TABLES: [Table; 14] = [
    Table {
        name: "runs",
        meaning: "The runs: one row per imported profile.",
        columns: &[
            text(
                "run_uid",
                "hash of the content, the format, the importer, and the title, tags and noise given to the import; equal in all databases",
            ),
            text_or_null("title", "title from --title or from the file"),
            text("format", "format of the file"),
            text(
                "fidelity",
                "detail of the file: tree (paths), edges (callers and callees), flat (totals only)",
            ),
            text("source_name", "name of the file, - for standard input"),
            text("source_sha256", "SHA-256 of the file as stored on disk"),
            integer(
                "source_bytes",
                "size of the file as stored on disk, in bytes",
            ),
            text_or_null(
                "tool_version",
                "version of the profiler, as stated by the file",
            ),
            text_or_null("command", "command that made the file or was profiled"),
            text_or_null(
                "recorded_at",
                "time of the recording, as stated by the file",
            ),
            text_or_null(
                "recorded_utc",
                "recorded_at in UTC, in a form that sorts by time; its first ten characters are the day of the partition",
            ),
            text("imported_at", "time of the import, UTC"),
            real_or_null(
                "timer_bias",
                "time to read the profiler's timer once, in ns",
            ),
            real_or_null("bias_applied", "time already subtracted per tick, in ns"),
            text_or_null("default_metric", "metric of the costs in nodes"),
            integer("nodes", "number of nodes; they are numbered from 1"),
            integer("functions", "number of functions without containers"),
            text_or_null("fingerprint", "hash of its figures, hexadecimal"),
            text(
                "identity_rules",
                "digest of the rules that made the identities, hexadecimal; identity_key is comparable between runs with equal digests",
            ),
            text("profdb_version", "version of profdb that imported the run"),
            integer(
                "run_number",
                "number of the run in the database that exported it; a higher number was imported later",
            ),
            column(
                "tags",
                Kind::Tags,
                false,
                "tags that the user gives to the run: commit, host, branch",
            ),
        ],
        made: &[],
        order: &["run_uid"],
    },
    Table {
        name: "metrics",
        meaning: "The metrics: one row per run and measured quantity.",
        columns: &[
            RUN,
            text(
                "metric",
                "time, ticks, samples, alloc, or the name in the file; unique in the run",
            ),
            text(
                "unit",
                "unit of its costs: ns (nanoseconds), bytes or count",
            ),
            integer("position", "order in the file, from 1"),
            real(
                "total",
                "cost of the whole run, in unit: 100 % of percentages",
            ),
            text(
                "total_source",
                "origin of total: counted, or stated by the file",
            ),
            integer(
                "timer_readings",
                "1 if it counts the readings of the profiler's timer; else 0",
            ),
            text(
                "noise",
                "variation of its costs between recordings of one program: exact, timed, sampled or unknown",
            ),
            text_or_null(
                "observations",
                "metric that counts the samples of its costs",
            ),
            real_or_null("quantum", "cost of one sample, in unit"),
        ],
        made: &[],
        order: &["position"],
    },
    Table {
        name: "functions",
        meaning: "The functions: one row per run and function. A function has one key in all runs on all machines.",
        columns: &[
            RUN,
            function(
                "function_key",
                "first 12 bytes, hexadecimal, of the SHA-256 of kind, name, module, file, first_line and first_col (the numbers in decimal), each after its length in bytes (32 bits, little-endian)",
            ),
            text(
                "kind",
                "function; pseudo: not code of the program; or a container: root, process, thread, part",
            ),
            text("name", "name as the file gives it"),
            text(
                "module",
                "module, package, program or library; '' if unknown",
            ),
            text("file", "source file; '' if unknown"),
            integer(
                "first_line",
                "line where its definition starts; 0 if unknown",
            ),
            integer(
                "first_col",
                "column where its definition starts; 0 if unknown",
            ),
            text_or_null(
                "raw_name",
                "name before it was demangled; NULL if it was not mangled",
            ),
            text_or_null(
                "identity_key",
                "identity across builds and processes: first 16 bytes, hexadecimal, of the SHA-256 of class, name, module and file of the identity, each after its length; NULL without an identity",
            ),
            text_or_null("identity_class", "class of the identity: code or container"),
            text_or_null(
                "identity_name",
                "name without the parts that depend on a build or process",
            ),
            text_or_null("identity_module", "module of the identity; '' if unknown"),
            text_or_null(
                "identity_file",
                "source file of the identity; '' if unknown",
            ),
            integer_or_null(
                "unnamed",
                "1 if it is all code of the module whose name is unknown; else 0",
            ),
            integer(
                "position",
                "position among the functions of the run in the database that exported it, from 1",
            ),
        ],
        made: &[(
            "identity_name",
            Rule::IdentityName(text_or_null(
                "identity_name_other",
                "name of the identity if it differs from name",
            )),
        )],
        order: &["function_key"],
    },
    Table {
        name: "function_info",
        meaning: "The figures of a function in a run, added up over all call paths. In the default metric every function has a row, in other metrics the functions with a cost.",
        columns: &[
            RUN,
            METRIC,
            function("function_key", "the function: functions.function_key"),
            integer_or_null("calls", "number of calls"),
            integer_or_null(
                "primitive",
                "number of calls without those that recursion made",
            ),
            real_or_null(
                "exclusive",
                "cost of the function itself, in the metric's unit",
            ),
            real_or_null(
                "cumulative",
                "inclusive cost, recursion counted once, in the metric's unit",
            ),
            real_or_null(
                "seen",
                "inclusive cost, every level of recursion counted, in the metric's unit",
            ),
            RECORDED,
        ],
        made: &[
            COSTS[0],
            COSTS[1],
            ("seen", Rule::Other(SEEN_OTHER, "cumulative")),
        ],
        order: &["metric", "function_key"],
    },
    Table {
        name: "line_info",
        meaning: "The figures of a line of a function in a run, added up over all call paths. They are part of the function's figures: never add the two.",
        columns: &[
            RUN,
            METRIC,
            function("function_key", "the function"),
            text(
                "file",
                "file of the line if it differs from the function's file, else ''",
            ),
            integer("line", "the line"),
            integer("col", "column or clause; 0 if unknown"),
            integer_or_null("calls", "number of executions"),
            real_or_null("exclusive", "cost of the line itself, in the metric's unit"),
            real_or_null(
                "cumulative",
                "inclusive cost, recursion counted once, in the metric's unit",
            ),
            RECORDED,
        ],
        made: &COSTS,
        order: &["metric", "function_key", "file", "line", "col"],
    },
    Table {
        name: "nodes",
        meaning: "The call trees. A node is a function reached by one chain of callers (line IS NULL), or one line of the function node above it: never add the two. Nodes of a run are numbered from 1 in pre-order, so that the descendants of n have node_id > n.node_id AND node_id <= n.last_id, and its ancestors node_id < n.node_id AND last_id >= n.node_id.",
        columns: &[
            RUN,
            integer("node_id", "number in pre-order, from 1"),
            integer_or_null("parent_id", "the parent; NULL at a root"),
            integer("last_id", "the last descendant, or the node itself"),
            integer_or_null(
                "outer_id",
                "the nearest ancestor with the same function (lines: the same line); NULL if outermost: add cumulative only there",
            ),
            integer("depth", "number of ancestors: 0 at a root"),
            function("function_key", "the function that was running"),
            integer_or_null("line", "line number; NULL in function nodes"),
            integer_or_null("col", "column or clause of the line"),
            text_or_null(
                "file",
                "file of the line if it differs from the function's file; else NULL",
            ),
            integer_or_null("calls", "number of calls (lines: executions) on this path"),
            real(
                "exclusive",
                "cost of the node itself in the run's default metric, in its unit",
            ),
            real_or_null("cumulative", "inclusive cost, in that metric's unit"),
        ],
        made: &[
            (
                "parent_id",
                Rule::Before(integer_or_null(
                    "up",
                    "node_id less that of the parent; NULL at a root",
                )),
            ),
            (
                "last_id",
                Rule::After(integer("size", "number of descendants")),
            ),
            (
                "outer_id",
                Rule::Before(integer_or_null(
                    "outer_up",
                    "node_id less that of the nearest ancestor with the same function (lines: the same line); NULL if outermost: add cumulative only there",
                )),
            ),
            COSTS[0],
            COSTS[1],
        ],
        order: &["node_id"],
    },
    Table {
        name: "node_costs",
        meaning: "Costs of nodes in the metrics other than the run's default metric. A node without a row has cost 0.",
        columns: &[
            RUN,
            METRIC,
            integer("node_id", "the node"),
            real("exclusive", "cost of the node itself, in the metric's unit"),
            real_or_null("cumulative", "inclusive cost, in the metric's unit"),
        ],
        made: &COSTS,
        order: &["metric", "node_id"],
    },
    Table {
        name: "edges",
        meaning: "Calls, added up over the whole run, by line of the caller. Without recursion, cumulative, outermost and seen are equal.",
        columns: &[
            RUN,
            METRIC,
            function("callee_key", "the callee: functions.function_key"),
            column(
                "caller_key",
                Kind::Function,
                true,
                "the caller; NULL if the callee was at the root",
            ),
            text(
                "line_file",
                "file of the calling line if it differs from the caller's file, else ''",
            ),
            integer(
                "caller_line",
                "the calling line; -1 if unknown (0 is a line)",
            ),
            integer("caller_col", "column or clause of that line; 0 if unknown"),
            integer(
                "back",
                "1 for a call known to exist, without a known cost of its own; else 0",
            ),
            integer_or_null("calls", "how often"),
            real_or_null(
                "exclusive",
                "exclusive cost of the callee in these calls, in the metric's unit",
            ),
            real_or_null(
                "cumulative",
                "inclusive cost of these calls: on each path the pair counts once, at the outer call",
            ),
            real_or_null(
                "outermost",
                "inclusive cost of calls that are not within another call of the callee: adds up over all callers to the callee's cumulative",
            ),
            real_or_null("seen", "inclusive cost, every level of recursion counted"),
        ],
        made: &[
            COSTS[0],
            COSTS[1],
            ("outermost", Rule::Other(OUTERMOST_OTHER, "cumulative")),
            ("seen", Rule::Other(SEEN_OTHER, "cumulative")),
        ],
        order: &[
            "metric",
            "callee_key",
            "caller_key",
            "line_file",
            "caller_line",
            "caller_col",
            "back",
        ],
    },
    Table {
        name: "label_sets",
        meaning: "Labels of samples. Samples with equal labels share a set.",
        columns: &[
            RUN,
            integer("set_id", "number of the set in its run, from 1"),
            text(
                "key",
                "name of the label; can occur more than once in a set",
            ),
            text_or_null("text", "value of the label if it is text"),
            integer_or_null("number", "value of the label if it is a whole number"),
            text("unit", "unit of a number; '' for text, and if unknown"),
        ],
        made: &[],
        order: &["set_id", "key", "text", "number", "unit"],
    },
    Table {
        name: "node_labels",
        meaning: "Exclusive costs of nodes in samples with equal labels: part of exclusive in nodes and node_costs.",
        columns: &[
            RUN,
            METRIC,
            integer("node_id", "the node"),
            integer("set_id", "the labels: a set of the run"),
            real("exclusive", "cost of the node itself, in the metric's unit"),
        ],
        made: &[],
        order: &["metric", "node_id", "set_id"],
    },
    Table {
        name: "run_properties",
        meaning: "Properties of a run that the file states and that have no column in runs.",
        columns: &[
            RUN,
            text("key", "name as in the file"),
            text("value", "text as in the file"),
        ],
        made: &[],
        order: &["key"],
    },
    Table {
        name: "notes",
        meaning: "Notes of the importer on a run.",
        columns: &[
            RUN,
            integer("position", "number of the note, from 1"),
            text(
                "severity",
                "warning (a figure may differ from the expected one) or info",
            ),
            integer_or_null("byte", "offset in the decompressed file, in bytes"),
            integer_or_null("line", "line of the file, from 1"),
            text("message", "the remark"),
        ],
        made: &[],
        order: &["position"],
    },
    Table {
        name: "run_sources",
        meaning: "The source text of a function when a run was imported.",
        columns: &[
            RUN,
            function("function_key", "the function"),
            text(
                "file",
                "file of the lines, as the run names it; '' if unknown",
            ),
            text("sha256", "SHA-256 of the whole text: source_texts.sha256"),
            integer(
                "first_line",
                "number of its first line: source_texts.first_line",
            ),
        ],
        made: &[],
        order: &["function_key", "file"],
    },
    Table {
        name: "source_texts",
        meaning: "The lines of the source texts of a run. Runs with equal texts repeat them.",
        columns: &[
            RUN,
            text("sha256", "SHA-256 of the whole text"),
            integer("first_line", "number of its first line"),
            integer("line", "number of the line, as the profiler counts"),
            text("text", "the line, without leading and trailing blanks"),
        ],
        made: &[],
        order: &["sha256", "first_line", "line"],
    },
];

/// The table of this name.
#[must_use]
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

/// The columns of each table in files.
static FILES: LazyLock<[Vec<Column>; TABLES.len()]> = LazyLock::new(|| {
    TABLES.map(|table| {
        let stored = |column: &Column| match table.rule(column.name) {
            Some(rule) => rule.stored(),
            None => vec![*column],
        };
        table.columns.iter().flat_map(stored).collect()
    })
});

impl Table {
    /// Its columns in files, the uid of the run first.
    ///
    /// # Panics
    /// Where it is none of [`TABLES`].
    #[must_use]
    pub fn files(&self) -> &'static [Column] {
        let mut tables = TABLES.iter().zip(FILES.iter());
        let found = tables.find(|(table, _)| table.name == self.name);
        found.expect("one of the tables").1
    }

    /// How a column of SQL is made, if files do not have it.
    #[must_use]
    pub fn rule(&self, column: &str) -> Option<Rule> {
        let mut made = self.made.iter();
        made.find_map(|(name, rule)| (*name == column).then_some(*rule))
    }

    /// The place of a column in files.
    #[must_use]
    pub fn file_column(&self, name: &str) -> Option<usize> {
        self.files().iter().position(|column| column.name == name)
    }

    /// The places of columns in files.
    ///
    /// # Panics
    /// Where files do not have one of them.
    #[must_use]
    pub fn in_files<const COUNT: usize>(&self, names: [&str; COUNT]) -> [usize; COUNT] {
        names.map(|name| self.file_column(name).expect("a column of files"))
    }

    /// The places of columns in SQL.
    ///
    /// # Panics
    /// Where it has not one of them.
    #[must_use]
    pub fn in_sql<const COUNT: usize>(&self, names: [&str; COUNT]) -> [usize; COUNT] {
        names.map(|name| {
            let mut columns = self.columns.iter();
            let place = columns.position(|column| column.name == name);
            place.expect("a column of the table")
        })
    }
}
