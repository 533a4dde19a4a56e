//! Our statements in the words of an engine: what only SQLite has becomes what all have, and what engines have different words
//! for gets those of the one that is asked.
//!
//! It knows the texts of `queries/`, and values in them, not SQL in general.

use super::engine::Dialect;

/// A piece of a statement.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A word or a number.
    Word(String),
    /// A text of ours, without its quotes.
    Text(String),
    /// The name of a value, without its colon: what it is comes when all else has been written.
    Value(String),
    /// Any other character.
    Sign(char),
    /// Blanks and ends of lines.
    Space(String),
}

/// A statement without values in the words of an engine.
#[must_use]
pub fn spelled(sql: &str, dialect: Dialect) -> String {
    spelled_with(sql, dialect, &|_| None)
}

/// A statement in the words of an engine. Its values, `:name`, are written by a function when nothing is rewritten any more, so that no
/// words in them are taken for words of the statement.
pub(in crate::report) fn spelled_with(
    sql: &str,
    dialect: Dialect,
    value: &dyn Fn(&str) -> Option<String>,
) -> String {
    let tokens = tokens(sql);
    let tokens = windows(tokens);
    let tokens = sums(&tokens);
    let tokens = functions(&tokens, dialect);
    let tokens = conditions(&tokens);
    let tokens = joins(tokens);
    let tokens = aliases(&tokens);
    let mut tokens = orders(&tokens);
    equalities(&mut tokens);
    if dialect == Dialect::ClickHouse {
        lengthen(&mut tokens);
    }
    written(&tokens, dialect, value)
}

/// Makes `a.x IS b.y`, which is true where both are equal or unknown, what engines call so.
fn equalities(tokens: &mut [Token]) {
    let is_column = |token: &Token| matches!(token, Token::Word(word) if word.contains('.'));
    let places: Vec<usize> = tokens
        .windows(3)
        .enumerate()
        .filter(|(_, three)| {
            let is = matches!(&three[0], Token::Word(word) if word == "IS");
            is && matches!(three[1], Token::Space(_)) && is_column(&three[2])
        })
        .map(|(at, _)| at)
        .collect();
    for at in places {
        tokens[at] = Token::Word("IS NOT DISTINCT FROM".to_owned());
    }
}

/// Gives names of one letter a second sign. `ClickHouse` takes `functions` for `p.functions` in a database called `p`, and that for a
/// column of what a statement calls `p`: names as short as ours are those of databases, too.
fn lengthen(tokens: &mut [Token]) {
    for token in tokens {
        if let Token::Word(word) = token {
            let (name, rest) = word.split_at(word.find('.').unwrap_or(word.len()));
            if name.len() == 1 && name.starts_with(|first: char| first.is_ascii_lowercase()) {
                *word = format!("{name}_{rest}");
            }
        }
    }
}

fn is_of_a_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '.'
}

fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length =
            |is: fn(char) -> bool| rest.find(|character| !is(character)).unwrap_or(rest.len());
        let used = if first.is_whitespace() {
            let end = length(char::is_whitespace);
            tokens.push(Token::Space(rest[..end].to_owned()));
            end
        } else if is_of_a_word(first) {
            let end = length(is_of_a_word);
            // A number may have a sign in its exponent.
            let is_exponent = first.is_ascii_digit()
                && rest[..end].ends_with(['e', 'E'])
                && rest[end..].starts_with(['-', '+']);
            let end = if is_exponent {
                let more = rest[end + 1..].find(|c: char| !c.is_ascii_digit());
                more.map_or(rest.len(), |more| end + 1 + more)
            } else {
                end
            };
            tokens.push(Token::Word(rest[..end].to_owned()));
            end
        } else if first == '\'' {
            let mut text = String::new();
            let mut at = 1;
            loop {
                let Some(end) = rest[at..].find('\'') else {
                    text.push_str(&rest[at..]);
                    at = rest.len();
                    break;
                };
                text.push_str(&rest[at..at + end]);
                at += end + 1;
                if !rest[at..].starts_with('\'') {
                    break;
                }
                text.push('\'');
                at += 1;
            }
            tokens.push(Token::Text(text));
            at
        } else if first == ':' && rest[1..].starts_with(is_of_a_word) {
            let end = rest[1..].find(|character| !is_of_a_word(character));
            let end = end.map_or(rest.len(), |end| 1 + end);
            tokens.push(Token::Value(rest[1..end].to_owned()));
            end
        } else {
            tokens.push(Token::Sign(first));
            first.len_utf8()
        };
        rest = &rest[used..];
    }
    tokens
}

fn is_word(token: Option<&Token>, word: &str) -> bool {
    matches!(token, Some(Token::Word(found)) if found.eq_ignore_ascii_case(word))
}

