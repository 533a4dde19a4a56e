//! Points in time as nanoseconds since 1970, UTC, and as a date and a time of day:
//! `2026-01-31T09:30:00.5Z`.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let table = [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T00:00:00.000000001Z", Some(1)),
            ("1969-12-31T23:59:59.5Z", Some(-500_000_000)),
            ("2000-02-29T12:00:00Z", Some(951_825_600_000_000_000)),
            ("2026-11-21T18:00:00.25Z", Some(1_795_284_000_250_000_000)),
            ("2026-11-21 18:00:00", None),
            ("2026-11-21T18:00Z", None),
            ("9999-01-01T00:00:00Z", None),
            ("2024-02-29T23:59:59Z", Some(1_709_251_199_000_000_000)),
            ("2026-02-29T00:00:00Z", None),
            ("2026-02-30T00:00:00Z", None),
            ("2026-04-31T00:00:00Z", None),
            ("2026-00-10T00:00:00Z", None),
            ("2026-13-10T00:00:00Z", None),
            ("2026-01-00T00:00:00Z", None),
            ("2026-01-32T00:00:00Z", None),
            ("2026-01-31T24:00:00Z", None),
            ("2026-01-31T25:00:00Z", None),
            ("2026-01-31T23:60:00Z", None),
            ("2026-12-31T23:59:60Z", None),
            ("2026-01-31T23:59:59.+5Z", None),
            ("2026-+1-31T23:59:59Z", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(nanoseconds(text), expected, "{text}");
            if let Some(expected) = expected {
                assert_eq!(nanoseconds(&utc(expected)), Some(expected), "{text}");
            }
        }
    }
}
