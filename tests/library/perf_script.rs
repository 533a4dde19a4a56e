//! Lines of `perf script`: headers, frames, addresses and source lines in all layouts.

use crate::support::imports::{read_events, read_events_of};

/// Returns the stack and the values of each sample.
fn read_samples(script: &str) -> Vec<String> {
    let mut samples = read_events_of("sample", "perf_script", script.as_bytes());
    for sample in &mut samples {
        *sample = sample.replace(" calls unknown", ":");
    }
    samples
}

/// Returns the functions of a script in the order in which they come, without process and thread.
fn read_functions(script: &str) -> Vec<String> {
    let mut functions = read_events_of("function", "perf_script", script.as_bytes());
    functions
        .retain(|function| !function.ends_with("(process)") && !function.ends_with("(thread)"));
    functions
}

/// A header, the part of the stack that it gives, and the values of its sample.
///
/// The fourth field is the stack of a sample without frames below; `None` if the header alone is
/// not a sample.
type HeaderRow = (
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
);

#[test]
fn headers_of_all_layouts_are_read() {
    const WORK: &str = "work-perf (process) > 6648 (thread)";
    const CYCLES: &str = "cycles:u.samples 1";
    let table: &[HeaderRow] = &[
        (
            "work-perf  6648  1825.857673:    5025125 cpu-clock: ",
            WORK,
            "cpu-clock 5025125 cpu-clock.samples 1",
            Some(WORK),
        ),
        (
            "work-perf  6648 [003]  1825.857673: cycles:u: ",
            WORK,
            CYCLES,
            Some(WORK),
        ),
        (
            "work-perf  6648 [003] KU 1825.857673: cycles:u: ",
            WORK,
            CYCLES,
            Some(WORK),
        ),
        (
            "work-perf  6645/6648  [003]  1825.857673: cycles:u: ",
            "work-perf 6645 (process) > 6648 (thread) in 6645",
            CYCLES,
            Some("work-perf 6645 (process) > 6648 (thread) in 6645"),
        ),
        (
            "  GC Thread#0  6648  1825.857673123:  7 cycles:u:  1585 f+0x1 (/a b)",
            "GC Thread#0 (process) > 6648 (thread)",
            "cycles:u 7 cycles:u.samples 1",
            Some("GC Thread#0 (process) > 6648 (thread) > f in /a b"),
        ),
        (
            "  6648  1825.857673: cycles:u: ",
            "6648 (thread)",
            CYCLES,
            Some("6648 (thread)"),
        ),
        (
            "work-perf  1825.857673: cycles:u: ",
            "work-perf (process)",
            CYCLES,
            Some("work-perf (process)"),
        ),
        ("1825.857673: cycles:u: ", "", CYCLES, None),
        (
            "work-perf  6648  1825.857673: ",
            WORK,
            "samples 1",
            Some(WORK),
        ),
        (
            "work-perf  6648  100 cycles:u: ",
            WORK,
            "cycles:u 100 cycles:u.samples 1",
            Some(WORK),
        ),
        (
            "work-perf  6648 [001] 100 cycles:u: ",
            WORK,
            "cycles:u 100 cycles:u.samples 1",
            Some(WORK),
        ),
        ("work-perf  6648  cycles:u: ", WORK, CYCLES, Some(WORK)),
        (
            "work-perf     5025125 cycles:u: ",
            "work-perf (process)",
            "cycles:u 5025125 cycles:u.samples 1",
            Some("work-perf (process)"),
        ),
        (
            "   5025125 cycles:u: ",
            "",
            "cycles:u 5025125 cycles:u.samples 1",
            None,
        ),
        (
            "work-perf  6648    5025125 ",
            WORK,
            "period 5025125 samples 1",
            None,
        ),
        (
            "work-perf  6648/6648     5025125 ",
            "work-perf 6648 (process) > 6648 (thread) in 6648",
            "period 5025125 samples 1",
            None,
        ),
        (
            "work-perf 7 4194304 ",
            "work-perf 7 (process) > 4194304 (thread)",
            "samples 1",
            None,
        ),
        ("work-perf  6648 ", WORK, "samples 1", None),
        ("work-perf  6648 [002]", WORK, "samples 1", None),
        (
            "swapper     0 [001] 12.000001: sched:sched_switch: prev_comm=a b prev_pid=3",
            "swapper (process) > 0 (thread)",
            "sched:sched_switch.samples 1",
            Some("swapper (process) > 0 (thread)"),
        ),
        (
            ":-1    -1 12.000001: cycles:u: ",
            ":-1 (process) > -1 (thread)",
            CYCLES,
            Some(":-1 (process) > -1 (thread)"),
        ),
        (
            "work-perf  6648  1825.857673: PERF_RECORD_COMM: work-perf:6648/6648",
            WORK,
            "samples 1",
            None,
        ),
        ("Warning:", "", "Warning.samples 1", None),
        ("cycles:u: ", "", CYCLES, None),
        (
            "cycles:u:              1585 f (/a)",
            "",
            CYCLES,
            Some("f in /a"),
        ),
    ];
    for (header, around, values, alone) in table {
        let above = if around.is_empty() {
            String::new()
        } else {
            format!("{around} > ")
        };
        let script = format!("{header}\n\t            15aa g (/b)\n\n");
        assert_eq!(
            read_samples(&script),
            [format!("{above}g in /b: {values}")],
            "{header}"
        );
        let script = format!("{header}\n\n");
        if let Some(stack) = alone {
            let expected = format!("{stack}: {values}");
            assert_eq!(read_samples(&script), [expected], "{header}");
        } else {
            let (events, result) = read_events("perf_script", script.as_bytes());
            assert!(result.is_err(), "{header}: {events:?}");
        }
    }
}

