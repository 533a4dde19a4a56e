//! Names of functions: made readable, escaped, written to files, and asked for in reports.

use std::collections::HashSet;

use profdb::base::error::Stop;
use profdb::events::{Frame, FunctionDef, Noise, Sample, Sink as _, Unit};
use profdb::formats::export::Request;
use profdb::profile::TreeBuilder;
use profdb::report::render::{Layout, render};
use profdb::report::{self, Argument, by_name};
use profdb::store::{Database, RunInfo};

use crate::support::imports::{export_run, import_profile, read_events_of};
use crate::support::made_runs::{Batches, made_up, write};
use crate::support::protobuf::{field, varint};

/// Maximum length of a readable name in bytes.
const LONGEST: usize = 16 * 1024;

/// Returns the bytes of a name as the database has it: `\x{f6}` is one byte.
fn to_bytes(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = name;
    while let Some(at) = rest.find(r"\x{") {
        let digits = rest.get(at + 3..at + 5);
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        bytes.push(byte.expect("two digits"));
        rest = &rest[at + 6..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

#[test]
fn only_names_of_compilers_are_made_readable() {
    let table = [
        (
            "_ZN4core3fmt5write17h0123456789abcdefE",
            Some("core::fmt::write"),
        ),
        (
            "__ZN4core3fmt5write17h0123456789abcdefE",
            Some("core::fmt::write"),
        ),
        (
            "_ZN4core3fmt5write17h0123456789abcdefE.llvm.1234",
            Some("core::fmt::write"),
        ),
        ("_RNvC6_123foo3bar", Some("123foo::bar")),
        ("_RNvNtC7mycrate3foo3bar", Some("mycrate::foo::bar")),
        ("_Z3addii", Some("add(int, int)")),
        ("__Z3addii", Some("add(int, int)")),
        (
            "_ZNSt6vectorIiSaIiEE9push_backERKi",
            Some("std::vector<int, std::allocator<int> >::push_back(int const&)"),
        ),
        ("_ZN3fooC1Ev", Some("foo::foo()")),
        (
            "_Z3addii.constprop.0",
            Some("add(int, int) [clone .constprop.0]"),
        ),
        ("main", None),
        ("", None),
        ("_", None),
        ("__libc_start_main", None),
        ("_Run", None),
        ("_Zebra", None),
        ("___Z3addii", None),
        ("Z3addii", None),
        ("_ZN4core3fmt", None),
        ("_Z3add∆", None),
        (
            "_ZNK7größe6Matrix6längeEv",
            Some("größe::Matrix::länge() const"),
        ),
        (
            "__ZNK7größe6Matrix6längeEv",
            Some("größe::Matrix::länge() const"),
        ),
        (
            "_ZN7größe6MatrixC1Ed",
            Some("größe::Matrix::Matrix(double)"),
        ),
        (
            "_ZN7größe12_GLOBAL__N_16Ünter2éEi",
            Some("größe::(anonymous namespace)::Ünter::é(int)"),
        ),
        (
            "_Z10äöü_ß9N7größe6MatrixERS0_3計",
            Some("äöü_ß9(größe::Matrix, größe::Matrix&, 計)"),
        ),
        ("_ZN3計4𝛼EiPS_", Some("計::𝛼(int, 計*)")),
        (
            "_ZNK7größe6Matrix6какIiEET_S2_",
            Some("int größe::Matrix::как<int>(int) const"),
        ),
        (
            "_Z10äöü_ß9i.constprop.0",
            Some("äöü_ß9(int) [clone .constprop.0]"),
        ),
        // The lengths count letters, not bytes.
        ("_ZNK5größe6Matrix5längeEv", None),
        // A dollar sign in the name, and a byte of Latin-1.
        ("_Z4ö$$i", None),
        (r"_Z2f\x{f6}i", None),
        (r"_Z2\x{f6}\x{df}i", Some(r"\x{f6}\x{df}(int)")),
        // Rust has its own encodings of such names.
        (
            "_ZN1r13gr$uf6$$udf$e9L$ue4$nge12_$ufc$berall17ha9df10146cd3537bE",
            Some("r::größe::Länge::überall"),
        ),
        (
            "_RNvMNtCs6GmmlP4bgsG_1ru9gre_6ka8iNtB2_u8Lnge_loau10berall_2ya",
            Some("<r::größe::Länge>::überall"),
        ),
        ("Rain", None),
    ];
    for (name, expected) in table {
        let mut file = to_bytes(name);
        file.extend_from_slice(b" 1\n");
        let functions = read_events_of("function", "folded", &file);
        let expected = match expected {
            Some(readable) => format!("{readable}, raw name {name}"),
            None => name.to_owned(),
        };
        assert_eq!(functions, [expected], "{name}");
    }
}

#[test]
fn name_that_would_become_very_long_is_kept_or_cut_off() {
    // Each parameter repeats all parameters before it twice.
    let mut name = "_Z1fI".to_owned();
    name.push_str(&"St4pairIS_S_E".repeat(1000));
    name.push_str("EvT_");
    let functions = read_events_of("function", "folded", format!("{name} 1\n").as_bytes());
    let readable = functions[0].strip_suffix(&format!(", raw name {name}"));
    assert!(readable.map_or(functions[0] == name, |text| text.len() <= LONGEST));
}

#[test]
fn names_that_are_not_utf8_are_escaped_and_come_back() {
    let table: [(&[u8], &str); 12] = [
        (b"plain", "plain"),
        ("größe".as_bytes(), "größe"),
        (b"gr\xf6\xdfe", r"gr\x{f6}\x{df}e"),
        (br"gr\x{f6}\x{df}e", r"gr\x{5c}x{f6}\x{5c}x{df}e"),
        (br"\x{5c}x{f6}", r"\x{5c}x{5c}x{f6}"),
        (br"C:\xdebug\x{F6}\x{f6", r"C:\xdebug\x{F6}\x{f6"),
        (br"\x{123}\x{}\x{1}", r"\x{123}\x{}\x{1}"),
        (b"\\\xe9", r"\\x{e9}"),
        (b"\\x{\xe9}", r"\x{\x{e9}}"),
        (b"\xc3", r"\x{c3}"),
        (b"\xed\xa0\x80", r"\x{ed}\x{a0}\x{80}"),
        (b"", ""),
    ];
    for (name, expected) in table {
        let file = [name, b" 1\n"].concat();
        let functions = read_events_of("function", "folded", &file);
        assert_eq!(functions, [expected], "{}", name.escape_ascii());
        let (database, run) = import_profile("folded", &file);
        let (written, _) = export_run("folded", &database, &run, &Request::default());
        assert_eq!(written, file, "{}", name.escape_ascii());
        let notes: u32 = database
            .connection()
            .query_row(
                "SELECT count(*) FROM notes WHERE message LIKE '%UTF-8%'",
                [],
                |row| row.get(0),
            )
            .expect("notes");
        assert_eq!(
            notes == 1,
            str::from_utf8(name).is_err(),
            "{}",
            name.escape_ascii()
        );
    }
}

#[test]
fn different_names_stay_different_when_escaped() {
    const LETTERS: [u8; 8] = [b'\\', b'x', b'{', b'5', b'c', b'}', 0xc3, 0xa9];
    let names = |letters: u32| {
        (0..8_u32.pow(letters)).flat_map(move |number| {
            let letter = move |at: u32| LETTERS[(number >> (3 * at) & 7) as usize];
            (0..letters)
                .map(letter)
                .chain(*b" 1\n")
                .collect::<Vec<u8>>()
        })
    };
    let file: Vec<u8> = names(5).collect();
    let functions = read_events_of("function", "folded", &file);
    assert_eq!(functions.len(), 8_usize.pow(5));
    assert_eq!(
        functions.iter().collect::<HashSet<_>>().len(),
        functions.len()
    );
    // With fewer letters, because writing takes longer.
    let file: Vec<u8> = names(3).collect();
    let (database, run) = import_profile("folded", &file);
    let (written, _) = export_run("folded", &database, &run, &Request::default());
    assert!(written == file);
}

/// Stores a run in which each function is a root with one sample.
fn store_roots(functions: &[FunctionDef<'_>], samples: &[f64]) -> (Database, RunInfo) {
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    let metric = builder.metric("samples", Unit::Count, Noise::Sampled);
    for (function, samples) in functions.iter().zip(samples) {
        let frame = Frame::function(builder.function(*function));
        builder.sample(Sample {
            stack: &[frame],
            shared: 0,
            calls: None,
            values: &[(metric, *samples)],
            labels: None,
        });
    }
    let mut database = Database::in_memory().expect("memory");
    write(builder, &made_up(), &mut database);
    let run = database.run(None).expect("a database").expect("a run");
    (database, run)
}

#[test]
fn folded_names_stay_within_their_line_and_frame() {
    let table = [
        ("plain name", "plain name"),
        ("a;b", "a\\x3bb"),
        ("C:\\x3b", "C:\\x3b"),
        ("a\nb\r\t\0\u{7f}\u{85}", "a\\x0ab\\x0d\\x09\\x00\\x7f\\x85"),
        ("worker 12", "worker\\x2012"),
        ("12 monkeys", "12 monkeys"),
        ("blanks  ", "blanks\\x20\\x20"),
        ("# f", "\\x23 f"),
        ("#", "\\x23"),
        ("#.f # g", "#.f # g"),
        ("∆ ⍙ <b> \"q\" \u{2028}", "∆ ⍙ <b> \"q\" \u{2028}"),
        ("", ""),
        ("1 2", "1\\x202"),
        ("a 1 b 2 3", "a 1 b\\x202\\x203"),
        ("é 1", "é\\x201"),
    ];
    for (name, expected) in table {
        let (database, run) = store_roots(&[FunctionDef::named(name)], &[1.0]);
        let (file, _) = export_run("folded", &database, &run, &Request::default());
        assert_eq!(
            String::from_utf8_lossy(&file),
            format!("{expected} 1\n"),
            "{name:?}"
        );
    }
}

/// A cost of the square of the length would be minutes.
#[test]
fn folded_name_of_blanks_and_digits_costs_what_its_bytes_cost() {
    let blanks = 400_000;
    let name = "1 ".repeat(blanks);
    let (database, run) = store_roots(&[FunctionDef::named(&name)], &[1.0]);
    let (file, _) = export_run("folded", &database, &run, &Request::default());
    assert_eq!(file.len(), name.len() + 3 * blanks + " 1\n".len());
}

/// Metrics of one name get their unit, then numbers, without the numbers that other names have.
#[test]
fn metric_names_are_unique() {
    // Names of a file, and of the metrics.
    let table = [
        ("a", "a"),
        ("a (count) 3", "a (count) 3"),
        ("a", "a (count)"),
        ("a", "a (count) 2"),
        // A metric is called `a (count) 3` already.
        ("a", "a (count) 4"),
        ("a (count) 2", "a (count) 2 (count)"),
        ("a (count) 2", "a (count) 2 (count) 2"),
    ];
    // Text 0 is empty; the texts of the names follow, then that of their unit.
    let mut texts = field(6, b"");
    let mut types = Vec::new();
    for (at, (name, _)) in table.iter().enumerate() {
        texts.extend(field(6, name.as_bytes()));
        let name = [vec![1 << 3], varint(1 + at)].concat();
        let unit = [vec![2 << 3], varint(1 + table.len())].concat();
        types.extend(field(1, &[name, unit].concat()));
    }
    texts.extend(field(6, b"count"));
    let metrics = read_events_of("metric", "pprof", &[types, texts].concat());
    let metrics: Vec<&str> = metrics
        .iter()
        .map(|metric| metric.split(" count ").next().unwrap_or_default())
        .collect();
    assert_eq!(metrics, table.map(|(_, metric)| metric));
}

/// `NAME (PLACE)` is read with the shortest name first, for which there is a function.
#[test]
fn name_with_place_is_read_in_every_way() {
    let in_file = |name, file| FunctionDef {
        file,
        ..FunctionDef::named(name)
    };
    let functions = [
        in_file("f", "a.c"),
        in_file("f", "x) (a (1).c"),
        in_file("f (x)", "a (1).c"),
        in_file("f (x) (a", "1).c"),
        in_file("", "a.c"),
        in_file("other", "b.c"),
    ];
    let costs = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let ask = |functions: &[FunctionDef<'_>], costs: &[f64], text: &str| {
        let (database, run) = store_roots(functions, costs);
        selected(&database, &run, text)
    };
    let table: [(&str, &[f64]); 7] = [
        ("f (a.c)", &[1.0]),
        ("f (x) (a (1).c)", &[2.0, 4.0, 8.0]),
        (" (a.c)", &[16.0]),
        ("f(a.c)", &[]),
        // Blanks around a name are left out.
        ("f (a.c) ", &[1.0]),
        ("g", &[]),
        ("", &[16.0]),
    ];
    for (text, expected) in table {
        // Without the functions of the first readings, the next reading is found.
        let mut found = Vec::new();
        let (mut functions, mut costs) = (functions.to_vec(), costs.to_vec());
        while let Some(cost) = ask(&functions, &costs, text) {
            let at = costs
                .iter()
                .position(|known| known.to_bits() == cost.to_bits());
            let at = at.expect("the cost of a function");
            functions.remove(at);
            costs.remove(at);
            found.push(cost);
        }
        assert_eq!(found, expected, "{text:?}");
    }
}

/// Returns the names that a table of functions prints, the most expensive function first.
fn printed_names(database: &Database, run: &RunInfo, width: Option<usize>) -> Vec<String> {
    let report = by_name("summary").expect("a report");
    let mut answer =
        report::ask(database, report, run, &report::Request::default()).expect("an answer");
    let layout = Layout {
        width,
        ..Layout::default()
    };
    let mut table = Vec::new();
    render(&mut answer, &layout, &mut table).expect("memory");
    let table = String::from_utf8(table).expect("text");
    let rows = table
        .lines()
        .skip_while(|line| !line.starts_with("Element"));
    let names = rows.skip(1).filter_map(|row| row.split("  ").next());
    names.map(str::to_owned).collect()
}

/// Returns the selected cost of a report with this `--fn`.
fn selected(database: &Database, run: &RunInfo, text: &str) -> Option<f64> {
    let request = report::Request {
        arguments: vec![("fn".to_owned(), Argument::Text(text.to_owned()))],
        ..report::Request::default()
    };
    let calls = by_name("calls").expect("a report");
    let answer = report::ask(database, calls, run, &request).ok()?;
    answer.subject.expect("a subject").selected
}

/// Every name that a table prints selects the function of its row.
#[test]
fn printed_name_selects_exactly_its_function() {
    let groups: [&[[&str; 3]]; 8] = [
        &[["", "a/x.py", "3"], ["", "a/x.py", "9"]],
        &[["", "x.py", ""], ["", "b/x.py", ""], ["", "c/b/x.py", ""]],
        &[["m", "", ""], ["n", "", ""], ["l/n", "", ""]],
        &[["m", "x.py", "3"], ["n", "x.py", "3"], ["n", "x.py", "4"]],
        &[["m", "x.py", "3"], ["n", "x.py", "3"], ["m", "y.py", "3"]],
        &[["m", "", ""], ["m", "x.py", ""], ["m", "x.py", "7"]],
        &[["", "", ""], ["m", "", ""], ["", "x.py", ""]],
        &[
            ["", "a.py", ""],
            ["a.py", "", ""],
            ["b", "a.py", ""],
            ["c", "a.py", ""],
        ],
    ];
    for group in groups {
        let define = |name, [module, file, line]: [&'static str; 3]| FunctionDef {
            module,
            file,
            first_line: line.parse().unwrap_or_default(),
            ..FunctionDef::named(name)
        };
        let of_group = group.iter().map(|place| define("f", *place));
        let functions: Vec<FunctionDef<'_>> =
            of_group.chain([define("g", ["m", "x.py", "3"])]).collect();
        let costs: Vec<f64> = (0..functions.len()).map(|at| f64::from(1 << at)).collect();
        let (database, run) = store_roots(&functions, &costs);
        for width in [None, Some(200)] {
            let labels = printed_names(&database, &run, width);
            assert_eq!(labels.len(), functions.len(), "{labels:?}");
            for (label, cost) in labels.iter().zip(costs.iter().rev()) {
                assert_eq!(
                    selected(&database, &run, label),
                    Some(*cost),
                    "{label} in {labels:?}"
                );
            }
        }
    }
}

/// Notes have the first place in the file, in whatever order the importer meets the places.
#[test]
fn note_has_the_first_place_and_its_text() {
    // The second line is not a frame; then it turns out that the first line is not a sample.
    let script = "work-perf  6648\n\tno frame\n\nwork 1 1.0: cycles:\n\t15 f (/a)\n";
    let notes = read_events_of("note", "perf_script", script.as_bytes());
    assert_eq!(
        notes,
        [
            "warning line 1 (byte 0): 2 lines not understood and skipped (first: \"work-perf  6648\")"
        ]
    );
    // Lines of modules without a file, counted by module.
    let block = |module: u8| [3, 0, module, 0, 0, 0, 10, 0, 8, 6];
    for modules in [[9, 5, 9], [5, 9, 5]] {
        let mut log = b"\x01\0\x01\0\x01a".to_vec();
        log.extend(block(1));
        log.extend(modules.into_iter().flat_map(block));
        let notes = read_events_of("note", "business_rules", &log);
        let expected = "byte 16: 3 lines with an undeclared module number";
        assert!(
            notes.iter().any(|note| note.contains(expected)),
            "{notes:?}"
        );
    }
}
