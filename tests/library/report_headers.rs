//! Headers of the SQL files of reports.

use profdb::report::header::{Meaning, Medium, Needs, Parameter, parse};

#[test]
fn report_header_is_read_line_by_line() {
    let sql = "-- What it shows.\n--\n-- :first COUNT ?  rows\n-- :lines VARIANT other  by line\n\
               -- :depth COUNT = 20  levels\n-- :by CHOICE function|file ?  rows of what\n-- needs: tree\n\
               --> shown COST is=cost text csv json optional when=lines  the cost\nSELECT 1;\n";
    let header = parse(sql).expect("a header");
    assert_eq!(header.about, "What it shows.");
    assert_eq!(header.needs, Needs::Tree);
    assert!(!header.many_rows);
    let [first, lines, depth, by] = header.parameters.as_slice() else {
        panic!("{:?}", header.parameters)
    };
    assert_eq!(
        (first.name, &first.kind, first.optional, first.meaning),
        ("first", &Parameter::Count, true, "rows")
    );
    assert_eq!(
        (&lines.kind, lines.optional),
        (&Parameter::Variant("other"), false)
    );
    assert_eq!((depth.default, depth.optional), (Some("20"), true));
    assert_eq!(
        (&by.kind, by.default),
        (&Parameter::Choice(vec!["function", "file"]), None)
    );
    let [shown] = header.columns.as_slice() else {
        panic!("{:?}", header.columns)
    };
    assert_eq!(
        (shown.shows, shown.media.as_slice()),
        (
            Some(Meaning::Cost),
            [Medium::Text, Medium::Csv, Medium::Json].as_slice()
        )
    );
    assert_eq!(shown.when, Some("lines"));
    assert!(shown.optional);
    assert_eq!(shown.meaning, "the cost");
}

#[test]
fn report_header_with_an_unknown_word_is_refused() {
    let table = [
        (
            "-- About.\n-- :first NUMBER  rows\nSELECT 1;",
            "first NUMBER",
        ),
        (
            "-- About.\n--> shown COST is=price text  the cost\nSELECT 1;",
            "price",
        ),
        (
            "-- About.\n--> shown COST text  the cost\nSELECT 1;",
            "shown",
        ),
        (
            "-- About.\n--> shown COST bold  the cost\nSELECT 1;",
            "bold",
        ),
        ("-- About.\nSELECT 1;", "columns"),
    ];
    for (sql, named) in table {
        let error = parse(sql).expect_err("not a header");
        assert!(error.contains(named), "{error}");
    }
}
