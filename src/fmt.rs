//! fmt
