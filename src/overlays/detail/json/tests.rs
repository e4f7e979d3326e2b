//! The lines of JSON, tested on texts of all kinds. Not part of the program.

use super::tokens::is_tidy;
use super::*;
use proptest::prelude::*;

fn shown<'a>(text: &'a str, lines: &[Line]) -> Vec<&'a str> {
    lines.iter().map(|line| &text[line.start as usize..line.end as usize]).collect()
}

fn all(text: &str) -> Vec<&str> {
    shown(text, &lines(text, &|_| false, &BTreeSet::new()))
}

#[test]
fn a_member_a_line_and_numbers_keep_their_text() {
    let text =
        r#"{"to": "a, \"b\" {", "n": 12345678901234567890.10, "n": 1e400, "list": [1, [], {}], "deep": {"x": null}}"#;
    assert_eq!(tidy(text), text);
    let want = [
        "{",
        r#""to": "a, \"b\" {","#,
        r#""n": 12345678901234567890.10,"#,
        r#""n": 1e400,"#,
        r#""list": ["#,
        "1,",
        "[],",
        "{}",
        "],",
        r#""deep": {"#,
        r#""x": null"#,
        "}",
        "}",
    ];
    assert_eq!(all(text), want);
    let lines = lines(text, &|_| false, &BTreeSet::new());
    let depths: Vec<u16> = lines.iter().map(|line| line.depth).collect();
    assert_eq!(depths, [0, 1, 1, 1, 1, 2, 2, 2, 1, 1, 2, 1, 0]);
    let ends: Vec<_> = lines.iter().filter(|l| l.opens()).map(|l| (l.next, l.members)).collect();
    assert_eq!(ends, [(13, 5), (9, 3), (12, 1)]);
}

#[test]
fn any_white_space_becomes_the_same() {
    let text = " {\n\t\"a\"  :1 ,\"b\":[ ] , \"c d\" : { \"e\":\"f  g\"}\r\n}\n";
    assert_eq!(tidy(text), r#"{"a": 1,"b": [],"c d": {"e": "f  g"}}"#);
    assert_eq!(all(&tidy(text)), ["{", "\"a\": 1,", "\"b\": [],", "\"c d\": {", "\"e\": \"f  g\"", "}", "}"]);
}

#[test]
fn scalars_and_other_texts_stay_as_they_are() {
    for text in ["", "null", "\"a b\"", "12", "not json, at all"] {
        assert_eq!(all(&tidy(text)), [text]);
    }
}

#[test]
fn depth_and_a_cut_end_are_no_problem() {
    let deep = "[".repeat(10_000);
    let lines = lines(&deep, &|_| false, &BTreeSet::new());
    assert_eq!(lines.len(), 10_000);
    assert!(lines.iter().all(|line| line.role == Role::OpenEnd && line.next == 10_000));
    assert_eq!(all(r#"{"a": "cut in the mid"#), ["{", "\"a\": \"cut in the mid"]);
    assert_eq!(all("{\"a\": \"\\"), ["{", "\"a\": \"\\"]);
    assert_eq!(all("[]]]{"), ["[]", "]", "]{"]);
    assert_eq!(all("[1, 2"), ["[", "1,", "2"]);
}

#[test]
fn hidden_values_are_one_line_whatever_is_in_them() {
    let text = r#"{"user": "x", "pass\u0077ord": "geheim", "keys": {"a": [1, {"b": 2}]}, "list": [{"token": 1}, 2]}"#;
    let hides = |path: &[&str]| matches!(path, ["password" | "keys"] | ["list", "0", "token"]);
    let found = lines(text, &hides, &BTreeSet::new());
    let hidden: Vec<&str> =
        found.iter().filter(|l| l.role == Role::Hidden).map(|l| &text[l.start as usize..l.end as usize]).collect();
    assert_eq!(hidden, [r#""pass\u0077ord": "geheim","#, r#""keys": {"a": [1, {"b": 2}]},"#, r#""token": 1"#]);
    assert_eq!(value_at(hidden[1]), 8);
    let keys = small(text.find(r#"{"a""#).unwrap());
    let found = lines(text, &hides, &BTreeSet::from([keys]));
    assert_eq!(found.iter().filter(|l| l.role == Role::Hidden).count(), 2);
    assert!(shown(text, &found).contains(&r#""b": 2"#));
    let all = |_: &[&str]| true;
    let found = lines(text, &all, &BTreeSet::from([keys]));
    assert!(shown(text, &found).contains(&r#""b": 2"#), "what is revealed is revealed with all that is in it");
    assert_eq!(found.iter().filter(|l| l.role == Role::Hidden).count(), 3);
    assert_eq!(lines("\"geheim\"", &all, &BTreeSet::new())[0].role, Role::Hidden);
    assert_eq!(lines("\"geheim\"", &all, &BTreeSet::from([0]))[0].role, Role::Text);
    assert_eq!(lines("{\"a\": {\"b\": 1", &all, &BTreeSet::new()).last().unwrap().role, Role::Hidden);
}

proptest! {
    #[test]
    fn lines_hold_every_token_in_order_and_end_where_they_say(text in r#"[\[\{][\[\]{},: a1"\\漢\n]{0,40}"#) {
        let text = tidy(&text);
        prop_assert!(is_tidy(&text), "{text}");
        let lines = lines(&text, &|_| false, &BTreeSet::new());
        let bare = |s: &str| Tokens::of(s).map(|t| s[t.start..t.end].to_owned()).collect::<String>();
        prop_assert_eq!(shown(&text, &lines).iter().map(|l| bare(l)).collect::<String>(), bare(&text));
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.opens()) {
            prop_assert!(line.next as usize > at && line.next as usize <= lines.len());
        }
    }

    #[test]
    fn it_is_the_same_document(list in proptest::collection::vec((".{0,8}", any::<i64>()), 0..6)) {
        let value = serde_json::json!({ "list": list, "empty": {} });
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let again: serde_json::Value = serde_json::from_str(&tidy(&pretty)).unwrap();
        prop_assert_eq!(again, value);
    }
}
