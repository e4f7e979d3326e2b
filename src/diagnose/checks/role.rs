//! What one role may do: the one that asks, or the one named.

use super::groups::object;
use super::judged::{Judged, Seen, few};
use super::rights::{self, Lacks};
use super::{Check, How};
use crate::model::Severity;
use crate::model::checkup::{Question, Surroundings};

pub(super) const CHECK: Check =
    Check { id: "role", title: "rights of the role", how: How::Asked { needs: &["queuetop_migrations"], ask, judge } };

fn ask(around: &Surroundings) -> Question {
    let role = &around.role;
    rights::ask(around, &[("viewer", role), ("worker", role), ("operator", role)])
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let around = seen.around;
    let (role, groups) = (&around.role_sql, &around.groups_sql);
    let lacks: Vec<Lacks> = seen.rows()?;
    if lacks.iter().any(|row| !row.role_there) {
        let mut judged = Judged::fine("");
        let finding = Judged::found(Severity::Info, format!("there is no role {role} yet")).next(format!(
            "CREATE ROLE {role} LOGIN IN ROLE {}\n-- or, to act as well: IN ROLE {}",
            groups.viewer, groups.operator
        ));
        judged.findings.push(finding.build());
        return Ok(judged);
    }
    let missing = |kind: &str| lacks.iter().find(|row| row.kind == kind).map_or(&[][..], |row| &row.missing);
    let may = |kind: &str| missing(kind).is_empty();
    let words: Vec<&str> = [("viewer", "read"), ("operator", "act"), ("worker", "work")]
        .into_iter()
        .filter_map(|(kind, word)| may(kind).then_some(word))
        .collect();
    let mut judged = Judged::fine(format!("{role} may {}", words.join(" and ")));
    let to_act = format!("GRANT {} TO {role}", groups.operator);
    let to_read = format!("GRANT {} TO {role}\n-- or, to act as well: {to_act}", groups.viewer);
    let finding = match (may("viewer"), may("operator"), may("worker")) {
        (true, true, _) => return Ok(judged),
        (true, false, _) => Judged::found(Severity::Info, format!("{role} may read and not act")).next(to_act),
        (false, _, true) => Judged::found(Severity::Info, format!("{role} may work and not read")).next(to_read),
        (false, _, false) => {
            let lacking: Vec<String> = missing("viewer").iter().map(|grant| object(grant)).collect();
            let sentence = format!("{role} may not see everything; it lacks {}", few(&lacking));
            let finding = Judged::found(Severity::Look, sentence).next(to_read);
            lacking.iter().fold(finding, |finding, right| finding.fact("lacks", right))
        }
    };
    judged.findings.push(finding.build());
    Ok(judged)
}
