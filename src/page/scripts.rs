//! The scripts of the page as one. `web/` has them as modules, which browsers do not load from files: they are joined here in
//! the order of their imports, without the words that import and export, and without comments.

/// The modules, in any order; the last is the one that starts the others.
const MODULES: &[(&str, &str)] = &[
    ("served.js", include_str!("../../web/served.js")),
    ("bytes.js", include_str!("../../web/bytes.js")),
    ("numbers.js", include_str!("../../web/numbers.js")),
    ("texts.js", include_str!("../../web/texts.js")),
    ("path.js", include_str!("../../web/path.js")),
    ("profile.js", include_str!("../../web/profile.js")),
    ("selection.js", include_str!("../../web/selection.js")),
    ("statement.js", include_str!("../../web/statement.js")),
    ("ask.js", include_str!("../../web/ask.js")),
    ("offer.js", include_str!("../../web/offer.js")),
    ("state.js", include_str!("../../web/state.js")),
    ("dom.js", include_str!("../../web/dom.js")),
    ("table.js", include_str!("../../web/table.js")),
    ("opened.js", include_str!("../../web/opened.js")),
    ("pie.js", include_str!("../../web/pie.js")),
    ("picture.js", include_str!("../../web/picture.js")),
    ("flame.js", include_str!("../../web/flame.js")),
    ("source.js", include_str!("../../web/source.js")),
    ("panes.js", include_str!("../../web/panes.js")),
    ("views.js", include_str!("../../web/views.js")),
    ("actions.js", include_str!("../../web/actions.js")),
    ("rows.js", include_str!("../../web/rows.js")),
    ("runs.js", include_str!("../../web/runs.js")),
    ("told.js", include_str!("../../web/told.js")),
    ("change.js", include_str!("../../web/change.js")),
    ("diff.js", include_str!("../../web/diff.js")),
    ("union.js", include_str!("../../web/union.js")),
    ("history.js", include_str!("../../web/history.js")),
    ("sqlite.js", include_str!("../../web/sqlite.js")),
    ("sql.js", include_str!("../../web/sql.js")),
    ("page.js", include_str!("../../web/page.js")),
];

/// How the page looks.
pub(super) const STYLE: &str = include_str!("../../web/style.css");

/// The style without blanks that say nothing.
pub(super) fn style() -> String {
    let mut kept = String::with_capacity(STYLE.len());
    for line in STYLE.lines() {
        let mut text = line.trim();
        while let Some((before, after)) = text.split_once(' ') {
            kept.push_str(before);
            let is_beside = |sign: Option<char>| sign.is_some_and(|sign| "{};:,>".contains(sign));
            if !is_beside(kept.chars().next_back()) && !is_beside(after.chars().next()) {
                kept.push(' ');
            }
            text = after;
        }
        kept.push_str(text);
    }
    kept.replace(";}", "}")
}

/// All modules as one script.
pub(super) fn script() -> String {
    let mut joined = String::from("'use strict';\n(() => {\n");
    let mut done = Vec::new();
    for (name, _) in MODULES {
        join(name, &mut done, &mut joined);
    }
    joined.push_str("})();\n");
    joined
}

/// Adds a module after those that it imports.
fn join(name: &str, done: &mut Vec<String>, joined: &mut String) {
    let Some((_, text)) = MODULES.iter().find(|(known, _)| *known == name) else {
        debug_assert!(false, "there is no module {name}");
        return;
    };
    if done.iter().any(|known| known == name) {
        return;
    }
    done.push(name.to_owned());
    let mut own = String::new();
    for line in text.lines() {
        if let Some(import) = line.strip_prefix("import ") {
            // Each import has a line of its own, which ends with the name of the module in quotes.
            let from = import.split('\'').nth(1).unwrap_or_default();
            join(from.trim_start_matches("./"), done, joined);
        } else if !line.trim_start().starts_with("//") {
            own.push_str(line.strip_prefix("export ").unwrap_or(line).trim_start());
            own.push('\n');
        }
    }
    joined.push_str(&without_types(&own));
}

