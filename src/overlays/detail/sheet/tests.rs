//! Sheets, tested by laying them out and looking at their rows. Not part of the program.

use super::super::json::small;
use super::*;
use crate::text::width;
use proptest::prelude::*;

fn texts(sheet: &Sheet) -> Vec<String> {
    let rows = sheet.visible(0..sheet.rows(), &[]);
    assert_eq!(rows.len(), sheet.rows(), "{:?}", sheet.text);
    rows.into_iter().map(|row| row.text).collect()
}

fn laid_out(mut sheet: Sheet, columns: usize) -> Sheet {
    sheet.lay_out(columns);
    sheet
}

fn plain(text: &str, columns: usize) -> Sheet {
    laid_out(Sheet::plain(text), columns)
}

fn json(text: &str, columns: usize) -> Sheet {
    laid_out(Sheet::json(text, &|_| false), columns)
}

fn at(sheet: &Sheet, words: &str) -> Place {
    Place { byte: sheet.text.find(words).expect("these words"), row: 0 }
}

#[test]
fn lines_are_broken_at_the_width() {
    assert_eq!(texts(&plain("abcdefg\n\nhi\n", 3)), ["abc", "def", "g", "", "hi"]);
    assert_eq!(texts(&plain("漢字x漢", 3)), ["漢", "字x", "漢"]);
    assert_eq!(texts(&plain("漢a", 1)), ["…", "a"]);
    assert_eq!(texts(&plain("a\tb\r\n\u{1b}[2J", 9)), ["a   b", r"\x1b[2J"]);
    assert_eq!(texts(&plain("", 9)), [""]);
}

