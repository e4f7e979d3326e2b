//! The rows of `queue_settings`: names that nobody reads, and values that do not take effect as written.

use serde::Deserialize;

use super::judged::{Judged, Seen, question};
use super::{Check, How};
use crate::model::{Finding, Severity};

pub(super) const CHECK: Check = Check {
    id: "settings",
    title: "settings take effect",
    how: How::Asked {
        needs: &["queue_settings"],
        ask: |around| {
            question(around, "select s.name, s.value from {schema}.queue_settings s order by s.name limit 100", vec![])
        },
        judge,
    },
};

/// Numbers: name, default, and the limits that a value is kept within.
const NUMBERS: &[(&str, i64, i64, i64)] =
    &[("history_days", 7, 1, 400), ("fold_every_ms", 2000, 100, 60_000), ("notify_every_ms", 100, 10, 60_000)];
/// Names that take words.
const WORDS: &[&str] = &["notify", "role_prefix"];
/// What `notify` knows.
const SWITCH: [&str; 8] = ["off", "false", "no", "0", "on", "true", "yes", "1"];

#[derive(Deserialize)]
struct Row {
    name: String,
    value: String,
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let rows: Vec<Row> = seen.rows()?;
    let mut judged = Judged::fine("each is known and within its limits");
    judged.findings.extend(rows.iter().filter_map(|row| wrong(row, &seen.around.schema_sql)));
    Ok(judged)
}

fn wrong(row: &Row, schema: &str) -> Option<Finding> {
    let Row { name, value } = row;
    let (severity, sentence) = match NUMBERS.iter().find(|(known, ..)| known == name) {
        Some((_, default, least, most)) => {
            let short = (1..=9).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit());
            match value.parse::<i64>().ok().filter(|_| short) {
                None => (Severity::Look, format!("{name} is '{value}', which is no number: {default} holds")),
                Some(number) if number < *least => {
                    (Severity::Look, format!("{name} is {number}: {least} holds, the least there is"))
                }
                Some(number) if number > *most => {
                    (Severity::Look, format!("{name} is {number}: {most} holds, the most there is"))
                }
                Some(_) => return None,
            }
        }
        None if name == "notify" && !SWITCH.contains(&value.as_str()) => {
            (Severity::Look, format!("notify is '{value}', which is neither on nor off: on holds"))
        }
        None if WORDS.contains(&name.as_str()) => return None,
        None => (Severity::Info, format!("a setting '{name}' is known to nobody")),
    };
    let quoted = name.replace('\'', "''");
    let next = match severity {
        Severity::Info => format!("DELETE FROM {schema}.queue_settings WHERE name = '{quoted}'"),
        _ => format!("UPDATE {schema}.queue_settings SET value = '...' WHERE name = '{quoted}'"),
    };
    Some(Judged::found(severity, sentence).fact(name, value).next(next).build())
}