#[test]
fn text_after_event_is_noted() {
    for (header, rest) in [
        (
            "swapper     0 [001] 12.000001: sched:sched_switch: prev_comm=a b prev_pid=3",
            "prev_comm=a b prev_pid=3",
        ),
        (
            "work-perf  6648  1825.857673: PERF_RECORD_COMM: work-perf:6648/6648",
            "PERF_RECORD_COMM: work-perf:6648/6648",
        ),
    ] {
        let script = format!("{header}\n\t            15aa g (/b)\n\n");
        let notes = read_events_of("note", "perf_script", script.as_bytes());
        assert!(
            notes
                .iter()
                .any(|note| note.ends_with(&format!("(first: \"{rest}\")"))),
            "{notes:?}"
        );
    }
}

#[test]
fn lines_that_are_not_headers_are_noted_as_not_understood() {
    for line in ["work-perf", "perf: lost", "perf: added it"] {
        let script = format!("{line}\n\t            15aa g (/b)\n\n");
        assert_eq!(read_samples(&script), ["g in /b: samples 1"], "{line}");
        let notes = read_events_of("note", "perf_script", script.as_bytes());
        let expected = format!(
            "warning line 1 (byte 0): 1 line not understood and skipped (first: \"{line}\")"
        );
        assert_eq!(notes, [expected]);
    }
}

#[test]
fn frames_of_all_layouts_are_read() {
    let table = [
        (
            "            1585 helper+0x1e (/srv/app/work)",
            Some("helper in /srv/app/work"),
        ),
        (
            "1585 helper (/srv/app/work)",
            Some("helper in /srv/app/work"),
        ),
        ("1585 helper", Some("helper")),
        ("1585 helper+0x1e", Some("helper")),
        ("1585 helper (inlined)", Some("helper")),
        (
            "1585 f(int, char (*)()) const+0x2 (/a)",
            Some("f(int, char (*)()) const in /a"),
        ),
        ("1585 f(int)", Some("f(int)")),
        ("1585 main.(*T).run+0x1 (/a)", Some("main.(*T).run in /a")),
        ("1585 operator+ (/a)", Some("operator+ in /a")),
        ("1585 operator+0x (/a)", Some("operator+0x in /a")),
        (
            "1585 f+0x1 (/a b/c (deleted))",
            Some("f in /a b/c (deleted)"),
        ),
        ("1585 [unknown] ([vdso])", Some("0x1585 (pseudo) in [vdso]")),
        ("1585 (/a)", Some("0x1585 (pseudo) in /a")),
        ("1585", Some("0x1585 (pseudo)")),
        (
            "ffffffff817554ea elf_load+0x28a ([kernel.kallsyms])",
            Some("elf_load in [kernel.kallsyms]"),
        ),
        ("work.c:31", None),
        ("12345678901234567 f", None),
        (
            "1585 f+0x1 (/a b (deleted)) insn: 48 89",
            Some("f in /a b (deleted)"),
        ),
        (
            "1585 f(int)+0x1 ([vdso]) 0x1/0x2/P/-/-/0 ",
            Some("f(int) in [vdso]"),
        ),
        ("1585 helper+0x1e (/srv/ap", None),
        ("1585 helper+0x1e ([kernel", None),
        ("", None),
    ];
    for (frame, expected) in table {
        let script = format!("work 1 1.0: cycles:\n\t{frame}\n\n");
        let functions = read_functions(&script);
        assert_eq!(
            functions,
            expected.into_iter().collect::<Vec<_>>(),
            "{frame}"
        );
        // With `-F` of one field more, the frame is on the line of the header.
        let is_symbol = expected.is_some_and(|name| name != "0x1585 (pseudo)");
        let script = format!("work 1 1.0: cycles: {}\n\n", frame.trim_start());
        let functions = read_functions(&script);
        assert_eq!(
            functions.first().map(String::as_str),
            expected.filter(|_| is_symbol)
        );
    }
}

