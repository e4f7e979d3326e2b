//! The queues that are compared, each as a database to copy for every measurement, so that all begin from the same state.

use queuetop::engine::migrate;
use tokio_postgres::Client;

use crate::Fallible;
use crate::plain;
use crate::server::Server;

/// A queue, and who watches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// The plain tables with our functions, but without what we count, keep and tell.
    Bare,
    /// The plain tables with their own claim and complete.
    Plain,
    /// Ours.
    Ours,
    /// Ours with dashboards attached.
    Watched,
    /// That with a NOTIFY in every statement.
    Noisy,
}

pub(super) const ALL: [Kind; 5] = [Kind::Bare, Kind::Plain, Kind::Ours, Kind::Watched, Kind::Noisy];

const READY: &str = "insert into jobs (queue, payload)
    select 'emails', '{\"to\": \"someone@example.com\", \"template\": \"welcome\"}' from generate_series(1, {rows})";

/// What everybody writes first. Not ours: ours is limited to ten a second.
const NOISE: &str = "
    create function notify_always() returns trigger language plpgsql as $$
    begin perform pg_notify('queuetop', 'public'); return null; end $$;
    create trigger notify_always after insert or update or delete on jobs for each statement execute function notify_always()";

/// Functions of ours that work on the plain tables, with the marks of lines that do not belong there, where they have them, and
/// how many lines each takes: what we keep beside the job, the look for a pause, and folding the counters. What a later version
/// may do besides, and this does not know, fails there for want of our tables.
const BORROWED: [(&str, &[(&str, usize)]); 5] = [
    ("check_between", &[]),
    ("check_given", &[]),
    ("check_lease", &[]),
    ("claim_jobs", &[("claimed_at = now()", 1), ("queues q where", 3), ("fold_counters_step()", 1)]),
    ("complete_job", &[("fold_counters_step()", 1)]),
];

impl Kind {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Bare => "bare (our functions)",
            Self::Plain => "the plain functions",
            Self::Ours => "ours",
            Self::Watched => "ours, 3 dashboards",
            Self::Noisy => "+ NOTIFY always",
        }
    }

    pub(super) fn dashboards(self) -> usize {
        if matches!(self, Self::Watched | Self::Noisy) { 3 } else { 0 }
    }

    /// The database to copy.
    pub(super) fn template(self) -> &'static str {
        match self {
            Self::Bare => "template_bare",
            Self::Plain => "template_plain",
            Self::Ours | Self::Watched => "template_ours",
            Self::Noisy => "template_noisy",
        }
    }

    /// Completes a job ($1), or several ($1), of a worker ($2): one statement that answers with a row for each.
    pub(super) fn complete(self, ends: Ends) -> Fallible<String> {
        let plain = plain::statement("complete")?.replace(":worker_id", "$2").replace(';', "");
        Ok(match (ends, self) {
            // The same statement for all: there is no function for it.
            (Ends::Together, _) => plain.replace("= :job_id", "= any($1)"),
            (Ends::Each, Self::Plain) => plain.replace(":job_id", "$1"),
            (Ends::Each, _) => "select where complete_job($1, $2)".to_owned(),
        })
    }
}

/// How the jobs of a batch end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ends {
    /// Each in a transaction of its own, as with the reference worker, whose jobs end when they end.
    Each,
    /// All in one statement, as in a worker that waits for the last of them.
    Together,
}

/// Makes the databases to copy, each with so many ready jobs.
pub(super) async fn prepare(server: &Server, ready: u64) -> Fallible<()> {
    // Ours first: bare borrows from it.
    let mut ours = server.create(Kind::Ours.template()).await?;
    migrate::run(&mut ours, &migrate::Options::default()).await?;
    let bare = server.create(Kind::Bare.template()).await?;
    bare.batch_execute(&plain::tables()?).await?;
    for (name, marks) in BORROWED {
        bare.batch_execute(&borrow(&ours, name, marks).await?).await?;
    }
    let plain = server.create(Kind::Plain.template()).await?;
    plain.batch_execute(&plain::tables()?).await?;
    plain.batch_execute(plain::statement("claim function")?).await?;
    let mut noisy = server.create(Kind::Noisy.template()).await?;
    migrate::run(&mut noisy, &migrate::Options::default()).await?;
    noisy.batch_execute(NOISE).await?;
    for client in [&ours, &bare, &plain, &noisy] {
        client.batch_execute(&READY.replace("{rows}", &ready.to_string())).await?;
    }
    for client in [&ours, &noisy] {
        client.batch_execute("select fold_counters_step()").await?;
    }
    for client in [&ours, &bare, &plain, &noisy] {
        client.batch_execute("vacuum (analyze)").await?;
    }
    drop((ours, bare, plain, noisy));
    server.admin().await?.batch_execute("checkpoint").await?;
    Ok(())
}

/// Removes them.
pub(super) async fn clear(server: &Server) -> Fallible<()> {
    for kind in [Kind::Bare, Kind::Plain, Kind::Ours, Kind::Noisy] {
        server.remove(kind.template()).await?;
    }
    Ok(())
}

/// A function of ours as it is installed, without the marked lines.
async fn borrow(ours: &Client, name: &str, marks: &[(&str, usize)]) -> Fallible<String> {
    let ask =
        "select pg_get_functiondef(oid) from pg_proc where proname = $1 and pronamespace = 'public'::regnamespace";
    let text: String = ours.query_one(ask, &[&name]).await?.get(0);
    let mut lines: Vec<&str> = text.lines().collect();
    for (mark, count) in marks {
        let found: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].contains(mark)).collect();
        let at = match found[..] {
            [] => continue,
            [at] => at,
            _ => return Err(format!("{name} has changed: `{mark}` stands in it {} times", found.len()).into()),
        };
        lines.drain(at..(at + count).min(lines.len()));
    }
    Ok(lines.join("\n"))
}
