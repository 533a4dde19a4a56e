//! Files of Dyalog's `]PROFILE`.

use std::fmt;
use std::io::{self, Write};

use super::{Cost, Profile, Row, Version, names};

// Numbers as APL prints them

/// How many significant digits to print.
#[derive(Clone, Copy)]
enum Digits {
    /// The fewest that give the same number when read, up to 17: `XML`.
    Shortest,
    /// At most ten, APL's default print precision: `CSV`, and the totals of both.
    Ten,
}

/// Displays a number as APL does: high minus, no trailing zeros, no leading zeros but one, and
/// scaled form for what would need more than five zeros after the decimal point or more digits than
/// there may be.
struct Apl(f64, Digits);

impl fmt::Display for Apl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; 32];
        let (digits, exponent) = decimal(self.0.abs(), self.1, &mut buffer);
        let limit = match self.1 {
            Digits::Shortest => 17,
            Digits::Ten => 10,
        };
        let whole = exponent + 1;
        if self.0 < 0.0 {
            out.write_str("¯")?;
        }
        if whole < -5 || whole > limit {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            let sign = if exponent < 0 { "¯" } else { "" };
            return write!(out, "{first}{point}{rest}E{sign}{}", exponent.abs());
        }
        let places = usize::try_from(whole).unwrap_or(0);
        if places >= digits.len() {
            write!(out, "{digits:0<places$}")
        } else if places > 0 {
            write!(out, "{}.{}", &digits[..places], &digits[places..])
        } else {
            let zeros = digits.len() + usize::try_from(-whole).unwrap_or(0);
            write!(out, "0.{digits:0>zeros$}")
        }
    }
}

/// The significant digits of a number that is not negative, without trailing zeros, and the
/// exponent of the first.
fn decimal(number: f64, digits: Digits, buffer: &mut [u8; 32]) -> (&str, i32) {
    let capacity = buffer.len();
    let mut rest = &mut buffer[..];
    match digits {
        Digits::Shortest => write!(rest, "{number:e}"),
        Digits::Ten => write!(rest, "{number:.9e}"),
    }
    .expect("24 bytes hold any f64");
    let length = capacity - rest.len();
    let text = &mut buffer[..length];
    let split = text
        .iter()
        .position(|&byte| byte == b'e')
        .expect("`e` format");
    let exponent = str::from_utf8(&text[split + 1..])
        .ok()
        .and_then(|exponent| exponent.parse().ok())
        .expect("an exponent follows `e`");
    // "d.ddd" becomes "dddd": the first digit moves over the point.
    let start = usize::from(split > 1);
    if start == 1 {
        text[1] = text[0];
    }
    let digits = str::from_utf8(&text[start..split]).expect("digits are ASCII");
    let trimmed = digits.trim_end_matches('0');
    (
        if trimmed.is_empty() {
            &digits[..1]
        } else {
            trimmed
        },
        exponent,
    )
}

/// The sum of inclusive over all function rows, which is what tree files call `TotalTime`.
fn total_time(profile: &Profile) -> io::Result<f64> {
    let mut total = Cost::default();
    profile.each_row(|row| {
        if row.line.is_none() {
            total += row.inclusive;
        }
        Ok(())
    })?;
    Ok(profile.milliseconds(total))
}

pub(crate) fn write_xml(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let names = names(profile.functions);
    let total = Apl(total_time(profile)?, Digits::Ten);
    if profile.version == Version::V1_37 {
        writeln!(out, "<?xml version=\"1.0\"?>")?;
    }
    write!(
        out,
        "<ProfileData>
    <ProfileSettings>
        <Version>{}</Version>
        <Title>2026/11/21 09:30:00</Title>
        <TimerBias>{}</TimerBias>
        <Command>tree</Command>
        <TotalTime>{total}</TotalTime>
        <SelectedTime>{total}</SelectedTime>
    </ProfileSettings>
",
        profile.version.name(),
        profile.version.bias_text(),
    )?;
    profile.each_row(|row| write_entry(profile, &names[row.function], row, out))?;
    writeln!(out, "</ProfileData>")
}

fn write_entry(profile: &Profile, name: &str, row: &Row, out: &mut impl Write) -> io::Result<()> {
    let exclusive = Apl(profile.milliseconds(row.exclusive), Digits::Shortest);
    let inclusive = Apl(profile.milliseconds(row.inclusive), Digits::Shortest);
    let (depth, calls, line) = (row.depth, row.calls, LineField(profile.version, row.line));
    match profile.version {
        // 0.9.0 prints the exclusive figures first but labels them inclusive.
        Version::V0_9_0 => write!(
            out,
            "    <ProfileEntry>
        <Depth>{depth}</Depth>
        <Function>{name}</Function>
        <Line>{line}</Line>
        <Calls>{calls}</Calls>
        <InclusiveTime>{exclusive}</InclusiveTime>
        <ExclusiveTime>{inclusive}</ExclusiveTime>
        <InclusiveTicks>{}</InclusiveTicks>
        <ExclusiveTicks>{}</ExclusiveTicks>
    </ProfileEntry>
",
            row.exclusive.ticks, row.inclusive.ticks
        ),
        Version::V1_37 => write!(
            out,
            "    <ProfileEntry>
        <Depth>{depth}</Depth>
        <Element>{name}</Element>
        <Line>{line}</Line>
        <Calls>{calls}</Calls>
        <ExclusiveTime>{exclusive}</ExclusiveTime>
        <InclusiveTime>{inclusive}</InclusiveTime>
    </ProfileEntry>
"
        ),
    }
}

pub(crate) fn write_csv(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let names = names(profile.functions);
    writeln!(
        out,
        "{}",
        match profile.version {
            // Swapped labels, as in the XML.
            Version::V0_9_0 =>
                r#""Depth","Element","Line","Calls","InclusiveTime","ExclusiveTime","InclusiveTicks","ExclusiveTicks""#,
            Version::V1_37 => r#""Depth","Element","Line","Calls","ExclusiveTime","InclusiveTime""#,
        }
    )?;
    profile.each_row(|row| {
        write!(
            out,
            "{},\"{}\",{},{},{},{}",
            row.depth,
            names[row.function],
            LineField(profile.version, row.line),
            row.calls,
            Apl(profile.milliseconds(row.exclusive), Digits::Ten),
            Apl(profile.milliseconds(row.inclusive), Digits::Ten),
        )?;
        if profile.version == Version::V0_9_0 {
            write!(out, ",{},{}", row.exclusive.ticks, row.inclusive.ticks)?;
        }
        writeln!(out)
    })
}

/// The line number; on a function row what the version's tree files have in its place.
struct LineField(Version, Option<usize>);

impl fmt::Display for LineField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.1, self.0) {
            (Some(line), _) => write!(out, "{line}"),
            (None, Version::V0_9_0) => Ok(()),
            (None, Version::V1_37) => out.write_str("¯1"),
        }
    }
}
