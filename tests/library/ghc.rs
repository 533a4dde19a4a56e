//! Source spans of cost centres of GHC.

use std::fmt::Write as _;

use crate::support::imports::read_events_of;

#[test]
fn source_span_gives_file_line_and_column_of_its_start() {
    let table = [
        ("Calc/Ops.hs:12:5", ("Calc/Ops.hs", 12, 5)),
        ("Calc/Ops.hs:12:5-17", ("Calc/Ops.hs", 12, 5)),
        ("Calc/Ops.hs:(19,5)-(21,57)", ("Calc/Ops.hs", 19, 5)),
        (r"C:\\My Files\\A.hs:1:2-3", (r"C:\My Files\A.hs", 1, 2)),
        ("a:b.hs:(3,4)-(5,6)", ("a:b.hs", 3, 4)),
        ("<entire-module>", ("", 0, 0)),
        ("<no location info>", ("", 0, 0)),
        ("<interactive>:1:2-3", ("<interactive>", 1, 2)),
        ("A.hs", ("A.hs", 0, 0)),
        ("A.hs:99999999999:1", ("A.hs:99999999999:1", 0, 0)),
        ("", ("", 0, 0)),
    ];
    for (span, (file, line, column)) in table {
        let report = format!(
            r#"{{"program": "p", "arguments": [], "rts_arguments": [], "end_time": "now", "initial_capabilities": 0,
            "total_time": 0.00, "total_ticks": 0, "tick_interval": 20000, "total_alloc": 0,
            "cost_centres": [{{"id": 1, "label": "f", "module": "M", "src_loc": "{span}", "is_caf": false}}],
            "profile": {{"id": 1, "entries": 0, "alloc": 0, "ticks": 0, "children": []}}}}"#
        );
        let functions = read_events_of("function", "ghc_json", report.as_bytes());
        let mut expected = "f in M".to_owned();
        if !file.is_empty() {
            write!(expected, " at {file}").expect("memory");
        }
        if line != 0 {
            write!(expected, " from {line}:{column}").expect("memory");
        }
        assert_eq!(functions, [expected], "{span}");
    }
}
