//! Input that is too large to lie in a case folder: it is made here, and either imported or refused
//! by the name of a limit. Nothing may hang, and no message may be as long as what it complains
//! about.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::program;
use crate::support::protobuf::{field, varint};

/// The longest message that anybody should have to read, in bytes.
const LONGEST_MESSAGE: usize = 400;

const HEADER: &str =
    "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n";

struct Told {
    code: Option<i32>,
    out: String,
    errors: String,
}

fn profdb(folder: &Path, arguments: &[&str]) -> Told {
    let run = program::command()
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs");
    let Output {
        status,
        stdout,
        stderr,
    } = run;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Told {
        code: status.code(),
        out: text(stdout),
        errors: text(stderr),
    }
}

/// Imports a file; says what the program said, and whether a database came of it.
fn import(name: &str, content: &[u8]) -> (Told, bool) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(name), content).expect("room for a file");
    let told = profdb(folder.path(), &["import", name]);
    for line in told.errors.lines().chain(told.out.lines()) {
        assert!(
            line.len() <= LONGEST_MESSAGE,
            "a message of {} bytes: {}…",
            line.len(),
            &line[..LONGEST_MESSAGE / 2]
        );
    }
    (told, folder.path().join("profdb.db").exists())
}

fn imports(name: &str, content: &[u8], errors: &str, out: &str) {
    let (told, saved) = import(name, content);
    assert_eq!(
        (told.code, told.errors.as_str(), told.out.as_str(), saved),
        (Some(0), errors, out, true)
    );
}

fn refuses(name: &str, content: &[u8], errors: &str) {
    let (told, saved) = import(name, content);
    assert_eq!(
        (told.code, told.errors.as_str(), told.out.as_str(), saved),
        (Some(3), errors, "", false)
    );
}

fn xml(within: &str) -> String {
    format!("<ProfileData>\n{within}</ProfileData>\n")
}

fn entry(name: &str) -> String {
    format!(
        "<ProfileEntry><Depth>0</Depth><Element>{name}</Element><Line>¯1</Line><Calls>1</Calls><ExclusiveTime>1\
         </ExclusiveTime><InclusiveTime>1</InclusiveTime></ProfileEntry>\n"
    )
}

fn x(count: usize) -> String {
    "x".repeat(count)
}

#[test]
fn an_attribute_of_10_mb() {
    let content = format!(
        "<ProfileData a=\"{}\">\n{}</ProfileData>\n",
        x(10_000_000),
        entry("#.f")
    );
    imports(
        "a.xml",
        content.as_bytes(),
        "profdb: a.xml: line 1 (byte 0): attributes skipped: \"a\"\n",
        "a.xml: run 1, 1 nodes\n",
    );
}

#[test]
fn the_name_of_an_attribute_of_10_mb() {
    let content = format!(
        "<ProfileData {}=\"a\">\n{}</ProfileData>\n",
        x(10_000_000),
        entry("#.f")
    );
    imports(
        "a.xml",
        content.as_bytes(),
        &format!(
            "profdb: a.xml: line 1 (byte 0): attributes skipped: \"{}…\"\n",
            x(60)
        ),
        "a.xml: run 1, 1 nodes\n",
    );
}

#[test]
fn text_of_10_mb_in_a_number() {
    let content = xml(&entry("#.f").replace("<Calls>1", &format!("<Calls>{}", x(10_000_000))));
    refuses(
        "a.xml",
        content.as_bytes(),
        &format!(
            "profdb: a.xml: line 2 (byte 82): expected a count in <Calls>, found \"{}…\"\n",
            x(60)
        ),
    );
}

#[test]
fn a_number_of_10_mb_digits() {
    let content = format!("{HEADER}0,\"#.f\",¯1,1,{},1\n", "1".repeat(10_000_000));
    let expected = format!(
        "profdb: a.csv: line 2 (byte 65): expected milliseconds in ExclusiveTime, found \"{}…\"\n",
        "1".repeat(60)
    );
    refuses("a.csv", content.as_bytes(), &expected);
}

