//! Connections: how to reach a server, sessions with limits and a log, errors in plain words. Knows nothing of queues.

mod backoff;
mod cancel;
mod connect;
pub mod conninfo;
mod errors;
mod facts;
mod frame;
mod link;
mod listen;
mod open;
mod pipeline;
mod secret;
mod session;
mod socket;
mod sqllog;
mod startup;
mod statement;
mod tls;
mod types;

pub use backoff::Backoff;
pub use connect::{Connector, Purpose};
pub use conninfo::{ConnInfo, ConnInfoError, Env, Target};
pub use errors::{Class, DbError};
pub use facts::SessionFacts;
pub use link::Notice;
pub use listen::{Listener, Listening, listen, stop_listening};
pub use secret::Secret;
pub use session::{Batch, Session};
pub use sqllog::{SqlLog, SqlLogEntry};
pub use statement::{Limits, Param, Statement};
pub use types::{Json, Text};
