//! Error signatures: which texts are one trouble and which are not; and the counts of dead letters by signature, which are
//! right whatever happens to the table.

use std::fmt::Write as _;

use queuetop::engine::migrate;
use tokio_postgres::Client;

use crate::support::hostile;
use crate::support::pg::{self, Database, database};
use crate::support::queue::one;

/// Errors that are one trouble, and its signature.
#[derive(serde::Deserialize)]
struct Trouble {
    signature: String,
    errors: Vec<String>,
}

async fn signature(client: &Client, error: &str) -> String {
    one(client, "select error_signature($1)", &[&error]).await
}

#[tokio::test]
async fn real_errors_fold_to_what_they_have_in_common() {
    let database = database().await;
    let client = database.client().await;
    let troubles: Vec<Trouble> = serde_json::from_str(include_str!("data/error_texts.json")).expect("texts");
    let mut wrong = String::new();
    for trouble in &troubles {
        for error in &trouble.errors {
            let found = signature(&client, error).await;
            if found != trouble.signature {
                let _ = writeln!(wrong, "{error:?}\n  is {found:?}\nnot {:?}", trouble.signature);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let none: Option<String> = one(&client, "select error_signature(null)", &[]).await;
    assert_eq!(none, None);
}

#[tokio::test]
async fn ids_of_every_kind_make_one_signature() {
    let database = database().await;
    let client = database.client().await;
    client.batch_execute("select setseed(0.5)").await.expect("a seed");
    for (kind, id) in [
        ("a UUID", "gen_random_uuid()"),
        ("a number", "round((random() * 10 ^ (i % 15))::numeric, i % 3)"),
        ("an address", "format('%s.%s.%s.%s', i % 256, i / 3 % 256, 7, (random() * 255)::int)"),
        ("a quoted value", "quote_literal(left(md5(i::text), i % 20))"),
        ("a point in time", "(now() + i * interval '7.7 s')::text"),
    ] {
        let sql = format!(
            "select count(distinct error_signature('no answer for ' || {id} || ' today')) from generate_series(1, 3000) as i"
        );
        assert_eq!(one::<i64>(&client, &sql, &[]).await, 1, "{kind}");
    }
    // A hash of letters alone, or of digits alone, is not seen to be one.
    let sql =
        "select avg((error_signature('no ' || left(md5(i::text), 12) || ' today') = 'no <id> today')::int)::float8
               from generate_series(1, 3000) as i";
    assert!(one::<f64>(&client, sql, &[]).await > 0.99);
}

#[tokio::test]
async fn hostile_errors_have_short_signatures_of_one_line() {
    let database = database().await;
    let client = database.client().await;
    let long = [
        "1a".repeat(5_000),
        "a:".repeat(5_000),
        "'\"".repeat(5_000),
        "{\"a\":".repeat(3_000),
        "Traceback (\n ".repeat(3_000),
    ];
    for error in hostile::strings().into_iter().chain(long) {
        let found = signature(&client, &error).await;
        assert!(found.chars().count() <= 200, "{error:.60}: {found}");
        assert!(
            !found.contains(['\n', '\r', '\t', '\u{1}', '\u{2}']) && found.trim() == found,
            "{error:.60}: {found:?}"
        );
        let quoted = signature(&client, &format!("no user \"{}\" here", error.replace(['"', '\\', '\n'], ""))).await;
        assert!(quoted == "no user <v> here" || error.chars().count() > 450, "{error:.60}: {quoted}");
    }
}

/// How many dead letters each signature of each queue has by the counts, and by the rows.
async fn counted(client: &Client) -> (Vec<String>, Vec<String>) {
    let both = "select coalesce(array_agg(format('%s|%s|%s|%s', queue, signature, dead, replayed) order by queue, signature), '{}')";
    let kept = format!(
        "{both} from (select queue, signature, sum(dead) as dead, sum(replayed) as replayed
                      from (select * from signature_counts union all select * from signature_deltas) as parts
                      group by 1, 2 having sum(dead) <> 0 or sum(replayed) <> 0) as sums"
    );
    let rows = format!(
        "{both} from (select queue, coalesce(signature, '') as signature, count(*) as dead, count(replayed_at) as replayed
                      from dead_letter_jobs group by 1, 2) as sums"
    );
    (one(client, &kept, &[]).await, one(client, &rows, &[]).await)
}

async fn assert_counted(client: &Client, after: &str) {
    let (kept, rows) = counted(client).await;
    assert_eq!(kept, rows, "after {after}");
}

const DIE: &str = "insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at)
    select gen_random_uuid(), 'q' || i % 3, '{}', 8, 8, 'error ' || chr(65 + i % 5) || ' in ' || i, now() from generate_series(1, 50) as i";
const FOLD: &str = "update signature_fold set folded_at = '-infinity'; select fold_signatures()";

#[tokio::test]
async fn counts_follow_whatever_is_done_to_dead_letters() {
    let database = database().await;
    let client = database.client().await;
    for sql in [
        DIE,
        "select operator_replay((select jsonb_agg(jsonb_build_object('id', id)) from (select id from dead_letter_jobs limit 7) as seven))",
        FOLD,
        "select operator_undo(1)",
        "update dead_letter_jobs set queue = 'moved', signature = 'other' where queue = 'q1'",
        FOLD,
        "begin isolation level repeatable read; delete from dead_letter_jobs where queue = 'q2'; commit",
        "insert into dead_letter_jobs select id, queue, payload, 1, 1, 'again', now(), now() from dead_letter_jobs limit 3
         on conflict (id) do update set last_error = excluded.last_error, signature = excluded.signature",
        "select prune_dead_letters('0', 10)",
        "begin; delete from dead_letter_jobs; rollback",
        FOLD,
        "truncate dead_letter_jobs",
        DIE,
        "begin isolation level repeatable read; select from jobs; truncate dead_letter_jobs; commit",
        DIE,
        "delete from dead_letter_jobs",
        FOLD,
    ] {
        client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        assert_counted(&client, sql).await;
    }
    assert_eq!(one::<i64>(&client, "select count(*) from signature_counts", &[]).await, 0, "what is empty is dropped");
}

#[tokio::test]
async fn nobody_waits_for_a_fold_and_nothing_is_lost() {
    let database = database().await;
    let (one_client, other) = (database.client().await, database.client().await);
    other.batch_execute("set lock_timeout = '1 s'").await.expect("set");
    one_client.batch_execute(&format!("{DIE}; begin; {FOLD}")).await.expect("a fold that is not committed");
    other.batch_execute(&format!("{DIE}; select fold_signatures()")).await.expect("no wait");
    one_client.batch_execute("commit").await.expect("committed");
    assert_counted(&other, "two at once").await;
    let mut crowd = Vec::new();
    for _ in 0..6 {
        let client = database.client().await;
        crowd.push(tokio::spawn(async move {
            for _ in 0..15 {
                let work = format!("{DIE}; delete from dead_letter_jobs where ctid = any(array(select ctid from dead_letter_jobs limit 20 for update skip locked)); {FOLD}");
                client.batch_execute(&work).await.expect("work");
            }
        }));
    }
    for worker in crowd {
        worker.await.expect("a worker");
    }
    assert_counted(&other, "a crowd").await;
}

#[tokio::test]
async fn a_queue_name_of_any_length_can_be_counted() {
    let database = database().await;
    let client = database.client().await;
    let queue: String = (0..2_600).map(|i| char::from(b'a' + u8::try_from(i * i % 26).expect("a letter"))).collect();
    let sql =
        "insert into dead_letter_jobs (id, queue, payload, attempts, max_attempts, last_error, original_created_at)
               values (gen_random_uuid(), $1, '{}', 8, 8, $2, now())";
    client.execute(sql, &[&queue, &"漢".repeat(400)]).await.expect("a dead letter");
    client.batch_execute(FOLD).await.expect("folded");
    assert_eq!(one::<i64>(&client, "select count(*) from signature_deltas", &[]).await, 0);
    assert_counted(&client, "a long name").await;
}

/// As it was before this version: dead letters with the signature of then, or none at all.
async fn with_old_rows() -> Database {
    let database = pg::bare_database().await;
    let client = database.client().await;
    client.batch_execute(&crate::support::table_queue::tables()).await.expect("tables");
    client.batch_execute(DIE).await.expect("dead letters");
    database
}

#[tokio::test]
async fn dead_letters_from_before_are_counted_by_migrate() {
    let database = with_old_rows().await;
    let mut client = database.client().await;
    migrate::run(&mut client, &migrate::Options::default()).await.expect("migrated");
    let kept: Vec<String> = one(
        &client,
        "select array_agg(distinct signature order by signature) from signature_counts where dead > 0",
        &[],
    )
    .await;
    assert_eq!(kept, ["error A in <n>", "error B in <n>", "error C in <n>", "error D in <n>", "error E in <n>"]);
    assert!(!one::<bool>(&client, "select suspect from signature_fold", &[]).await);
    client.batch_execute(&format!("delete from dead_letter_jobs where queue = 'q1'; {FOLD}")).await.expect("pruned");
    let wrong = client.query("select * from recount_signatures()", &[]).await.expect("counted again");
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[tokio::test]
async fn a_recount_tells_what_was_wrong_and_spares_what_waits() {
    let database = database().await;
    let client = database.client().await;
    client
        .batch_execute(&format!("{DIE}; {FOLD}; {DIE}; update signature_counts set dead = dead + 1 where queue = 'q1'"))
        .await
        .expect("off");
    let wrong = client.query("select queue, counted - truth from recount_signatures()", &[]).await.expect("counted");
    assert_eq!(
        wrong.iter().map(|row| (row.get(0), row.get(1))).collect::<Vec<(String, i64)>>(),
        vec![("q1".to_owned(), 1); 5]
    );
    assert_counted(&client, "a recount").await;
    let deep = client.batch_execute("begin isolation level serializable; select recount_signatures()").await;
    assert!(deep.expect_err("refused").as_db_error().is_some_and(|error| error.message().contains("READ COMMITTED")));
}
