//! A session that reads the numbers as the dashboard does, and says what that cost the database by the server's own clock.

use std::time::Duration;

use queuetop::backends::{self, Backend};
use queuetop::db::{ConnInfo, Connector, Env, Purpose, Session, SqlLog};

use crate::Fallible;

/// As many as the dashboard reads at most.
const LEASES: u32 = 500;

pub(crate) struct Reader {
    session: Session,
    backends: Vec<Box<dyn Backend>>,
}

impl Reader {
    pub(crate) async fn connect(dsn: &str) -> Fallible<Self> {
        let surroundings = Env { home: None, ..Env::of_process() };
        let connector = Connector::new(ConnInfo::resolve(Some(dsn), &surroundings)?, SqlLog::default());
        let session = connector.connect(Purpose::Read).await?;
        let backends = backends::all(&session, None).await?;
        Ok(Self { session, backends })
    }

    fn jobs(&self) -> Fallible<&dyn Backend> {
        Ok(self.backends.first().ok_or("no jobs table was found")?.as_ref())
    }

    /// One reading of the core numbers: what every poll reads.
    pub(crate) async fn core(&self) -> Fallible<Duration> {
        let before = self.session.busy();
        if self.jobs()?.core(&self.session).await?.queues.is_empty() {
            return Err("the numbers are empty".into());
        }
        Ok(self.session.busy().saturating_sub(before))
    }

    /// One reading of the lists that belong to a frame, which have slower rhythms: leases (a second), failures (five).
    pub(crate) async fn lists(&self) -> Fallible<Duration> {
        let before = self.session.busy();
        let jobs = self.jobs()?;
        jobs.leases(&self.session, LEASES).await?;
        jobs.failures(&self.session).await?;
        Ok(self.session.busy().saturating_sub(before))
    }
}
