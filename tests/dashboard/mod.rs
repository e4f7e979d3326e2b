//! The real binary in a real terminal on a real server.

mod acting;
mod detail;
mod endings;
mod hang_up;
mod refusals;
mod server;

use queuetop::private_pg::PrivatePg;
use tokio_postgres::Client;

use crate::support::pg::{self, Database};
use crate::support::pty::Pty;

/// A queue with two expired leases, three ready jobs, one scheduled.
pub(crate) async fn fill(client: &Client) {
    client
        .batch_execute(
            "select enqueue_job('emails', jsonb_build_object('n', n)) from generate_series(1, 5) n;
             select enqueue_job('emails', '{}', p_run_at => now() + interval '1 hour');
             select claim_jobs('emails', gen_random_uuid(), 2, interval '1 minute');
             update jobs set lease_until = now() - interval '4 minutes' where status = 'running';
             select enqueue_job('reports', '{}');",
        )
        .await
        .expect("jobs");
}

/// A migrated database with jobs, and the dashboard on it.
pub(crate) async fn dashboard(cols: u16, rows: u16) -> (Database, Client, Pty) {
    let database = pg::database().await;
    let client = database.client().await;
    fill(&client).await;
    let pty = Pty::spawn(&[&database.dsn()], cols, rows, &[]);
    (database, client, pty)
}

/// Migrates the `postgres` database of a server of a test's own and fills it.
pub(crate) async fn on_own_server(server: &PrivatePg) -> Client {
    let mut client = pg::connect(&server.dsn("postgres")).await;
    queuetop::engine::migrate::run(&mut client, &queuetop::engine::migrate::Options::default())
        .await
        .expect("migrated");
    fill(&client).await;
    client
}

/// Sessions of the dashboard in this database.
pub(crate) async fn sessions(client: &Client) -> i64 {
    let sql = "select count(*) from pg_stat_activity
               where application_name = 'queuetop' and datname = current_database()";
    client.query_one(sql, &[]).await.expect("sessions").get(0)
}

/// One column of one row, as text.
pub(crate) async fn text(client: &Client, sql: &str) -> String {
    client.query_one(sql, &[]).await.expect("a row").get(0)
}
