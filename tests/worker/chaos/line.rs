//! A connection that comes back, and notes the errors that nobody should see.

use std::time::Duration;

use tokio::time::sleep;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row};

use super::World;

/// What a server that goes down or comes up says, and a row that somebody else holds.
const EXPECTED: [&str; 5] = ["57P01", "57P02", "57P03", "55P03", "25006"];

pub(super) struct Line<'a> {
    world: &'a World,
    client: Option<Client>,
}

impl<'a> Line<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        Self { world, client: None }
    }

    /// Asks. `None`: there was an error, and nobody knows whether it was done.
    pub(super) async fn ask(&mut self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Option<Vec<Row>> {
        let answer = match &self.client {
            Some(client) => client.query(sql, params).await,
            None => match tokio_postgres::connect(&self.world.dsn, NoTls).await {
                Ok((client, connection)) => {
                    tokio::spawn(connection);
                    self.client.insert(client).query(sql, params).await
                }
                Err(error) => Err(error),
            },
        };
        let error = match answer {
            Ok(rows) => return Some(rows),
            Err(error) => error,
        };
        if let Some(said) = error.as_db_error() {
            if !EXPECTED.contains(&said.code().code()) {
                self.world.books.lock().unwrap().errors.push(format!("{sql}: {said}"));
            }
        } else {
            self.world.happened("connection lost");
        }
        self.client = None;
        sleep(Duration::from_millis(20)).await;
        None
    }
}
