//! The task behind a session: drives the connection, hands notifications on, and remembers why the link ended.

use std::{
    future::poll_fn,
    sync::{Mutex, PoisonError},
};

use tokio::{
    sync::{mpsc, watch},
    task::AbortHandle,
};
use tokio_postgres::{AsyncMessage, Connection};

use super::{
    errors::{Class, DbError},
    socket::Socket,
    tls::TlsStream,
};

/// A NOTIFY that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The channel.
    pub channel: String,
    /// The payload, foreign text.
    pub payload: String,
}

/// Notifications that wait to be read. More are dropped: each only says "look again".
const WAITING: usize = 256;

/// The link of one session.
pub(super) struct Link {
    end: watch::Receiver<Option<DbError>>,
    task: AbortHandle,
    notices: Mutex<Option<mpsc::Receiver<Notice>>>,
}

impl Link {
    pub(super) fn drive(connection: Connection<Socket, TlsStream<Socket>>) -> Self {
        let (end_sender, end) = watch::channel(None);
        let (notice_sender, notices) = mpsc::channel(WAITING);
        let task = tokio::spawn(drive(connection, notice_sender, end_sender)).abort_handle();
        Self { end, task, notices: Mutex::new(Some(notices)) }
    }

    /// Why the link ended, if it did.
    pub(super) fn ended(&self) -> Option<DbError> {
        if self.task.is_finished() && self.end.borrow().is_none() {
            return Some(gone());
        }
        self.end.borrow().clone()
    }

    /// Waits until the link ends.
    pub(super) async fn end(&self) -> DbError {
        let mut end = self.end.clone();
        match end.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_else(gone),
            Err(_) => gone(),
        }
    }

    /// The notifications; can be taken once.
    pub(super) fn take_notices(&self) -> Option<mpsc::Receiver<Notice>> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Closes the socket without a word when it is aborted.
    pub(super) fn cutter(&self) -> AbortHandle {
        self.task.clone()
    }
}

fn gone() -> DbError {
    DbError::new(Class::LinkLost, "the session was given up", "")
}

async fn drive(
    mut connection: Connection<Socket, TlsStream<Socket>>,
    notices: mpsc::Sender<Notice>,
    end: watch::Sender<Option<DbError>>,
) {
    loop {
        match poll_fn(|cx| connection.poll_message(cx)).await {
            Some(Ok(AsyncMessage::Notification(n))) => {
                let notice = Notice { channel: n.channel().to_owned(), payload: n.payload().to_owned() };
                // A full queue already says all that one more notification could say.
                let _ = notices.try_send(notice);
            }
            Some(Ok(AsyncMessage::Notice(notice))) => tracing::debug!(severity = notice.severity(), "server notice"),
            Some(Ok(_)) => {}
            // Said before the connection is dropped, so that whoever waits for an answer finds the reason.
            Some(Err(error)) => return end.send_modify(|end| *end = Some(DbError::of_driver(&error))),
            None => return end.send_modify(|end| *end = Some(gone())),
        }
    }
}
