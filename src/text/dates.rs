//! Points in time as nanoseconds since 1970, UTC, and as a date and a time of day: as we write them,
//! `2026-01-31T09:30:00.5Z`, and as profilers do ([`moment`]).

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// Days from the first of March of the year 0 to 1970-01-01.
const BEFORE_1970: i64 = 719_468;

/// Days of 400 years.
const ERA: i64 = 146_097;

/// The date so many days after 1970-01-01: year, month and day.
///
/// Years begin in March here, so that the odd day is the last one.
fn date(days: i64) -> [i64; 3] {
    let days = days + BEFORE_1970;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    // A leap day is the last one of its four years: it is taken off, put back where 100 years have
    // none, and taken off again for 400.
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, months have 31, 30, 31, 30, 31 days again and again: five are 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    [400 * era + year + next, month, day]
}

/// How many days a date is after 1970-01-01.
fn days([year, month, day]: [i64; 3]) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - BEFORE_1970
}

/// Nanoseconds since 1970 as text.
pub(crate) fn utc(nanoseconds: i64) -> String {
    let (seconds, fraction) = (
        // Rounded down and not to 0, so that fractions before 1970 count forward, too.
        nanoseconds.div_euclid(SECOND),
        nanoseconds.rem_euclid(SECOND),
    );
    let [year, month, day] = date(seconds.div_euclid(DAY));
    let second = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let point = if fraction == 0 {
        String::new()
    } else {
        format!(".{fraction:09}")
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{point}Z")
}

/// Nanoseconds since 1970 of a text; `None` if it is of another form, no date of the calendar or no
/// time of day, or beyond 64 bits.
pub(crate) fn nanoseconds(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    // `parse` takes signs, too, and a date with one is of another form.
    let number = |text: &str| -> Option<i64> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u32>()
            .ok()
            .filter(|_| is_number)
            .map(i64::from)
    };
    let numbers = |text: &str, by: char| -> Option<[i64; 3]> {
        let parts: Option<Vec<i64>> = text.split(by).map(number).collect();
        parts?.try_into().ok()
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let ymd = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    // Counting on would make another date of one that does not exist: 30 February would come back
    // as 2 March. A leap second (`23:59:60`) would, too.
    let exists = self::date(days(ymd)) == ymd && hour < 24 && minute < 60 && second < 60;
    if !exists {
        return None;
    }
    // Digits that are missing are zeros. Those beyond nanoseconds are refused: the date would not
    // come back as it was.
    let fraction = number(&format!("{fraction:0<9}")).filter(|_| fraction.len() <= 9)?;
    let seconds = days(ymd)
        .checked_mul(DAY)?
        .checked_add(hour * 3600 + minute * 60 + second)?;
    seconds.checked_mul(SECOND)?.checked_add(fraction)
}

/// Months as C's `asctime` writes them.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Nanoseconds since 1970, in the form whose order as text is that in time:
/// `2026-01-31T09:30:00.500000000Z`.
pub(crate) fn sortable(nanoseconds: i64) -> String {
    let text = utc(nanoseconds);
    match text.strip_suffix('Z') {
        Some(whole) if !whole.contains('.') => format!("{whole}.000000000Z"),
        _ => text,
    }
}

/// Nanoseconds since 1970 of a date and a time of day in any of the forms in which profilers and git write them:
///
/// - `2026-01-31T09:30:00.5Z`, also with a blank for the T, without seconds, and with `+02:00` or `+0200` for the Z (ISO 8601);
/// - `2026/01/31 09:30:00` (Dyalog APL);
/// - `Sat Jan 31 09:30 2026`, also with seconds, and with a zone before or after the year (C's `asctime`, GHC, perf, git).
///
/// **A time without a zone is read as UTC, and so is one whose zone is a name** (`CET`): the files that lack it are in the local
/// time of a machine that they do not tell, and one rule for all keeps the order of what one machine has recorded, but for the
/// hour that clocks are put back. Runs of machines in several zones may come out of order by the hours between them.
///
/// `None` for what is of another form, no date of the calendar, no time of day, or beyond 64 bits.
pub(crate) fn moment(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (date, rest) = match words.as_slice() {
        [both] => {
            let at = both.find(['T', 't'])?;
            (calendar_date(&both[..at])?, vec![&both[at + 1..]])
        }
        [first, rest @ ..] if first.starts_with(|first: char| first.is_ascii_digit()) => {
            (calendar_date(first)?, rest.to_vec())
        }
        [weekday, month, day, rest @ ..] if is_word(weekday) => {
            let month = MONTHS.iter().position(|known| known == month)?;
            // The year comes last, or before the zone.
            let (at, year) = rest
                .iter()
                .enumerate()
                .find(|(at, word)| *at > 0 && digits(word).is_some() && word.len() >= 4)?;
            let date = [digits(year)?, i64::try_from(month).ok()? + 1, digits(day)?];
            let rest = [&rest[..at], &rest[at + 1..]].concat();
            (date, rest)
        }
        _ => return None,
    };
    let (time, zone) = match rest.as_slice() {
        [time] => {
            let at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
            time.split_at(at)
        }
        [time, zone] => (*time, *zone),
        _ => return None,
    };
    let exists = self::date(days(date)) == date;
    let seconds = days(date)
        .checked_mul(DAY)?
        .checked_sub(offset(zone)?)
        .filter(|_| exists)?;
    let (second, fraction) = time_of_day(time)?;
    seconds
        .checked_add(second)?
        .checked_mul(SECOND)?
        .checked_add(fraction)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// A number without a sign.
fn digits(text: &str) -> Option<i64> {
    let is_number = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Year, month and day of `2026-01-31` or `2026/01/31`.
fn calendar_date(text: &str) -> Option<[i64; 3]> {
    let by = if text.contains('/') { '/' } else { '-' };
    let parts: Option<Vec<i64>> = text.split(by).map(digits).collect();
    let year = text.split(by).next()?;
    parts?.try_into().ok().filter(|_| year.len() >= 4)
}

/// Seconds since midnight and nanoseconds of `09:30` or `09:30:00.5`. A leap second is the one after it.
fn time_of_day(text: &str) -> Option<(i64, i64)> {
    let (time, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let parts: Option<Vec<i64>> = time.split(':').map(digits).collect();
    let (hour, minute, second) = match *parts?.as_slice() {
        [hour, minute] if time.len() == text.len() => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let exists = hour < 24 && minute < 60 && second <= 60;
    let is_number = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    // Clocks that count finer than nanoseconds are cut to them.
    let nanoseconds: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let nanoseconds = nanoseconds.parse().ok().filter(|_| exists && is_number)?;
    Some((hour * 3600 + minute * 60 + second, nanoseconds))
}

/// Seconds that a zone is ahead of UTC: 0 for none, and for a name.
fn offset(zone: &str) -> Option<i64> {
    let (sign, amount) = match zone.as_bytes().first() {
        None => return Some(0),
        Some(b'+') => (1, &zone[1..]),
        Some(b'-') => (-1, &zone[1..]),
        Some(_) => return is_word(zone).then_some(0),
    };
    let (hours, minutes) = match amount.split_once(':') {
        Some(parts) => parts,
        None if amount.len() == 2 => (amount, "0"),
        None if amount.len() == 4 && amount.is_ascii() => amount.split_at(2),
        None => return None,
    };
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}
