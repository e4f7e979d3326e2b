//! Just enough of Rust's grammar to find every path of a source file that starts at this crate's root.
//!
//! It must not look inside comments, strings and characters, and must see through `use` groups and nested modules.

use std::fs;
use std::path::{Path, PathBuf};

/// All `.rs` files under a folder of the package, as paths relative to the package.
pub(crate) fn rust_files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

/// Reads a file of the package.
pub(crate) fn read(file: &Path) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The module that a file below `src` is: `src/a/b.rs` and `src/a/b/mod.rs` are `[a, b]`, `lib.rs` is `[]`, `main.rs` `[main]`.
pub(crate) fn module(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix("src").unwrap().with_extension("");
    let mut names: Vec<String> = inside.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|name| name == "mod") || names == ["lib"] {
        names.pop();
    }
    names
}

/// The words and signs of a source text; `::` is one sign. Comments, strings and characters are left out.
pub(crate) fn tokens(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = skip(rest);
        if skipped > 0 {
            rest = &rest[skipped..];
            continue;
        }
        let length = match first {
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        if !first.is_whitespace() {
            found.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    found
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How many bytes at the beginning are a comment or a literal with text in it; 0 for anything else.
fn skip(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment(text);
    }
    let plain = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - plain.len();
    if prefix > 1 {
        return 0;
    }
    if let Some(raw) = plain.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = &raw[hashes + 1..];
            let length = body.find(&end).map_or(body.len(), |at| at + end.len());
            return prefix + 1 + hashes + 1 + length;
        }
    }
    match plain.chars().next() {
        Some('"') => prefix + quoted(plain, '"'),
        // A lifetime has no closing quote behind its first character.
        Some('\'') if plain[1..].starts_with('\\') => prefix + quoted(plain, '\''),
        Some('\'') => match plain[1..].chars().next() {
            Some(c) if plain[1 + c.len_utf8()..].starts_with('\'') => prefix + 2 + c.len_utf8(),
            _ => 0,
        },
        _ => 0,
    }
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let here = &text.as_bytes()[at..];
        match here {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !escaped && c == quote {
            return at + 1;
        }
        escaped = !escaped && c == '\\';
    }
    text.len()
}

/// The first names below the crate's root that a text mentions: `crate::db::X`, `super::super::{db, model::Y}`.
/// `module` is the one that the text is; in `main` the crate's name stands for `crate`.
pub(crate) fn mentioned(source: &str, module: &[String]) -> Vec<String> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    // Inline modules around the current token: their depth in braces.
    let mut here = module.to_vec();
    let mut inline = Vec::new();
    let mut depth = 0;
    for at in 0..tokens.len() {
        let before = |n: usize| at.checked_sub(n).map_or("", |before| tokens[before].as_str());
        let after = tokens.get(at + 1).map_or("", String::as_str);
        match tokens[at].as_str() {
            "{" => {
                depth += 1;
                if before(2) == "mod" {
                    here.push(before(1).to_owned());
                    inline.push(depth);
                }
            }
            "}" => {
                if inline.last() == Some(&depth) {
                    inline.pop();
                    here.pop();
                }
                depth -= 1;
            }
            "crate" if after == "::" => found.extend(below_root(&tokens[at + 2..])),
            "queuetop" if after == "::" && module == ["main"] => {
                found.extend(below_root(&tokens[at + 2..]));
            }
            "super" if after == "::" && before(1) != "::" => {
                found.extend(from_super(&tokens[at..], &here));
            }
            _ => {}
        }
    }
    found
}

/// Follows `super::super::…`; inside a module of the crate it stays there, so only what reaches the root counts.
fn from_super(tokens: &[String], here: &[String]) -> Vec<String> {
    let ups = tokens.chunks(2).take_while(|pair| *pair == ["super", "::"]).count();
    if ups < here.len() { vec![here[0].clone()] } else { below_root(&tokens[2 * ups..]) }
}

/// The name, or the first names of a group, that follow `crate::`.
fn below_root(tokens: &[String]) -> Vec<String> {
    match tokens.first().map(String::as_str) {
        Some("{") => {}
        Some(name) => return vec![name.to_owned()],
        None => return Vec::new(),
    }
    let mut found = Vec::new();
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        let begins = depth == 1 && at > 0 && ["{", ","].contains(&tokens[at - 1].as_str());
        if begins && token != "," {
            found.push(token.clone());
        }
    }
    found
}
