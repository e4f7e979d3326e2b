//! This machine's clock against the server's. queuetop goes by the server's; who computes `run_at` from his own does not.

use super::judged::{Judged, Seen, question, whole};
use super::{Check, How};
use crate::fmt;
use crate::model::Severity;

pub(super) const CHECK: Check = Check {
    id: "clock",
    title: "clocks agree",
    how: How::Asked { needs: &[], ask: |around| question(around, "select 1 as one", vec![]), judge },
};

/// Less than this nobody notices in a queue.
const APART: f64 = 5.0;

fn judge(seen: &Seen<'_>) -> Result<Judged, String> {
    let answer = seen.answer;
    let apart = answer.client_time.seconds_since(answer.server_time).ok_or("the server's clock has no time")?;
    // The server looked at its clock at some moment between asking and hearing.
    let surely = (apart.abs() - answer.took.as_secs_f64()).max(0.0);
    let mut judged = Judged::fine("this machine's clock and the server's agree");
    if surely >= APART {
        let which = if apart > 0.0 { "ahead of" } else { "behind" };
        let span = fmt::span(whole(apart.abs()));
        let finding = Judged::found(Severity::Look, format!("this machine's clock is {span} {which} the server's"))
            .fact("server", answer.server_time.to_rfc3339())
            .fact("here", answer.client_time.to_rfc3339())
            .next(
                "set both by NTP; until then programs that compute run_at by a clock of their own miss it by that much",
            );
        judged.findings.push(finding.build());
    }
    Ok(judged)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Status;
    use super::super::fixture::{NOW, judged_answer, surroundings};
    use crate::model::checkup::Answer;

    #[test]
    fn a_slow_answer_is_no_skew() {
        let mut answer = Answer { rows: vec![], server_time: NOW, client_time: NOW, took: Duration::from_millis(2) };
        let status = |answer: &Answer| judged_answer("clock", &surroundings(), answer.clone());
        assert_eq!(status(&answer).status, Status::Ok);
        answer.client_time = NOW.plus(Duration::from_mins(10));
        let checked = status(&answer);
        assert_eq!(checked.findings[0].sentence, "this machine's clock is 10m ahead of the server's");
        answer.client_time = NOW.minus(Duration::from_secs(6));
        assert!(status(&answer).findings[0].sentence.contains("6s behind"));
        answer.took = Duration::from_secs(3);
        assert_eq!(status(&answer).status, Status::Ok);
    }
}
