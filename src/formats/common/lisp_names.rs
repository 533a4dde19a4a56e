//! Names of functions as Lisp prints them, and the packages in them.

/// The package of a function, as its name has it; empty if it has none.
///
/// Of a symbol it is the part before the colons. Of a list, as methods and local functions have it, it is that of the
/// function which it is `:IN`, or else of the first symbol after the operator that has one: a method
/// belongs to whoever wrote it, not to the object system. Strings, keywords and symbols of no package
/// have none, nor has what Lisp would not print in this way: `std::sort` of another language would
/// be `|std|::|sort|`.
pub(in crate::formats) fn package(name: &str) -> &str {
    if let Some((package, rest)) = symbol(name) {
        // `CL-USER::(FLET WALK)` is a list that is printed within a package.
        let is_list = name[..name.len() - rest.len()].ends_with(':');
        let is_whole = rest.is_empty() || is_list;
        return if is_whole { package } else { "" };
    }
    let Some(list) = name.strip_prefix('(') else {
        return "";
    };
    let inside = list.find(" :IN ").and_then(|at| first(&list[at + 5..]));
    let operator_ends = list.find(' ').unwrap_or(list.len());
    inside
        .or_else(|| first(&list[operator_ends..]))
        .unwrap_or("")
}

/// The first package in a text.
fn first(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if matches!(character, '(' | ')' | '\'' | ' ') {
            rest = &rest[character.len_utf8()..];
        } else if character == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |at| at + 2);
            rest = &rest[end..];
        } else if let Some((package, _)) = symbol(rest) {
            return Some(package);
        } else {
            rest = &rest[token(rest).max(character.len_utf8())..];
        }
    }
    None
}

/// The package of the symbol that a text begins with, if it has one, and what follows the symbol.
fn symbol(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_at(token(text));
    let colon = colons(word).next()?;
    let package = &word[..colon];
    let own = word[colon + 1..]
        .strip_prefix(':')
        .unwrap_or(&word[colon + 1..]);
    let is_list = own.is_empty() && rest.starts_with('(');
    let is_symbol = (!own.is_empty() || is_list) && colons(own).next().is_none();
    (is_symbol && is_printed(package)).then_some((package, rest))
}

/// Whether Lisp prints the name of a package in this way: small letters only between bars.
fn is_printed(package: &str) -> bool {
    let mut letters = outside(package).map(|(_, letter)| letter).peekable();
    let begins = package.starts_with(|first: char| first == '|' || first.is_uppercase());
    begins && letters.all(|letter| !letter.is_lowercase())
}

/// Where colons of a word are that are no part of a name.
fn colons(word: &str) -> impl Iterator<Item = usize> {
    outside(word).filter_map(|(at, letter)| (letter == ':').then_some(at))
}

/// How long the word is that a text begins with.
fn token(text: &str) -> usize {
    outside(text)
        .find(|(_, letter)| matches!(letter, ' ' | '(' | ')' | '"' | '\''))
        .map_or(text.len(), |(at, _)| at)
}

/// The characters of a text that are not quoted: neither between bars nor after a backslash.
fn outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.char_indices().filter(move |(_, letter)| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        is_escaped = *letter == '\\';
        is_quoted ^= *letter == '|';
        !is_quoted && !is_escaped && *letter != '|'
    })
}
