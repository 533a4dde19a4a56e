//! The tables that a run has rows in, as merging copies them.

/// What the values of a column refer to: it has another id in the other database.
#[derive(Clone, Copy)]
pub(super) enum Id {
    Run,
    Metric,
    Node,
    Function,
    /// A function, or 0.
    Caller,
    Source,
}

/// A table, and which of its rows belong to a run.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Columns with ids.
    pub(super) ids: &'static [(&'static str, Id)],
    /// The others.
    pub(super) columns: &'static str,
    /// Which rows belong to a run: `?1` is its id, or that of one of its metrics.
    pub(super) rows: &'static str,
    pub(super) order: &'static str,
}

pub(super) const RUNS: Table = Table {
    name: "runs",
    // A run without a default metric, or without nodes, keeps NULL there.
    ids: &[("default_metric_id", Id::Metric), ("first_node", Id::Node), ("last_node", Id::Node)],
    columns: "run_uid, title, format, fidelity, source_name, source_sha256, source_bytes, tool_version, command,
              recorded_at, imported_at, timer_bias, bias_applied, profdb_version, functions,
              fingerprint, recorded_utc",
    rows: "run_id = ?1",
    order: "run_id",
};

pub(super) const METRICS: Table = Table {
    name: "metrics",
    ids: &[
        ("metric_id", Id::Metric),
        ("run_id", Id::Run),
        ("observations", Id::Metric),
    ],
    columns: "name, unit, position, total, total_source, timer_readings, noise, quantum",
    rows: "run_id = ?1",
    order: "position",
};

/// Small tables whose rows are found by the id of the run.
pub(super) const BY_RUN: &[Table] = &[
    Table {
        name: "run_tags",
        ids: &[("run_id", Id::Run)],
        columns: "key, value",
        rows: "run_id = ?1",
        order: "key",
    },
    Table {
        name: "run_properties",
        ids: &[("run_id", Id::Run)],
        columns: "key, value",
        rows: "run_id = ?1",
        order: "key",
    },
    Table {
        name: "notes",
        ids: &[("run_id", Id::Run)],
        columns: "severity, byte, line, message",
        rows: "run_id = ?1",
        order: "note_id",
    },
    Table {
        name: "label_sets",
        ids: &[("run_id", Id::Run)],
        columns: "set_id, key, value, unit",
        rows: "run_id = ?1",
        order: "set_id, key, value, unit",
    },
    Table {
        name: "run_sources",
        ids: &[
            ("run_id", Id::Run),
            ("function_id", Id::Function),
            ("source_id", Id::Source),
        ],
        columns: "file",
        rows: "run_id = ?1",
        order: "function_id, file",
    },
];

/// Large tables whose rows are found by the id of the run.
pub(super) const LARGE_BY_RUN: &[Table] = &[
    Table {
        name: "nodes",
        ids: &[("node_id", Id::Node), ("function_id", Id::Function)],
        columns: "up, size, depth, calls, exclusive, line, cumulative_other, outer_up, col, file",
        rows: "node_id BETWEEN (SELECT first_node FROM runs WHERE run_id = ?1)
                           AND (SELECT last_node FROM runs WHERE run_id = ?1)",
        order: "node_id",
    },
    Table {
        name: "function_nodes",
        ids: &[
            ("run_id", Id::Run),
            ("function_id", Id::Function),
            ("node_id", Id::Node),
        ],
        columns: "",
        rows: "run_id = ?1",
        order: "function_id, node_id",
    },
];

/// Tables whose rows are found by the id of a metric, all of them large.
pub(super) const BY_METRIC: &[Table] = &[
    Table {
        name: "node_costs",
        ids: &[("metric_id", Id::Metric), ("node_id", Id::Node)],
        columns: "exclusive, cumulative_other",
        rows: "metric_id = ?1",
        order: "node_id",
    },
    Table {
        name: "function_info",
        ids: &[("metric_id", Id::Metric), ("function_id", Id::Function)],
        columns: "calls, primitive, exclusive, cumulative, seen, recorded",
        rows: "metric_id = ?1",
        order: "function_id",
    },
    Table {
        name: "line_info",
        ids: &[("metric_id", Id::Metric), ("function_id", Id::Function)],
        columns: "file, line, col, calls, exclusive, cumulative, recorded",
        rows: "metric_id = ?1",
        order: "function_id, file, line, col",
    },
    Table {
        name: "edges",
        ids: &[
            ("metric_id", Id::Metric),
            ("callee_id", Id::Function),
            ("caller_id", Id::Caller),
        ],
        columns: "back, line_file, caller_line, caller_col, calls, exclusive, cumulative, outermost_other, seen_other",
        rows: "metric_id = ?1",
        order: "callee_id, back, caller_id, line_file, caller_line, caller_col",
    },
    Table {
        name: "node_labels",
        ids: &[("metric_id", Id::Metric), ("node_id", Id::Node)],
        columns: "set_id, exclusive",
        rows: "metric_id = ?1",
        order: "node_id, set_id",
    },
];
