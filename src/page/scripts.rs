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
    ("pie.js", include_str!("../../web/pie.js")),
    ("picture.js", include_str!("../../web/picture.js")),
    ("flame.js", include_str!("../../web/flame.js")),
    ("source.js", include_str!("../../web/source.js")),
    ("panes.js", include_str!("../../web/panes.js")),
    ("views.js", include_str!("../../web/views.js")),
    ("actions.js", include_str!("../../web/actions.js")),
    ("rows.js", include_str!("../../web/rows.js")),
    ("runs.js", include_str!("../../web/runs.js")),
    ("sql.js", include_str!("../../web/sql.js")),
    ("page.js", include_str!("../../web/page.js")),
];

/// How the page looks.
pub(super) const STYLE: &str = include_str!("../../web/style.css");

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

/// A module without its comments `/** … */`, which say what functions do and which types values have: browsers need neither.
fn without_types(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::with_capacity(text.len());
    while let Some((before, comment)) = rest.split_once("/**") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    let lines = kept.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.fold(String::new(), |mut joined, line| {
        joined.push_str(line);
        joined.push('\n');
        joined
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(joined.len() + STYLE.len() <= 150_000, "{}", joined.len());
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
                    joined.find(first.trim_start_matches("export "))
                };
                if *name != "page.js" {
                    assert!(place(from) < place(name), "{name} imports {from}");
                }
            }
        }
    }
}
