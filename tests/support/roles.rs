//! A server of its own with real roles: those of a hosted platform, and a login for each group of ours.
//!
//! It must not be shared between tests: roles belong to the whole server.

use queuetop::engine::migrate::{self, Options, quote_ident};
use queuetop::private_pg::PrivatePg;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::pg::{connect, own_server};

/// A server with the API roles of a hosted platform and a login for each group of ours.
pub(crate) struct Place {
    server: PrivatePg,
    schema: String,
}

impl Place {
    /// Installs into a schema, by a role that is no superuser.
    pub(crate) async fn new(schema: &str) -> Self {
        let server = tokio::task::spawn_blocking(own_server).await.expect("a server");
        let place = Self { server, schema: schema.to_owned() };
        let admin = place.as_role("postgres").await;
        admin
            .batch_execute(
                "create role anon nologin; create role authenticated nologin; create role service_role nologin bypassrls;
                 create role nobody login; create role hosted login createrole;
                 grant anon, authenticated, service_role to hosted;
                 grant create, temporary on database postgres to hosted; grant all on schema public to hosted;
                 alter default privileges for role hosted in schema public grant all on tables to anon, authenticated;
                 alter default privileges for role hosted in schema public grant all on functions to anon, authenticated;
                 alter default privileges for role hosted in schema public grant all on sequences to anon, authenticated",
            )
            .await
            .expect("roles");
        let mut hosted = place.as_role("hosted").await;
        let options = Options { schema: schema.to_owned(), ..Options::default() };
        migrate::run(&mut hosted, &options).await.expect("installed without being a superuser");
        for group in ["viewer", "worker", "operator"] {
            admin.batch_execute(&format!("create role {group} login in role queue_{group}")).await.expect("a login");
        }
        place
    }

    /// How a role connects.
    pub(crate) fn dsn(&self, role: &str) -> String {
        self.server.dsn("postgres").replace("user=postgres", &format!("user={role}"))
    }

    /// A session of a role; its `search_path` holds nothing of ours.
    pub(crate) async fn as_role(&self, role: &str) -> Client {
        let client = connect(&self.dsn(role)).await;
        client.batch_execute("set search_path = ''").await.expect("set");
        client
    }

    /// An object of ours, qualified.
    pub(crate) fn name(&self, object: &str) -> String {
        format!("{}.{object}", quote_ident(&self.schema))
    }
}

/// `None` when the statement runs, else the SQLSTATE.
pub(crate) async fn refused(client: &Client, sql: &str) -> Option<SqlState> {
    let error = client.batch_execute(sql).await.err()?;
    Some(error.as_db_error().unwrap_or_else(|| panic!("{sql}: {error:?}")).code().clone())
}
