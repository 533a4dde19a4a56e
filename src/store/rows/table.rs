//! The tables whose rows are read, and how they are stored.

/// A large table, or the index of one, which has the columns of its key only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Table {
    Nodes,
    /// [`Table::Nodes`] without those of lines, which are passed over as far as their records tell at a
    /// glance.
    FunctionNodesOnly,
    NodeCosts,
    NodeLabels,
    FunctionNodes,
    FunctionInfo,
    LineInfo,
    Edges,
    EdgesByCaller,
}

/// The column of the line in the records of [`Table::Nodes`].
pub(super) const LINE: usize = 7;

/// Which rows of a table: of one run or metric, and from a first node or function to a last one.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Range {
    /// The run or metric; means nothing in `nodes`.
    pub(in crate::store) of: i64,
    pub(in crate::store) first: i64,
    pub(in crate::store) last: i64,
}

impl Range {
    /// All rows of a run or metric.
    pub(in crate::store) fn all_of(of: i64) -> Self {
        Self {
            of,
            first: i64::MIN,
            last: i64::MAX,
        }
    }
}

/// What is stored of a table.
pub(super) struct Stored {
    /// The name of its b-tree.
    pub(super) tree: &'static str,
    /// Its name in statements.
    pub(super) from: &'static str,
    /// A condition that its rows meet, in statements.
    pub(super) only: &'static str,
    /// The columns that it stores, in the order of its records.
    pub(super) columns: &'static str,
    /// How many of them are the key.
    pub(super) key: usize,
}

/// The b-trees that are read, each once.
pub(super) const TREES: [Table; 8] = [
    Table::Nodes,
    Table::NodeCosts,
    Table::NodeLabels,
    Table::FunctionNodes,
    Table::FunctionInfo,
    Table::LineInfo,
    Table::Edges,
    Table::EdgesByCaller,
];

impl Table {
    pub(super) fn stored(self) -> Stored {
        let table = |tree, columns, key| Stored {
            tree,
            from: tree,
            only: "",
            columns,
            key,
        };
        match self {
            Self::Nodes => table(
                "nodes",
                "node_id,up,size,depth,function_id,calls,exclusive,line,cumulative_other,outer_up,col,file",
                1,
            ),
            Self::FunctionNodesOnly => Stored {
                only: "line IS NULL AND ",
                ..Self::Nodes.stored()
            },
            Self::NodeCosts => table(
                "node_costs",
                "metric_id,node_id,exclusive,cumulative_other",
                2,
            ),
            Self::NodeLabels => table("node_labels", "metric_id,node_id,set_id,exclusive", 3),
            Self::FunctionNodes => table("function_nodes", "run_id,function_id,node_id", 3),
            Self::FunctionInfo => table(
                "function_info",
                "metric_id,function_id,calls,primitive,exclusive,cumulative,seen,recorded",
                2,
            ),
            Self::LineInfo => table(
                "line_info",
                "metric_id,function_id,file,line,col,calls,exclusive,cumulative,recorded",
                5,
            ),
            Self::Edges => table(
                "edges",
                "metric_id,callee_id,back,caller_id,line_file,caller_line,caller_col,\
                 calls,exclusive,cumulative,outermost_other,seen_other",
                7,
            ),
            Self::EdgesByCaller => Stored {
                from: "edges INDEXED BY edges_by_caller",
                ..table(
                    "edges_by_caller",
                    "metric_id,caller_id,callee_id,back,line_file,caller_line,caller_col",
                    7,
                )
            },
        }
    }

    /// How many columns it stores.
    pub(in crate::store) fn columns(self) -> usize {
        self.stored().columns.split(',').count()
    }

    /// The columns of its key.
    pub(super) fn keys(self) -> Vec<&'static str> {
        let Stored { columns, key, .. } = self.stored();
        columns.split(',').take(key).collect()
    }

    /// The columns of its key from the node or function on: after the run or metric, if it has that.
    pub(super) fn following(self) -> Vec<&'static str> {
        self.keys().split_off(usize::from(!self.has_row_ids()))
    }

    /// Whether its key is the row id, which is not in the record.
    pub(super) fn has_row_ids(self) -> bool {
        matches!(self, Self::Nodes | Self::FunctionNodesOnly)
    }

    /// Its place in [`TREES`].
    pub(super) fn tree(self) -> usize {
        let tree = match self {
            Self::FunctionNodesOnly => Self::Nodes,
            table => table,
        };
        TREES
            .iter()
            .position(|table| *table == tree)
            .expect("each has a tree")
    }
}
