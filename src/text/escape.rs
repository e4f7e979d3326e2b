//! Which characters are dangerous, invisible or of disputed width, and how each is shown instead.
//!
//! The escapes read like Rust's: `\n \r \t`, `\xHH` for the other bytes below 0x80 and for invalid bytes, `\u{…}`
//! beyond. A backslash of the text itself is doubled where it would read as an escape, so two different names never
//! look the same. The one thing dropped without a trace is an emoji presentation selector: it carries no meaning,
//! `⚠️` is common in error texts, and terminals disagree about the columns it takes.

use std::fmt::Write as _;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// Marks allowed on one letter. Vietnamese and pointed Hebrew need three; more is a stack that paints over its neighbours.
const MARKS_MAX: usize = 4;

/// Escapes one line of text; line breaks in it become `\n` and `\r`.
pub(super) fn line(text: &str) -> String {
    if text.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (at, cluster) in text.grapheme_indices(true) {
        push_cluster(&mut out, cluster, text.get(at..).unwrap_or_default());
    }
    out
}

/// Writes one user-perceived character, `text` being all from it on. Marks stay only on a visible base and only a few.
fn push_cluster(out: &mut String, cluster: &str, text: &str) {
    let (mut base, mut marks) = (false, 0);
    for (at, c) in cluster.char_indices() {
        if c == '\\' && reads_as_escape(text.get(at + 1..).unwrap_or_default()) {
            out.push('\\');
        }
        if is_presentation_selector(c) && base {
            continue;
        }
        if must_escape(c) {
            push_char(out, c);
            base = false;
        } else if columns_of(c) > 0 {
            out.push(c);
            base = true;
        } else if base && marks < MARKS_MAX {
            out.push(c);
            marks += 1;
        } else {
            push_char(out, c);
            base = false;
        }
    }
}

fn columns_of(c: char) -> u16 {
    c.encode_utf8(&mut [0; 4]).cell_width()
}

/// Would a backslash before this text look like one of our escapes?
fn reads_as_escape(after: &str) -> bool {
    let after = after.trim_start_matches(is_presentation_selector);
    let Some(next) = after.chars().next() else {
        return false;
    };
    matches!(next, 'n' | 'r' | 't' | '\\')
        || must_escape(next)
        || columns_of(next) == 0
        || after.starts_with("u{")
        || (next == 'x' && after.bytes().skip(1).take(2).filter(u8::is_ascii_hexdigit).count() == 2)
}

/// Shows one character as an escape.
fn push_char(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str(r"\n"),
        '\r' => out.push_str(r"\r"),
        '\t' => out.push_str(r"\t"),
        '\0'..='\x7f' => push_byte(out, c as u8),
        _ => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// Shows one byte as `\xHH`.
pub(super) fn push_byte(out: &mut String, byte: u8) {
    let _ = write!(out, "\\x{byte:02x}");
}

/// Text style and emoji style (U+FE0E, U+FE0F).
const fn is_presentation_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Never printed as it is: control, invisible, reordering, or drawn with a width that terminals disagree about.
pub(super) const fn must_escape(c: char) -> bool {
    is_control(c) || is_invisible(c) || is_disputed(c)
}

/// C0, DEL and C1: what terminals act upon.
const fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\x1f' | '\x7f'..='\u{9f}')
}

/// Bidi controls, zero-width and default-ignorable characters, blank letters, line separators, noncharacters.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || (c as u32) & 0xfffe == 0xfffe
}

/// Private use, flags, skin tones, signs that stretch over what follows them, ligature-like width exceptions.
const fn is_disputed(c: char) -> bool {
    matches!(c,
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{17d8}'
        | '\u{e000}'..='\u{f8ff}' | '\u{110bd}' | '\u{110cd}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{f0000}'..='\u{10ffff}')
}