#[test]
fn a_name_of_10_mb() {
    let content = format!("{HEADER}0,\"{}\",¯1,1,1,1\n", x(10_000_000));
    imports("a.csv", content.as_bytes(), "", "a.csv: run 1, 1 nodes\n");
}

#[test]
fn a_record_of_17_mb() {
    let limit = "expected at most 16777216 bytes in one record (limit: record size), found more\n";
    let long = x(17 << 20);
    let contents = [
        ("text.xml", xml(&entry(&long))),
        ("tag.xml", xml(&format!("<{long}/>"))),
        ("comment.xml", xml(&format!("<!-- {long} -->"))),
        (
            "attribute.xml",
            xml(&format!("<ProfileEntry a=\"{long}\"/>")),
        ),
        ("cdata.xml", xml(&entry(&format!("<![CDATA[{long}]]>")))),
        ("row.csv", format!("{HEADER}0,\"{long}\",¯1,1,1,1\n")),
        (
            "quote.csv",
            format!("{HEADER}0,\"#.f\",¯1,1,1,1\n1,\"{long}\n"),
        ),
    ];
    for (name, content) in contents {
        let (told, saved) = import(name, content.as_bytes());
        assert_eq!(
            (told.code, told.out.as_str(), saved),
            (Some(3), "", false),
            "{name}"
        );
        assert!(
            told.errors.starts_with(&format!("profdb: {name}: line ")),
            "{name}: {}",
            told.errors
        );
        assert!(told.errors.ends_with(limit), "{name}: {}", told.errors);
    }
}

#[test]
fn many_small_pieces_of_one_text() {
    // No piece is long, but the text that they make up is.
    let content = xml(&entry(
        &format!("{}<!---->&#120;", x(1000)).repeat(17 << 10),
    ));
    let (told, saved) = import("a.xml", content.as_bytes());
    assert_eq!(
        (told.code, told.out.as_str(), saved),
        (Some(3), "", false),
        "{}",
        told.errors
    );
    assert!(
        told.errors.contains("(limit: record size)"),
        "{}",
        told.errors
    );
}

#[test]
fn elements_nested_a_million_deep() {
    let limit = "expected at most 64 nested elements (limit: XML nesting), found more\n";
    let content = xml(&"<a>".repeat(1_000_000));
    refuses(
        "a.xml",
        content.as_bytes(),
        &format!("profdb: a.xml: line 2 (byte 203): {limit}"),
    );
}

#[test]
fn a_thousand_warnings() {
    let unknown: String = (0..5000).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "<Unknown{number}/>");
        text
    });
    let (told, saved) = import("a.xml", xml(&(unknown + &entry("#.f"))).as_bytes());
    assert_eq!(
        (told.code, told.out.as_str(), saved),
        (Some(0), "a.xml: run 1, 1 nodes\n", true)
    );
    assert_eq!(told.errors.lines().count(), 6, "{}", told.errors);
}

#[test]
fn a_bomb() {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder
        .write_all(xml(&entry("#.f")).trim_end().as_bytes())
        .expect("a vector takes everything");
    let blank = vec![b'\n'; 1 << 20];
    for _ in 0..80 {
        encoder
            .write_all(&blank)
            .expect("a vector takes everything");
    }
    let bomb = encoder.finish().expect("a vector takes everything");
    let (told, saved) = import("a.xml", &bomb);
    assert_eq!((told.code, told.out.as_str(), saved), (Some(3), "", false));
    assert!(told.errors.contains("limit: "), "{}", told.errors);
}

