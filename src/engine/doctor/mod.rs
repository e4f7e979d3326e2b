//! A check-up of an installation: what is known beforehand, then one question after another, each in a read-only
//! transaction of its own and under a limit. It must not decide what an answer means: the checks do.

mod ask;
mod look;

pub use ask::{ask, ask_all};
pub use look::{Look, look};
