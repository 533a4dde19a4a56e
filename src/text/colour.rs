//! Colours in tables on terminals. The text has a noncharacter of Unicode before and behind each coloured part, and the output
//! to a terminal translates these marks. Names cannot contain them: [`is_unsafe`](super::plain::is_unsafe) includes them.

/// A colour of a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
}

/// Minimum percentage of red shares, as in `perf report`.
const RED_SHARE: f64 = 5.0;

/// Minimum percentage of green shares, as in `perf report`.
const GREEN_SHARE: f64 = 0.5;

impl Colour {
    /// Returns the colour of a verdict, which may be followed by its reason.
    pub(crate) fn from_verdict(text: &str) -> Option<Self> {
        let verdict = text.split_once(':').map_or(text, |(verdict, _)| verdict);
        match verdict {
            "slower" | "fail" => Some(Self::Red),
            "faster" | "pass" => Some(Self::Green),
            "unclear" | "base moved" | "no base" | "not comparable" | "nothing matched" => {
                Some(Self::Yellow)
            }
            _ => None,
        }
    }

    /// Returns the colour of a percentage.
    pub(crate) fn from_share(text: &str) -> Option<Self> {
        let share: f64 = text.parse().ok()?;
        match share {
            _ if share >= RED_SHARE => Some(Self::Red),
            _ if share >= GREEN_SHARE => Some(Self::Green),
            _ => None,
        }
    }

    /// Appends a text in this colour to another text.
    pub(crate) fn push(self, text: &str, to: &mut String) {
        to.push(match self {
            Self::Red => '\u{fdd0}',
            Self::Green => '\u{fdd1}',
            Self::Yellow => '\u{fdd2}',
        });
        to.push_str(text);
        to.push('\u{fdd3}');
    }
}

/// Returns the control sequence (ECMA-48, SGR) for a mark; `None` for other characters.
pub(crate) fn control_sequence(character: char) -> Option<&'static str> {
    match character {
        '\u{fdd0}' => Some("\x1b[31m"),
        '\u{fdd1}' => Some("\x1b[32m"),
        '\u{fdd2}' => Some("\x1b[33m"),
        '\u{fdd3}' => Some("\x1b[39m"),
        _ => None,
    }
}
