//! The proleptic Gregorian calendar. Days count from 1970-01-01.

/// The days from March 1 of the year 0 to 1970-01-01. Years begin in March here, so that the leap day is
/// the last one.
const BEFORE_1970: i64 = 719_468;

/// The days of 400 years.
const ERA: i64 = 146_097;

/// Returns the days of a month, January being 1.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 1970-01-01 to a date.
pub fn days_of_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - BEFORE_1970
}

/// Returns the date a number of days after 1970-01-01: year, month and day.
pub fn date_of_days(days: i64) -> (i64, i64, i64) {
    let days = days + BEFORE_1970;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let part = (5 * of_year + 2) / 153;
    let day = of_year - (153 * part + 2) / 5 + 1;
    let month = if part < 10 { part + 3 } else { part - 9 };
    let year = era * 400 + year + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_follows_the_one_before() {
        let mut expected = (-401, 1, 1);
        let first = days_of_date(-401, 1, 1);
        for days in first..first + 900 * 366 {
            let (year, month, day) = expected;
            assert_eq!(date_of_days(days), expected);
            assert_eq!(days_of_date(year, month, day), days);
            expected = match (day < days_in_month(year, month), month) {
                (true, _) => (year, month, day + 1),
                (false, 12) => (year + 1, 1, 1),
                (false, _) => (year, month + 1, 1),
            };
        }
        assert_eq!(days_of_date(1970, 1, 1), 0);
        assert_eq!(days_of_date(2000, 3, 1), 11_017);
    }
}
