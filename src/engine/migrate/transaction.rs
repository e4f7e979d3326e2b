//! Lets refinery work inside one open transaction of ours, together with what it does not do itself.
//!
//! It must not begin or end a transaction: whoever made this one decides.

use refinery_core::Migration;
use refinery_core::traits::r#async::{AsyncMigrate, AsyncQuery, AsyncTransaction};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio_postgres::{Error, Transaction};

/// The open transaction.
pub(super) struct InTransaction<'a>(pub(super) &'a Transaction<'a>);

impl AsyncTransaction for InTransaction<'_> {
    type Error = Error;

    async fn execute<'a, T: Iterator<Item = &'a str> + Send + 'a>(&'a mut self, queries: T) -> Result<usize, Error> {
        let mut count = 0;
        for query in queries {
            self.0.batch_execute(query).await?;
            count += 1;
        }
        Ok(count)
    }
}

impl AsyncQuery<Vec<Migration>> for InTransaction<'_> {
    /// Runs refinery's question for its history: version, name, when, checksum.
    async fn query<'a>(&'a mut self, query: &'a str) -> Result<Vec<Migration>, Error> {
        let rows = self.0.query(query, &[]).await?;
        rows.iter()
            .map(|row| {
                // Neither is ever shown; a row that somebody edited must not end the program.
                let when = OffsetDateTime::parse(row.try_get(2)?, &Rfc3339).unwrap_or(OffsetDateTime::UNIX_EPOCH);
                let checksum = row.try_get::<_, &str>(3)?.parse().unwrap_or_default();
                Ok(Migration::applied(row.try_get(0)?, row.try_get(1)?, when, checksum))
            })
            .collect()
    }
}

impl AsyncMigrate for InTransaction<'_> {}
