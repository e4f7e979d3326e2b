//! Reading as a superuser: it works, and every mistake works, too.

use super::judged::Judged;
use super::{Check, How};
use crate::model::Severity;
use crate::model::checkup::Surroundings;

pub(super) const CHECK: Check = Check { id: "superuser", title: "a superuser for reading", how: How::Known(judge) };

fn judge(around: &Surroundings) -> Judged {
    let mut judged = Judged::fine("the session is no superuser's");
    if around.superuser {
        let (viewer, operator) = (&around.groups_sql.viewer, &around.groups_sql.operator);
        let finding =
            Judged::found(Severity::Info, "the session is a superuser's: for a dashboard fewer rights are enough")
                .next(format!(
                    "CREATE ROLE somebody LOGIN IN ROLE {viewer}\n-- or, to act as well: IN ROLE {operator}"
                ));
        judged.findings.push(finding.build());
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::fixture::{judged, surroundings};

    #[test]
    fn it_is_a_hint_and_no_more() {
        let mut around = surroundings();
        assert_eq!(judged("superuser", &around, &[]).status, Status::Ok);
        around.superuser = true;
        assert_eq!(judged("superuser", &around, &[]).status, Status::Info);
    }
}
