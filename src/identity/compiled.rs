//! Rules that are ready to be applied to the texts of one field.

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::memmem;
use regex::Regex;
use unicode_normalization::UnicodeNormalization;

use super::built_in::BuiltIn;
use super::rule::Rule;

/// How often all rules are tried on one text: a user's rules may turn in a circle.
const ROUNDS: usize = 32;

/// Groups of patterns, and how what they match must look.
type Looks = (&'static str, fn(&str) -> bool);
const LOOKS: [Looks; 2] = [("hash", is_hash), ("unique", is_unique)];

/// Bytes that a text may gain: a user's rule may add some each time.
const LONGEST_GAIN: usize = 4096;

/// A rule, and its regular expression as soon as it is needed. Making that takes longer than a small
/// import: of the built-in rules only those are made that a text may match.
pub(super) struct CompiledRule {
    needed: Needed,
    needs: Vec<(u128, &'static str)>,
    ends: &'static str,
    pattern: String,
    replacement: String,
    files: Vec<String>,
    /// Texts of ASCII alone are not matched.
    passes_ascii: bool,
    regex: OnceLock<Option<Regex>>,
}

/// What a text must have, by its bytes alone: nearly all rules are passed over by this.
#[derive(Clone, Copy)]
struct Needed {
    /// All of these bytes occur.
    all: u128,
    /// One of these bytes occurs; `None` if it is unknown which.
    one: Option<u128>,
    /// It ends with one of these bytes; `None` if it is unknown with which.
    ends: Option<u128>,
}

impl Needed {
    /// Nothing is known.
    const NOTHING: Self = Self {
        all: 0,
        one: None,
        ends: None,
    };

    fn by(rule: &BuiltIn) -> Self {
        let needs = || rule.needs.iter().map(|need| bytes_of(need));
        Self {
            all: needs().reduce(|all, need| all & need).unwrap_or(0),
            one: needs().reduce(|one, need| one | need),
            ends: (!rule.ends.is_empty()).then(|| bytes_of(rule.ends)),
        }
    }

    /// Whether a text with these bytes, which ends with this one, may have it.
    fn may_be_in(self, bytes: u128, last: u128) -> bool {
        self.all & !bytes == 0
            && self.ends.is_none_or(|ends| ends & last != 0)
            && self.one.is_none_or(|one| one & bytes != 0)
    }
}

/// The bytes that occur in a text, those that differ by 128 as one.
fn bytes_of(text: &str) -> u128 {
    text.bytes()
        .fold(0, |all, byte| all | 1_u128.wrapping_shl(byte.into()))
}

/// The last byte of a text, as [`bytes_of`] has it; 0 if it has none.
fn last_byte(text: &str) -> u128 {
    text.bytes()
        .last()
        .map_or(0, |last| 1_u128.wrapping_shl(last.into()))
}

impl CompiledRule {
    /// A rule of which is known what its pattern needs.
    pub(super) fn built_in(rule: &BuiltIn) -> Self {
        Self {
            needed: Needed::by(rule),
            needs: rule
                .needs
                .iter()
                .map(|need| (bytes_of(need), *need))
                .collect(),
            ends: rule.ends,
            pattern: rule.pattern.to_owned(),
            replacement: rule.replacement.to_owned(),
            files: words(rule.files),
            passes_ascii: rule.pattern.contains("<nfc>"),
            regex: OnceLock::new(),
        }
    }

    /// Any other rule, whose pattern is made now.
    pub(super) fn new(rule: &Rule) -> Result<Self, regex::Error> {
        Ok(Self {
            needed: Needed::NOTHING,
            needs: Vec::new(),
            ends: "",
            regex: OnceLock::from(Some(Regex::new(&rule.pattern)?)),
            pattern: rule.pattern.clone(),
            replacement: rule.replacement.clone(),
            files: words(&rule.files),
            passes_ascii: false,
        })
    }

    /// Whether the pattern can match a text with these bytes at all.
    pub(super) fn may_match(&self, text: &str, bytes: u128) -> bool {
        let ends = self.ends.as_bytes();
        let occurs = |(all, need): &(u128, &str)| {
            all & !bytes == 0 && memmem::find(text.as_bytes(), need.as_bytes()).is_some()
        };
        (!self.passes_ascii || !text.is_ascii())
            && (ends.is_empty() || text.bytes().last().is_some_and(|last| ends.contains(&last)))
            && (self.needs.is_empty() || self.needs.iter().any(occurs))
    }

    pub(super) fn regex(&self) -> Option<&Regex> {
        // The patterns of built-in rules are right, which a test holds; others were made before.
        self.regex
            .get_or_init(|| Regex::new(&self.pattern).ok())
            .as_ref()
    }

    /// Whether the rule is for functions of this file.
    fn holds_in(&self, file: &str) -> bool {
        if self.files.is_empty() {
            return true;
        }
        if file.is_empty() {
            return self.files.iter().any(|word| word == "-");
        }
        let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let extension = base.rsplit_once('.').map_or("", |(_, extension)| extension);
        self.files.iter().any(|word| {
            word == extension || (word.starts_with('<') && file.starts_with(word.as_str()))
        })
    }

    /// The text after the rule, if that is another one. A function without a file may get one.
    fn apply(&self, text: &str, file: &mut Cow<'_, str>) -> Option<String> {
        let regex = self.regex()?;
        if !self.holds_in(file) || !regex.is_match(text) {
            return None;
        }
        // Asked of rules that match only: most never do in an import.
        let has_group = |wanted: &str| regex.capture_names().flatten().any(|name| name == wanted);
        // What such a group matches must look like a hash, or like a number of GHC's.
        for (group, looks_so) in LOOKS {
            if has_group(group) {
                let captures = regex.captures(text)?;
                if !captures
                    .name(group)
                    .is_none_or(|found| looks_so(found.as_str()))
                {
                    return None;
                }
            }
        }
        let mut next = regex.replace_all(text, self.replacement.as_str());
        // What is put is put in normalization form C of Unicode.
        if has_group("nfc") {
            next = Cow::Owned(next.nfc().collect());
        }
        if next == text {
            return None;
        }
        if file.is_empty() && has_group("file") {
            let captures = regex.captures(text);
            if let Some(found) = captures.as_ref().and_then(|captures| captures.name("file")) {
                *file = Cow::Owned(found.as_str().to_owned());
            }
        }
        Some(next.into_owned())
    }
}

/// Whether a part of a name looks like a hash: it has digits and letters, and is hexadecimal, or has a capital and a digit before a
/// letter. `Settings` and `20240101` are what a person calls a thing, and so is `Chapter1`.
fn is_hash(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.bytes().any(|byte| is(&byte));
    let is_hexadecimal = || {
        text.bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let has_digit_inside = || {
        let mut pairs = text.as_bytes().windows(2);
        pairs.any(|pair| pair[0].is_ascii_digit() && !pair[1].is_ascii_digit())
    };
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && (is_hexadecimal() || (has(u8::is_ascii_uppercase) && has_digit_inside()))
}

/// Whether a part of a name looks like a unique, a number of GHC's in base 62: `3Xy`, `43E`, `3zi`. `16`, `8be`, `16LE` and `32x4` are
/// widths, and `2nd` is an ordinal, with which a person has called a thing.
fn is_unique(text: &str) -> bool {
    const WIDTHS: [&str; 9] = ["8", "16", "24", "32", "48", "64", "128", "256", "512"];
    const ORDINALS: [&str; 4] = ["st", "nd", "rd", "th"];
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    let has_digit = rest.bytes().any(|byte| byte.is_ascii_digit());
    let is_width = WIDTHS.contains(&number) && (!has_digit || rest.starts_with('x'));
    let is_word = rest.bytes().all(|byte| byte.is_ascii_lowercase());
    !is_width && (!is_word || (digits == 1 && rest.len() == 2 && !ORDINALS.contains(&rest)))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Which rule still applied when rules had been tried as often as they may be.
pub(super) struct Circle(pub(super) usize);

/// Applies rules to a text until none applies. `file` is that of the function, which rules may ask
/// for and, where it is empty, state. `last`, if there is one, is tried after each round, and once
/// only.
pub(super) fn settle<'t>(
    rules: &[CompiledRule],
    text: &'t str,
    file: &mut Cow<'_, str>,
    mut last: Option<fn(&str) -> Option<&str>>,
) -> Result<Cow<'t, str>, Circle> {
    let mut text = Cow::Borrowed(text);
    let longest = text.len() + LONGEST_GAIN;
    let mut bytes = bytes_of(&text);
    let mut end = last_byte(&text);
    let mut latest = 0;
    for _ in 0..ROUNDS {
        let mut has_changed = false;
        for (at, rule) in rules.iter().enumerate() {
            if !rule.needed.may_be_in(bytes, end) || !rule.may_match(&text, bytes) {
                continue;
            }
            if let Some(next) = rule.apply(&text, file) {
                latest = at;
                if next.len() > longest {
                    return Err(Circle(latest));
                }
                (bytes, end) = (bytes_of(&next), last_byte(&next));
                text = Cow::Owned(next);
                has_changed = true;
            }
        }
        if let Some(shorter) = last.and_then(|last| last(&text)) {
            text = Cow::Owned(shorter.to_owned());
            (bytes, end) = (bytes_of(&text), last_byte(&text));
            last = None;
            has_changed = true;
        }
        if !has_changed {
            return Ok(text);
        }
    }
    Err(Circle(latest))
}
