//! How many dashboards watch the same server: together they are to stay a bounded guest, too.

use std::time::Duration;

use super::rhythm::Pace;
use crate::db::{DbError, Limits, Session, Statement};

/// Most database time of all dashboards of a server as a share of wall time.
const TOGETHER: f64 = 0.10;
/// Each has a session that polls and one that listens; the one that acts is gone at once.
const SESSIONS_EACH: i64 = 2;

/// The pace of one of so many dashboards: what was asked for, or its share of what all may take. Who asks for more than all may
/// take has it while alone.
pub(super) fn share(pace: Pace, dashboards: u32) -> Pace {
    Pace { load: pace.load.min(pace.load.max(TOGETHER) / f64::from(dashboards.max(1))), ..pace }
}

/// Counts the dashboards of the server by the name of their sessions, this one with them. A role without rights sees the names of
/// all sessions; through a pooler, which shares sessions, they may be fewer.
///
/// # Errors
/// When it cannot be read.
pub(super) async fn count(session: &Session) -> Result<u32, DbError> {
    let ask = Statement::new(
        "select count(*) from pg_catalog.pg_stat_activity where application_name = current_setting('application_name')",
    );
    let rows = session.read_one("dashboards", ask, Limits::within(Duration::from_secs(1))).await?;
    let sessions: i64 = rows.first().map_or(Ok(1), |row| row.try_get(0).map_err(|e| DbError::of_driver(&e)))?;
    Ok(u32::try_from((sessions + SESSIONS_EACH - 1) / SESSIONS_EACH).unwrap_or(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_keep_their_pace_and_many_share() {
        let pace = Pace { interval: Duration::from_secs(1), load: 0.02 };
        assert_eq!((share(pace, 0), share(pace, 1), share(pace, 5)), (pace, pace, pace));
        assert!((share(pace, 20).load - 0.005).abs() < 1e-9);
        assert_eq!(share(pace, 20).interval, pace.interval);
        let greedy = Pace { load: 0.5, ..pace };
        assert_eq!(share(greedy, 1), greedy);
        assert!((share(greedy, 2).load - 0.25).abs() < 1e-9);
    }
}
