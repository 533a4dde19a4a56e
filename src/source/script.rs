//! Cuts APL scripts into functions. A script is a function without anything around it, or functions
//! within namespaces and classes:
//!
//! ```text
//! :Namespace Shop              ⍝ a place: namespaces, classes and interfaces nest
//!     ∇ total←prices Sum x;i   ⍝ a function from its header, line 0, to the next ∇
//!       total←+/prices
//!     ∇
//!     Twice←{                  ⍝ a dfn from its name, line 0, to the brace that closes it
//!         2×⍵
//!     }
//! :EndNamespace
//! ```

/// A function in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    /// Names of the namespaces and classes around it, and its own.
    pub(super) path: Vec<&'a str>,
    /// Its lines, the header first.
    pub(super) lines: &'a [&'a str],
}

/// The functions of a script, in their order. `stem` names a namespace that does not name itself.
pub(super) fn functions<'a>(lines: &'a [&'a str], stem: &'a str) -> Vec<Function<'a>> {
    let Some(first) = lines.iter().position(|line| !code(line).is_empty()) else {
        return Vec::new();
    };
    let start = code(lines[first]);
    // A file of one function has its header without ∇.
    if !start.starts_with([':', '∇']) && dfn(start).is_none() {
        let lines = &lines[first..];
        return name(start)
            .map(|name| Function {
                path: vec![name],
                lines,
            })
            .into_iter()
            .collect();
    }
    let mut found = Vec::new();
    let mut around: Vec<Vec<&str>> = Vec::new();
    let mut at = first;
    while at < lines.len() {
        let line = code(lines[at]);
        let mut end = at + 1;
        if let Some(header) = line.strip_prefix('∇') {
            // ⍫ in place of ∇ ends a function and locks it.
            while end < lines.len() && !code(lines[end]).starts_with(['∇', '⍫']) {
                end += 1;
            }
            found.extend(function(&around, name(header), &lines[at..end]));
            // The ∇ that ends the function is no line of it.
            end += 1;
        } else if let Some(name) = dfn(line) {
            // By counting: dfns nest, and only the brace that closes the first one ends it.
            let mut open = braces(lines[at]);
            while open > 0 && end < lines.len() {
                open += braces(lines[end]);
                end += 1;
            }
            found.extend(function(&around, Some(name), &lines[at..end]));
        } else if let Some(keyword) = line.strip_prefix(':') {
            let (word, rest) = keyword
                .split_once(char::is_whitespace)
                .unwrap_or((keyword, ""));
            match word.to_lowercase().as_str() {
                "namespace" | "class" | "interface" => {
                    let named = rest
                        .split(|sign| !is_name(sign) && sign != '.')
                        .find(|name| !name.is_empty());
                    // `:Namespace B.C` is two levels, and one end closes both.
                    around.push(named.unwrap_or(stem).split('.').collect());
                }
                "endnamespace" | "endclass" | "endinterface" => drop(around.pop()),
                _ => {}
            }
        }
        at = end;
    }
    found
}

fn function<'a>(
    around: &[Vec<&'a str>],
    name: Option<&'a str>,
    lines: &'a [&'a str],
) -> Option<Function<'a>> {
    let path = around.iter().flatten().copied().chain(name).collect();
    name.map(|_| Function { path, lines })
}

/// A line without its comment and the blanks around it. A quote that is not closed ends with the
/// line.
fn code(line: &str) -> &str {
    let mut quoted = false;
    let end = line.find(|sign| {
        // A quote within a text is doubled, which toggles twice.
        quoted ^= sign == '\'';
        sign == '⍝' && !quoted
    });
    line[..end.unwrap_or(line.len())].trim()
}

/// The name of the dfn that starts in a line.
fn dfn(code: &str) -> Option<&str> {
    let (name, body) = code.split_once('←')?;
    let name = name.trim();
    (body.trim_start().starts_with('{') && !name.is_empty() && name.chars().all(is_name))
        .then_some(name)
}

/// How many more braces a line opens than it closes.
fn braces(line: &str) -> isize {
    let mut quoted = false;
    code(line).chars().fold(0, |open, sign| {
        quoted ^= sign == '\'';
        match sign {
            '{' if !quoted => open + 1,
            '}' if !quoted => open - 1,
            _ => open,
        }
    })
}

/// The name of the function with a header: `r←x (f Op g) y;local`, with or without result,
/// arguments and locals.
fn name(header: &str) -> Option<&str> {
    let (header, _) = header.split_once(';').unwrap_or((header, ""));
    let header = header.split_once('←').map_or(header, |(_, behind)| behind);
    match parts(header).as_slice() {
        // Without arguments, with a right one, with both: the name is never last of two.
        [Part::Name(name)] | [Part::Name(name), _] | [_, Part::Name(name), _] => Some(name),
        // An operator is in brackets with its operands, after the first of them.
        [Part::Group(group)] | [Part::Group(group), _] | [_, Part::Group(group), _] => {
            group.split_whitespace().nth(1)
        }
        _ => None,
    }
}

/// A part of a header.
#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Name(&'a str),
    /// The text in round brackets.
    Group(&'a str),
}

/// The parts of a header. A left argument that may be left out (`{x}`) and an axis (`[k]`) say
/// nothing of the name.
fn parts(header: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = header.trim_start();
    while let Some(first) = rest.chars().next() {
        let close = match first {
            '(' => Some(')'),
            '{' => Some('}'),
            '[' => Some(']'),
            _ => None,
        };
        let end = match close {
            Some(close) => rest.find(close).map_or(rest.len(), |end| end + 1),
            None => rest
                .find(|sign| !is_name(sign))
                .unwrap_or(rest.len())
                // Another sign is a part of its own, so that each round takes something.
                .max(first.len_utf8()),
        };
        let (part, behind) = rest.split_at(end);
        match first {
            '(' => parts.push(Part::Group(part.trim_matches(['(', ')']))),
            '{' | '[' => {}
            _ => parts.push(Part::Name(part)),
        }
        rest = behind.trim_start();
    }
    parts
}

/// Whether names of APL are made of it.
fn is_name(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '∆' | '⍙')
}
