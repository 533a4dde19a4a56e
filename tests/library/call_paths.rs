//! Paths of functions, as users write them after `--fn`.

use profdb::report::path::{Name, NameSyntax, Operator, Path, parse};

const KNOWN: &[&str] = &[
    "A",
    "B",
    "map<a, b>",
    "|>|",
    "*FOO*",
    ">=",
    "a->b",
    "\"idle\"",
    "x,y",
    " z",
];

fn show(path: &Path) -> String {
    let name = |name: &Name| match name {
        Name::Exact(name) => format!("[{name}]"),
        Name::Pattern(name) | Name::Thread(name) | Name::Regex(name) | Name::Found(name, _) => {
            format!("/{name}/")
        }
    };
    let rest = path.rest.iter().map(|(operator, step)| {
        let operator = if *operator == Operator::Within {
            ","
        } else {
            ">"
        };
        format!("{operator}{}", name(step))
    });
    std::iter::once(name(&path.first)).chain(rest).collect()
}

#[test]
fn known_name_with_operators_is_read_whole() {
    let table = [
        ("A", "[A]"),
        ("A,B", "[A],[B]"),
        ("A > B", "[A]>[B]"),
        ("map<a, b>", "[map<a, b>]"),
        ("map<a, b>,A", "[map<a, b>],[A]"),
        ("A,map<a, b>>|>|", "[A],[map<a, b>]>[|>|]"),
        ("*FOO*", "[*FOO*]"),
        ("*FOO", "/*FOO/"),
        (">=", "[>=]"),
        (">=>>=", "[>=]>[>=]"),
        ("a->b", "[a->b]"),
        ("\"idle\"", "[\"idle\"]"),
        ("'A,B'", "[A,B]"),
        ("'it''s',A", "[it's],[A]"),
        ("'',A", "[],[A]"),
        ("\"*\"", "[*]"),
        ("''>A", "[]>[A]"),
        ("''''", "[']"),
        ("x,y", "[x,y]"),
        ("x,z", "[x],[z]"),
        ("x,y,z", "[x,y],[z]"),
        (" z", "[ z]"),
        ("unknown,A", "[unknown],[A]"),
        ("#.Util.*>B", "/#.Util.*/>[B]"),
        // A quote that is never closed is an ordinary character.
        ("'A", "['A]"),
    ];
    for (text, expected) in table {
        let path = parse(text, NameSyntax::Glob, &|name| KNOWN.contains(&name))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(show(&path), expected, "{text}");
    }
}

#[test]
fn regular_expression_ends_at_an_operator() {
    let table = [
        ("^A.*", "/^A.*/"),
        ("A|B , C", "/A|B/,/C/"),
        ("'A,B'>C", "[A,B]>/C/"),
        ("a\\x2cb", "/a\\x2cb/"),
    ];
    for (text, expected) in table {
        let path =
            parse(text, NameSyntax::Regex, &|_| true).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(show(&path), expected, "{text}");
    }
}

#[test]
fn path_without_a_name_is_refused_with_its_place() {
    let table = [("", 1), ("A,", 3), (",A", 1), ("A,,B", 3), ("A>>B", 3)];
    for (text, at) in table {
        let error =
            parse(text, NameSyntax::Glob, &|name| name == "A" || name == "B").expect_err(text);
        assert!(
            error.contains(&format!("character {at}")),
            "{text}: {error}"
        );
    }
}
