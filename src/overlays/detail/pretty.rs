//! JSON on several lines, token by token. Nothing is parsed into values: numbers keep every digit, a text that was cut in
//! the middle is no problem, and no depth of nesting can overflow anything.

use std::borrow::Cow;

/// Larger texts stay as they are.
const LARGEST: usize = 2 << 20;
/// Indentation must not turn a text into something much larger.
const LARGEST_RESULT: usize = 16 << 20;
/// Deeper levels are indented no further.
const DEEPEST: usize = 16;

/// The text with a line for each member, or as it is where that makes no sense.
pub(super) fn pretty(json: &str) -> Cow<'_, str> {
    let compound = json.trim_start().starts_with(['{', '[']);
    if !compound || json.len() > LARGEST {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + json.len() / 2);
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some(c) = rest.chars().next() {
        if out.len() > LARGEST_RESULT {
            return Cow::Borrowed(json);
        }
        let length = if c == '"' { string_length(rest) } else { c.len_utf8() };
        let (token, after) = rest.split_at(length);
        rest = after;
        match c {
            '{' | '[' => {
                let closing = after.trim_start();
                if closing.starts_with(['}', ']']) {
                    // An empty one stays on its line.
                    out.push(c);
                    out.push_str(closing.get(..1).unwrap_or_default());
                    rest = closing.get(1..).unwrap_or_default();
                } else {
                    depth += 1;
                    out.push(c);
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            _ => out.push_str(token),
        }
    }
    Cow::Owned(out)
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(DEEPEST)));
}

/// How many bytes a string takes that begins here, with its quotes; all of the rest where it does not end.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_member_a_line() {
        let json = r#"{"to": "a, \"b\" {", "n": 12345678901234567890.10, "list": [1, [], {}], "deep": {"x": null}}"#;
        let want = "{\n  \"to\": \"a, \\\"b\\\" {\",\n  \"n\": 12345678901234567890.10,\n  \"list\": [\n    1,\n    [],\n    \
                    {}\n  ],\n  \"deep\": {\n    \"x\": null\n  }\n}";
        assert_eq!(pretty(json), want);
    }

    #[test]
    fn scalars_and_other_texts_stay_as_they_are() {
        for text in ["", "null", "\"a b\"", "12", "not json, at all"] {
            assert_eq!(pretty(text), text);
        }
    }

    #[test]
    fn depth_and_a_cut_end_are_no_problem() {
        let deep = "[".repeat(10_000);
        assert_eq!(pretty(&deep).lines().count(), 10_001);
        assert_eq!(pretty(r#"{"a": "cut in the mid"#), "{\n  \"a\": \"cut in the mid");
        assert_eq!(pretty("{\"a\": \"\\"), "{\n  \"a\": \"\\");
        assert_eq!(pretty("]]]{"), "]]]{");
        let huge = "[".repeat(LARGEST + 1);
        assert_eq!(pretty(&huge).len(), huge.len());
    }

    proptest! {
        #[test]
        fn only_white_space_outside_of_strings_changes(text in r#"[\[\{][\[\]{},: a1"\\漢]{0,40}"#) {
            let bare = |s: &str| s.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&pretty(&text)), bare(&text));
        }

        #[test]
        fn it_is_the_same_document(list in proptest::collection::vec((".{0,8}", any::<i64>()), 0..6)) {
            let value = serde_json::json!({ "list": list, "empty": {} });
            let again: serde_json::Value = serde_json::from_str(&pretty(&value.to_string())).unwrap();
            prop_assert_eq!(again, value);
        }
    }
}
