//! What claiming one job costs, whatever waits behind it, beside the plain claim on the same rows in the same run, in turn.

use std::time::Instant;

use queuetop::engine::migrate;
use tokio_postgres::Client;

use crate::Fallible;
use crate::asked::Asked;
use crate::plain;
use crate::report::{Report, beside};
use crate::server::Server;
use crate::stats::{Sample, grouped, millis};

/// Claims measured for one figure, each of one job.
const CLAIMS: usize = 300;
/// Claims before that, so that every plan is the generic one by then.
const WARM_UP: usize = 20;

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

pub(crate) async fn run(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    let rows = asked.rows();
    report.begin("claim", &format!("time of one claim of one job with {} others waiting behind it", grouped(rows)));
    for (name, behind) in BEHIND {
        let ours = database(server, "claim_ours", behind, rows).await?;
        let plain = database(server, "claim_plain", behind, rows).await?;
        let (ours, plain) = measure(&ours, &plain, asked.times(CLAIMS)).await?;
        beside(&format!("behind it {name}: ours"), &ours.in_millis());
        beside("  beside: the plain claim", &plain.in_millis());
    }
    server.remove("claim_ours").await?;
    server.remove("claim_plain").await
}

/// A fresh database with one kind of queue, what waits behind, and jobs to claim.
async fn database(server: &Server, name: &str, behind: &str, rows: u64) -> Fallible<Client> {
    let mut client = server.create(name).await?;
    if name == "claim_ours" {
        migrate::run(&mut client, &migrate::Options::default()).await?;
    } else {
        client.batch_execute(&plain::tables()?).await?;
        client.batch_execute(plain::statement("claim function")?).await?;
    }
    client.batch_execute(&behind.replace("{rows}", &rows.to_string())).await?;
    client.batch_execute(&READY.replace("{rows}", &(WARM_UP + CLAIMS).to_string())).await?;
    client.batch_execute("vacuum (analyze) jobs").await?;
    Ok(client)
}

/// Claims in turn on both, so that the machine's moods hit both alike.
async fn measure(ours: &Client, plain: &Client, claims: usize) -> Fallible<(Sample, Sample)> {
    let (mut our_times, mut plain_times) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + claims {
        let pair = (claim(ours).await?, claim(plain).await?);
        if round >= WARM_UP {
            our_times.push(pair.0);
            plain_times.push(pair.1);
        }
    }
    Ok((Sample::of(our_times)?, Sample::of(plain_times)?))
}

async fn claim(client: &Client) -> Fallible<f64> {
    let began = Instant::now();
    let rows = client.query("select id from claim_jobs('emails', gen_random_uuid(), 1)", &[]).await?;
    let took = millis(began.elapsed());
    if rows.len() == 1 { Ok(took) } else { Err(format!("claimed {} jobs instead of 1", rows.len()).into()) }
}