/// A symbol starts at its address minus the offset. Symbols that start at different places of a
/// page are different functions.
#[test]
fn functions_of_one_name_differ_by_their_start() {
    let table: [(&[&str], usize); 5] = [
        (&["1585 helper+0x1e (/a)", "1567 helper+0x0 (/a)"], 1),
        (&["1585 helper+0x1e (/a)", "1585 helper+0x1d (/a)"], 2),
        // No offset means no start, which is the first function.
        (&["1585 helper (/a)", "1567 helper (/a)"], 1),
        // An offset beyond the address wraps around.
        (&["0 f+0x1 (/a)", "ffffffffffffffff f+0x0 (/a)"], 1),
        (&["0 f+0x1 (/a)", "0 f+0x0 (/a)"], 2),
    ];
    for (frames, count) in table {
        let script = format!("work 1 1.0: cycles:\n\t{}\n\n", frames.join("\n\t"));
        assert_eq!(read_functions(&script).len(), count, "{frames:?}");
    }
}

/// `-F addr` prints the address of data, with its symbol, before the address of the code.
#[test]
fn addresses_of_data_are_skipped() {
    let table = [
        ("7f00             1585 f+0x1 (/a)", "f in /a"),
        ("ffffffff817554ea ffffffff817554eb f", "f"),
        ("1585 add+0x1 (/a)", "add in /a"),
        ("7f00 table (/a b) ffffffff817554eb f+0x1 ([k])", "f in [k]"),
        ("7f00 table+0x2             1585 f", "f"),
        ("7f00 table 1585 f", "table 1585 f"),
        ("1585 f+0x1 (/a)", "f in /a"),
    ];
    for (rest, expected) in table {
        let script = format!("work 1 1.0: cycles: {rest}\n\n");
        assert_eq!(read_functions(&script), [expected], "{rest}");
    }
    for rest in ["1585", ""] {
        let script = format!("work 1 1.0: cycles: {rest}\n\n");
        assert_eq!(read_functions(&script), Vec::<String>::new(), "{rest}");
    }
}

#[test]
fn source_lines_belong_to_the_frame_above() {
    let table = [
        ("  work.c:31", Some("f in /a[work.c:31:0]")),
        (
            "  /a b/c:d.c:31 (inlined)",
            Some("f in /a[/a b/c:d.c:31:0]"),
        ),
        (
            "  work.c:31 (discriminator 2)",
            Some("f in /a[work.c:31:0]"),
        ),
        // Unknown source lines.
        ("  libc.so.6[27249]", Some("f in /a")),
        ("  [kernel.kallsyms][ffffffff8168a125]", Some("f in /a")),
        ("  :0", Some("f in /a")),
        ("  ??:0", Some("f in /a")),
        // Other text.
        ("  libc.so.6[]", None),
        ("  libc.so.6[x]", None),
        ("  27249]", None),
        ("  work.c", None),
        ("  :31", None),
        ("  work.c:x", None),
    ];
    for (line, expected) in table {
        let script = format!("work 1 1.0: cycles:\n\t1585 f (/a)\n{line}\n\n");
        let stack = format!(
            "work (process) > 1 (thread) > {}",
            expected.unwrap_or("f in /a")
        );
        assert_eq!(
            read_samples(&script),
            [format!("{stack}: cycles.samples 1")],
            "{line}"
        );
        let notes = read_events_of("note", "perf_script", script.as_bytes());
        let is_understood = !notes
            .iter()
            .any(|note| note.contains("1 line not understood"));
        assert_eq!(is_understood, expected.is_some(), "{line}: {notes:?}");
    }
}

/// Names of compilers that read alike are functions of their own, told apart by number.
#[test]
fn functions_that_demangle_alike_stay_apart() {
    let frames = [
        "10 _ZN1a1b17h0000000000000001E+0x1 (/a)",
        "20 _ZN1a1b17h0000000000000002E+0x1 (/a)",
        "10 _ZN1a1b17h0000000000000001E+0x1 (/a)",
        "30 _ZL1fv+0x1 (/a)",
        "30 _ZL1fv+0x1 (/a)",
        // Another function of this name.
        "40 _ZL1fv+0x1 (/a)",
        "50 a::b.c+0x1 (/a)",
    ];
    let script = format!("work 1 1.0: cycles:\n\t{}\n\n", frames.join("\n\t"));
    let mut functions = read_functions(&script);
    functions.sort();
    assert_eq!(
        functions,
        [
            "a::b in /a number 1, raw name _ZN1a1b17h0000000000000002E",
            "a::b in /a, raw name _ZN1a1b17h0000000000000001E",
            "a::b.c in /a",
            "f() in /a number 1, raw name _ZL1fv",
            "f() in /a, raw name _ZL1fv",
        ]
    );
}
