//! private_pg
