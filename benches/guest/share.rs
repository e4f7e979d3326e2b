//! How much of one core 1, 5 and 20 dashboards take from the database server, by `pg_stat_statements`; the processor time of
//! their sessions, by /proc, stands beside it.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use tokio_postgres::Client;

use crate::Fallible;
use crate::asked::Asked;
use crate::dashboard::Dashboard;
use crate::load::{Size, load};
use crate::proc::processor_time;
use crate::report::{Goal, Report, note};
use crate::server::{Server, connect};
use crate::stats::grouped;
use crate::traffic::Traffic;

const CROWDS: [usize; 3] = [1, 5, 20];
const CHANGES: f64 = 100.0;
/// The first readings of everything are over, and how dear they are is known.
const SETTLE: Duration = Duration::from_secs(20);
const SPAN: Duration = Duration::from_secs(30);
/// The dashboards' role, so that their statements are told from the rest.
const ROLE: &str = "guest_dashboard";

/// What a crowd took, in percent of one core.
struct Taken {
    /// By the server's own account of statements; where it has none, by the dashboards' own account.
    counted: f64,
    processor: Option<f64>,
}

pub(crate) async fn run(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    let size = Size { rows: asked.rows(), queues: 50 };
    let how = format!("{} jobs in 50 queues, {CHANGES} changes a second, percent of one core", grouped(size.rows));
    report.begin("share", &how);
    let client = load(server, size).await?;
    let counted = client.batch_execute("create extension pg_stat_statements").await.is_ok();
    if !counted {
        note("pg_stat_statements is not installed: the dashboards' own account (their header) stands in for it");
    }
    make_role(&client, counted).await?;
    let dsn = server.dsn(&size.database());
    let traffic = Traffic::start(&dsn, CHANGES, size.queues).await?;
    for crowd in CROWDS {
        let taken = measure(asked, &client, (&dsn, counted), crowd).await?;
        tell(crowd, &taken, report);
    }
    note(&format!("{:.0} changes a second came through", traffic.stop().await?));
    drop(client);
    server.remove(&size.database()).await
}

async fn make_role(client: &Client, counted: bool) -> Fallible<()> {
    let exists = client.query_opt("select from pg_roles where rolname = $1", &[&ROLE]).await?.is_some();
    if !exists {
        client.batch_execute(&format!("create role {ROLE} login; grant queue_operator to {ROLE}")).await?;
    }
    if counted {
        // Statements without a name are planned each time, and that belongs to their cost.
        client.batch_execute(&format!("alter role {ROLE} set pg_stat_statements.track_planning = on")).await?;
    }
    Ok(())
}

async fn measure(asked: &Asked, client: &Client, (dsn, counted): (&str, bool), crowd: usize) -> Fallible<Taken> {
    let as_role = dsn.replace("user=postgres", &format!("user={ROLE}"));
    connect(&as_role).await?;
    let dashboards = Dashboard::several(crowd, &as_role, "queue_").await?;
    if counted {
        dashboards.iter().for_each(Dashboard::look_away);
    }
    sleep(asked.span(SETTLE)).await;
    if counted {
        client.query("select pg_stat_statements_reset()", &[]).await?;
    }
    let pids = sessions(client).await?;
    let (before, began) = (processor_time(&pids), Instant::now());
    sleep(asked.span(SPAN)).await;
    let (after, took) = (processor_time(&pids), began.elapsed().as_secs_f64());
    let busy = if counted { statements(client).await? / 1e3 / took * 100.0 } else { own_account(&dashboards)? };
    for mut dashboard in dashboards {
        if dashboard.has_ended()? {
            return Err("a dashboard ended while it was measured".into());
        }
    }
    let processor = after.zip(before).map(|(after, before)| after.saturating_sub(before).as_secs_f64() / took * 100.0);
    Ok(Taken { counted: busy, processor })
}

/// The server's processes that work for the dashboards.
async fn sessions(client: &Client) -> Fallible<Vec<u32>> {
    let rows = client.query("select pid from pg_stat_activity where usename = $1", &[&ROLE]).await?;
    Ok(rows.iter().map(|row| row.get::<_, i32>(0).cast_unsigned()).collect())
}

/// Milliseconds of the dashboards' statements: planned and executed.
async fn statements(client: &Client) -> Fallible<f64> {
    let sql = "select coalesce(sum(total_plan_time + total_exec_time), 'NaN') from pg_stat_statements
               where userid = $1::text::regrole";
    Ok(client.query_one(sql, &[&ROLE]).await?.get(0))
}

/// What the headers say: `7.4 ms 0.8 %`.
fn own_account(dashboards: &[Dashboard]) -> Fallible<f64> {
    let mut sum = 0.0;
    for dashboard in dashboards {
        let text = dashboard.text();
        let words: Vec<&str> = text.lines().next().unwrap_or_default().split_whitespace().collect();
        let at = words.iter().position(|word| *word == "%").filter(|at| *at > 0).ok_or("no cost in the header")?;
        sum += words[at - 1].trim_start_matches('<').parse::<f64>()?;
    }
    Ok(sum)
}

fn tell(crowd: usize, taken: &Taken, report: &mut Report) {
    let each = taken.counted / crowd as f64;
    let processor = taken.processor.map_or("not known here".to_owned(), |percent| format!("{percent:.1} %"));
    let beside = format!("processor time of their sessions, all: {processor}");
    let what = if crowd == 1 { "1 dashboard".to_owned() } else { format!("{crowd} dashboards, each") };
    report.figure(&what, &format!("{each:.2} %; {beside}"), &Goal::at_most(each, 2.0, " %"));
    if crowd == 20 {
        let all = format!("{:.2} %", taken.counted);
        report.figure("20 dashboards together", &all, &Goal::at_most(taken.counted, 10.0, " %"));
    }
}