/// The place of the next token from a place on that is no space.
fn next(tokens: &[Token], from: usize) -> usize {
    let more = tokens[from.min(tokens.len())..]
        .iter()
        .position(|token| !matches!(token, Token::Space(_)));
    more.map_or(tokens.len(), |more| from + more)
}

/// The place of the parenthesis that closes the one at a place.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// Where a list ends that begins at a place: at one of these words, or where the parentheses or the statement around it end.
fn end_of_list(tokens: &[Token], from: usize, words: &[&str]) -> usize {
    let mut depth = 0;
    let mut at = from;
    while at < tokens.len() {
        match &tokens[at] {
            Token::Sign('(') => depth += 1,
            Token::Sign(')' | ';') if depth == 0 => break,
            Token::Sign(')') => depth -= 1,
            token if depth == 0 && words.iter().any(|word| is_word(Some(token), word)) => break,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Without the blanks at the end.
fn without_blanks(tokens: &[Token]) -> &[Token] {
    let last = tokens
        .iter()
        .rposition(|token| !matches!(token, Token::Space(_)));
    &tokens[..last.map_or(0, |last| last + 1)]
}

/// What is between commas that are in no parentheses of their own.
fn divided(tokens: &[Token]) -> Vec<&[Token]> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth -= 1,
            Token::Sign(',') if depth == 0 => {
                parts.push(&tokens[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[from..]);
    parts
}

/// Puts named windows where they are used: not all engines let a frame be added to one.
fn windows(mut tokens: Vec<Token>) -> Vec<Token> {
    while let Some(at) = tokens
        .iter()
        .rposition(|token| is_word(Some(token), "WINDOW"))
    {
        let name = next(&tokens, at + 1);
        let open = next(&tokens, next(&tokens, name + 1) + 1);
        let close = closing(&tokens, open);
        let Some(Token::Word(named)) = tokens.get(name).cloned() else {
            return tokens;
        };
        let window: Vec<Token> = tokens[open + 1..close.min(tokens.len())].to_vec();
        // The window is of the SELECT that it ends: those before it have ended before.
        let mut start = at;
        let mut depth = 0;
        while start > 0 {
            match tokens[start - 1] {
                Token::Sign(')') => depth += 1,
                Token::Sign('(') if depth == 0 => break,
                Token::Sign('(') => depth -= 1,
                _ => {}
            }
            start -= 1;
        }
        let end = (close + 1).min(tokens.len());
        let body = with_window(without_blanks(&tokens[start..at]), &named, &window);
        tokens.splice(start..end, body);
    }
    tokens
}

fn with_window(tokens: &[Token], name: &str, window: &[Token]) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !is_word(tokens.get(at), "OVER") {
            out.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let after = next(tokens, at + 1);
        out.extend([tokens[at].clone(), Token::Space(" ".to_owned())]);
        if is_word(tokens.get(after), name) {
            out.push(Token::Sign('('));
            out.extend_from_slice(window);
            out.push(Token::Sign(')'));
            at = after + 1;
        } else {
            let inside = next(tokens, after + 1);
            if tokens.get(after) == Some(&Token::Sign('(')) && is_word(tokens.get(inside), name) {
                out.push(Token::Sign('('));
                out.extend_from_slice(window);
                at = inside + 1;
            } else {
                at = after;
            }
        }
    }
    out
}

/// What the two halves of numbers are counted in where a sum of the numbers could leave 64 bits.
const HALF: &str = "4294967296";

/// Sums that SQLite makes of the two halves of numbers, `SUM(a / H) * H + SUM(a % H)` or, where `a` may be such a sum itself and a REAL,
/// `SUM(a / H) * H + SUM(a - a / H * H)`, are plain ones where numbers have 38 digits.
fn sums(tokens: &[Token]) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let open = next(tokens, at + 1);
        let is_sum = is_word(tokens.get(at), "SUM") && tokens.get(open) == Some(&Token::Sign('('));
        let close = if is_sum { closing(tokens, open) } else { at };
        let halves = tokens.get(open + 1..close).and_then(|inside| {
            let sign = inside
                .iter()
                .rposition(|token| *token == Token::Sign('/'))?;
            let half = next(inside, sign + 1);
            let is_last = next(inside, half + 1) == inside.len();
            (is_last && is_word(inside.get(half), HALF)).then_some(&inside[..sign])
        });
        let Some(summed) = halves else {
            out.push(tokens[at].clone());
            at += 1;
            continue;
        };
        out.extend([tokens[at].clone(), Token::Sign('(')]);
        out.extend_from_slice(without_blanks(summed));
        out.push(Token::Sign(')'));
        // Behind the first sum: times the half, and the second sum.
        let mut end = close;
        while end < tokens.len() && !is_word(tokens.get(end), "SUM") {
            end = next(tokens, end + 1);
        }
        at = closing(tokens, next(tokens, end + 1)) + 1;
    }
    out
}

/// Functions and conditions that only SQLite has.
fn functions(tokens: &[Token], dialect: Dialect) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let word = |text: &str| Token::Word(text.to_owned());
    let space = || Token::Space(" ".to_owned());
    let mut at = 0;
    while at < tokens.len() {
        let open = next(tokens, at + 1);
        let (Token::Word(name), Some(Token::Sign('('))) = (&tokens[at], tokens.get(open)) else {
            out.push(tokens[at].clone());
            at += 1;
            continue;
        };
        let name = name.to_ascii_uppercase();
        let close = closing(tokens, open).min(tokens.len().saturating_sub(1));
        let parts = divided(&tokens[open + 1..close]);
        let inner = |part: &[Token]| functions(part, dialect);
        match (name.as_str(), parts.as_slice()) {
            ("IIF", [condition, yes, no]) => {
                out.extend([word("CASE"), space(), word("WHEN"), space()]);
                out.extend(inner(condition));
                out.extend([space(), word("THEN")]);
                out.extend(spaced(inner(yes)));
                out.extend([space(), word("ELSE")]);
                out.extend(spaced(inner(no)));
                out.extend([space(), word("END")]);
            }
            ("MAX" | "MIN", [_, _, ..]) => {
                out.extend([
                    word(if name == "MAX" { "GREATEST" } else { "LEAST" }),
                    Token::Sign('('),
                ]);
                out.extend(inner(&tokens[open + 1..close]));
                out.push(Token::Sign(')'));
            }
            ("TOTAL", [sum]) => {
                out.extend([
                    word("COALESCE"),
                    Token::Sign('('),
                    word("SUM"),
                    Token::Sign('('),
                ]);
                out.extend(inner(sum));
                out.extend([
                    Token::Sign(')'),
                    Token::Sign(','),
                    space(),
                    word("0.0"),
                    Token::Sign(')'),
                ]);
            }
            // A text of digits as a number: NULL for other texts and beyond 64 bits.
            ("WHOLE", [text]) => {
                let cast = match dialect {
                    Dialect::ClickHouse => ("toInt64OrNull(", ")"),
                    _ => ("TRY_CAST(", " AS BIGINT)"),
                };
                out.push(Token::Space("CASE WHEN REGEXP_EXTRACT(".to_owned()));
                out.extend(inner(text));
                out.push(Token::Space(", '^([0-9]+)', 1) = ".to_owned()));
                out.extend(inner(text));
                out.push(Token::Space(format!(" THEN {}", cast.0)));
                out.extend(inner(text));
                out.push(Token::Space(format!("{} END", cast.1)));
            }
            ("COALESCE", [condition, [.., Token::Word(one)]])
                if one == "1" && has_comparison(condition) =>
            {
                out.extend([
                    word("CASE"),
                    space(),
                    word("WHEN"),
                    space(),
                    word("NOT"),
                    space(),
                    Token::Sign('('),
                ]);
                out.extend(inner(condition));
                out.push(Token::Space(") THEN 0 ELSE 1 END".to_owned()));
            }
            ("CAST", _) => {
                let body = &tokens[open + 1..close];
                let kind = match body.last() {
                    Some(Token::Word(kind)) if kind == "TEXT" => dialect.text(),
                    Some(Token::Word(kind)) if kind == "DOUBLE" => dialect.double(),
                    _ => "",
                };
                out.extend([tokens[at].clone(), Token::Sign('(')]);
                if kind.is_empty() {
                    out.extend(inner(body));
                } else {
                    out.extend(inner(&body[..body.len() - 1]));
                    out.push(Token::Space(kind.to_owned()));
                }
                out.push(Token::Sign(')'));
            }
            _ => {
                out.extend_from_slice(&tokens[at..=open]);
                out.extend(inner(&tokens[open + 1..close]));
                out.push(Token::Sign(')'));
            }
        }
        at = close + 1;
    }
    out
}

