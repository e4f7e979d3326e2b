//! What to do with a backend on a session, and when: polling, push, browsing, acting, migrating. Knows no screen; tells
//! what happened through plain [`Event`]s.
//!
//! - `poll`: one session that reads the numbers, at a rhythm that keeps within the load budget
//! - `push`: one session that listens and wakes the poll
//! - `browse`: lists and details, on whichever session is free
//! - `act`: a session that exists only while acting
//! - `bulk`: acting on a frozen set in small steps, with a journal
//! - `sweep`: the reaper and the housekeeping, a round at a time
//! - `doctor`: asks the questions of a check-up
//! - `migrate`: installs or upgrades the `jobs` backend's SQL

pub mod act;
pub mod browse;
pub mod bulk;
mod detect;
pub mod doctor;
mod event;
mod live;
pub mod migrate;
mod poll;
mod push;
pub mod sweep;

pub use detect::Installed;
pub use event::Event;
pub use live::{Backends, Detect, Live, LiveView};
pub use poll::{Pace, Poll, Wake, fill_handling, read_core, read_failures, read_whole, server_facts};
pub use push::Push;
