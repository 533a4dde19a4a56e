//! Merges of databases that number functions in another order.

use profdb::events::{Cost, Frame, FunctionDef, FunctionId, Sink};
use profdb::store::{Database, RunMeta};
use rusqlite::types::Value;

use crate::support::described_runs::{add_run, emit_time};
use crate::support::made_runs::made_up;

/// Emits functions that each call all functions.
fn emit_calls(sink: &mut dyn Sink, names: &[String]) {
    let time = emit_time(sink);
    let functions: Vec<FunctionId> = names
        .iter()
        .map(|name| sink.function(FunctionDef::named(name)))
        .collect();
    for caller in &functions {
        sink.enter(Frame::function(*caller), Some(1));
        for (callee, cost) in functions.iter().zip([1.0, 2.0, 3.0].into_iter().cycle()) {
            sink.enter(Frame::function(*callee), Some(1));
            sink.cost(time, Cost::Exclusive(cost));
            sink.leave();
        }
        sink.leave();
    }
}

fn rows(database: &Database, run: i64, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = database.connection().prepare(sql).expect("a statement");
    let width = statement.column_count();
    let rows = statement
        .query_map([run], |row| (0..width).map(|at| row.get(at)).collect())
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

/// The figures of a run with the names of functions, in an order that does not depend on numbers.
const FIGURES: [&str; 3] = [
    "SELECT f.name, i.calls, i.exclusive, i.cumulative FROM metrics AS m JOIN function_info AS i USING (metric_id)
     JOIN functions AS f USING (function_id) WHERE m.run_id = ?1 ORDER BY 1",
    "SELECT f.name, n.node_id - r.first_node FROM runs AS r JOIN function_nodes AS n USING (run_id)
     JOIN functions AS f USING (function_id) WHERE r.run_id = ?1 ORDER BY 1, 2",
    "SELECT f.name, c.name, e.calls, e.exclusive FROM metrics AS m JOIN edges AS e USING (metric_id)
     JOIN functions AS f ON f.function_id = e.callee_id LEFT JOIN functions AS c ON c.function_id = e.caller_id
     WHERE m.run_id = ?1 ORDER BY 1, 2",
];

#[test]
fn merged_functions_keep_their_figures_whatever_their_numbers() {
    // Functions in the order of their numbers in the merged database and in the other one.
    let table: [(&[u32], &[u32]); 7] = [
        (&[], &[]),
        (&[9], &[4]),
        (&[1, 2, 9], &[1, 2, 9]),
        (&[9, 1, 2], &[1, 2, 9]),
        (&[3, 2, 1], &[1, 2, 3]),
        (&[1, 5, 7, 3], &[1, 3, 5, 7]),
        (&[7, 1, 6, 2, 5, 3, 4], &[1, 2, 3, 4, 5, 6, 7]),
    ];
    let names = |numbers: &[u32]| -> Vec<String> {
        numbers.iter().map(|number| format!("f{number}")).collect()
    };
    for (merged, other) in table {
        let mut database = Database::in_memory().expect("memory");
        add_run(&mut database, &made_up(), |sink| {
            emit_calls(sink, &names(merged));
        });
        let mut source = Database::in_memory().expect("memory");
        let meta = RunMeta {
            title: Some("other".to_owned()),
            ..made_up()
        };
        let run = add_run(&mut source, &meta, |sink| emit_calls(sink, &names(other)));
        let done = database.merge(std::slice::from_ref(&source), &mut |_| ());
        done.expect("sound databases");
        for sql in FIGURES {
            let figures = rows(&database, 2, sql);
            assert_eq!(figures, rows(&source, run, sql), "{merged:?} {other:?}");
        }
        let findings = database.check().expect("a database");
        assert!(findings.is_empty(), "{merged:?} {other:?}: {findings:?}");
        let sound = rows(
            &database,
            0,
            "SELECT integrity_check FROM pragma_integrity_check WHERE ?1 = 0",
        );
        assert_eq!(sound, [[Value::Text("ok".to_owned())]]);
    }
}
