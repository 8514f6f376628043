//! Checks of a CronJob's schedule: `validateCronJobSpec` of `pkg/apis/batch/validation`, and the syntax of
//! schedules (`github.com/robfig/cron/v3`, `ParseStandard`).

use super::checks::{Checked, FieldCheck};
use crate::go;
use crate::object::text;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("schedule", schedule),
    ("time_zone", time_zone),
    ("cron_job_name", cron_job_name),
];

/// A part of a schedule: its least and most value, and the names of its values.
type CronPart = (i64, i64, &'static [&'static str]);

const PARTS: [CronPart; 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (
        1,
        12,
        &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    ),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];
const DESCRIPTORS: [&str; 7] = [
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];

/// A schedule without a time zone; one that is stored may keep it (`validateScheduleFormat`).
fn schedule(schedule: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let written = schedule.value.as_str().unwrap_or_default();
    let mut refuse = |detail: String| {
        errors.push(FieldError::invalid(schedule.path, schedule.value, detail));
    };
    if let Err(why) = parse(written) {
        refuse(why);
    }
    let had_zone = schedule
        .before()
        .is_some_and(|before| before.as_str().is_some_and(|text| text.contains("TZ")));
    if !written.contains("TZ") {
        return;
    }
    if !had_zone {
        refuse("cannot use TZ or CRON_TZ in schedule, use timeZone field instead".to_owned());
    } else if !schedule.object["spec"]["timeZone"].is_null() {
        refuse("cannot use both timeZone field and TZ or CRON_TZ in schedule".to_owned());
    }
}

/// Reads a schedule; returns its problem.
fn parse(schedule: &str) -> Result<(), String> {
    let mut rest = schedule;
    if rest.starts_with("TZ=") || rest.starts_with("CRON_TZ=") {
        let (zone, after) = rest.split_once(' ').ok_or_else(|| {
            "invalid schedule format: runtime error: slice bounds out of range [:-1]".to_owned()
        })?;
        let zone = zone.split_once('=').map_or("", |(_, zone)| zone);
        if !is_zone(zone) {
            return Err(format!(
                "provided bad location {zone}: unknown time zone {zone}"
            ));
        }
        rest = after.trim();
    }
    if rest.starts_with('@') {
        return match rest.strip_prefix("@every ") {
            Some(duration) => match go::parse_duration(duration) {
                Ok(_) => Ok(()),
                Err(error) => Err(format!("failed to parse duration {rest}: {error}")),
            },
            None if DESCRIPTORS.contains(&rest) => Ok(()),
            None => Err(format!("unrecognized descriptor: {rest}")),
        };
    }
    let parts: Vec<&str> = rest.split_whitespace().collect();
    if parts.len() != PARTS.len() {
        return Err(format!(
            "expected exactly 5 fields, found {}: [{}]",
            parts.len(),
            parts.join(" ")
        ));
    }
    for (text, part) in parts.iter().zip(&PARTS) {
        for range in text.split(',').filter(|range| !range.is_empty()) {
            parse_range(range, part)?;
        }
    }
    Ok(())
}

