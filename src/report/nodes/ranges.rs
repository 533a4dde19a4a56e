//! Where the functions of a path's first step are, if they are in few places.

use hashbrown::HashSet;
use rusqlite::Connection;

/// Functions that are looked for one by one.
const FEW_FUNCTIONS: usize = 1000;

/// Nodes of functions, in their order.
pub(super) struct Ranges {
    pub(super) nodes: Vec<i64>,
}

impl Ranges {
    /// The nodes of functions in a run; `None` if there are more than so many, so that the whole run
    /// is sooner read than they are found.
    pub(super) fn few(
        connection: &Connection,
        run: i64,
        functions: &HashSet<i64>,
        few: i64,
    ) -> rusqlite::Result<Option<Self>> {
        // They are kept in memory.
        let few = usize::try_from(few).unwrap_or(0).min(1 << 20);
        if functions.len() > FEW_FUNCTIONS {
            return Ok(None);
        }
        let sql = "SELECT node_id FROM function_nodes WHERE run_id = ?1 AND function_id = ?2";
        let mut statement = connection.prepare(sql)?;
        let mut nodes = Vec::new();
        for function in functions {
            let mut rows = statement.query([run, *function])?;
            while let Some(row) = rows.next()? {
                nodes.push(row.get(0)?);
                if nodes.len() > few {
                    return Ok(None);
                }
            }
        }
        nodes.sort_unstable();
        Ok(Some(Self { nodes }))
    }
}
