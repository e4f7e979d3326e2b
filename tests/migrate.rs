//! `migrate`: installing, upgrading, adopting and refusing, on a real PostgreSQL.

use queuetop::engine::migrate::{self, Options, latest_version};

use crate::support::pg;

#[tokio::test]
async fn installs_once_and_is_safe_to_run_again() {
    let database = pg::bare_database().await;
    let mut client = database.client().await;
    let options = Options::default();
    assert_eq!(migrate::installed_version(&client, "public").await.expect("asked"), None);
    let first = migrate::run(&mut client, &options).await.expect("installed");
    assert_eq!(first.version, latest_version());
    assert_eq!(first.applied.first().map(String::as_str), Some("V1__jobs"));
    let second = migrate::run(&mut client, &options).await.expect("nothing to do");
    assert!(second.applied.is_empty());
    assert_eq!(migrate::installed_version(&client, "public").await.expect("asked"), Some(latest_version()));
}

#[tokio::test]
async fn two_at_once_install_it_once() {
    let database = pg::bare_database().await;
    let mut runs = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let mut client = database.client().await;
        runs.spawn(async move {
            let options = Options { schema: "Job \"Queue\"".to_owned(), ..Options::default() };
            migrate::run(&mut client, &options).await.expect("migrated")
        });
    }
    let busy = runs.join_all().await.iter().filter(|report| !report.applied.is_empty()).count();
    assert_eq!(busy, 1);
}
