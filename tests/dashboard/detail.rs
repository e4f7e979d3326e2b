//! A job opened in the real program: what is on screen, what is read, and which bytes reach the terminal's clipboard.

use queuetop::private_pg::PrivatePg;
use tokio_postgres::Client;

use super::text;
use crate::support::pg::{self, Database};
use crate::support::pty::Pty;
use crate::support::{LIMIT, hostile};

/// One running job of the queue `emails`, its detail open. `values` are its payload and its error, as SQL.
async fn open(values: &str, env: &[(&str, &str)]) -> (Database, Client, Pty) {
    open_with(values, &[], env).await
}

/// The same with further arguments.
async fn open_with(values: &str, args: &[&str], env: &[(&str, &str)]) -> (Database, Client, Pty) {
    let database = pg::database().await;
    let client = database.client().await;
    let sql = format!(
        "insert into jobs (queue, payload, last_error) values ('emails', {values});
         select claim_jobs('emails', '00000000-0000-4000-8000-000000000001', 1, interval '1 hour')"
    );
    client.batch_execute(&sql).await.expect("a job");
    let mut pty = Pty::spawn(&[&[database.dsn().as_str()], args].concat(), 120, 40, env);
    pty.wait_for_text("emails");
    pty.send_keys("\t\t");
    pty.wait_for(|screen| screen.contains("Enter inspect") && screen.contains("left"), LIMIT);
    pty.send_keys("\r");
    pty.wait_for_text("KEYS NOW");
    (database, client, pty)
}

/// Waits for bytes that the program wrote.
fn wait_for_bytes(pty: &Pty, wanted: &[u8]) {
    crate::support::wait_until("the bytes come", || pty.raw_bytes().windows(wanted.len()).any(|bytes| bytes == wanted));
}

/// `wanted` in base64, from the one place that everybody has.
async fn base64(client: &Client, wanted: &str) -> String {
    let sql = format!("select translate(encode(convert_to($t${wanted}$t$, 'UTF8'), 'base64'), E'\\n', '')");
    text(client, &sql).await
}

