//! Sources of functions: files and APL scripts of a folder, and which lines belong to a function.

use std::io;

use profdb::source::{Extent, Folder, LONGEST_LINE, Place, find};

/// A folder in memory.
#[derive(Debug)]
struct MemoryFolder(Vec<String>, Vec<Vec<u8>>);

impl MemoryFolder {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut files = files.to_vec();
        files.sort_unstable();
        let (names, contents): (Vec<_>, Vec<_>) = files.into_iter().unzip();
        Self(
            names.into_iter().map(str::to_owned).collect(),
            contents.into_iter().map(Vec::from).collect(),
        )
    }
}

impl Folder for MemoryFolder {
    fn files(&self) -> &[String] {
        &self.0
    }

    fn read(&self, file: usize) -> io::Result<Vec<u8>> {
        match self.1[file].as_slice() {
            b"too large" => Err(io::Error::other("too large")),
            b"stop" => Err(io::ErrorKind::Interrupted.into()),
            content => Ok(content.to_vec()),
        }
    }
}

fn place(name: &str, file: &str, lines: &[i64]) -> Place {
    Place {
        function_id: 1,
        name: name.to_owned(),
        file: file.to_owned(),
        lines: lines.iter().copied().collect(),
        begins: None,
        extent: Extent::default(),
    }
}

fn beginning(file: &str, line: i64) -> Place {
    Place {
        begins: Some(line),
        ..place("f", file, &[])
    }
}

/// Asserts the first line of the text of each place, `-` for no text, and the remarks.
#[track_caller]
fn check(files: &[(&str, &str)], places: &[Place], expected: &[&str], remarks: &[&str]) {
    let sources = find(&MemoryFolder::new(files), places).expect("no stop");
    let text = |text: &Option<usize>| {
        text.and_then(|text| sources.texts[text].lines.values().next())
            .map_or("-", String::as_str)
    };
    let texts: Vec<&str> = sources.places.iter().map(text).collect();
    let found_remarks: Vec<&str> = sources.remarks.iter().map(String::as_str).collect();
    assert_eq!(
        (texts.as_slice(), found_remarks.as_slice()),
        (expected, remarks)
    );
}

#[test]
fn file_matches_by_the_end_of_its_path() {
    let ask = |file| [place("f", file, &[1])];
    let files = [
        ("a/x.c", "a"),
        ("b/x.c", "b"),
        ("b/c/x.c", "c"),
        ("y.c", "y"),
    ];
    check(&files, &ask("a/x.c"), &["a"], &[]);
    check(&files, &ask("b/x.c"), &["b"], &[]);
    check(&files, &ask("/src/b/c/x.c"), &["c"], &[]);
    check(&files, &ask("C:\\src\\a\\x.c"), &["a"], &[]);
    check(&files, &ask("./a//x.c"), &["a"], &[]);
    check(&files, &ask("/elsewhere/y.c"), &["y"], &[]);
    check(&files, &ask("c/b/y.c"), &["y"], &[]);
    check(
        &files,
        &ask("d/x.c"),
        &["-"],
        &["several files match d/x.c: its source is not stored"],
    );
    for unknown in ["z.c", "../y", "..", "/", "y", ".c"] {
        check(&files, &ask(unknown), &["-"], &[]);
    }
}

#[test]
fn first_line_alone_needs_a_path_that_is_a_suffix() {
    let files = [("pkg/__init__.py", "pkg\ntwo"), ("top.py", "top")];
    check(
        &files,
        &[beginning("/srv/pkg/__init__.py", 2)],
        &["two"],
        &[],
    );
    check(&files, &[beginning("__init__.py", 1)], &["pkg"], &[]);
    check(
        &files,
        &[beginning("/usr/lib/json/__init__.py", 1)],
        &["-"],
        &[],
    );
    check(&files, &[beginning("/srv/pkg/__init__.py", 3)], &["-"], &[]);
    // Of two equal matches the place with figures wins, without a remark about the other place.
    let both = [beginning("/a/top.py", 1), place("g", "/b/top.py", &[1])];
    check(&files, &both, &["-", "top"], &[]);
    let both = [beginning("/a/top.py", 1), beginning("/b/top.py", 1)];
    check(&files, &both, &["-", "-"], &[]);
    let two = [("a/x.py", "a"), ("b/x.py", "b")];
    check(&two, &[beginning("x.py", 1)], &["-"], &[]);
}

