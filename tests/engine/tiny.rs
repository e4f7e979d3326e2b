//! A backend of one table with one row: a number to read, and how long reading it naps.

use std::time::Duration;

use futures::future::BoxFuture;
use queuetop::backends::{ActRequest, Acted, Backend, Core, Handlings, Minutes};
use queuetop::db::{DbError, Limits, Session, Statement};
use queuetop::engine::Detect;
use queuetop::model::{
    BackendKind, DetailRequest, Failures, JobDetail, Lease, Page, PageRequest, Panel, PanelKind, PartRead, PartRequest,
    QueueId, QueueStats, Reading, Snapshot,
};
use uuid::Uuid;

pub(super) const CHANNEL: &str = "Tiny changes";
const LIMITS: Limits = Limits::within(Duration::from_secs(1));

#[derive(Debug, Clone, Default)]
pub(super) struct Tiny;

/// Makes the table.
pub(super) async fn install(admin: &tokio_postgres::Client) {
    let sql =
        "create table tiny (n int8 not null default 0, nap float8 not null default 0); insert into tiny default values";
    admin.batch_execute(sql).await.expect("the table");
}

/// The number in a snapshot.
pub(super) fn number(snapshot: &Snapshot) -> Option<u64> {
    snapshot.queues.first()?.ready.get()
}

fn queue() -> QueueId {
    QueueId { backend: BackendKind::Jobs, name: "tiny".into() }
}

impl Detect for Tiny {
    fn detect<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Vec<Box<dyn Backend>>, DbError>> {
        Box::pin(async move {
            let ask = Statement::new("select to_regclass('tiny') is not null");
            let rows = session.read_one("detect", ask, LIMITS).await?;
            let tiny: Box<dyn Backend> = Box::new(Self);
            Ok(if rows[0].get(0) { vec![tiny] } else { Vec::new() })
        })
    }
}

impl Backend for Tiny {
    fn kind(&self) -> BackendKind {
        BackendKind::Jobs
    }

    fn schema(&self) -> &'static str {
        "public"
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    fn may_act(&self) -> Result<(), String> {
        Ok(())
    }

    fn channel(&self) -> Option<String> {
        Some(CHANNEL.to_owned())
    }

    fn core<'a>(&'a self, session: &'a Session) -> BoxFuture<'a, Result<Core, DbError>> {
        Box::pin(async move {
            let ask = [Statement::new("select n, pg_sleep(nap)::text from tiny")];
            let batch = session.read_many("core", &ask, LIMITS).await?;
            let mut stats = QueueStats::unknown(queue());
            stats.ready = Reading::Exact(u64::try_from(batch.rows[0][0].get::<_, i64>(0)).unwrap());
            Ok(Core { taken_at: batch.server_time, queues: vec![stats], reaper_last: Reading::Unknown })
        })
    }

    fn leases<'a>(&'a self, _: &'a Session, _: u32) -> BoxFuture<'a, Result<Reading<Vec<Lease>>, DbError>> {
        Box::pin(async { Ok(Reading::Exact(Vec::new())) })
    }

    fn failures<'a>(&'a self, _: &'a Session) -> BoxFuture<'a, Result<Failures, DbError>> {
        Box::pin(async { Ok(Failures::default()) })
    }

    fn handling<'a>(&'a self, _: &'a Session) -> BoxFuture<'a, Result<Handlings, DbError>> {
        Box::pin(async { Ok(Handlings::default()) })
    }

    fn history<'a>(&'a self, _: &'a Session, _: Duration, _: Duration) -> BoxFuture<'a, Result<Minutes, DbError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn page<'a>(&'a self, _: &'a Session, _: &'a PageRequest) -> BoxFuture<'a, Result<Page, DbError>> {
        panic!("nothing here lists jobs")
    }

    fn panel<'a>(&'a self, _: &'a Session, _: PanelKind) -> BoxFuture<'a, Result<Panel, DbError>> {
        panic!("nothing here has full views")
    }

    fn detail<'a>(&'a self, _: &'a Session, _: &'a DetailRequest) -> BoxFuture<'a, Result<Option<JobDetail>, DbError>> {
        Box::pin(async { Ok(None) })
    }

    fn part<'a>(&'a self, _: &'a Session, _: &'a PartRequest) -> BoxFuture<'a, Result<PartRead, DbError>> {
        panic!("nothing here has long texts")
    }

    fn act<'a>(&'a self, _: &'a Session, _: &'a ActRequest) -> BoxFuture<'a, Result<Acted, DbError>> {
        panic!("nothing here acts")
    }

    fn lookup<'a>(&'a self, _: &'a Session, _: Uuid) -> BoxFuture<'a, Result<Option<Acted>, DbError>> {
        panic!("nothing here acts")
    }

    fn set_paused<'a>(
        &'a self,
        _: &'a Session,
        _: &'a str,
        _: bool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<bool, DbError>> {
        panic!("nothing here acts")
    }
}
