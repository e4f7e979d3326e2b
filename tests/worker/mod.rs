//! The reference worker on a real PostgreSQL.

mod ends;
mod leases;
mod setup;
