//! Databases with many jobs: a tenth queued, few running, the rest completed. Loaded as from a dump, with triggers off and
//! indexes afterwards; then the counters are told the truth.

use std::time::Instant;

use queuetop::engine::migrate;
use tokio_postgres::Client;

use crate::Fallible;
use crate::report::say;
use crate::server::{Server, connect};
use crate::stats::grouped;

const JOBS: &str = "
    set session_replication_role = replica; set synchronous_commit = off; set maintenance_work_mem = '1GB';
    create temp table saved as select indexname, indexdef from pg_indexes
    where schemaname = 'public' and tablename = 'jobs' and indexname <> 'jobs_pkey';
    do $$ declare i record; begin
      for i in select * from saved loop execute format('drop index %I', i.indexname); end loop; end $$;
    insert into jobs (queue, payload, status, priority, run_at, attempts, locked_by, lease_until, claimed_at, completed_at)
    select 'queue_' || i / 10 % {queues}, '{\"to\": \"someone@example.com\", \"template\": \"welcome\"}', status, i % 4,
           now() + case when status = 'queued' and i % 100 = 0 then random() * interval '1 day' else random() * interval '-6 hours' end,
           case status when 'queued' then i / 10 % 4 else 1 end,
           case when status = 'running' then gen_random_uuid() end,
           case when status = 'running' then now() + (random() * 300 - 5) * interval '1 s' end,
           case when status <> 'queued' then now() - interval '10 s' end,
           case when status = 'completed' then now() - random() * interval '6 hours' end
    from (select i, case when i % 10 = 0 then 'queued' when i % 2000 = 1 then 'running' else 'completed' end as status
          from generate_series(1, {rows}) as i) as made;
    insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, failed_at, original_created_at)
    select gen_random_uuid(), 'queue_' || i % {queues}, '{}', 8, 8, 'no route to host ' || i % 7,
           now() - random() * interval '3 days', now() from generate_series(1, {rows} / 1000) as i;
    do $$ declare i record; begin for i in select * from saved loop execute i.indexdef; end loop; end $$;
    drop table saved; reset session_replication_role; reset synchronous_commit; reset maintenance_work_mem";

/// Also right for data that were loaded days ago: what has come due since is where a running installation would have it.
const RECOUNT: [&str; 4] =
    ["select recount_counters()", "select recount_signatures()", "vacuum (analyze)", "checkpoint"];

/// How many jobs in how many queues.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rows: u64,
    pub(crate) queues: u64,
}

impl Size {
    /// The name of a database of this size.
    pub(crate) fn database(self) -> String {
        format!("jobs_{}_{}", self.rows, self.queues)
    }

    fn sql(self) -> String {
        JOBS.replace("{rows}", &self.rows.to_string()).replace("{queues}", &self.queues.to_string())
    }
}

/// A fresh database of this size.
pub(crate) async fn load(server: &Server, size: Size) -> Fallible<Client> {
    let began = Instant::now();
    let mut client = server.create(&size.database()).await?;
    migrate::run(&mut client, &migrate::Options::default()).await?;
    if size.rows > 0 {
        client.batch_execute(&size.sql()).await?;
    }
    recount(&client).await?;
    let took = began.elapsed().as_secs_f64();
    say(&format!("{} jobs in {} queues loaded in {took:.1} s", grouped(size.rows), grouped(size.queues)));
    Ok(client)
}

/// A database of this size that an earlier run has left, else a fresh one. The comment of a whole one is what loaded it.
pub(crate) async fn load_or_keep(server: &Server, size: Size) -> Fallible<Client> {
    let name = size.database();
    let admin = server.admin().await?;
    let ask = "select 1 from pg_database where datname = $1 and shobj_description(oid, 'pg_database') = $2";
    if admin.query_opt(ask, &[&name, &size.sql()]).await?.is_some() {
        match refresh(&server.dsn(&name)).await {
            Ok(client) => return Ok(client),
            Err(error) => say(&format!("{name} from an earlier run is of no use any more: {error}")),
        }
    }
    let client = load(server, size).await?;
    let comment = format!("comment on database {name} is {}", migrate::quote_literal(&size.sql()));
    admin.batch_execute(&comment).await?;
    Ok(client)
}

async fn refresh(dsn: &str) -> Fallible<Client> {
    let mut client = connect(dsn).await?;
    migrate::run(&mut client, &migrate::Options::default()).await?;
    recount(&client).await?;
    Ok(client)
}

async fn recount(client: &Client) -> Fallible<()> {
    for sql in RECOUNT {
        client.batch_execute(sql).await?;
    }
    Ok(())
}