/// `getRange`.
fn parse_range(text: &str, (least, most, names): &CronPart) -> Result<(), String> {
    let (least, most) = (*least, *most);
    let range_and_step: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = range_and_step[0].split('-').collect();
    let value = |text: &str| match names
        .iter()
        .position(|name| text.eq_ignore_ascii_case(name))
    {
        Some(at) => Ok(least + i64::try_from(at).unwrap_or(0)),
        None => number(text),
    };
    let (from, mut to) = match ends[..] {
        ["*" | "?", ..] => (least, most),
        [one] => (value(one)?, value(one)?),
        [from, to] => (value(from)?, value(to)?),
        _ => return Err(format!("too many hyphens: {text}")),
    };
    let step = match range_and_step[..] {
        [_] => 1,
        [_, step] => {
            if ends.len() == 1 {
                to = most;
            }
            number(step)?
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if from < least {
        let end = "beginning of range";
        return Err(format!("{end} ({from}) below minimum ({least}): {text}"));
    }
    if to > most {
        return Err(format!(
            "end of range ({to}) above maximum ({most}): {text}"
        ));
    }
    if from > to {
        return Err(format!(
            "beginning of range ({from}) beyond end of range ({to}): {text}"
        ));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

fn number(text: &str) -> Result<i64, String> {
    match text.parse::<i64>() {
        Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
        Ok(number) => Ok(number),
        Err(_) => Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {}: invalid syntax",
            go::quote(text)
        )),
    }
}

/// `validateTimeZone`: a zone that is stored is not checked again.
fn time_zone(zone: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let name = zone.value.as_str().unwrap_or_default();
    if zone.before() == Some(zone.value) {
        return;
    }
    let mut refuse = |detail: String| {
        errors.push(FieldError::invalid(zone.path, zone.value, detail));
    };
    if name.is_empty() {
        return refuse("timeZone must be nil or non-empty string".to_owned());
    }
    if name.eq_ignore_ascii_case("Local") {
        refuse(
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
                .to_owned(),
        );
    }
    if !is_zone(name) {
        refuse(format!("unknown time zone {name}"));
    }
}

/// The areas of the zones of IANA.
const AREAS: [&str; 16] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Brazil",
    "Canada",
    "Chile",
    "Etc",
    "Europe",
    "Indian",
    "Mexico",
    "Pacific",
    "US",
];
/// Its zones without an area.
const ZONES: &str = "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire Factory GB GB-Eire GMT GMT+0 GMT-0 \
     GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ \
     NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu";

/// Returns whether this is a zone of the area `Etc`: UTC by one of its names, or a fixed distance from it.
fn is_etc(zone: &str) -> bool {
    match zone.strip_prefix("GMT") {
        Some(hours) => {
            let west = hours.strip_prefix('+').map(|hours| (hours, 12));
            let distance = west.or_else(|| hours.strip_prefix('-').map(|hours| (hours, 14)));
            matches!(hours, "" | "0")
                || distance
                    .is_some_and(|(hours, most)| (0..=most).any(|hour| hour.to_string() == hours))
        }
        None => matches!(zone, "Greenwich" | "UCT" | "UTC" | "Universal" | "Zulu"),
    }
}

/// Returns whether a server knows a time zone. The places of an area are not known here: any name is taken
/// for one.
fn is_zone(name: &str) -> bool {
    let is_part = |part: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || ".-_+".contains(c);
        (1..=14).contains(&part.len())
            && part.chars().all(allowed)
            && !matches!(part, "." | "..")
            && !part.starts_with('-')
    };
    name.split('/').all(is_part)
        && match name.split_once('/') {
            Some(("Etc", zone)) => is_etc(zone),
            Some((area, _)) => AREAS.contains(&area),
            None => name == "Local" || ZONES.split_whitespace().any(|zone| zone == name),
        }
}

/// The controller appends 11 characters to the name for each job (`ValidateCronJobCreate`).
fn cron_job_name(name: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MOST: usize = 63 - 11;
    if text(&name.object["metadata"], "name").len() > MOST {
        let detail = format!("must be no more than {MOST} characters");
        errors.push(FieldError::invalid(name.path, name.value, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_has_five_parts_or_a_name() {
        for fine in [
            "*/5 1-3 * JAN mon,fri",
            "@hourly",
            "@every 1h30m",
            "0 0 1/2 * ?",
        ] {
            assert_eq!(parse(fine), Ok(()), "{fine}");
        }
        let wrong = |text: &str| parse(text).unwrap_err();
        assert_eq!(
            wrong("every day"),
            "expected exactly 5 fields, found 2: [every day]"
        );
        assert_eq!(
            wrong("60 * * * *"),
            "end of range (60) above maximum (59): 60"
        );
        assert!(wrong("* * 0 * *").contains("below minimum (1)"));
        assert!(wrong("a * * * *").starts_with("failed to parse int from a"));
        assert!(wrong("*/0 * * * *").starts_with("step of range"));
    }

    #[test]
    fn a_zone_is_in_an_area_that_exists() {
        assert!(is_zone("Europe/Berlin") && is_zone("UTC"));
        assert!(!is_zone("Mars/Base") && !is_zone("Europe//Berlin") && !is_zone("Utopia"));
    }
}
