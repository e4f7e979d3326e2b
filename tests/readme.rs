//! The README says what is true: its key table is the program's, and its quick start is two commands.

use queuetop::keymap;
use queuetop::model::{Filter, filter};

const README: &str = include_str!("../README.md");

#[test]
fn the_key_table_is_the_program_s_own() {
    let table = keymap::markdown_table();
    assert!(README.contains(&table), "put this into the README:\n{table}");
}

#[test]
fn the_quick_start_has_exactly_two_commands() {
    let start = README.split("## Quick start").nth(1).expect("a quick start");
    let block = start.split("```sh").nth(1).and_then(|rest| rest.split("```").next()).expect("commands");
    let commands: Vec<&str> = block.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(commands, ["cargo run --release -- demo", "cargo test"]);
}

#[test]
fn the_map_names_every_part_of_src() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    for entry in std::fs::read_dir(folder).expect("src") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        let stem = name.trim_end_matches(".rs");
        // A module's file stands for its folder, and the folder for the file.
        let named = README.contains(&format!("`{stem}.rs`")) || README.contains(&format!("`{stem}/`"));
        assert!(named || name == "lib.rs", "{name} is not on the README's map");
    }
}

#[test]
fn the_table_of_filter_fields_is_the_program_s_own() {
    let table = filter::markdown_table();
    assert!(README.contains(&table), "put this into the README:\n{table}");
}

#[test]
fn the_filters_are_filters() {
    let quoted = README.split("--filter '").skip(1).filter_map(|rest| rest.split('\'').next());
    let texts: Vec<&str> = quoted.collect();
    assert!(texts.len() >= 2, "{texts:?}");
    for text in texts {
        assert!(text.parse::<Filter>().is_ok(), "{text}");
    }
}
