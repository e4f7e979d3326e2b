//! What Linux says of a process: memory and processor time. Elsewhere there is nothing to read, and it says so.

use std::fs;
use std::time::Duration;

use crate::Fallible;

/// /proc counts processor time in hundredths of a second, on every kind of machine in use.
const TICK: Duration = Duration::from_millis(10);

/// Memory in kB that is in use now (`VmRSS`), or at its most so far (`VmHWM`).
pub(crate) fn memory(pid: u32, which: &str) -> Fallible<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))
        .map_err(|error| format!("memory is read from /proc, which Linux has: {error}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(which)?.strip_prefix(':')).ok_or("no memory is told")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Processor time of some processes so far; `None` where that cannot be known.
pub(crate) fn processor_time(pids: &[u32]) -> Option<Duration> {
    pids.iter().map(|pid| processor_time_of(*pid)).sum()
}

/// `pid (name) state …`; user and system time are the 14th and 15th field, see proc(5).
fn processor_time_of(pid: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let fields = rest.split_whitespace().skip(11).take(2);
    let ticks: u32 = fields.map(|field| field.parse::<u32>().ok()).sum::<Option<u32>>()?;
    Some(TICK * ticks)
}
