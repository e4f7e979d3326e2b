//! Where a page begins, as a cursor that may travel outside of the program and come back changed: only known words and values
//! of known types come out of it again.

use serde_json::{Value, json};
use uuid::Uuid;

use super::parts::Part;
use crate::db::DbError;
use crate::model::{PageCursor, Time};

/// A row that was looked at. Rows that are equal in their part's order stand by their place in the table, as indexes keep
/// them: a tie of a million jobs that were put in at once must not be sorted for a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) queue: String,
    pub(super) priority: Option<i32>,
    /// The time that its part is ordered by.
    pub(super) at: Option<Time>,
    pub(super) created_at: Option<Time>,
    pub(super) id: Uuid,
    /// `(block,line)`; empty where that may not be read, and ties stand by id.
    pub(super) place: String,
    /// The page begins with this row, not behind it: there was no time left to look at it.
    pub(super) with_it: bool,
}

/// Where reading begins within a part.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Start {
    /// At its first row.
    Top,
    /// Behind all jobs of this queue and priority.
    Pair { queue: String, priority: i32 },
    /// At or behind a row.
    Row(Key),
    /// In a list that is sorted without an index: behind this value and id.
    Sorted { value: i64, id: Uuid },
}

/// The cursor of a place in a part.
pub(super) fn cursor(part: Part, start: &Start) -> PageCursor {
    let micros = |time: Option<Time>| time.map(Time::to_pg_micros);
    let mut cursor = match start {
        Start::Top => json!({}),
        Start::Pair { queue, priority } => json!({ "queue": queue, "priority": priority }),
        Start::Sorted { value, id } => json!({ "value": value, "id": id.to_string() }),
        Start::Row(key) => json!({
            "queue": key.queue, "priority": key.priority, "at": micros(key.at), "created_at": micros(key.created_at),
            "id": key.id.to_string(), "place": key.place, "with_it": key.with_it,
        }),
    };
    cursor["part"] = part.name().into();
    PageCursor(cursor)
}

/// The place that a cursor names.
///
/// # Errors
/// When the cursor is not one of ours.
pub(super) fn place(cursor: &PageCursor) -> Result<(Part, Start), DbError> {
    read(&cursor.0).ok_or_else(|| DbError::shape("the cursor of a page is not one of ours"))
}

fn read(cursor: &Value) -> Option<(Part, Start)> {
    let text = |name: &str| cursor[name].as_str().filter(|text| !text.contains('\0')).map(str::to_owned);
    let time = |name: &str| cursor[name].as_i64().map(Time::from_pg_micros);
    let priority = cursor["priority"].as_i64().and_then(|n| i32::try_from(n).ok());
    let id = text("id").map(|id| Uuid::parse_str(&id)).transpose().ok()?;
    let start = match (id, text("place"), text("queue")) {
        (Some(id), Some(place), Some(queue)) if place.is_empty() || is_place(&place) => Start::Row(Key {
            queue,
            priority,
            at: time("at"),
            created_at: time("created_at"),
            id,
            place,
            with_it: cursor["with_it"].as_bool()?,
        }),
        (Some(id), None, None) => Start::Sorted { value: cursor["value"].as_i64()?, id },
        (None, None, Some(queue)) => Start::Pair { queue, priority: priority? },
        (None, None, None) if cursor.as_object()?.len() == 1 => Start::Top,
        _ => return None,
    };
    Some((Part::named(cursor["part"].as_str()?)?, start))
}

/// `(12,3)`
fn is_place(text: &str) -> bool {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let parts = inner.and_then(|inner| inner.split_once(','));
    parts.is_some_and(|(block, line)| block.parse::<u32>().is_ok() && line.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_the_place_it_was() {
        let key = Key {
            queue: "a\"b".into(),
            priority: Some(-3),
            at: Some(Time::Infinity),
            created_at: Some(Time::At(-5)),
            id: Uuid::from_u128(7),
            place: "(4294967295,12)".into(),
            with_it: true,
        };
        let starts = [
            Start::Top,
            Start::Pair { queue: String::new(), priority: i32::MIN },
            Start::Row(Key { at: None, with_it: false, ..key.clone() }),
            Start::Row(key),
            Start::Sorted { value: i64::MIN, id: Uuid::from_u128(9) },
        ];
        for start in starts {
            assert_eq!(place(&cursor(Part::Queued, &start)).expect("ours"), (Part::Queued, start));
        }
    }

    #[test]
    fn a_foreign_cursor_is_an_error() {
        for bad in [
            json!({"page": 3}),
            json!({"part": "queued", "queue": "a"}),
            json!({"part": "elsewhere"}),
            json!({"part": "dead", "id": "7"}),
            json!({"part": "dead", "queue": "a", "id": Uuid::nil().to_string(), "place": "(1,2);drop", "with_it": false}),
            json!({"part": "dead", "queue": "a\0", "priority": 1}),
            json!(null),
        ] {
            assert!(place(&PageCursor(bad.clone())).is_err(), "{bad}");
        }
    }
}
