//! What the workers lose to us: claim and complete on several kinds of queues, in turn within each round, so that the
//! machine's moods hit all alike; each is compared with the bare queue of its own round.

mod kinds;
mod slice;

use std::collections::HashMap;
use std::time::Duration;

use kinds::{Ends, Kind};
use slice::{Slice, WORKERS};

use crate::Fallible;
use crate::asked::Asked;
use crate::report::{Goal, Report, beside, note, say};
use crate::server::Server;
use crate::stats::Sample;

/// Jobs a claim, and how they end.
const BATCHES: [(i32, Ends); 7] = [
    (1, Ends::Each),
    (5, Ends::Each),
    (10, Ends::Each),
    (50, Ends::Each),
    (5, Ends::Together),
    (10, Ends::Together),
    (50, Ends::Together),
];
const SPAN: Duration = Duration::from_secs(1);
const READY: u64 = 100_000;

/// Jobs a second, one for each round.
type Rates = HashMap<Slice, Vec<f64>>;

pub(crate) async fn run(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    let rounds = asked.rounds();
    let how = format!(
        "jobs/s claimed and completed by {WORKERS} workers, {READY} ready, synchronous_commit on and off, rounds: {rounds}"
    );
    report.begin("throughput", &how);
    kinds::prepare(server, READY).await?;
    let mut rates = Rates::new();
    for round in 0..rounds {
        say(&format!("round {} of {rounds}", round + 1));
        for (batch, ends) in BATCHES {
            for durable in [true, false] {
                // Each kind comes first in its turn.
                for place in 0..kinds::ALL.len() {
                    let kind = kinds::ALL[(place + round) % kinds::ALL.len()];
                    let slice = Slice { kind, batch, ends, durable };
                    let rate = slice.measure(server, asked.span(SPAN)).await?;
                    rates.entry(slice).or_default().push(rate);
                }
            }
        }
    }
    kinds::clear(server).await?;
    for (batch, ends) in BATCHES {
        for kind in kinds::ALL {
            tell(Slice { kind, batch, ends, durable: true }, &rates, report)?;
        }
    }
    note(
        "each: every job ends in a transaction of its own, as with the reference worker; together: a batch in one UPDATE",
    );
    note("shares of bare: median (least to most) of the rounds; the goals are for synchronous_commit on");
    note(
        "bare: our functions on the plain tables, without counters, history and pauses; plain: that table's own functions",
    );
    Ok(())
}

fn tell(durable: Slice, rates: &Rates, report: &mut Report) -> Fallible<()> {
    let (on, share) = figure(durable, rates)?;
    let (off, _) = figure(Slice { durable: false, ..durable }, rates)?;
    let ends = if durable.ends == Ends::Each { "each" } else { "together" };
    let what = format!("batch {:>2} {ends:<8}  {}", durable.batch, durable.kind.words());
    let measured = format!("on {on}, off {off}");
    match goal(durable) {
        Some(percent) => report.figure(&what, &measured, &Goal::at_least(share, percent, " %")),
        None => beside(&what, &measured),
    }
    Ok(())
}

/// Least share of the bare queue, in percent.
fn goal(slice: Slice) -> Option<f64> {
    match (slice.kind, slice.batch) {
        (Kind::Watched, 1) => Some(80.0),
        (Kind::Watched, 10) => Some(90.0),
        _ => None,
    }
}

/// Jobs a second in words, and the median share of the bare queue in percent.
fn figure(slice: Slice, rates: &Rates) -> Fallible<(String, f64)> {
    let of = |kind: Kind| rates.get(&Slice { kind, ..slice }).ok_or("a round is missing");
    let (own, bare) = (of(slice.kind)?, of(Kind::Bare)?);
    let rate = Sample::of(own.iter().copied())?;
    if slice.kind == Kind::Bare {
        return Ok((format!("{:.0} ({:.0}-{:.0})", rate.median(), rate.least(), rate.most()), 100.0));
    }
    let share = Sample::of(own.iter().zip(bare).map(|(own, bare)| own / bare * 100.0))?;
    let words = format!("{:.0} = {:.0} % ({:.0}-{:.0})", rate.median(), share.median(), share.least(), share.most());
    Ok((words, share.median()))
}
