//! Points in time, as a run keeps them.

/// Nanoseconds since 1970 as a date and a time of day, UTC.
pub(in crate::formats) fn utc(nanoseconds: i64) -> String {
    const SECOND: i64 = 1_000_000_000;
    const DAY: i64 = 86_400;
    let (seconds, fraction) = (
        nanoseconds.div_euclid(SECOND),
        nanoseconds.rem_euclid(SECOND),
    );
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Years begin in March here, so that the odd day is the last one, and count from the year 0:
    // 400 years have 146,097 days, and 1970-01-01 is day 719,468.
    let day = days + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = 400 * era + year + next;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let point = if fraction == 0 {
        String::new()
    } else {
        format!(".{fraction:09}")
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{point}Z")
}
