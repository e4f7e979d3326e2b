//! The cursor of a page as one word for the command line. It knows which list it is of.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CommandError;
use crate::model::{Filter, PageCursor, Sort};

#[derive(Serialize, Deserialize)]
struct Word {
    filter: String,
    sort: String,
    at: Value,
}

/// The word for a cursor of the list of `filter` in the order `sort`.
pub(super) fn encode(cursor: &PageCursor, filter: &Filter, sort: Sort) -> String {
    let word = Word { filter: filter.to_string(), sort: sort.to_string(), at: cursor.0.clone() };
    URL_SAFE_NO_PAD.encode(serde_json::json!(word).to_string())
}

/// The cursor that a word stands for.
///
/// # Errors
/// When the word is no cursor, or one of another list.
pub(super) fn decode(text: &str, filter: &Filter, sort: Sort) -> Result<PageCursor, CommandError> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim()).ok();
    let word: Option<Word> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let word = word.ok_or_else(|| CommandError::Usage("--after: this is not a cursor that queuetop printed".into()))?;
    if word.filter != filter.to_string() || word.sort != sort.to_string() {
        let list = format!("--filter '{}' --sort {}", word.filter, word.sort);
        return Err(CommandError::Usage(format!("--after: this cursor belongs to another list: {list}")));
    }
    Ok(PageCursor(word.at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_belongs_to_its_list() {
        let filter: Filter = "state:dead \"a b\"".parse().expect("a filter");
        let cursor = PageCursor(serde_json::json!({ "part": "dead", "id": "é" }));
        let word = encode(&cursor, &filter, Sort::Natural);
        assert!(word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'), "{word}");
        assert_eq!(decode(&word, &filter, Sort::Natural).expect("ours"), cursor);
        let other = decode(&word, &Filter::default(), Sort::Natural).expect_err("another list").to_string();
        assert!(other.contains("--filter 'state:dead \"a b\"' --sort natural"), "{other}");
        for bad in ["", "x", "eyJ9", "%%%", &word[1..]] {
            assert!(decode(bad, &filter, Sort::Natural).is_err(), "{bad}");
        }
    }
}