/// Whether something is compared outside of parentheses.
fn has_comparison(tokens: &[Token]) -> bool {
    let mut depth = 0;
    tokens.iter().any(|token| {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth -= 1,
            _ => {}
        }
        depth == 0 && matches!(token, Token::Sign('<' | '>' | '='))
    })
}

/// With one blank in front.
fn spaced(mut tokens: Vec<Token>) -> Vec<Token> {
    if !matches!(tokens.first(), Some(Token::Space(_))) {
        tokens.insert(0, Token::Space(" ".to_owned()));
    }
    tokens
}

/// Columns that are 1 or 0, which are no conditions.
const FLAGS: [&str; 3] = ["s.outermost", "n.kept", "t.timer_readings"];

/// Compares flags that the database's texts take for conditions.
fn conditions(tokens: &[Token]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        out.push(token.clone());
        let Token::Word(name) = token else { continue };
        let before = tokens[..at]
            .iter()
            .rev()
            .find(|token| !matches!(token, Token::Space(_)));
        let is_condition = ["WHERE", "AND", "WHEN", "OR", "NOT"]
            .iter()
            .any(|word| is_word(before, word));
        if is_condition && FLAGS.contains(&name.as_str()) {
            out.push(Token::Space(" = 1".to_owned()));
        }
    }
    out
}