#[test]
fn json_keeps_its_own_backslashes_and_is_indented() {
    assert_eq!(texts(&json(r#""a\n\u001b""#, 40)), [r#""a\n\u001b""#]);
    assert_eq!(texts(&json("\"\u{9b}\\n漢\u{202e}\"", 40)), [r#""\u{9b}\n漢\u{202e}""#]);
    assert_eq!(texts(&plain(r"a\n", 40)), [r"a\\n"]);
    let want = ["{", "  \"a\": [", "    1,", "    {}", "  ]", "}"];
    assert_eq!(texts(&json(r#"{"a":[1,{}]}"#, 40)), want);
    assert_eq!(texts(&json(r#"{"a": "01234567"}"#, 8)), ["{", "  \"a\": \"", "  012345", "  67\"", "}"]);
}

#[test]
fn the_end_of_a_huge_line_costs_no_more_than_its_start() {
    let long = plain(&("x".repeat(5_000_000) + "end"), 80);
    assert_eq!(long.rows(), 62_501);
    let row = |sheet: &Sheet, n: usize| sheet.visible(n..n + 20, &[])[0].text.clone();
    assert_eq!(long.visible(62_500..62_520, &[]).len(), 1);
    assert_eq!(row(&long, 62_500), "end");
    assert_eq!(row(&long, 62_499), "x".repeat(80));
    assert!(long.parts.iter().all(|part| part.bytes().len() <= PART));
    let wide = plain(&"漢".repeat(1_000_000), 80);
    assert!(wide.parts.iter().all(|part| part.bytes().len() <= PART));
    assert_eq!(wide.visible(wide.rows() - 1..wide.rows(), &[]).len(), 1);
}

#[test]
fn seventy_thousand_lines_have_an_end() {
    let text = (0..70_000).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let long = plain(&text, 80);
    assert_eq!(long.rows(), 70_000);
    let row = |n: usize| long.visible(n..n + 1, &[])[0].text.clone();
    assert_eq!((row(69_999).as_str(), row(65_536).as_str()), ("line 69999", "line 65536"));
}

#[test]
fn objects_and_arrays_fold_from_any_of_their_lines() {
    let mut sheet = json(r#"{"a": {"b": 1, "c": [2, 3]}, "d": 4}"#, 40);
    let whole = texts(&sheet);
    let folded = ["{", "  \"a\": {… 2 keys · \"b\": 1, \"c\": [ 2, 3 …", "  \"d\": 4", "}"];
    for words in ["\"a\"", "\"b\"", "}, \"d\""] {
        let place = sheet.fold(at(&sheet, words)).unwrap();
        assert_eq!(texts(&sheet), folded, "{words}");
        assert_eq!((place, sheet.row(place)), (at(&sheet, "\"a\""), 1));
        assert_eq!(sheet.row(at(&sheet, "3]")), 1, "what is folded away is at the line that holds it");
        sheet.fold(place);
        assert_eq!(texts(&sheet), whole);
    }
    assert!(!sheet.fold_all());
    assert_eq!(texts(&sheet), folded);
    sheet.unfold_to(sheet.text.find("3]").unwrap());
    assert_eq!(texts(&sheet), whole);
    sheet.fold(at(&sheet, "\"c\""));
    assert_eq!(texts(&sheet)[3], "    \"c\": [… 2 items · 2, 3 ]");
    assert!(sheet.fold_all() && texts(&sheet) == whole);
    sheet.fold(Place::default());
    assert_eq!(texts(&sheet), ["{… 2 keys · \"a\": { \"b\": 1, \"c\": [ 2, 3 …"]);
    assert_eq!(json("12", 40).fold(Place::default()), None);
}

#[test]
fn what_is_large_starts_folded_and_what_was_cut_says_so() {
    let member = r#"{"x": [1, 2, 3], "y": {"z": null}}"#;
    let text = format!("[{}]", vec![member; 100].join(", "));
    let sheet = json(&text, 80);
    assert_eq!(sheet.rows(), 102);
    assert_eq!(texts(&sheet)[1], "  {… 2 keys · \"x\": [ 1, 2, 3 ], \"y\": { \"z\": null } },");
    assert_eq!(texts(&json(&format!("[{}]", [member; 3].join(", ")), 80)).len(), 3 * 10 + 2);
    let mut cut = json(r#"{"a": [1, 2, "x"#, 80);
    cut.fold(Place::default());
    assert_eq!(texts(&cut), ["{… 1 key so far · \"a\": [ 1, 2, \"x"]);
    let numbers = format!("[{}]", (0..1_000).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
    assert_eq!(json(&numbers, 80).rows(), 1_002, "the outermost members are in view however many");
}

#[test]
fn more_of_a_text_keeps_the_folds() {
    let mut sheet = json(r#"{"a": {"b": 1}, "c": {"d": [1"#, 40);
    sheet.fold(at(&sheet, "\"a\""));
    sheet.append(r#", 2]}, "e": 3}"#, &|_| false);
    assert_eq!(
        texts(&sheet),
        [
            "{",
            "  \"a\": {… 1 key · \"b\": 1 },",
            "  \"c\": {",
            "    \"d\": [",
            "      1,",
            "      2",
            "    ]",
            "  },",
            "  \"e\": 3",
            "}"
        ]
    );
}

#[test]
fn a_hidden_value_is_told_by_signs_until_it_is_revealed() {
    let hides = |path: &[&str]| path.last() == Some(&"secret");
    let text = r#"{"secret": {"k": "geheim"}, "a": [{"secret": 1}, 2]}"#;
    let mut sheet = laid_out(Sheet::json(text, &hides), 40);
    let hidden = texts(&sheet);
    assert_eq!(hidden[1], "  \"secret\": •••,");
    assert_eq!(hidden[4], "      \"secret\": •••");
    sheet.fold(at(&sheet, "\"a\""));
    assert_eq!(texts(&sheet)[2], "  \"a\": [… 2 items · { \"secret\": ••• }, …", "nor in short");
    sheet.fold(at(&sheet, "\"a\""));
    assert!(sheet.hides_something() && !json(text, 40).hides_something());
    let place = Place { byte: 1, row: 0 };
    assert_eq!(sheet.reveal(place, &hides), Revealed::Shown);
    assert_eq!(texts(&sheet)[2], "    \"k\": \"geheim\"");
    assert_eq!(texts(&sheet)[6], "      \"secret\": •••");
    assert_eq!(sheet.reveal(place, &hides), Revealed::Hidden);
    assert_eq!(texts(&sheet), hidden);
    assert_eq!(sheet.reveal(Place::default(), &hides), Revealed::Nothing);
}

#[test]
fn what_is_hidden_is_neither_found_nor_copied() {
    let hides = |path: &[&str]| path.last() == Some(&"secret");
    let text = r#"{"secret": "geheim", "a": {"secret": {"geheim": [1]}}, "b": "geheim"}"#;
    let mut sheet = laid_out(Sheet::json(text, &hides), 40);
    assert_eq!(sheet.find("geheim").len(), 1);
    assert_eq!(sheet.find("secret").len(), 2);
    assert_eq!(sheet.find("secret\": \"g").len(), 0);
    let (copied, whole) = sheet.copy(1_000);
    assert_eq!(copied, r#"{"secret": "•••", "a": {"secret": "•••"}, "b": "geheim"}"#);
    assert!(whole);
    sheet.reveal(Place { byte: 1, row: 0 }, &hides);
    assert_eq!(sheet.find("geheim").len(), 2);
    assert_eq!(sheet.copy(13), ("{\"secret\": \"g".into(), false));
    assert_eq!(plain("a漢", 9).copy(2), ("a".into(), false));
    assert_eq!(plain("a漢", 9).copy(4), ("a漢".into(), true));
}

/// The first marked columns of each row.
fn columns_of(rows: &[SheetRow]) -> Vec<Option<(usize, usize)>> {
    rows.iter().map(|row| row.marks.first().map(|mark| (mark.start, mark.end))).collect()
}

#[test]
fn what_was_found_is_marked_where_it_is_shown() {
    let sheet = plain("ab\u{1b}cd漢efgh", 8);
    assert_eq!(texts(&sheet), ["ab\\x1bcd", "漢efgh"]);
    let found = |words: &str| {
        vec![{
            let start = sheet.text.find(words).unwrap();
            start..start + words.len()
        }]
    };
    let marks = |words: &str| columns_of(&sheet.visible(0..2, &found(words)));
    assert_eq!(marks("cd"), [Some((6, 8)), None]);
    assert_eq!(marks("d漢e"), [Some((7, 8)), Some((0, 3))]);
    let sheet = json(r#"{"key": "0123456789"}"#, 10);
    let start = sheet.text.find("345").unwrap();
    let marks = columns_of(&sheet.visible(0..9, std::slice::from_ref(&(start..start + 3))));
    assert_eq!(texts(&sheet)[1..3], ["  \"key\": \"", "  01234567"]);
    assert_eq!(marks[2], Some((5, 8)));
}

proptest! {
    #[test]
    fn any_window_is_a_part_of_the_whole(
        text in "[\\[{]?[a漢é\\\\\t\n\u{301}\u{1b}\"{}\\[\\],:]{0,60}", columns in 1_usize..9, from in 0_usize..20, rows in 0_usize..9,
    ) {
        for sheet in [json(&text, columns), plain(&text, columns)] {
            let whole = texts(&sheet);
            let to = (from + rows).min(sheet.rows()).max(from);
            let want: Vec<String> = whole.iter().skip(from).take(to - from).cloned().collect();
            let window: Vec<String> = sheet.visible(from..to, &[]).into_iter().map(|row| row.text).collect();
            prop_assert_eq!(window, want);
            for (row, line) in whole.iter().enumerate() {
                prop_assert!(width(line) <= columns && !line.contains(char::is_control), "{:?}", line);
                prop_assert_eq!(sheet.row(sheet.place(row)), row);
            }
        }
    }

    #[test]
    fn any_place_can_be_marked_folded_and_unfolded(
        text in "[\\[{][a漢\"{}\\[\\],:1]{0,60}", byte in 0_usize..80, length in 0_usize..9,
    ) {
        let mut sheet = json(&text, 12);
        let ends: Vec<usize> = (0..=sheet.text.len()).filter(|at| sheet.text.is_char_boundary(*at)).collect();
        let (start, end) = (ends[byte % ends.len()], ends[(byte + length) % ends.len()]);
        let found = std::slice::from_ref(&(start..end.max(start))).to_vec();
        for row in sheet.visible(0..sheet.rows(), &found) {
            prop_assert!(row.marks.iter().all(|mark| mark.end <= 12), "{row:?}");
        }
        // Where there is room, what is folded is shorter.
        sheet.lay_out(200);
        let rows = sheet.rows();
        if let Some(place) = sheet.fold(Place { byte: start, row: 0 }) {
            prop_assert!(sheet.rows() <= rows);
            sheet.unfold_to(start);
            sheet.fold(place);
            sheet.unfold_to(start);
            let line = sheet.lines[sheet.line_of(start)];
            prop_assert!(sheet.part_of_byte(start).unwrap().start <= small(start) && line.start <= small(start).max(line.start));
        }
    }
}
