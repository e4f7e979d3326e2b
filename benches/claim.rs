//! What claiming one job costs, whatever waits behind it, beside the plain form that one would write first.
//!
//! `cargo bench --bench claim` starts a PostgreSQL of its own and prints a table: our `claim_jobs` and the plain function
//! (`tests/data/table_queue.sql`) on the same rows in the same run, in turn. `-- --rows 100000` makes it smaller.

use std::error::Error;
use std::io::{Write, stderr, stdout};
use std::time::{Duration, Instant};

use queuetop::engine::migrate;
use queuetop::private_pg::{Options, PrivatePg};
use tokio_postgres::{Client, NoTls};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Claims measured for one figure, each of one job.
const CLAIMS: usize = 300;
/// Claims before that, so that every plan is the generic one by then.
const WARM_UP: usize = 20;

/// The plain queue: its tables, indexes and claim function.
const PLAIN: &str = include_str!("../tests/data/table_queue.sql");

/// The parts of it that make a queue to claim from.
const PARTS: [&str; 3] = ["jobs", "indexes", "claim function"];

/// Jobs that can be claimed.
const READY: &str = "insert into jobs (queue, payload) select 'emails', '{}' from generate_series(1, {rows})";

/// What waits behind the job that is claimed. `{rows}` is the size asked for.
const BEHIND: [(&str, &str); 5] = [
    ("nothing", ""),
    ("ready jobs", READY),
    (
        "scheduled, higher priority",
        "insert into jobs (queue, payload, priority, run_at)
         select 'emails', '{}', 10, now() + interval '1 day' from generate_series(1, {rows})",
    ),
    (
        "scheduled, 100 priorities",
        "insert into jobs (queue, payload, priority, run_at)
         select 'emails', '{}', 1 + i % 100, now() + interval '1 day' from generate_series(1, {rows}) i",
    ),
    (
        "exhausted, higher priority",
        "insert into jobs (queue, payload, priority, attempts)
         select 'emails', '{}', 10, 8 from generate_series(1, {rows})",
    ),
];

#[tokio::main]
async fn main() -> Fallible<()> {
    let rows = rows(std::env::args().skip(1))?;
    let settings = [("shared_buffers", "1GB"), ("max_wal_size", "8GB"), ("checkpoint_timeout", "1h")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let options = Options { fetch: true, settings, ..Options::default() };
    let mut say = |line: &str| drop(writeln!(stderr(), "{line}"));
    let server = PrivatePg::start(&options, &mut say)?;
    let admin = connect(&server.dsn("postgres")).await?;
    let mut out = stdout().lock();
    writeln!(out, "{:<28} {:>9}  {:>26}  {:>26}", "waiting behind", "rows", "ours, ms", "plain, ms")?;
    writeln!(out, "{:<28} {:>9}  {:>26}  {:>26}", "", "", "median / 99 % / most", "median / 99 % / most")?;
    for (name, sql) in BEHIND {
        let ours = database(&server, &admin, "ours", sql, rows).await?;
        let plain = database(&server, &admin, "plain", sql, rows).await?;
        let (ours, plain) = measure(&ours, &plain).await?;
        let rows = if sql.is_empty() { 0 } else { rows };
        writeln!(out, "{name:<28} {rows:>9}  {:>26}  {:>26}", spread(&ours), spread(&plain))?;
    }
    Ok(())
}

fn rows(mut words: impl Iterator<Item = String>) -> Fallible<u64> {
    let mut rows = 1_000_000;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => rows = words.next().ok_or("a number is missing")?.parse()?,
            "--bench" => {} // cargo says so
            other => return Err(format!("unknown argument {other}; known: --rows N").into()),
        }
    }
    Ok(rows)
}

async fn connect(dsn: &str) -> Fallible<Client> {
    let (client, connection) = tokio_postgres::connect(dsn, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// A fresh database with one kind of queue, what waits behind, and jobs to claim.
async fn database(server: &PrivatePg, admin: &Client, kind: &str, behind: &str, rows: u64) -> Fallible<Client> {
    admin.batch_execute(&format!("drop database if exists {kind} with (force)")).await?;
    admin.batch_execute(&format!("create database {kind}")).await?;
    let mut client = connect(&server.dsn(kind)).await?;
    if kind == "ours" {
        migrate::run(&mut client, &migrate::Options::default()).await?;
    } else {
        client.batch_execute(&plain_schema()).await?;
    }
    client.batch_execute(&behind.replace("{rows}", &rows.to_string())).await?;
    let claimed = (WARM_UP + CLAIMS).to_string();
    client.batch_execute(&READY.replace("{rows}", &claimed)).await?;
    client.batch_execute("vacuum (analyze) jobs").await?;
    Ok(client)
}

fn plain_schema() -> String {
    let parts = PLAIN.split("-- @ ").filter_map(|part| part.split_once('\n'));
    parts.filter(|(name, _)| PARTS.contains(name)).map(|(_, sql)| sql).collect()
}

/// Claims in turn on both, so that the machine's moods hit both alike.
async fn measure(ours: &Client, plain: &Client) -> Fallible<(Vec<Duration>, Vec<Duration>)> {
    let (mut our_times, mut plain_times) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + CLAIMS {
        let pair = (claim(ours).await?, claim(plain).await?);
        if round >= WARM_UP {
            our_times.push(pair.0);
            plain_times.push(pair.1);
        }
    }
    our_times.sort_unstable();
    plain_times.sort_unstable();
    Ok((our_times, plain_times))
}

async fn claim(client: &Client) -> Fallible<Duration> {
    let began = Instant::now();
    let rows = client.query("select id from claim_jobs('emails', gen_random_uuid(), 1)", &[]).await?;
    let took = began.elapsed();
    if rows.len() == 1 { Ok(took) } else { Err(format!("claimed {} jobs instead of 1", rows.len()).into()) }
}

fn spread(sorted: &[Duration]) -> String {
    let at = |share: usize| sorted[(sorted.len() - 1) * share / 100].as_secs_f64() * 1e3;
    format!("{:.2} / {:.2} / {:.2}", at(50), at(99), at(100))
}
