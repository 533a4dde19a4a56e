//! Sums as temporary tables, from which the statement of a report reads them.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params};

use super::add_up::{CallCosts, Figures, Sums};

const TABLES: &str = "
    DROP TABLE IF EXISTS temp.selected;
    CREATE TEMP TABLE selected (cost REAL NOT NULL);
    DROP TABLE IF EXISTS temp.function_costs;
    CREATE TEMP TABLE function_costs (
      function_id INTEGER PRIMARY KEY, calls INTEGER, exclusive REAL, cumulative REAL, exclusive_readings REAL,
      cumulative_readings REAL
    );
    DROP TABLE IF EXISTS temp.line_costs;
    CREATE TEMP TABLE line_costs (
      function_id INTEGER NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL, calls INTEGER,
      exclusive REAL, cumulative REAL, exclusive_readings REAL, cumulative_readings REAL
    );
    DROP TABLE IF EXISTS temp.callers_of_selection;
    CREATE TEMP TABLE callers_of_selection (
      caller_id INTEGER NOT NULL, line INTEGER, col INTEGER, kind TEXT NOT NULL, calls INTEGER, exclusive REAL,
      cumulative REAL
    );
    DROP TABLE IF EXISTS temp.callees_of_selection;
    CREATE TEMP TABLE callees_of_selection (
      callee_id INTEGER NOT NULL, line INTEGER, col INTEGER, kind TEXT NOT NULL, calls INTEGER, exclusive REAL,
      cumulative REAL
    );
    DROP TABLE IF EXISTS temp.container_costs;
    CREATE TEMP TABLE container_costs (function_id INTEGER PRIMARY KEY, cost REAL);
    DROP TABLE IF EXISTS temp.label_set_costs;
    CREATE TEMP TABLE label_set_costs (set_id INTEGER PRIMARY KEY, cost REAL NOT NULL)";

/// Text as it is stored, whatever its bytes are.
struct Text<'t>(&'t [u8]);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

impl Sums {
    /// Fills `selected`, `function_costs`, `line_costs`, `callers_of_selection`,
    /// `callees_of_selection`, `container_costs` and `label_set_costs` in `temp`, each anew; what was
    /// not wanted is empty.
    ///
    /// # Errors
    /// When the database fails.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "the reports that are answered from here are to call it"
        )
    )]
    pub(in crate::report) fn fill(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.execute_batch(TABLES)?;
        // One change, and not one for each row.
        connection.execute_batch("SAVEPOINT sums")?;
        let filled = self.insert(connection);
        if filled.is_err() {
            connection.execute_batch("ROLLBACK TO sums")?;
        }
        connection.execute_batch("RELEASE sums")?;
        filled
    }

    fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO temp.selected VALUES (?1)";
        connection.execute(sql, [self.selected])?;
        let sql = "INSERT INTO temp.function_costs VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut statement = connection.prepare(sql)?;
        for row in &self.functions {
            let Figures {
                calls,
                exclusive,
                cumulative,
                exclusive_readings,
                cumulative_readings,
            } = &row.figures;
            statement.execute(params![
                row.function_id,
                calls,
                exclusive,
                cumulative,
                exclusive_readings,
                cumulative_readings,
            ])?;
        }
        let sql = "INSERT INTO temp.line_costs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let mut statement = connection.prepare(sql)?;
        for row in &self.lines {
            let Figures {
                calls,
                exclusive,
                cumulative,
                exclusive_readings,
                cumulative_readings,
            } = &row.figures;
            statement.execute(params![
                row.function_id,
                Text(&row.file),
                row.line,
                row.col,
                calls,
                exclusive,
                cumulative,
                exclusive_readings,
                cumulative_readings,
            ])?;
        }
        insert_calls(connection, "callers_of_selection", &self.callers)?;
        insert_calls(connection, "callees_of_selection", &self.callees)?;
        let sql = "INSERT INTO temp.container_costs VALUES (?1, ?2)";
        let mut statement = connection.prepare(sql)?;
        for row in &self.containers {
            statement.execute(*row)?;
        }
        let sql = "INSERT INTO temp.label_set_costs VALUES (?1, ?2)";
        let mut statement = connection.prepare(sql)?;
        for row in &self.label_sets {
            statement.execute(*row)?;
        }
        Ok(())
    }
}

fn insert_calls(connection: &Connection, table: &str, rows: &[CallCosts]) -> rusqlite::Result<()> {
    let sql = format!("INSERT INTO temp.{table} VALUES (?1, ?2, ?3, 'call', ?4, ?5, ?6)");
    let mut statement = connection.prepare(&sql)?;
    for row in rows {
        statement.execute(params![
            row.function_id,
            row.line,
            row.col,
            row.calls,
            row.exclusive,
            row.cumulative,
        ])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::add_up::{FunctionCosts, LineCosts};
    use super::*;

    #[test]
    fn sums_are_in_their_tables() {
        let figures = Figures {
            calls: Some(3),
            exclusive: 1.5,
            cumulative: None,
            exclusive_readings: None,
            cumulative_readings: Some(2.0),
        };
        let call = |function_id| CallCosts {
            function_id,
            line: Some(4),
            col: None,
            calls: None,
            exclusive: 0.5,
            cumulative: Some(1.0),
        };
        let sums = Sums {
            is_any: true,
            selected: 7.5,
            functions: vec![FunctionCosts {
                function_id: 1,
                figures: figures.clone(),
            }],
            lines: vec![LineCosts {
                function_id: 1,
                file: b"a.c".to_vec(),
                line: 9,
                col: 0,
                figures,
            }],
            callers: vec![call(2)],
            callees: vec![call(3)],
            containers: vec![(5, None)],
            label_sets: vec![(6, 0.25)],
        };
        let connection = Connection::open_in_memory().expect("memory");
        for _ in 0..2 {
            // A second question finds nothing of the first one.
            sums.fill(&connection).expect("memory");
        }
        let texts = [
            "SELECT quote(cost) FROM selected",
            "SELECT concat_ws(' ', function_id, calls, exclusive, quote(cumulative), quote(exclusive_readings), cumulative_readings) FROM function_costs",
            "SELECT concat_ws(' ', function_id, file, line, col, calls, exclusive, quote(cumulative)) FROM line_costs",
            "SELECT concat_ws(' ', caller_id, line, quote(col), kind, quote(calls), exclusive, cumulative) FROM callers_of_selection",
            "SELECT concat_ws(' ', callee_id, line, quote(col), kind, quote(calls), exclusive, cumulative) FROM callees_of_selection",
            "SELECT concat_ws(' ', function_id, quote(cost)) FROM container_costs",
            "SELECT concat_ws(' ', set_id, cost) FROM label_set_costs",
        ]
        .map(|sql| {
            let rows = format!("SELECT group_concat(row, ';') FROM (SELECT ({sql}) AS row)");
            connection.query_row(&rows, [], |row| row.get::<_, String>(0)).expect("a row")
        });
        let expected = [
            "7.5",
            "1 3 1.5 NULL NULL 2.0",
            "1 a.c 9 0 3 1.5 NULL",
            "2 4 NULL call NULL 0.5 1.0",
            "3 4 NULL call NULL 0.5 1.0",
            "5 NULL",
            "6 0.25",
        ];
        assert_eq!(texts, expected);
    }
}
