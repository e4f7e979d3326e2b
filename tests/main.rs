//! All integration tests, in one binary: a subject is a file beside this one, and a line here.
//!
//! `#[cfg(test)]` tells clippy that helpers are test code too, where unwrapping is how a test fails.

#[cfg(test)]
mod support;

#[cfg(test)]
mod act_command;
#[cfg(test)]
mod app;
#[cfg(test)]
mod backend_jobs;
#[cfg(test)]
mod bulk;
#[cfg(test)]
mod counters;
#[cfg(test)]
mod dashboard;
#[cfg(test)]
mod db;
#[cfg(test)]
mod dead_view;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod detail_view;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod filter;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod migrate;
#[cfg(test)]
mod migrate_adopt;
#[cfg(test)]
mod migrate_command;
#[cfg(test)]
mod migrate_print;
#[cfg(test)]
mod overlays;
#[cfg(test)]
mod panes;
#[cfg(test)]
mod private_pg;
#[cfg(test)]
mod pty;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod reaper;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod run;
#[cfg(test)]
mod screens;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod sql_bad_input;
#[cfg(test)]
mod sql_claim;
#[cfg(test)]
mod sql_crowd;
#[cfg(test)]
mod sql_enqueue;
#[cfg(test)]
mod sql_hostile;
#[cfg(test)]
mod sql_model;
#[cfg(test)]
mod sql_operator;
#[cfg(test)]
mod sql_operators;
#[cfg(test)]
mod sql_plain;
#[cfg(test)]
mod sql_replay;
#[cfg(test)]
mod sql_reports;
#[cfg(test)]
mod sql_rights;
#[cfg(test)]
mod sql_signatures;
#[cfg(test)]
mod sql_sweeps;
#[cfg(test)]
mod sql_worker;
#[cfg(test)]
mod whole;
#[cfg(test)]
mod worker;
#[cfg(test)]
mod workers_view;
