//! What is installed: no queue, only its tables, an older or a newer version than this program brings, or several queues.

use std::cmp::Ordering;

use super::judged::{Judged, few};
use super::{Check, How};
use crate::model::checkup::Surroundings;
use crate::model::{Finding, Reading, Severity};

pub(super) const CHECK: Check = Check { id: "installed", title: "what is installed", how: How::Known(judge) };

fn judge(around: &Surroundings) -> Judged {
    let schema = &around.schema_sql;
    let version = around.version.get().flatten().map_or_else(|| "?".to_owned(), |version| version.to_string());
    let mut judged = Judged::fine(format!("version {version} in schema {schema}, as this program brings"));
    if around.schema.is_none() {
        judged.findings.push(nothing(around));
        return judged;
    }
    judged.findings.extend(another_version(around));
    if around.version.value().is_none() {
        judged.unseen.push("queuetop_migrations may not be read, so the version is not known".to_owned());
    }
    if !around.schema_named && !around.elsewhere.is_empty() {
        let sentence = format!("there are more queues in this database; this is the one in {schema}");
        let finding = Judged::found(Severity::Info, sentence).fact("also in", few(&around.elsewhere));
        judged.findings.push(finding.next("--schema NAME looks at another one").build());
    }
    judged
}

fn nothing(around: &Surroundings) -> Finding {
    let place = if around.schema_named { "in the schema named" } else { "in any schema of this database" };
    let found = Judged::found(Severity::Act, format!("no jobs table of queuetop's design {place}"));
    let found = around.elsewhere.iter().fold(found, |found, schema| found.fact("installed in", schema));
    found.next("queuetop migrate").build()
}

fn another_version(around: &Surroundings) -> Option<Finding> {
    let (schema, newest) = (&around.schema_sql, around.newest);
    let migrate = format!("queuetop migrate --schema {schema}");
    let found =
        |sentence: String| Judged::found(Severity::Look, sentence).fact("this program brings", newest.to_string());
    let Reading::Exact(version) = around.version else {
        return None;
    };
    let Some(version) = version else {
        let sentence = format!(
            "schema {schema} has the tables alone: without queuetop's SQL numbers stop at a limit, and nothing can be acted on"
        );
        let found = around.notes.iter().fold(found(sentence), |found, note| found.fact("so", note));
        return Some(found.next(migrate).build());
    };
    let at = format!("schema {schema} is at version {version}");
    let (sentence, next) = match version.cmp(&newest) {
        Ordering::Equal => return None,
        Ordering::Less => (format!("{at}, this program brings {newest}"), migrate),
        Ordering::Greater => {
            (format!("{at}, newer than this program, which knows {newest}"), "use a newer queuetop".into())
        }
    };
    Some(found(sentence).fact("installed", version.to_string()).next(next).build())
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::fixture::{judged, surroundings};
    use crate::model::Reading;

    #[test]
    fn the_version_is_compared_with_ours() {
        let mut around = surroundings();
        let newest = around.newest;
        for (version, status, says) in [
            (Reading::Exact(Some(newest)), Status::Ok, ""),
            (Reading::Exact(Some(newest - 1)), Status::Warning, "this program brings"),
            (Reading::Exact(Some(newest + 1)), Status::Warning, "newer than this program"),
            (Reading::Exact(None), Status::Warning, "tables alone"),
            (Reading::Denied, Status::Unknown, ""),
        ] {
            around.version = version;
            let checked = judged("installed", &around, &[]);
            assert_eq!(checked.status, status, "{version:?}");
            let sentence = checked.findings.first().map_or("", |finding| finding.sentence.as_str());
            assert!(sentence.contains(says), "{sentence}");
        }
    }

    #[test]
    fn another_queue_is_mentioned_unless_one_was_named() {
        let mut around = surroundings();
        around.elsewhere = vec!["other".into()];
        assert_eq!(judged("installed", &around, &[]).status, Status::Info);
        around.schema_named = true;
        assert_eq!(judged("installed", &around, &[]).status, Status::Ok);
    }
}