/// A module without its comments `/** … */`, which say what functions do and which types values have, and without blanks that
/// are between signs: browsers need neither.
fn without_types(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::with_capacity(text.len());
    while let Some((before, comment)) = rest.split_once("/**") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    let lines = kept.lines().map(str::trim).filter(|line| !line.is_empty());
    let joined = lines.fold(String::new(), |mut joined, line| {
        joined.push_str(line);
        joined.push('\n');
        joined
    });
    squeezed(&joined)
}

/// Leaves out the blanks beside signs, outside of texts and patterns.
fn squeezed(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => end_of_text(rest, first),
            '`' => end_of_template(rest),
            '/' if begins_pattern(&kept) => end_of_pattern(rest),
            _ if begins_word(kept.chars().next_back(), first) => end_of_word(rest),
            _ => first.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        let piece = SHORTER
            .iter()
            .find(|(long, _)| *long == piece)
            .map_or(piece, |(_, short)| *short);
        let around = (kept.chars().next_back(), after.chars().next());
        let is_spare = match first {
            ' ' => is_spare(around.0, around.1),
            '\n' => is_spare_end(around.0, around.1),
            _ => false,
        };
        if first == '}' || first == ')' || first == ']' {
            // What ends with its bracket needs no other sign there.
            let end = if first == '}' { [';', ','] } else { [',', ','] };
            if kept.ends_with(end) && !kept.ends_with("(;") && !kept.ends_with(";;") {
                kept.pop();
            }
        }
        if !is_spare {
            kept.push_str(piece);
        }
        rest = after;
    }
    kept
}

/// Words that say the same as shorter ones, once a checker has seen to it that no constant is changed.
const SHORTER: &[(&str, &str)] = &[
    ("const", "let"),
    ("undefined", "void 0"),
    ("true", "!0"),
    ("false", "!1"),
];

/// Whether a word begins with a letter: names of members after a full stop are none.
fn begins_word(before: Option<char>, first: char) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || "_$.".contains(letter);
    first.is_ascii_lowercase() && !before.is_some_and(is_of_word)
}

/// The length of a word; that of a member with the colon after it.
fn end_of_word(text: &str) -> usize {
    let is_of_word = |letter: char| letter.is_alphanumeric() || "_$".contains(letter);
    let end = text.find(|letter| !is_of_word(letter));
    let end = end.unwrap_or(text.len());
    end + usize::from(text[end..].starts_with(':'))
}

/// Whether a blank between two characters says nothing.
fn is_spare(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return true;
    };
    let is_sign = |sign: char| "{}()[];,<>=+-*/%&|^!?:.".contains(sign);
    // `a + +b` is no `a++b`, and a pattern ends with letters.
    let is_sum = "+-".contains(before) && "+-".contains(after);
    (is_sign(before) || is_sign(after)) && !is_sum && before != '/' && after != '/'
}

/// Whether the end of a line says nothing: statements end with semicolons, and what is in brackets goes on.
fn is_spare_end(before: Option<char>, after: Option<char>) -> bool {
    before.is_some_and(|sign| ";{,([".contains(sign))
        || after.is_some_and(|sign| "})]".contains(sign))
}

/// Whether a slash after a text begins a pattern: it divides after a value.
fn begins_pattern(before: &str) -> bool {
    let before = before.trim_end_matches(' ');
    before.ends_with("return")
        || before.ends_with([
            '(', ',', '=', ':', '[', '!', '&', '|', '?', '{', '}', ';', '\n', '>',
        ])
}

/// The length of a text in quotes.
fn end_of_text(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            letter if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a template, with the expressions in it.
fn end_of_template(text: &str) -> usize {
    let mut at = 1;
    let mut depth = 0;
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = &text[at..];
        at += match letter {
            '\\' if depth == 0 => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '`' if depth == 0 => return at + 1,
            '`' => end_of_template(rest),
            '\'' | '"' if depth > 0 => end_of_text(rest, letter),
            '$' if depth == 0 && rest.starts_with("${") => {
                depth = 1;
                2
            }
            '{' if depth > 0 => {
                depth += 1;
                1
            }
            '}' if depth > 0 => {
                depth -= 1;
                1
            }
            letter => letter.len_utf8(),
        };
    }
    text.len()
}

