//! The fingerprint of a run: a hash of its figures, equal for two files that say the same of one
//! recording. Such runs are no two recordings, whatever their bytes are.

use hashbrown::HashMap;
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use crate::identity::IdentityKey;

/// Bytes of a row: the identity, and two numbers with a byte before each that says whether it is
/// known.
const ROW: usize = 16 + 9 + 9;

/// The figures of a run, which are added metric by metric, in any order within each.
pub(super) struct Figures {
    hash: Sha256,
    /// Of the current metric.
    rows: Vec<[u8; ROW]>,
}

impl Figures {
    pub(super) fn new() -> Self {
        Self {
            hash: Sha256::new(),
            rows: Vec::new(),
        }
    }

    /// Goes on to the next metric.
    pub(super) fn metric(&mut self, name: &str, unit: &str) {
        self.end_of_metric();
        for text in [name, unit] {
            self.hash.update((text.len() as u64).to_le_bytes());
            self.hash.update(text);
        }
    }

    /// Adds what the metric says of a function.
    pub(super) fn row(&mut self, key: &IdentityKey, calls: Option<i64>, exclusive: Option<f64>) {
        let mut row = [0; ROW];
        row[..16].copy_from_slice(key);
        // SQLite keeps no -0.0.
        let exclusive = exclusive.map(|figure| (figure + 0.0).to_le_bytes());
        for (at, figure) in [(16, calls.map(i64::to_le_bytes)), (25, exclusive)] {
            if let Some(figure) = figure {
                row[at] = 1;
                row[at + 1..at + 9].copy_from_slice(&figure);
            }
        }
        self.rows.push(row);
    }

    fn end_of_metric(&mut self) {
        // In the order of the identities, which is the same whatever numbers functions have.
        self.rows.sort_unstable();
        self.hash.update((self.rows.len() as u64).to_le_bytes());
        self.hash.update(self.rows.as_flattened());
        self.rows.clear();
    }

    /// The fingerprint.
    fn finish(mut self) -> [u8; 16] {
        self.end_of_metric();
        let mut first = [0; 16];
        first.copy_from_slice(&self.hash.finalize()[..16]);
        first
    }

    /// Stores the fingerprint of the run whose figures these are.
    pub(super) fn store(self, connection: &Connection, run: i64) -> rusqlite::Result<()> {
        let digest = self.finish();
        let sql = "UPDATE runs SET fingerprint = ?2 WHERE run_id = ?1";
        connection
            .prepare_cached(sql)?
            .execute(params![run, digest])
            .map(drop)
    }
}

/// Computes the fingerprint of a run anew from its rows.
pub(super) fn renew(connection: &Connection, run: i64) -> rusqlite::Result<()> {
    figures(connection, run)?.store(connection, run)
}

/// What the fingerprint of a run is by its rows.
pub(super) fn of_run(connection: &Connection, run: i64) -> rusqlite::Result<[u8; 16]> {
    Ok(figures(connection, run)?.finish())
}

/// What it is where functions have other identities than those that the database has for them; functions without any have no part in it.
pub(super) fn of_run_by(
    connection: &Connection,
    run: i64,
    keys: &HashMap<i64, IdentityKey>,
) -> rusqlite::Result<[u8; 16]> {
    Ok(figures_by(connection, run, Some(keys))?.finish())
}

fn figures(connection: &Connection, run: i64) -> rusqlite::Result<Figures> {
    figures_by(connection, run, None)
}

fn figures_by(
    connection: &Connection,
    run: i64,
    keys: Option<&HashMap<i64, IdentityKey>>,
) -> rusqlite::Result<Figures> {
    let mut figures = Figures::new();
    let mut metrics = connection.prepare_cached(
        "SELECT metric_id, name, unit FROM metrics WHERE run_id = ?1 ORDER BY position",
    )?;
    let mut infos = connection.prepare_cached(
        "SELECT identity.identity_key, info.calls, info.exclusive, info.function_id
         FROM function_info AS info
         CROSS JOIN functions AS f ON f.function_id = info.function_id
         CROSS JOIN identities AS identity ON identity.identity_id = f.identity_id
         WHERE info.metric_id = ?1",
    )?;
    let mut metrics = metrics.query([run])?;
    while let Some(metric) = metrics.next()? {
        figures.metric(&metric.get::<_, String>(1)?, &metric.get::<_, String>(2)?);
        let mut rows = infos.query([metric.get::<_, i64>(0)?])?;
        while let Some(row) = rows.next()? {
            let key = match keys {
                None => Some(row.get(0)?),
                Some(keys) => keys.get(&row.get::<_, i64>(3)?).copied(),
            };
            if let Some(key) = key {
                figures.row(&key, row.get(1)?, row.get(2)?);
            }
        }
    }
    Ok(figures)
}
