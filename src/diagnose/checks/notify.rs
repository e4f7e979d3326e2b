//! Notifications: switched off, or a queue of them that fills because somebody listens and does not read.

use serde::Deserialize;

use super::judged::{Judged, Seen, question};
use super::{Check, How};
use crate::fmt;
use crate::model::Severity;

pub(super) const CHECK: Check = Check {
    id: "notify",
    title: "notifications are sent",
    how: How::Asked { needs: &["queue_settings"], ask: |around| question(around, SQL, vec![]), judge },
};

const SQL: &str = "
select exists (select from {schema}.queue_settings s where s.name = 'notify' and s.value in ('off', 'false', 'no', '0')) as off,
  case when pg_is_in_recovery() then 0 else pg_notification_queue_usage() end as usage";

/// A share of the queue that no healthy listener leaves unread.
const FILLING: f64 = 0.1;
/// From here on our functions send no more.
const MUTED: f64 = 0.5;

#[derive(Deserialize)]
struct Row {
    off: bool,
    usage: f64,
}

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let Row { off, usage } = seen.row()?;
    let mut judged =
        Judged::fine(format!("they are on, and the server's queue of them is {} full", fmt::percent(usage)));
    if usage >= FILLING {
        let muted = usage >= MUTED;
        let severity = if muted { Severity::Act } else { Severity::Look };
        let so = if muted {
            "queuetop's SQL sends none, and when it is full every commit that notifies fails"
        } else {
            "somebody listens and does not read"
        };
        let finding = Judged::found(severity, format!("the server's queue of notifications is {} full: {so}", fmt::percent(usage)))
            .fact("used", fmt::percent(usage))
            .next(
                "SELECT pid, usename, application_name, state, xact_start FROM pg_stat_activity WHERE xact_start < now() - interval '1 minute' ORDER BY xact_start\n\
                 -- the oldest of them that listens holds it: pg_terminate_backend(pid)",
            );
        judged.findings.push(finding.build());
    }
    if off {
        let finding = Judged::found(Severity::Info, "notifications are switched off: changes are learned by polling")
            .next(format!("DELETE FROM {}.queue_settings WHERE name = 'notify'", seen.around.schema_sql));
        judged.findings.push(finding.build());
    }
    Ok(judged)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Status;
    use super::super::fixture::{judged, surroundings};

    #[test]
    fn a_filling_queue_is_said_before_it_is_full() {
        for (usage, off, status) in [
            (0.0, false, Status::Ok),
            (0.09, false, Status::Ok),
            (0.1, false, Status::Warning),
            (0.5, false, Status::Critical),
            (0.0, true, Status::Info),
        ] {
            let checked = judged("notify", &surroundings(), &[json!({"off": off, "usage": usage})]);
            assert_eq!(checked.status, status, "{usage} {off}");
        }
    }
}
