//! Trees of LispWorks: numbers, and packages in names of functions.

use crate::support::imports::{read_events, read_events_of};

/// A tree with one root and a function below it.
fn tree(function: &str) -> String {
    format!("LispWorks Profiler Tree: test\n0|4|0|4|1|\"Root\"\n{function}\n")
}

#[test]
fn numbers_are_digits_within_63_bits() {
    const LARGEST: u64 = 9_223_372_036_854_775_807;
    let table: &[(&str, Option<u64>)] = &[
        ("0", Some(0)),
        ("007", Some(7)),
        ("9223372036854775807", Some(LARGEST)),
        ("0009223372036854775807", Some(LARGEST)),
        ("9223372036854775808", None),
        ("99999999999999999999", None),
        ("", None),
        ("-1", None),
        ("+1", None),
        (" 1", None),
        ("1 ", None),
        ("1.0", None),
        ("1e3", None),
        ("٣", None),
    ];
    for (number, expected) in table {
        let file = tree(&format!("1|3|{number}|3|3|F"));
        let (events, result) = read_events("lispworks_tree", file.as_bytes());
        match expected {
            // Without counted calls their number is unknown.
            Some(0) => assert!(result.is_ok(), "{number}"),
            Some(calls) => {
                let info = format!("info F samples calls {calls} exclusive 3 seen 3");
                assert!(events.contains(&info), "{number}: {events:#?}");
            }
            None => {
                let error = result.expect_err(number).to_string();
                assert!(
                    error.contains("expected a whole number of at most 9223372036854775807"),
                    "{number}: {error}"
                );
            }
        }
    }
}

#[test]
fn package_is_that_of_the_symbol_lisp_prints() {
    for (name, package) in [
        ("SHOP::F", "SHOP"),
        ("SHOP:CPU-ROUND", "SHOP"),
        ("SB-KERNEL:TWO-ARG-XOR", "SB-KERNEL"),
        (r#"SHOP::|Report\|Top;Words "v2"|"#, "SHOP"),
        ("|odd;names|::X", "|odd;names|"),
        (r"|a::b\|c|::X", r"|a::b\|c|"),
        ("(METHOD SHOP::AREA (SHOP::BOX))", "SHOP"),
        ("(SB-PCL::FAST-METHOD PRINT-OBJECT (SHOP::BOX T))", "SHOP"),
        ("(SETF SHOP::PRICE)", "SHOP"),
        ("(LABELS SHOP::QUICK :IN SHOP::SORT-PHASE)", "SHOP"),
        ("(FLET SB-UNIX::BODY :IN SB-IMPL::START-LISP)", "SB-IMPL"),
        (
            "(FLET \"WITHOUT-INTERRUPTS-BODY-3\" :IN SB-IMPL::START-LISP)",
            "SB-IMPL",
        ),
        ("(LAMBDA (SHOP::X) :IN \"a::b.lisp\")", "SHOP"),
        ("CL-USER::(FLET WALK :IN RUN)", "CL-USER"),
        // Symbols of the current package, which Lisp does not print.
        ("EVAL", ""),
        ("(LAMBDA (X))", ""),
        // Keywords, symbols without a package, strings.
        (":START", ""),
        ("#:G123", ""),
        ("\"foreign function f157\"", ""),
        ("\"SHOP::F\"", ""),
        // Other languages.
        ("std::sort", ""),
        ("Shop::area(int)", ""),
        ("A::B::C", ""),
        ("A::B(int)", ""),
        ("", ""),
        ("::", ""),
        ("SHOP::", ""),
        ("(", ""),
        ("(F \"", ""),
    ] {
        let file = tree(&format!("1|3|0|3|3|{name}"));
        let functions = read_events_of("function", "lispworks_tree", file.as_bytes());
        let function = functions.last().expect("a function");
        let module = function.strip_prefix(name).expect("the name of the file");
        let module = module.trim_start_matches(" (root)");
        assert_eq!(
            module.strip_prefix(" in ").unwrap_or_default(),
            package,
            "{function}"
        );
    }
}