#[tokio::test(flavor = "multi_thread")]
async fn id_payload_and_error_are_copied_through_any_multiplexer() {
    let values = r#"'{"to": "é \u0007 \u001b"}', E'line one\nline\ttwo'"#;
    for (env, before, after) in [
        (vec![], "\x1b]52;c;", "\x07"),
        (vec![("TMUX", "/tmp/tmux-0/default,1,0")], "\x1bPtmux;\x1b\x1b]52;c;", "\x07\x1b\\"),
        (vec![("STY", "1.pts")], "\x1bP\x1b]52;c;", "\x07\x1b\\"),
    ] {
        let (_database, client, mut pty) = open(values, &env).await;
        for (key, column) in [("y", "id::text"), ("Y", "payload::text"), ("E", "last_error")] {
            let whole = text(&client, &format!("select {column} from jobs")).await;
            let encoded = base64(&client, &whole).await;
            pty.send_keys(key);
            wait_for_bytes(&pty, format!("{before}{encoded}{after}").as_bytes());
            if !env.is_empty() && env[0].0 == "TMUX" {
                wait_for_bytes(&pty, format!("{after}\x1b]52;c;{encoded}\x07").as_bytes());
            }
        }
        pty.wait_for_text("copied the error, 17 bytes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_payload_is_read_on_searched_and_copied_up_to_what_terminals_take() {
    let values = "(select jsonb_object_agg('k' || n, md5(n::text)) from generate_series(1, 100000) n), null";
    let (_database, client, mut pty) = open(values, &[]).await;
    let whole = text(&client, "select payload::text from jobs").await;
    pty.wait_for_text("the first 64 kB of it");
    let last = whole.rsplit('"').nth(3).expect("a key").to_owned();
    pty.send_keys(&format!("/{last}\""));
    pty.send_keys("\r");
    pty.wait_for_text("the rest was not read, M reads it");
    pty.send_keys("M");
    let screen = pty.wait_for_text("of the payload are here; that took the server");
    assert!(screen.contains("all 4."), "{screen}");
    pty.send_keys("n");
    pty.wait_for_text("1 of 1");
    pty.send_keys("Y");
    pty.wait_for_text("copied the first 73 kB of 4.");
    let begin = &whole[..queuetop::msg::COPY_MOST];
    let encoded = base64(&client, begin).await;
    wait_for_bytes(&pty, format!("\x1b]52;c;{encoded}\x07").as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_job_follows_what_happens_to_it() {
    let (_database, client, mut pty) = open("'{\"a\": {\"b\": 1}}', null", &[]).await;
    pty.send_keys("G\r");
    pty.wait_for_text("{… 1 key");
    client.batch_execute("update jobs set lease_until = now() - interval '1 minute'").await.expect("expired");
    let screen = pty.wait_for_text("lease expired 1m");
    assert!(screen.contains("{… 1 key"), "folds stay: {screen}");
    client
        .batch_execute("select reap_expired_jobs(), claim_jobs('emails', gen_random_uuid(), 1)")
        .await
        .expect("claimed");
    pty.wait_for(|screen| screen.contains("2 of 8") && screen.contains("expired    0000…01  lease expired"), LIMIT);
    let sql = "select move_to_dead_letter(id, locked_by, 'no such address') from jobs";
    client.batch_execute(sql).await.expect("dead");
    pty.wait_for(
        |screen| screen.contains("DEAD LETTER") && screen.contains("no such address") && screen.contains("R replay"),
        LIMIT,
    );
    client.batch_execute("delete from dead_letter_jobs").await.expect("gone");
    pty.wait_for_text("it is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_settings_hide_is_neither_shown_nor_copied_until_it_is_revealed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "[redact]\npaths = [\"card.number\"]\n").expect("a file");
    let args = ["--ascii", "--config", file.to_str().expect("a name")];
    let values = r#"'{"card": {"number": "4111 1111", "name": "x"}}', null"#;
    let (_database, client, mut pty) = open_with(values, &args, &[]).await;
    pty.wait_for_text("\"number\": ***");
    pty.send_keys("Y");
    let encoded = base64(&client, r#"{"card": {"name": "x", "number": "•••"}}"#).await;
    wait_for_bytes(&pty, format!("\x1b]52;c;{encoded}\x07").as_bytes());
    pty.wait_for_text("hidden values as signs");
    pty.send_keys("/4111\r");
    pty.wait_for_text("not in the error or the payload");
    assert!(!String::from_utf8_lossy(&pty.raw_bytes()).contains("4111 1111"), "it reached the terminal");
    pty.send_keys("/number\r*");
    pty.wait_for_text("\"number\": \"4111 1111\"");
    pty.send_keys("q");
    pty.wait_for_text("Enter inspect");
    pty.send_keys("\r");
    pty.wait_for_text("\"number\": ***");
}

/// Report 16: what strangers write into a payload or an error does nothing to the terminal.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_reach_the_terminal_as_visible_signs_only() {
    let all: Vec<String> = hostile::strings().into_iter().filter(|text| !text.contains('\0')).collect();
    let json = serde_json::to_string(&all).expect("json");
    let values = format!("$t${json}$t$::jsonb, $t${}$t$", all.join("\n"));
    let (_database, _client, mut pty) = open(&values, &[]).await;
    for keys in ["O", "\t", "\x06", "\x06", "\t", "\x06", "\x06", "\x06", "G", "/x\r"] {
        pty.send_keys(keys);
    }
    pty.wait_for(|screen| screen.contains("x: 1 of"), LIMIT);
    let bytes = pty.raw_bytes();
    let text = String::from_utf8_lossy(&bytes);
    // What the program itself sends: styles, movements and modes; no title, clipboard, link, device string or question.
    for bad in ["\x1b]", "\x1bP", "\x1b[6n", "\x1b_", "\x1b^", "\x1bc", "\u{9b}", "\u{9d}", "\u{202e}", "\u{200b}"] {
        assert!(!text.contains(bad), "{bad:?} reached the terminal");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_away_leaves_what_was_read() {
    let server: PrivatePg = pg::own_server();
    let client = super::on_own_server(&server).await;
    let mut pty = Pty::spawn(&[&server.dsn("postgres")], 120, 40, &[]);
    pty.wait_for_text("emails");
    pty.send_keys("\t\t");
    pty.wait_for(|screen| screen.contains("Enter inspect") && screen.contains("expired"), LIMIT);
    pty.send_keys("\r");
    pty.wait_for_text("PAYLOAD");
    drop(client);
    drop(server);
    pty.send_keys("/n\r");
    pty.wait_for_text("n: 1 of 1");
    pty.wait_for_text("not connected");
    assert!(pty.text().contains("PAYLOAD"), "what was read stays");
}
