//! Notifications: a pooler in transaction mode takes LISTEN and delivers nothing, so it was tried.

use super::judged::Judged;
use super::{Check, How};
use crate::model::Severity;
use crate::model::checkup::Surroundings;

pub(super) const CHECK: Check = Check { id: "pooler", title: "notifications arrive", how: How::Known(judge) };

fn judge(around: &Surroundings) -> Judged {
    let mut judged = Judged::fine("a notification sent by one session arrived at another");
    if let Some(why) = &around.poll_only {
        let finding = Judged::found(Severity::Info, format!("changes are learned by polling only: {why}"))
            .next("connect directly, or through a pooler in session mode, to see changes at once");
        judged.findings.push(finding.build());
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::fixture::{judged, surroundings};

    #[test]
    fn polling_only_is_said() {
        let mut around = surroundings();
        assert_eq!(judged("pooler", &around, &[]).status, Status::Ok);
        around.poll_only = Some("a standby sends no notifications".into());
        let checked = judged("pooler", &around, &[]);
        assert_eq!(checked.status, Status::Info);
        assert!(checked.findings[0].sentence.ends_with("a standby sends no notifications"));
    }
}
