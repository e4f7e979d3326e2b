//! The three groups that rights come in: are they there, and have they what they should.

use super::judged::{Judged, Seen, few, several};
use super::rights::{self, Lacks};
use super::{Check, How};
use crate::model::Severity;
use crate::model::checkup::{Question, Surroundings};

pub(super) const CHECK: Check = Check {
    id: "groups",
    title: "rights of the groups",
    how: How::Asked { needs: &["queuetop_migrations"], ask, judge },
};

fn ask(around: &Surroundings) -> Question {
    let groups = &around.groups;
    rights::ask(around, &[("viewer", &groups.viewer), ("worker", &groups.worker), ("operator", &groups.operator)])
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let around = seen.around;
    let names = &around.groups_sql;
    let mut judged = Judged::fine(format!(
        "{}, {} and {} have their rights; for a new role: GRANT {} TO it (reads) or GRANT {} TO it (reads and acts)",
        names.viewer, names.worker, names.operator, names.viewer, names.operator
    ));
    for Lacks { kind, role_there, missing } in seen.rows::<Lacks>()? {
        let (group, so, severity) = match kind.as_str() {
            "viewer" => (&names.viewer, "its members cannot see all", Severity::Look),
            "worker" => (&names.worker, "workers fail", Severity::Act),
            _ => (&names.operator, "its members cannot do all", Severity::Look),
        };
        if !role_there {
            let finding = Judged::found(severity, format!("the group {group} does not exist"))
                .next(format!("CREATE ROLE {group} NOLOGIN\nSELECT {}.queuetop_apply_rights()", around.schema_sql));
            judged.findings.push(finding.build());
        } else if !missing.is_empty() {
            let what = several(missing.len(), "right is", "rights are");
            let short: Vec<String> = missing.iter().map(|grant| object(grant)).collect();
            let finding = Judged::found(severity, format!("{group}: {what} missing, so {so}: {}", few(&short)));
            let finding = short.iter().fold(finding, |finding, right| finding.fact("missing", right));
            judged.findings.push(finding.next(missing.join("\n")).build());
        }
    }
    Ok(judged)
}

/// `GRANT SELECT ON public.jobs TO queue_viewer` → `SELECT ON public.jobs`
pub(super) fn object(grant: &str) -> String {
    let without = grant.strip_prefix("GRANT ").unwrap_or(grant);
    let without = without.rsplit_once(" TO ").map_or(without, |(what, _)| what);
    without.split('(').next().unwrap_or(without).to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_grant_is_told_in_short() {
        let grant = "GRANT EXECUTE ON FUNCTION public.claim_jobs(p_queue text, p_worker uuid) TO \"a TO b\"";
        assert_eq!(super::object(grant), "EXECUTE ON FUNCTION public.claim_jobs");
        assert_eq!(super::object("GRANT SELECT ON q.jobs TO x"), "SELECT ON q.jobs");
    }
}