/// Joins that have a condition are not called CROSS: to SQLite that is a hint of the order.
fn joins(mut tokens: Vec<Token>) -> Vec<Token> {
    let mut at = 0;
    while at < tokens.len() {
        let join = next(&tokens, at + 1);
        if is_word(tokens.get(at), "CROSS") && is_word(tokens.get(join), "JOIN") {
            let name = next(&tokens, join + 1);
            let end = if tokens.get(name) == Some(&Token::Sign('(')) {
                closing(&tokens, name) + 1
            } else {
                name + 1
            };
            let named = next(&tokens, end);
            let after = if is_word(tokens.get(named), "AS") {
                next(&tokens, next(&tokens, named + 1) + 1)
            } else {
                named
            };
            if is_word(tokens.get(after), "ON") || is_word(tokens.get(after), "USING") {
                tokens.drain(at..join);
            }
        }
        at += 1;
    }
    tokens
}

/// Names the columns that a SELECT takes as they are: `ClickHouse` calls such a column `f.name` where two tables have a `name`.
fn aliases(tokens: &[Token]) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        out.push(tokens[at].clone());
        at += 1;
        if !is_word(tokens.get(at - 1), "SELECT") {
            continue;
        }
        let end = end_of_list(tokens, at, &["FROM"]);
        for (number, part) in divided(&tokens[at..end]).into_iter().enumerate() {
            if number > 0 {
                out.push(Token::Sign(','));
            }
            let part = aliases(part);
            let words: Vec<&Token> = part
                .iter()
                .filter(|token| !matches!(token, Token::Space(_)))
                .collect();
            let name = match words.as_slice() {
                [Token::Word(word)] => word.split_once('.'),
                [distinct, Token::Word(word)] if is_word(Some(distinct), "DISTINCT") => {
                    word.split_once('.')
                }
                _ => None,
            };
            let name = name.filter(|(table, _)| !table.starts_with(|c: char| c.is_ascii_digit()));
            let name = name.map(|(_, name)| format!(" AS {name}"));
            let length = without_blanks(&part).len();
            out.extend_from_slice(&part[..length]);
            out.extend(name.map(Token::Space));
            out.extend_from_slice(&part[length..]);
        }
        at = end;
    }
    out
}

/// Says of every ORDER BY where NULL goes: engines differ, and SQLite has it before everything.
fn orders(tokens: &[Token]) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let by = next(tokens, at + 1);
        if !(is_word(tokens.get(at), "ORDER") && is_word(tokens.get(by), "BY")) {
            out.push(tokens[at].clone());
            at += 1;
            continue;
        }
        out.extend_from_slice(&tokens[at..=by]);
        let end = end_of_list(tokens, by + 1, &["ROWS", "LIMIT"]);
        for (number, part) in divided(&tokens[by + 1..end]).into_iter().enumerate() {
            if number > 0 {
                out.push(Token::Sign(','));
            }
            let length = without_blanks(part).len();
            let last = part[..length].iter().next_back();
            let is_said = is_word(last, "LAST") || is_word(last, "FIRST");
            let nulls = if is_said {
                ""
            } else if is_word(last, "DESC") {
                " NULLS LAST"
            } else {
                " NULLS FIRST"
            };
            out.extend(orders(&part[..length]));
            out.push(Token::Space(nulls.to_owned()));
            out.extend_from_slice(&part[length..]);
        }
        at = end;
    }
    out
}

fn written(tokens: &[Token], dialect: Dialect, value: &dyn Fn(&str) -> Option<String>) -> String {
    let (mut text, mut piece) = (String::new(), String::new());
    for token in tokens {
        match token {
            Token::Word(word) => piece.push_str(word),
            Token::Text(value) => piece.push_str(&dialect.literal(value)),
            Token::Sign(sign) => piece.push(*sign),
            Token::Space(space) => piece.push_str(space),
            Token::Value(name) => {
                text.push_str(&in_words_of_all(&piece));
                piece.clear();
                text.push_str(&value(name).unwrap_or_else(|| format!(":{name}")));
            }
        }
    }
    text + &in_words_of_all(&piece)
}

/// A text of ours without what only some engines understand.
fn in_words_of_all(text: &str) -> String {
    // A frame that begins without an end ends at the row itself, which not all engines let go without saying.
    text.replace(
        "ROWS UNBOUNDED PRECEDING",
        "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    )
}
