//! Files of rules for `profdb identify --rules`.

use profdb::identity::{Rule, RuleLine, read_rules, same_root};

fn check(text: &str, expected: &str) {
    let rules = match read_rules("FILE", text) {
        Ok(rules) => rules
            .iter()
            .map(|RuleLine { line, rule }| {
                let Rule {
                    about,
                    field,
                    pattern,
                    replacement,
                    ..
                } = rule;
                format!("{line} {about} {} {pattern} {replacement}", field.word())
            })
            .collect::<Vec<_>>()
            .join("\n"),
        Err(misread) => misread.to_string(),
    };
    assert_eq!(rules, expected, "{text}");
}

#[test]
fn rule_file_has_one_rule_per_line() {
    check("", "");
    check("# nothing\n\n  # here\n", "");
    check(r"name /a b/ -> c d", "1 FILE:1 name a b c d");
    check("\n  module  /\\/x\\.y/  ->  ", "2 FILE:2 module /x\\.y ");
    check(r"file/(\\)/->$1", r"1 FILE:1 file (\\) $1");
    check(
        "name /(?<a>b)c/ -> ${a}$$1 $",
        "1 FILE:1 name (?<a>b)c ${a}$$1 $",
    );
    check(
        "name /a/ -> b and file /c/ d and name",
        "1 FILE:1 name a b and file /c/ d and name",
    );
    check(
        "container /^w(.)/ -> w${1}x\r\nname /-> \\// -> -> /",
        "1 FILE:1 container ^w(.) w${1}x\n2 FILE:2 name -> / -> /",
    );
}

#[test]
fn rule_with_a_mistake_reports_its_place() {
    check(
        "names /a/ -> b",
        "line 1, column 1: expected name, module, file or container, found `names`",
    );
    for (replacement, group) in [
        ("$2", "$2"),
        ("x$1y", "$1y"),
        ("$$$b.", "$b"),
        ("${c}$1", "${c}"),
    ] {
        check(
            &format!("name /(a)/ -> {replacement}"),
            &format!(
                "line 1, column 15: expected groups of the pattern, found `{group}`, which it does not have ($$ is a $, ${{1}}x is group 1 with an x)"
            ),
        );
    }
    check(
        "name a -> b",
        "line 1, column 6: expected a pattern between two /, found `a`",
    );
    check(
        "name /a -> b",
        "line 1, column 13: expected / at the end of the pattern, found the end of the line",
    );
    check(
        "name /ä/ b",
        "line 1, column 10: expected -> after the pattern, found `b`",
    );
    check(
        "module /a/ -> b and file /^c\\/d$/ -> e/d",
        "line 1, column 15: expected one rule a line, found another one after it: `file /^c\\/d$/ -> e/d`",
    );
    check(
        "name /a/ -> this and that and name/b/->c",
        "line 1, column 13: expected one rule a line, found another one after it: `name/b/->c`",
    );
    check(
        "name",
        "line 1, column 5: expected a pattern between two /, found the end of the line",
    );
    check(
        "name /a/ -> b\nname /(/ -> b",
        "line 2, column 7: expected a regular expression, found `(` (unclosed group)",
    );
}

#[test]
fn same_root_replaces_whole_folders() {
    let [file, _] = same_root("/a.b/", "/c$");
    assert_eq!(
        (&*file.pattern, &*file.replacement),
        (r"^/a\.b(/|$)", "/c$$$1")
    );
}