/// JSON with every dangerous character as a `\uXXXX` escape: the same document, harmless on a terminal.
/// Such characters can only stand inside strings; serialisers escape those below U+0020 and leave the others.
#[must_use]
pub fn harmless_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !(is_control(c) || is_invisible(c)) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Safe;
    use super::*;
    use proptest::prelude::*;

    #[derive(serde::Deserialize)]
    struct Hostile {
        name: String,
        text: String,
    }

    fn hostile() -> Vec<Hostile> {
        serde_json::from_str(include_str!("../../tests/data/hostile_strings.json")).unwrap()
    }

    fn assert_inert(safe: &Safe, name: &str) {
        assert!(!safe.as_str().contains(must_escape), "{name}: {safe:?}");
        let drawn: usize = safe.as_str().graphemes(true).map(|g| usize::from(g.cell_width())).sum();
        assert_eq!(drawn, safe.width(), "{name}");
        assert!(safe.as_str().graphemes(true).all(|g| g.cell_width() > 0), "{name}: {safe:?}");
    }

    /// Undoes the escapes: only an unambiguous form can be undone.
    fn undo(safe: &str) -> String {
        let mut out = String::new();
        let mut rest = safe;
        while let Some(c) = rest.chars().next() {
            let two = rest.get(..2).unwrap_or_default();
            let (text, used) = match two {
                r"\\" => ('\\', 2),
                r"\n" => ('\n', 2),
                r"\r" => ('\r', 2),
                r"\t" => ('\t', 2),
                r"\x" if rest.get(2..4).is_some_and(|h| u8::from_str_radix(h, 16).is_ok()) => {
                    (char::from(u8::from_str_radix(&rest[2..4], 16).unwrap()), 4)
                }
                r"\u" if rest.get(2..3) == Some("{") => {
                    let end = rest.find('}').unwrap();
                    (char::from_u32(u32::from_str_radix(&rest[3..end], 16).unwrap()).unwrap(), end + 1)
                }
                _ => (c, c.len_utf8()),
            };
            out.push(text);
            rest = &rest[used..];
        }
        out
    }

    #[test]
    fn hostile_strings_are_inert_and_readable() {
        let mut table = String::new();
        for Hostile { name, text } in hostile() {
            for safe in
                [Safe::new(&text), Safe::full(&text), Safe::first_line(&text), Safe::from_bytes(text.as_bytes())]
            {
                assert_inert(&safe, &name);
            }
            for line in Safe::lines(&text) {
                assert_inert(&line, &name);
            }
            let _ = writeln!(table, "{name:28} {}", truncate_for_table(&text));
        }
        insta::assert_snapshot!(table);
    }

    fn truncate_for_table(text: &str) -> String {
        Safe::new(text).truncate(90).into()
    }

    #[test]
    fn json_stays_the_same_document() {
        for Hostile { text, .. } in hostile() {
            let json = serde_json::to_string(&text).unwrap();
            let harmless = harmless_json(&json);
            assert!(!harmless.contains(|c| is_control(c) || is_invisible(c)));
            assert_eq!(serde_json::from_str::<String>(&harmless).unwrap(), text);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_inert(text in any::<String>()) {
            assert_inert(&Safe::full(&text), &text);
            let json = harmless_json(&text);
            prop_assert!(!json.contains(|c| c != '\n' && (is_control(c) || is_invisible(c))));
        }

        #[test]
        fn nasty_text_is_inert(parts in proptest::collection::vec(nasty(), 0..12)) {
            assert_inert(&Safe::full(&parts.concat()), "nasty");
        }

        #[test]
        fn different_texts_look_different(text in r"[\\nrtxu{}0-9a-f\n\t\x1b\u{9b}\u{301}\u{200d} ]{0,12}") {
            prop_assert_eq!(undo(Safe::full(&text).as_str()), text);
        }

        #[test]
        fn any_bytes_are_inert(bytes in any::<Vec<u8>>()) {
            assert_inert(&Safe::from_bytes(&bytes), "bytes");
        }
    }

    fn nasty() -> impl Strategy<Value = String> {
        let texts: Vec<String> = hostile().into_iter().map(|h| h.text).filter(|t| t.len() < 200).collect();
        prop_oneof![proptest::sample::select(texts), any::<char>().prop_map(String::from), "[a-z\\\\ ]{0,3}"]
    }
}
