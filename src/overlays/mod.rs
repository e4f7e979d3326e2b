//! Overlays: what may lie over the panes. One file or folder each: its state, what keys do to it, its drawing. While one is
//! open it takes every key.
//!
//! An overlay gets the area of the whole screen and draws itself total for any size and any data. It knows no database and
//! no `App`; what it wants done it answers as data. A dialog that changes something refuses to be answered while it cannot
//! be read: too small a screen, old numbers, or not drawn yet.

pub mod confirm;
pub mod detail;
mod field;
pub mod filter;
mod frame;
pub mod help;
mod outlook;
pub mod palette;
pub mod results;
mod scroll;
pub mod value;

#[cfg(test)]
mod fixture;