/// The length of a pattern, up to its second slash.
fn end_of_pattern(text: &str) -> usize {
    let mut is_class = false;
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '[' => is_class = true,
            ']' => is_class = false,
            '/' if !is_class => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_says_the_same() {
        let short = style();
        assert!(short.len() < STYLE.len());
        assert_eq!(short.matches('{').count(), STYLE.matches('{').count());
        assert!(short.contains("content:\" ▾\"") && short.contains("calc(var(--left) * 1% - 3px)"));
        assert!(short.contains("@media (prefers-color-scheme:dark){:root{--paper:"));
    }

    #[test]
    fn blanks_beside_signs_are_left_out() {
        for (text, expected) in [
            ("const a = (b) => b + 1;", "let a=(b)=>b+1;"),
            (
                "f({ true: undefined, a: b.const })",
                "f({true:void 0,a:b.const})",
            ),
            ("x = a + +b - -c;", "x=a+ +b- -c;"),
            ("return typeof a === 'b  c';", "return typeof a==='b  c';"),
            (
                "y = ` ${a + ' } ' + `b ${c}`} ` + 2;",
                "y=` ${a + ' } ' + `b ${c}`} `+2;",
            ),
            (
                "return / [/\"] +/g.test(a) ? 1 : 2;",
                "return / [/\"] +/g.test(a)?1:2;",
            ),
            ("z = a / 2 + b / c;", "z=a / 2+b / c;"),
            ("if (a in b) else f", "if(a in b)else f"),
            ("f({\na: 1,\nb,\n});\ng()\nh", "f({a:1,b});g()\nh"),
        ] {
            assert_eq!(squeezed(text), expected);
        }
    }

    /// What a module declares outside its functions, at the start of a line, is seen by all modules once they are one script.
    #[test]
    fn modules_are_joined_in_the_order_of_their_imports() {
        let joined = script();
        for line in joined.lines() {
            assert!(
                !line.starts_with("import ") && !line.starts_with("export "),
                "{line}"
            );
        }
        // Of what answers SQL, the first limit counts nothing, and the second one all but sql.js itself.
        let of_sql = ["sql.js", "sqlite.js"];
        let of_sql = MODULES.iter().filter(|(name, _)| of_sql.contains(name));
        let of_sql: usize = of_sql.map(|(_, text)| without_types(text).len()).sum();
        let size = joined.len() + style().len() - of_sql;
        assert!(size <= 150_000, "{size}");
        let worker = without_types(include_str!("../../web/sqlite-worker.js"));
        let size = joined.len() + style().len() + worker.len();
        assert!(size <= 158_000, "{size}");
        let mut names: Vec<&str> = Vec::new();
        for line in MODULES.iter().flat_map(|(_, text)| text.lines()) {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let line = line.strip_prefix("async ").unwrap_or(line);
            for word in ["const ", "let ", "function ", "function* ", "class "] {
                if let Some(rest) = line.strip_prefix(word) {
                    let end = rest
                        .find(|character: char| !(character.is_alphanumeric() || character == '_'));
                    names.push(&rest[..end.unwrap_or(rest.len())]);
                }
            }
        }
        let all = names.len();
        names.sort_unstable();
        for pair in names.windows(2) {
            assert!(
                pair[0].is_empty() || pair[0] != pair[1],
                "{} is declared twice",
                pair[0]
            );
        }
        assert!(all > 100, "{all}");
        for (name, text) in MODULES {
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let from = line
                    .split('\'')
                    .nth(1)
                    .expect("a module")
                    .trim_start_matches("./");
                let place = |name: &str| {
                    let (_, text) = MODULES
                        .iter()
                        .find(|(known, _)| *known == name)
                        .expect("a module");
                    let first = text
                        .lines()
                        .find(|line| line.starts_with("export "))
                        .expect("an export");
                    let first = squeezed(first.trim_start_matches("export "));
                    joined.find(&first).expect("its first export")
                };
                if *name != "page.js" {
                    assert!(place(from) < place(name), "{name} imports {from}");
                }
            }
        }
    }
}
