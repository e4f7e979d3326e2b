//! The reference worker on a real PostgreSQL.

mod chaos;
mod cuts;
mod ends;
mod leases;
mod setup;
mod stops;
mod wakes;
