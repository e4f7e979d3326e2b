//! What one reading of the numbers costs the database, beside the metric queries that one would write without counters.
//!
//! `cargo bench --bench poll` starts a PostgreSQL of its own, loads tables of growing size (a tenth of the jobs queued) and
//! prints a table. `-- --rows 10000000` takes that size, `--big` adds ten million rows, `--queues 1000` spreads them.
//! It needs about 4 GB in the temporary folder for ten million rows.

use std::error::Error;
use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use queuetop::backends::{self, Backend};
use queuetop::db::{ConnInfo, Connector, Env, Purpose, Session, SqlLog};
use queuetop::engine::migrate;
use queuetop::private_pg::{Options, PrivatePg};
use tokio_postgres::{Client, NoTls};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Readings of ours for one figure.
const READINGS: usize = 21;
/// Readings by the plain queries, which take long.
const PLAIN_READINGS: usize = 3;

/// The five metrics of a queue table as plain queries: depth, oldest ready, running and expired, what ended lately, attempts.
const PLAIN: [&str; 5] = [
    "select queue, count(*) from jobs where status = 'queued' group by queue",
    "select queue, count(*) as queued, min(run_at) from jobs where status = 'queued' and run_at <= now()
     group by queue order by queued desc",
    "select queue, count(*), count(*) filter (where lease_until < now()) from jobs where status = 'running' group by queue",
    "select queue, count(*) from jobs where status = 'completed' and completed_at > now() - interval '5 minutes' group by queue",
    "select queue, attempts, count(*) from jobs where status in ('queued', 'running') group by queue, attempts",
];

/// Triggers are off and indexes come afterwards, as in a restored dump.
const LOAD: &str = "
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
    do $$ declare i record; begin for i in select * from saved loop execute i.indexdef; end loop; end $$;";

/// What was asked for on the command line.
struct Asked {
    rows: Vec<u64>,
    queues: u64,
}

impl Asked {
    fn read(mut words: impl Iterator<Item = String>) -> Fallible<Self> {
        let mut asked = Self { rows: Vec::new(), queues: 50 };
        let mut big = false;
        while let Some(word) = words.next() {
            let mut number = || -> Fallible<u64> { Ok(words.next().ok_or("a number is missing")?.parse()?) };
            match word.as_str() {
                "--rows" => asked.rows.push(number()?),
                "--queues" => asked.queues = number()?.max(1),
                "--big" => big = true,
                "--bench" => {} // cargo says so
                other => return Err(format!("unknown argument {other}; known: --rows N, --queues N, --big").into()),
            }
        }
        if asked.rows.is_empty() {
            asked.rows = vec![10_000, 100_000, 1_000_000];
        }
        asked.rows.extend(big.then_some(10_000_000));
        Ok(asked)
    }
}

/// Least, middle and most of some times.
struct Spread([Duration; 3]);

impl Spread {
    fn of(mut times: Vec<Duration>) -> Fallible<Self> {
        times.sort_unstable();
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            return Err("nothing was measured".into());
        };
        Ok(Self([*first, times[times.len() / 2], *last]))
    }

    fn millis(&self, which: usize) -> f64 {
        self.0[which].as_secs_f64() * 1e3
    }
}

#[tokio::main]
async fn main() -> Fallible<()> {
    let asked = Asked::read(std::env::args().skip(1))?;
    let settings = [("shared_buffers", "1GB"), ("max_wal_size", "8GB"), ("checkpoint_timeout", "1h")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let options = Options { fetch: true, settings, ..Options::default() };
    let server = PrivatePg::start(&options, &mut |line| eprintln!("{line}"))?;
    let mut out = stdout().lock();
    writeln!(
        out,
        "{:>10} {:>7} {:>28} {:>28} {:>12}",
        "jobs", "queues", "our poll, ms", "five plain queries, ms", "load, s"
    )?;
    writeln!(out, "{:>18} {:>28} {:>28}", "", "least / median / most", "least / median / most")?;
    for rows in &asked.rows {
        let name = format!("jobs_{rows}");
        let (admin, connection) = tokio_postgres::connect(&server.dsn("postgres"), NoTls).await?;
        tokio::spawn(connection);
        admin.batch_execute(&format!("create database {name}")).await?;
        let dsn = server.dsn(&name);
        let began = Instant::now();
        let client = load(&dsn, *rows, asked.queues).await?;
        let loaded = began.elapsed();
        let ours = Spread::of(poll(&dsn).await?)?;
        let plain = Spread::of(plain(&client).await?)?;
        let three =
            |times: &Spread| format!("{:.1} / {:.1} / {:.1}", times.millis(0), times.millis(1), times.millis(2));
        writeln!(
            out,
            "{rows:>10} {:>7} {:>28} {:>28} {:>12.1}",
            asked.queues,
            three(&ours),
            three(&plain),
            loaded.as_secs_f64()
        )?;
        drop(client);
        admin.batch_execute(&format!("drop database {name} with (force)")).await?;
    }
    Ok(())
}

async fn load(dsn: &str, rows: u64, queues: u64) -> Fallible<Client> {
    let (mut client, connection) = tokio_postgres::connect(dsn, NoTls).await?;
    tokio::spawn(connection);
    migrate::run(&mut client, &migrate::Options::default()).await?;
    let sql = LOAD.replace("{rows}", &rows.to_string()).replace("{queues}", &queues.to_string());
    client.batch_execute(&sql).await?;
    client.batch_execute("reset session_replication_role; select recount_counters()").await?;
    for table in ["jobs", "dead_letter_jobs", "job_counts", "job_slots", "queue_counters", "counter_fold"] {
        client.batch_execute(&format!("vacuum (analyze) {table}")).await?;
    }
    Ok(client)
}

/// Database time of our readings, by the server's clock; the first one, with cold caches in the session, counts too.
async fn poll(dsn: &str) -> Fallible<Vec<Duration>> {
    let surroundings = Env { home: None, ..Env::of_process() };
    let connector = Connector::new(ConnInfo::resolve(Some(dsn), &surroundings)?, SqlLog::default());
    let session: Session = connector.connect(Purpose::Read).await?;
    let found = backends::all(&session, None).await?;
    let jobs: &dyn Backend = found.first().ok_or("no jobs table was found")?.as_ref();
    // The first reading also compares one queue with its rows, as it does once a minute.
    jobs.core(&session).await?;
    let mut times = Vec::new();
    for _ in 0..READINGS {
        let before = session.busy();
        let core = jobs.core(&session).await?;
        times.push(session.busy().saturating_sub(before));
        if core.queues.is_empty() {
            return Err("the numbers are empty".into());
        }
    }
    Ok(times)
}

/// The same figures by plain queries, one after the other.
async fn plain(client: &Client) -> Fallible<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..PLAIN_READINGS {
        let began = Instant::now();
        for sql in PLAIN {
            client.query(sql, &[]).await?;
        }
        times.push(began.elapsed());
    }
    Ok(times)
}