#[test]
fn file_that_matches_two_files_of_a_run_is_left_out() {
    let files = [("lib.rs", "lib")];
    let both = [
        place("f", "core/lib.rs", &[1]),
        place("g", "std/lib.rs", &[1]),
    ];
    check(
        &files,
        &both,
        &["-", "-"],
        &["lib.rs matches several files of the run; it is not stored"],
    );
    let exact = [
        place("f", "core/lib.rs", &[1]),
        place("g", "lib.rs", &[1]),
        place("h", "lib.rs", &[1]),
    ];
    check(&files, &exact, &["-", "lib", "lib"], &[]);
}

#[test]
fn folders_match_apl_namespaces() {
    let ask = |name| [place(name, "", &[0])];
    let files = [
        ("Shop/Price.aplf", "r←Price x"),
        ("Util.apln", ":Namespace Util\n∇ Go\n∇\n:EndNamespace"),
    ];
    check(&files, &ask("#.Shop.Price"), &["r←Price x"], &[]);
    check(&files, &ask("#.Price"), &["r←Price x"], &[]);
    check(&files, &ask("#.All.Shop.Price"), &["r←Price x"], &[]);
    check(&files, &ask("#.Other.Price"), &["-"], &[]);
    check(&files, &ask("#.Util.Go"), &["∇ Go"], &[]);
    check(&files, &ask("⎕SE.Util.Go"), &["∇ Go"], &[]);
    check(&files, &ask("#.Go"), &["-"], &[]);
    for unknown in [
        "Price",
        "Shop.Price",
        "#",
        "#.",
        "#..Price",
        "#.Shop.Price.",
        "#.../Shop/Price",
        "",
    ] {
        check(&files, &ask(unknown), &["-"], &[]);
    }
}

#[test]
fn apl_function_takes_the_nearest_name() {
    let files = [("Shop/Go.aplf", "Go a"), ("Util/Go.aplf", "Go b")];
    let run = [place("#.Shop.Go", "", &[0]), place("#.Go", "", &[0])];
    check(&files[..1], &run, &["Go a", "-"], &[]);
    check(
        &files,
        &run[1..],
        &["-"],
        &["several functions match #.Go: its source is not stored"],
    );
    let two = [place("#.Shop.Go", "", &[0]), place("#.Util.Go", "", &[0])];
    let alone = [("Go.aplf", "Go")];
    let remark = "Go in Go.aplf matches several functions of the run; it is not stored";
    check(&alone, &two, &["-", "-"], &[remark]);
    let same = [("a/Go.aplf", "Go"), ("b/Go.dyalog", "∇Go\n∇")];
    check(
        &same,
        &run[1..],
        &["-"],
        &["several functions match #.Go: its source is not stored"],
    );
    let copies = [("a/Go.aplf", "Go"), ("b/Go.dyalog", "Go")];
    check(&copies, &run[1..], &["Go"], &[]);
}

#[test]
fn only_requested_lines_are_kept() {
    let find = |content: &str, place: Place| {
        let found = find(&MemoryFolder::new(&[("Go.aplf", content)]), &[place]).expect("no stop");
        found.texts.first().map(|text| {
            (
                text.first_line,
                text.lines.clone().into_iter().collect::<Vec<_>>(),
            )
        })
    };
    let line = |number, text: &str| (number, text.to_owned());
    let script = "\u{feff}Go\r\n\t a \r\nb\r\n";
    let asked = place("#.Go", "", &[-1, 0, 1, 3, i64::MAX, i64::MIN]);
    assert_eq!(
        find(script, asked),
        Some((0, vec![line(0, "Go"), line(1, "a")]))
    );
    let asked = place("f", "Go.aplf", &[-1, 0, 1, 3, 4, i64::MAX, i64::MIN]);
    assert_eq!(
        find(script, asked),
        Some((1, vec![line(1, "Go"), line(3, "b")]))
    );
    assert_eq!(find(script, place("f", "Go.aplf", &[9])), None);
    let long = "é".repeat(LONGEST_LINE);
    let cut = format!("{}…", "é".repeat(LONGEST_LINE / 2));
    assert_eq!(
        find(&long, place("f", "Go.aplf", &[1])),
        Some((1, vec![line(1, &cut)]))
    );
}