#[test]
fn a_profile_a_million_calls_deep() {
    const DEPTH: usize = 1_000_000;
    let folder = tempfile::tempdir().expect("a folder");
    let mut content = HEADER.to_owned();
    for depth in 0..DEPTH {
        let below = DEPTH - depth;
        let _ = writeln!(
            content,
            "{depth},\"#.f\",¯1,1,0.001,{}.{:03}",
            below / 1000,
            below % 1000
        );
    }
    fs::write(folder.path().join("deep.csv"), content).expect("room for a file");
    let told = profdb(folder.path(), &["import", "deep.csv"]);
    assert_eq!((told.code, told.errors.as_str()), (Some(0), ""));
    assert_eq!(told.out, "deep.csv: run 1, 1000000 nodes\n");
    let told = profdb(folder.path(), &["report", "summary"]);
    assert_eq!(
        told.out,
        "Total time: 1.000 s\n\nElement       s       %    Calls\n#.f       1.000   100.0  1000000\n"
    );
    let told = profdb(
        folder.path(),
        &["report", "calls", "--fn", "#.f", "--format", "csv"],
    );
    assert_eq!(
        told.out,
        "\"Element\",\"Line\",\"Time\",\"PctOfTot\",\"Calls\",\"FunctionId\"\n\"(root)\",,1000,100,1,\n\"#.f\",,0,0,999999,1\n"
    );
    let told = profdb(folder.path(), &["delete", "1"]);
    assert_eq!(
        (told.code, told.out.as_str()),
        (Some(0), "deleted run 1: deep.csv\n")
    );
}

/// A Sampler trace with one stack that says how many frames it has, and the frames.
fn trace(count: u32, frames: usize) -> Vec<u8> {
    let mut content =
        b"@supersamplerV1.0\n@symboltableV1.1\n\t\0\0\0\x01\t\0\0\0\0\tf\tx.lisp\tx.lisp\n@end\n"
            .to_vec();
    content.extend(b"@threadV1.0\tNIL0\n\t\0\0\0\x01\0\0\0\0\0\0\0\x01");
    content.extend(count.to_be_bytes());
    content.extend([0, 0, 0, 1].repeat(frames));
    content.extend(b"\n@end\n");
    content
}

#[test]
fn a_stack_of_200_000_frames() {
    let warned = "profdb: run.trace: byte 67: 1 thread with an id that is not hexadecimal: the text is the name of the thread (first: \"NIL0\")\n";
    imports(
        "run.trace",
        &trace(200_000, 200_000),
        warned,
        "run.trace: run 1, 200001 nodes\n",
    );
}

#[test]
fn a_stack_that_claims_more_frames_than_memory_has() {
    let (told, saved) = import("run.trace", &trace(u32::MAX, 5_000_000));
    assert!(
        told.errors
            .contains("16777216 bytes in one record (limit: record size)"),
        "{}",
        told.errors
    );
    assert_eq!((told.code, saved), (Some(3), false));
}

/// Sample type, empty text, a name and its length as a text.
fn pprof_head(name: &str) -> Vec<u8> {
    [
        field(1, &[8, 1, 16, 1]),
        field(6, b""),
        field(6, name.as_bytes()),
    ]
    .concat()
}

/// An address where 60,000 functions were inlined costs 360 kB once, and 60,000 frames in each
/// sample of 7 bytes.
#[test]
fn inlined_functions_without_end() {
    let mut content = pprof_head("f");
    content.extend(field(5, &[8, 1, 16, 1]));
    let lines: Vec<u8> = (0..60_000).flat_map(|_| field(4, &[8, 1, 16, 1])).collect();
    content.extend(field(4, &[&[8, 1], lines.as_slice()].concat()));
    let at = content.len();
    for _ in 0..1000 {
        content.extend(field(2, &[8, 1, 16, 1]));
    }
    // The 18th sample passes what is always allowed.
    let at = at + 17 * 6;
    let error = format!(
        "profdb: a.pb: byte {at}: expected at most 64 frames for each byte of the samples (limit: inlined functions), found \
         more\n"
    );
    refuses("a.pb", &content, &error);
}

