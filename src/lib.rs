//! queuetop: *top* for the job queues that live in PostgreSQL.
//!
//! # The screen
//!
//! ```text
//!  header    whom it talks to, as what, how it learns of changes, what that costs, the server's clock
//!  verdict   the worst thing first, in words                                  diagnose/ -> app/header.rs
//!
//!  QUEUES         one row a queue, worst first                                panes/queues.rs
//!  THROUGHPUT   │ LEASES          what the queue under the cursor does        panes/throughput.rs, leases.rs
//!  ATTEMPTS     │ FAILURES                                                    panes/attempts.rs, failures.rs
//!
//!  footer    the keys that count now, or the answer to the last action       app/footer.rs
//! ```
//!
//! # The layers
//!
//! Imports point down only; `tests/layers.rs` fails on one that does not.
//!
//! ```text
//!                     commands        one file or folder a subcommand: here both sides meet
//!            ┌───────────┴──────────┐
//!           run                  engine, worker     when to read, what to do
//!           app                  backends           kinds of queues, each with its SQL
//!     panes, overlays            db                 connections, no queue knowledge
//!  text fmt theme keymap msg        │
//!        diagnose                   │
//!            └──────── model ───────┘
//! ```
//!
//! The left side is pure: messages in, effects out, cells drawn; no IO, no clock, no runtime. The right side knows no screen.
//!
//! # The life of one key press
//!
//! 1. [`run`] reads the key from the terminal and hands it to [`app::App::update`] as a [`msg::Msg`].
//! 2. [`keymap`] says what it means where the cursor is: `r` on a lease is `Requeue`.
//! 3. `app` takes the job under the cursor *as it was seen*, its fence included, and opens `overlays::confirm` with it.
//! 4. `y` there makes an [`msg::Effect::Act`] that carries exactly those fences.
//! 5. `commands::dashboard::effects` starts [`engine::act`] in a task: a session of its own, one call of one SQL function,
//!    which compares each fence with the row and answers for each job.
//! 6. The answer comes back as [`msg::Msg::Acted`]; the footer says "requeued 1 of 1", and the numbers are read again.

// Output goes through `commands::tell`, which survives a reader or a terminal that went away.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod app;
pub mod args;
pub mod backends;
pub mod commands;
pub mod config;
pub mod db;
pub mod diagnose;
pub mod engine;
pub mod fmt;
pub mod keymap;
pub mod model;
pub mod msg;
pub mod overlays;
pub mod panes;
pub mod private_pg;
pub mod run;
pub mod text;
pub mod theme;
pub mod worker;
