//! The settings file through the real program: targets by name, columns, keys, and what is wrong with a file.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::dashboard::fill;
use crate::support::LIMIT;
use crate::support::pg;
use crate::support::pty::Pty;

fn write(folder: &Path, text: &str, mode: u32) -> String {
    let path = folder.join("config.toml");
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its mode");
    path.display().to_string()
}

/// Runs the program with this home for its settings.
fn run(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_queuetop"));
    command.args(args).env_clear().env("XDG_CONFIG_HOME", home).env("HOME", home);
    command.output().expect("the program runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_is_chosen_by_name_and_production_is_said() {
    let database = pg::database().await;
    fill(&database.client().await).await;
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "[targets.prod]\ndsn = \"{}\"\nproduction = true\ncolour = \"red\"\n\
         [columns]\nqueues = [\"queue\", \"exp\", \"ready\"]\n[keys]\nrequeue = [\"f5\"]\n",
        database.dsn()
    );
    let file = write(folder.path(), &text, 0o644);
    let mut pty = Pty::spawn(&["@prod", "--config", &file], 80, 24, &[]);
    let screen = pty.wait_for_text("emails");
    assert!(screen.contains("@prod PRODUCTION"), "{screen}");
    let head = screen.lines().find(|line| line.trim_start().starts_with("queue ")).expect("a heading");
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), ["queue", "exp", "ready"], "{screen}");
    // The new key, and that a production target is confirmed by typing.
    pty.send_keys("\t\t");
    pty.wait_for_text("LEASES");
    pty.send_keys("\x1b[15~");
    pty.wait_for_text("To confirm type");
    pty.send_keys("\x1b");
    pty.wait_for(|screen| !screen.contains("To confirm type"), LIMIT);
    pty.send_keys("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[tokio::test]
async fn the_usual_file_serves_every_command() {
    let database = pg::database().await;
    fill(&database.client().await).await;
    let home = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(home.path().join("queuetop")).expect("a folder");
    let here = home.path().join("queuetop");
    write(&here, &format!("[targets.test]\ndsn = \"{}\"\n", database.dsn()), 0o644);
    let output = run(home.path(), &["snapshot", "@test"]);
    assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
    let output = run(home.path(), &["snapshot", "@tset"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("did you mean @test? There are @test"), "{}", said(&output));
    let output = run(home.path(), &["jobs", "--db", "@test", "--format", "csv"]);
    assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
    assert!(String::from_utf8_lossy(&output.stdout).contains("emails"));
}

#[tokio::test]
async fn a_target_says_which_schema_and_what_may_be_changed() {
    let database = pg::database().await;
    let home = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(home.path().join("queuetop")).expect("a folder");
    let here = home.path().join("queuetop");
    let text = format!("[targets.t]\ndsn = \"{}\"\nschema = \"elsewhere\"\n", database.dsn());
    write(&here, &format!("{text}read_only = true\n"), 0o600);
    for args in [["migrate", "@t"], ["reaper", "@t"]] {
        let output = run(home.path(), &args);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("targets.t.read_only"), "{}", said(&output));
    }
    write(&here, &text, 0o600);
    let output = run(home.path(), &["migrate", "@t"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let client = database.client().await;
    let found = client.query_one("select to_regclass('elsewhere.jobs') is not null", &[]).await.expect("an answer");
    assert!(found.get::<_, bool>(0), "installed where the settings say");
    write(&here, "[targets.t]\ndsn = \"postgresql://h/d?sslmod=require\"\n", 0o600);
    let output = run(home.path(), &["snapshot", "@t"]);
    assert!(
        said(&output).contains("config.toml: targets.t.dsn: ") && said(&output).contains("sslmod"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_file_with_a_password_must_be_private_and_the_password_is_never_shown() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(home.path().join("queuetop")).expect("a folder");
    let here = home.path().join("queuetop");
    let text = "[targets.x]\ndsn = \"postgresql://app:s3cret-word@127.0.0.1:1/app\"\n";
    write(&here, text, 0o640);
    let output = run(home.path(), &["snapshot", "@x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("chmod 600") && said(&output).contains("targets.x.dsn"), "{}", said(&output));
    write(&here, text, 0o600);
    let open = run(home.path(), &["snapshot", "@x"]);
    assert_eq!(open.status.code(), Some(1), "nobody listens there: {}", said(&open));
    for output in [output, open] {
        assert!(!said(&output).contains("s3cret"), "{}", said(&output));
        assert!(!said(&output).contains("command line"), "nobody can see it there: {}", said(&output));
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(home.path().join("queuetop")).expect("a folder");
    let here = home.path().join("queuetop");
    for (text, parts) in [
        ("[poll]\ninterval = \"soon\"\n", ["config.toml", "line 2"]),
        ("[keys]\nrequeu = [\"r\"]\n", ["config.toml: line 2, keys.requeu: ", "did you mean requeue?"]),
        ("[keys]\nquit = [\"p\", \"1\"]\n", ["keys.", "already means"]),
        ("[nonsense]\n", ["config.toml", "nonsense"]),
        ("\n[columns]\nqueues = [\"raedy\"]\n", ["config.toml: line 3, columns.queues: ", "did you mean ready?"]),
        ("[targets.x]\ndns = \"postgresql://a:s3cret@h/d\"\n", ["line 2, targets.x.dns: ", "did you mean dsn?"]),
    ] {
        write(&here, text, 0o600);
        let output = run(home.path(), &["config"]);
        assert_eq!(output.status.code(), Some(2), "{text}: {}", said(&output));
        for part in parts {
            assert!(said(&output).contains(part), "{text}: {} lacks {part}", said(&output));
            assert!(!said(&output).contains("s3cret"), "{}", said(&output));
        }
    }
    write(&here, "", 0o600);
    let keys = run(home.path(), &["config", "--keys"]);
    let keys = String::from_utf8_lossy(&keys.stdout).into_owned();
    assert!(keys.contains("jobs.requeue") && keys.contains("global.view-3"), "{keys}");
}
