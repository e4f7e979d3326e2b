//! `queuetop demo`: everything has something to say, and nothing stays behind.

mod leftovers;
mod shows;
