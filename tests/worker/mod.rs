//! The reference worker on a real PostgreSQL.

mod chaos;
mod ends;
mod leases;
mod setup;