/// A name of 1 MB costs that once, and nothing in each of a thousand functions.
#[test]
fn names_without_end() {
    let mut content = pprof_head(&x(1 << 20));
    for function in 1..1000 {
        let id = [&[8], varint(function).as_slice()].concat();
        content.extend(field(
            5,
            &[id.as_slice(), &[16, 1, 40], &varint(function)].concat(),
        ));
        content.extend(field(
            4,
            &[
                id.as_slice(),
                &field(4, &[id.as_slice(), &[16, 1]].concat()),
            ]
            .concat(),
        ));
    }
    let error = format!(
        "profdb: a.pb: byte {}: expected at most 64 bytes of names for each byte of the file (limit: repeated names), found \
         more\n",
        content.len()
    );
    refuses("a.pb", &content, &error);
}

/// Nothing recurses: neither the reader of JSON nor the tree.
#[test]
fn a_heap_profile_200_000_calls_deep() {
    const DEPTH: usize = 200_000;
    let node = r#"{"callFrame":{"functionName":"f","url":"","lineNumber":0,"columnNumber":0},"selfSize":1,"children":["#;
    let content = format!("{{\"head\":{}{}}}", node.repeat(DEPTH), "]}".repeat(DEPTH));
    imports(
        "a.heapprofile",
        content.as_bytes(),
        "",
        "a.heapprofile: run 1, 200000 nodes\n",
    );
}

#[test]
fn what_is_not_read_nests_a_million_deep() {
    let nodes = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"f"},"hitCount":1}],"other":"#;
    let content = format!(
        "{nodes}{}{}}}",
        "[".repeat(1_000_000),
        "]".repeat(1_000_000)
    );
    let note = "profdb: a.cpuprofile: the file has no `samples`, only hit counts: numbers of samples are stored, no times\n";
    imports(
        "a.cpuprofile",
        content.as_bytes(),
        note,
        "a.cpuprofile: run 1, 1 nodes\n",
    );
}

#[test]
fn a_text_of_17_mb_in_json() {
    let content = format!(
        r#"{{"nodes":[{{"id":1,"callFrame":{{"functionName":"{}"}}}}]}}"#,
        x(17 << 20)
    );
    let (told, saved) = import("a.cpuprofile", content.as_bytes());
    assert_eq!((told.code, saved), (Some(3), false));
    assert!(
        told.errors
            .contains("16777216 bytes in one record (limit: record size)"),
        "{}",
        told.errors
    );
}

#[test]
fn a_trace_200_000_calls_deep() {
    const DEPTH: usize = 200_000;
    let mut content = "[\n".to_owned();
    for at in 0..2 * DEPTH {
        let phase = if at < DEPTH { 'B' } else { 'E' };
        let _ = writeln!(
            content,
            r#"{{"name":"f","ph":"{phase}","pid":1,"tid":1,"ts":{at}}},"#
        );
    }
    imports(
        "a.json",
        content.as_bytes(),
        "",
        "a.json: run 1, 200002 nodes\n",
    );
}

#[test]
fn a_speedscope_file_200_000_calls_deep() {
    const DEPTH: usize = 200_000;
    let mut events = Vec::new();
    for at in 0..2 * DEPTH {
        let sort = if at < DEPTH { 'O' } else { 'C' };
        events.push(format!(r#"{{"type":"{sort}","frame":0,"at":{at}}}"#));
    }
    let schema = "https://www.speedscope.app/file-format-schema.json";
    let content = format!(
        r#"{{"$schema":"{schema}","shared":{{"frames":[{{"name":"f"}}]}},"profiles":[{{"type":"evented","name":"","unit":"none",
        "events":[{}]}}]}}"#,
        events.join(",")
    );
    imports(
        "a.json",
        content.as_bytes(),
        "",
        "a.json: run 1, 200001 nodes\n",
    );
}