#[test]
fn file_that_is_not_utf8_is_read_as_latin_1() {
    #[derive(Debug)]
    struct Bytes(Vec<String>, &'static [u8]);

    impl Folder for Bytes {
        fn files(&self) -> &[String] {
            &self.0
        }

        fn read(&self, _: usize) -> io::Result<Vec<u8>> {
            Ok(self.1.to_vec())
        }
    }

    let table: [(&[u8], &[&str]); 4] = [
        (b"a", &["a"]),
        (b"\xef\xbb\xbf\xc3\xa9", &["é"]),
        (b"\xe9 \xff", &["é ÿ"]),
        (b"\xef\xbb\xbf", &[]),
    ];
    for (bytes, expected) in table {
        let folder = Bytes(vec!["x.c".to_owned()], bytes);
        let sources = find(&folder, &[place("f", "x.c", &[1, 2])]).expect("no stop");
        let lines: Vec<&String> = sources
            .texts
            .iter()
            .flat_map(|text| text.lines.values())
            .collect();
        assert_eq!(lines, expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn unreadable_file_gives_a_remark_and_a_stop_an_error() {
    let asked = [place("f", "x.c", &[1])];
    check(&[("x.c", "too large")], &asked, &["-"], &["x.c: too large"]);
    assert!(find(&MemoryFolder::new(&[("x.c", "stop")]), &asked).is_err());
    // Other files are not read.
    check(
        &[("x.c", "x"), ("y.c", "stop"), ("z.aplf", "stop")],
        &asked,
        &["x"],
        &[],
    );
}

/// Returns those of the first 25 lines that an extent contains.
fn lines_of(extent: &Extent) -> Vec<i64> {
    (0..25).filter(|line| extent.contains(*line)).collect()
}

fn extent_between(own: &[i64], known: &[i64]) -> Extent {
    let set = |lines: &[i64]| lines.iter().copied().collect();
    Extent::between(&set(own), &set(known))
}

#[test]
fn extent_ends_before_next_known_line_of_another_function() {
    let known = [2, 4, 10, 12, 20];
    let table: [(&[i64], &[i64]); 4] = [
        (&[2, 4], &[2, 3, 4, 5, 6, 7, 8, 9]),
        (&[2, 12], &[2, 3, 12, 13, 14, 15, 16, 17, 18, 19]),
        (&[20], &[20, 21, 22, 23, 24]),
        (&[], &[]),
    ];
    for (own, expected) in table {
        assert_eq!(lines_of(&extent_between(own, &known)), expected, "{own:?}");
    }
    let last = extent_between(&[20], &known);
    assert!(last.contains(i64::MAX));
    assert_eq!(extent_between(&[], &known), Extent::default());
    assert!(Extent::all().contains(0) && !Extent::default().contains(0));
}

#[test]
fn union_of_extents_joins_adjacent_ranges() {
    // Lines 1 and 2 and 8 and 9; lines 3 and 12 to 20; line 8 and lines 13 and 14.
    let parts = [
        extent_between(&[1, 8], &[1, 3, 8, 10]),
        extent_between(&[3, 12], &[3, 4, 12, 21]),
        extent_between(&[8, 13], &[8, 9, 13, 15]),
    ];
    let joined = extent_between(&[1, 8, 12], &[1, 4, 8, 10, 12, 21]);
    assert_eq!(
        lines_of(&joined),
        [1, 2, 3, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20]
    );
    assert_eq!(Extent::of_all(parts.iter()), joined);
    assert_eq!(Extent::of_all([].into_iter()), Extent::default());
    let all = [Extent::all(), extent_between(&[1], &[1, 3])];
    assert_eq!(Extent::of_all(all.iter()), Extent::all());
}

/// Returns the first and last line of a function of a script.
///
/// The script is in a folder `Z`, so that it matches no other path than that within the script.
fn function_of(script: &str, path: &str) -> Option<(String, String)> {
    let folder = MemoryFolder::new(&[("Z/stem.apln", script)]);
    let place = Place {
        extent: Extent::all(),
        ..place(&format!("#.{path}"), "", &[0])
    };
    let sources = find(&folder, &[place]).expect("no stop");
    assert_eq!(sources.remarks, Vec::<String>::new(), "{script}");
    let lines = &sources.texts.first()?.lines;
    let (first, last) = (lines.first_key_value()?, lines.last_key_value()?);
    Some((first.1.clone(), last.1.clone()))
}

/// Asserts the functions of a script with their first and last lines, without blanks around these.
#[track_caller]
fn check_script(script: &str, expected: &[(&str, &str, &str)]) {
    let paths = [
        "A.B.C.f", "A.f", "A.g", "B.C.f", "Cart", "Cart.Add", "Add", "Sum", "f", "g", "h", "stem",
        "stem.Sum", "stem.f", "nothing", "about",
    ];
    let mut matches: Vec<_> = paths
        .into_iter()
        .filter_map(|path| {
            let (first, last) = function_of(script, path)?;
            Some((path.to_owned(), first, last))
        })
        .collect();
    let mut expected: Vec<_> = expected
        .iter()
        .map(|(path, first, last)| {
            (
                path.to_string(),
                first.trim().to_owned(),
                last.trim().to_owned(),
            )
        })
        .collect();
    matches.sort();
    expected.sort();
    assert_eq!(matches, expected, "{script}");
}

#[test]
fn apl_header_names_its_function() {
    let table = [
        ("Go", Some("Go")),
        ("r←Go", Some("Go")),
        (" r ← Go x ", Some("Go")),
        ("Go x;i;⎕IO", Some("Go")),
        ("r←x Go y;i", Some("Go")),
        ("r←{x}Go y", Some("Go")),
        ("{r}←{x} Go (a b)", Some("Go")),
        ("r←Go(a b)", Some("Go")),
        ("r←(a b)Go y", Some("Go")),
        ("r←Go[k] y", Some("Go")),
        ("r←x Go[k]y", Some("Go")),
        ("r←(f Op)y", Some("Op")),
        ("r←x(f Op g)y", Some("Op")),
        ("r←{x}(f Op g)y", Some("Op")),
        ("r←fmt∆Num n", Some("fmt∆Num")),
        ("⍙CallRL", Some("⍙CallRL")),
        ("", None),
        ("r←", None),
        ("a b c d", None),
    ];
    for (header, expected) in table {
        let names = [
            "Go",
            "Op",
            "fmt∆Num",
            "⍙CallRL",
            "r",
            "a",
            "b",
            "c",
            "d",
            "f",
            "g",
            "x",
            "y",
        ];
        let matches = names
            .into_iter()
            .filter(|name| function_of(&format!("∇ {header}\n∇"), name).is_some());
        assert!(matches.eq(expected), "{header}");
    }
}

#[test]
fn apl_script_may_be_one_function() {
    check_script("r←Sum x\n r←+/x\n", &[("Sum", "r←Sum x", " r←+/x")]);
    check_script("\n⍝ about\nr←Sum x\nr←+/x", &[("Sum", "r←Sum x", "r←+/x")]);
    check_script("∇ r←Sum x\n r←+/x\n∇", &[("Sum", "∇ r←Sum x", " r←+/x")]);
    check_script("Sum←{+/⍵}", &[("Sum", "Sum←{+/⍵}", "Sum←{+/⍵}")]);
    check_script("Sum←{\n +/⍵\n}", &[("Sum", "Sum←{", "}")]);
    check_script("", &[]);
    check_script("⍝ nothing", &[]);
}

#[test]
fn apl_namespaces_and_classes_nest() {
    check_script(
        ":Namespace A\n:Namespace B.C\n∇f\n∇\n:EndNamespace\n g←{⍵}\n:EndNamespace\nh←{⍵}",
        &[
            ("A.B.C.f", "∇f", "∇f"),
            ("A.g", " g←{⍵}", " g←{⍵}"),
            ("h", "h←{⍵}", "h←{⍵}"),
        ],
    );
    check_script(
        ":Class Cart : Base\n:Field Public n←0\n ∇ Add x\n  :Access Public\n ∇\n:EndClass",
        &[("Cart.Add", " ∇ Add x", "  :Access Public")],
    );
    check_script(
        ":namespace\n∇f\n∇\n:endnamespace",
        &[("stem.f", "∇f", "∇f")],
    );
    check_script("∇f\n:EndNamespace", &[("f", "∇f", ":EndNamespace")]);
    check_script(":EndNamespace\n∇f\n∇", &[("f", "∇f", "∇f")]);
}

#[test]
fn braces_and_nablas_in_apl_texts_and_comments_are_ignored() {
    check_script(
        "f←{ ⍝ }\n '}'\n}\ng←{⍵}",
        &[("f", "f←{ ⍝ }", "}"), ("g", "g←{⍵}", "g←{⍵}")],
    );
    check_script(
        "f←{'it''s {'}\ng←{⍵}",
        &[
            ("f", "f←{'it''s {'}", "f←{'it''s {'}"),
            ("g", "g←{⍵}", "g←{⍵}"),
        ],
    );
    check_script(
        "∇f ⍝ ∇\n'∇'\n ⍝ ∇\n∇ ⍝ end\n∇g\n⍫",
        &[("f", "∇f ⍝ ∇", " ⍝ ∇"), ("g", "∇g", "∇g")],
    );
    check_script("f←{ { }\n", &[("f", "f←{ { }", "f←{ { }")]);
}
