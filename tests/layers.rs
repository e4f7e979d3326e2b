//! The layers: which module may name which. Imports point down only, and a source text that says otherwise fails here.

use std::path::Path;

use crate::support::source::{mentioned, module, read, rust_files, tokens};

/// Each module of the crate with what it may name besides itself. Between modules of one layer the order of this list
/// decides: an earlier one never names a later one, so there are no circles.
const LAYERS: [(&str, &[&str]); 20] = [
    // What everything rests on.
    ("model", &[]),
    ("text", &["model"]),
    ("fmt", &["model", "text"]),
    ("theme", &["model", "text", "fmt"]),
    ("keymap", &["model", "text", "fmt", "theme"]),
    ("diagnose", &["model", "text", "fmt"]),
    ("msg", &["model", "text", "fmt", "theme", "keymap", "diagnose"]),
    // The screen.
    ("panes", &["model", "text", "fmt", "theme", "keymap", "diagnose", "msg"]),
    ("overlays", &["model", "text", "fmt", "theme", "keymap", "diagnose", "msg", "panes"]),
    ("app", &["model", "text", "fmt", "theme", "keymap", "diagnose", "msg", "panes", "overlays"]),
    ("run", &["model", "text", "fmt", "theme", "keymap", "diagnose", "msg", "panes", "overlays", "app"]),
    // The database.
    ("db", &["model"]),
    ("backends", &["model", "db"]),
    ("engine", &["model", "db", "backends"]),
    ("worker", &["model", "db", "backends"]),
    ("private_pg", &[]),
    // Where both meet.
    ("config", &["model", "text", "fmt", "theme", "keymap", "panes"]),
    ("args", &["model", "text", "fmt", "config"]),
    (
        "commands",
        &[
            "model",
            "text",
            "fmt",
            "theme",
            "keymap",
            "diagnose",
            "msg",
            "panes",
            "overlays",
            "app",
            "run",
            "db",
            "backends",
            "engine",
            "worker",
            "private_pg",
            "config",
            "args",
        ],
    ),
    ("main", &["commands", "args", "config"]),
];

/// Modules without IO, clock and runtime: everything about them is tested by calling them.
const PURE: [&str; 10] = ["model", "text", "fmt", "theme", "keymap", "diagnose", "msg", "panes", "overlays", "app"];

/// What a pure module must not name.
const IMPURE: [&str; 11] = [
    "tokio",
    "tokio_postgres",
    "Instant::now",
    "SystemTime::now",
    "Utc::now",
    "Local::now",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
];

/// What is wrong with the imports of one file.
fn wrong_imports(file: &Path, source: &str) -> Vec<String> {
    let module = module(file);
    let Some(own) = module.first() else {
        // lib.rs only lists the modules.
        return Vec::new();
    };
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| name == own) else {
        return vec![format!("{}: `{own}` is not in the table of layers", file.display())];
    };
    let mut wrong: Vec<String> = mentioned(source, &module)
        .into_iter()
        .filter(|name| name != own && !allowed.contains(&name.as_str()))
        .map(|name| format!("{}: `{own}` must not name `{name}`", file.display()))
        .collect();
    wrong.dedup();
    wrong
}

/// What a pure module names that it must not.
fn wrong_names(file: &Path, source: &str) -> Vec<String> {
    let module = module(file);
    let own = module.first().map_or("", String::as_str);
    // Spaces on both sides make words of them.
    let text = format!(" {} ", tokens(source).join(" "));
    let names = |name: &str| text.contains(&format!(" {} ", name.replace("::", " :: ")));
    let mut forbidden: Vec<&str> = Vec::new();
    if PURE.contains(&own) {
        forbidden.extend(IMPURE);
    }
    if ["panes", "overlays"].contains(&own) {
        forbidden.extend(["db", "App"]);
    }
    forbidden
        .into_iter()
        .filter(|name| names(name))
        .map(|name| format!("{}: `{own}` must not name `{name}`", file.display()))
        .collect()
}

/// What is wrong with the text of one file, whatever it is for.
fn wrong_text(file: &Path, source: &str) -> Vec<String> {
    let leftovers = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("dbg", "!("),
        concat!("to", "do!("),
        concat!("#[", "allow"),
        concat!("#![", "allow"),
        concat!("#[", "expect"),
        concat!("#![", "expect"),
    ];
    let mut wrong = Vec::new();
    if !source.starts_with("//! ") {
        wrong.push("does not open with `//!`: what it is, what it must not do".to_owned());
    }
    let lines = source.lines().count();
    if lines > 350 {
        wrong.push(format!("{lines} lines, 350 are the limit"));
    }
    let left = leftovers.into_iter().filter(|leftover| source.contains(leftover));
    wrong.extend(left.map(|leftover| format!("`{leftover}` is left in it")));
    wrong.iter().map(|what| format!("{}: {what}", file.display())).collect()
}

