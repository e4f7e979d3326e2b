//! What the workers lose to us: claim and complete on several kinds of queues, in turn within each round, so that the
//! machine's moods hit all alike; each is compared with the bare queue of its own round.

mod kinds;
mod slice;

use std::collections::HashMap;
use std::time::Duration;

use kinds::Kind;
use slice::{Slice, WORKERS};

use crate::Fallible;
use crate::asked::Asked;
use crate::report::{Goal, Report, beside, note, say};
use crate::server::Server;
use crate::stats::Sample;

const BATCHES: [i32; 4] = [1, 5, 10, 50];
const SPAN: Duration = Duration::from_millis(1_500);
const READY: u64 = 100_000;

/// Jobs a second, one for each round, by kind, batch and whether commits wait for the disk.
type Rates = HashMap<(&'static str, i32, bool), Vec<f64>>;

pub(crate) async fn run(asked: &Asked, server: &Server, report: &mut Report) -> Fallible<()> {
    let rounds = asked.rounds();
    report.begin(
        "throughput",
        &format!("jobs/s claimed and completed by {WORKERS} workers, each end a transaction, {READY} ready, median of {rounds} rounds"),
    );
    kinds::prepare(server, READY).await?;
    let mut rates = Rates::new();
    for round in 0..rounds {
        say(&format!("round {} of {rounds}", round + 1));
        for batch in BATCHES {
            for durable in [true, false] {
                // Each kind comes first in its turn.
                for place in 0..kinds::ALL.len() {
                    let kind = kinds::ALL[(place + round) % kinds::ALL.len()];
                    let slice = Slice { kind, batch, durable, span: asked.span(SPAN) };
                    let rate = slice.measure(server).await?;
                    rates.entry((kind.words(), batch, durable)).or_default().push(rate);
                }
            }
        }
    }
    kinds::clear(server).await?;
    for batch in BATCHES {
        for kind in kinds::ALL {
            tell(kind, batch, &rates, report)?;
        }
    }
    note("share of the bare queue: median (least to most) of the rounds; goals are for synchronous_commit on");
    Ok(())
}

fn tell(kind: Kind, batch: i32, rates: &Rates, report: &mut Report) -> Fallible<()> {
    let (on, share) = figure(kind, batch, true, rates)?;
    let (off, _) = figure(kind, batch, false, rates)?;
    let what = format!("batch {batch:>2} {}", kind.words());
    let measured = format!("on {on}, off {off}");
    match goal(kind, batch) {
        Some(percent) => report.figure(&what, &measured, &Goal::at_least(share, percent, " %")),
        None => beside(&what, &measured),
    }
    Ok(())
}

/// Least share of the bare queue, in percent.
fn goal(kind: Kind, batch: i32) -> Option<f64> {
    match (kind, batch) {
        (Kind::Watched, 1) => Some(80.0),
        (Kind::Watched, 10) => Some(90.0),
        _ => None,
    }
}

/// Jobs a second in words, and the median share of the bare queue in percent.
fn figure(kind: Kind, batch: i32, durable: bool, rates: &Rates) -> Fallible<(String, f64)> {
    let of = |kind: Kind| rates.get(&(kind.words(), batch, durable)).ok_or("a round is missing");
    let (own, bare) = (of(kind)?, of(Kind::Bare)?);
    let rate = Sample::of(own.iter().copied())?;
    if kind == Kind::Bare {
        return Ok((format!("{:.0} ({:.0} to {:.0})", rate.median(), rate.least(), rate.most()), 100.0));
    }
    let shares = Sample::of(own.iter().zip(bare).map(|(own, bare)| own / bare * 100.0))?;
    let words =
        format!("{:.0}: {:.0} % ({:.0} to {:.0})", rate.median(), shares.median(), shares.least(), shares.most());
    Ok((words, shares.median()))
}
