//! The server: is it one that our SQL runs on, and does it take writes.

use super::judged::Judged;
use super::{Check, How};
use crate::model::Severity;
use crate::model::checkup::Surroundings;

pub(super) const CHECK: Check = Check { id: "server", title: "server version", how: How::Known(judge) };

/// The oldest server that has everything the migrations use.
const OLDEST: i32 = 13_00_00;

fn judge(around: &Surroundings) -> Judged {
    let kind = if around.standby { "a standby: it is read, and takes no writes" } else { "a primary" };
    let mut judged = Judged::fine(format!("PostgreSQL {}, {kind}", around.server));
    if around.server_num < OLDEST {
        judged.findings.push(
            Judged::found(Severity::Act, "the server is older than PostgreSQL 13, which queuetop's SQL needs")
                .fact("server", &around.server)
                .next("upgrade the server")
                .build(),
        );
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::fixture::{judged, surroundings};

    #[test]
    fn thirteen_is_enough() {
        let mut around = surroundings();
        around.server_num = 13_00_00;
        assert_eq!(judged("server", &around, &[]).status, Status::Ok);
        around.server_num = 12_00_22;
        assert_eq!(judged("server", &around, &[]).status, Status::Critical);
        around.server_num = 16_00_04;
        around.standby = true;
        let checked = judged("server", &around, &[]);
        assert!(checked.status == Status::Ok && checked.fine.contains("standby"), "{checked:?}");
    }
}
