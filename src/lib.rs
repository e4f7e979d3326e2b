//! queuetop: *top* for the job queues that live in PostgreSQL.

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