#[test]
fn imports_point_down() {
    let check = |file: &Path| {
        let source = read(file);
        [wrong_imports(file, &source), wrong_names(file, &source)].concat()
    };
    let wrong: Vec<String> = rust_files("src").iter().flat_map(|file| check(file)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn files_are_short_explained_and_finished() {
    let files = [rust_files("src"), rust_files("tests"), rust_files("benches")].concat();
    let wrong: Vec<String> = files.iter().flat_map(|file| wrong_text(file, &read(file))).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_table_has_no_circles() {
    for (place, (name, allowed)) in LAYERS.iter().enumerate() {
        for lower in *allowed {
            let at = LAYERS.iter().position(|(other, _)| other == lower);
            assert!(at.is_some_and(|at| at < place), "{name} names {lower}, which is not above it in the table");
        }
    }
}

/// The names that a text in `src/panes/depth.rs` may not mention.
fn in_a_pane(source: &str) -> Vec<String> {
    let file = Path::new("src/panes/depth.rs");
    let wrong = [wrong_imports(file, source), wrong_names(file, source)].concat();
    let mut names: Vec<String> = wrong.iter().map(|line| line.rsplit('`').nth(1).unwrap().to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    for source in [
        "use crate::engine::Poll;",
        "use crate::{model::Job, engine::{self, Poll}, text};",
        "use crate::{\n    engine,\n};",
        "use super::super::engine;",
        "use super::super::{text, engine::Poll};",
        "fn f() -> crate::engine::Poll { todo() }",
        "mod inner { mod deeper { use super::super::super::super::engine; } }",
        "mod inner { fn f() {} } use super::super::engine;",
        "macro_rules! m { () => { $crate::engine::poll() } }",
        "const A: char = '\"'; use crate::engine; const B: char = '\"';",
        "fn f<'a>(x: &'a str) { crate::engine::poll(x) }",
        "const A: &str = r#\"\"\"#; use crate::engine;",
        "/* a /* b */ c */ pub(crate) use crate::engine as other;",
    ] {
        assert_eq!(in_a_pane(source), ["engine"], "{source}");
    }
    assert_eq!(in_a_pane("use crate::*;"), ["*"]);
    assert_eq!(in_a_pane("fn f(app: &App) { self.db.get() }"), ["App", "db"]);
    assert_eq!(in_a_pane("let now = std::time::Instant::now();"), ["Instant::now"]);
}

#[test]
fn what_only_looks_like_a_path_is_not_one() {
    for source in [
        "//! `crate::engine` is not for panes.\nuse crate::model::Job;",
        "/* use crate::engine; */ /* /* crate::db */ */",
        "const A: &str = \"crate::engine::\\\" crate::db\";",
        "const A: &str = r#\"use \" crate::engine;\"#;",
        "const A: &[u8] = b\"crate::engine::\"; const B: u8 = b'\\'';",
        "use super::engine; use super::super::panes::engine; use super::*;",
        "pub(crate) fn f() {} pub(super) fn g() {} struct Apple; mod feedback {}",
        "use other::crate_engine::X; use crate::panes::engine;",
        "mod inner { use super::engine; use super::super::engine; }",
    ] {
        assert_eq!(in_a_pane(source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn the_rules_for_texts_are_seen_to_be_broken() {
    let file = Path::new("src/panes/depth.rs");
    let good = "//! A pane.\n";
    assert!(wrong_text(file, good).is_empty());
    let long = format!("{good}{}", "\n".repeat(350));
    for bad in ["fn f() {}", &long, &format!("{good}// {}: later", concat!("TO", "DO"))] {
        assert_eq!(wrong_text(file, bad).len(), 1, "{bad}");
    }
    let stranger = wrong_imports(Path::new("src/utils.rs"), "");
    assert_eq!(stranger, ["src/utils.rs: `utils` is not in the table of layers"]);
    let private = wrong_imports(Path::new("src/private_pg/find.rs"), "use crate::text::Safe; use super::Error;");
    assert_eq!(private, ["src/private_pg/find.rs: `private_pg` must not name `text`"]);
    let main = wrong_imports(Path::new("src/main.rs"), "use queuetop::{commands, db};");
    assert_eq!(main, ["src/main.rs: `main` must not name `db`"]);
}
