//! What a person types never gets into the text of a statement: whatever is typed, the text is the same.

use proptest::prelude::*;
use uuid::Uuid;

use super::super::facts::Relation;
use super::super::key::Key;
use super::*;
use crate::model::filter::arbitrary::{MARK, marked as random};
use crate::model::filter::{Moment, Numbers, PayloadTest, Range, Span, Term, Test, Words};

fn relation(columns: &[&str], indexes: &[&str]) -> Relation {
    let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    Relation { columns: owned(columns), readable: owned(columns), hidden: false, indexes: owned(indexes) }
}

/// What a role that may read everything finds in a migrated schema.
fn facts() -> Facts {
    let jobs = relation(
        &["ctid", "idempotency_key", "payload"],
        &[
            "(queue, idempotency_key)",
            "(queue, priority DESC, run_at, created_at) 'queued'",
            "(queue, priority DESC, run_at, created_at) 'queued' attempts < max_attempts",
            "(run_at) attempts >= max_attempts",
            "(lease_until) 'running'",
            "(completed_at) 'completed'",
        ],
    );
    let dead = relation(
        &["ctid", "idempotency_key", "priority", "reason", "signature", "replayed_at"],
        &["(failed_at)", "(queue, failed_at)", "(idempotency_key)"],
    );
    let relations = [("jobs".to_owned(), jobs), ("dead_letter_jobs".to_owned(), dead)].into_iter().collect();
    Facts { schema: "s".into(), relations, ..Facts::default() }
}

/// A filter of the same shape with nothing in common.
fn other(filter: &Filter) -> Filter {
    fn text(text: &mut String) {
        *text = format!("{MARK} or true; --{}", text.len());
    }
    fn range<T: Clone>(range: &Range<T>, to: &T) -> Range<T> {
        range.map(|_| to.clone())
    }
    let moment = |moment: &Moment| match moment {
        Moment::At(_) => Moment::At(Time::At(5)),
        Moment::FromNow(_) => Moment::FromNow(Span(77)),
    };
    let change = |term: &Term| {
        let mut term = term.clone();
        match &mut term.test {
            Test::Anywhere(one) => text(one),
            Test::Text(_, Words { any, .. }) => any.iter_mut().for_each(text),
            Test::Number(_, Numbers::Is(any)) => any.iter_mut().for_each(|number| *number = 4_711),
            Test::Number(_, Numbers::In(numbers)) => *numbers = range(numbers, &4_711),
            Test::Span(_, spans) => *spans = range(spans, &Span(4_711)),
            Test::Moment(_, moments) => *moments = moments.map(moment),
            Test::Payload(path, test) => {
                path.iter_mut().for_each(text);
                match test {
                    PayloadTest::Whole(any) | PayloadTest::Part(any) => any.iter_mut().for_each(text),
                    PayloadTest::In(numbers) => *numbers = range(numbers, &"4711".to_owned()),
                    PayloadTest::Present => {}
                }
            }
            Test::Kind(_) | Test::State(_) | Test::Has(_) => {}
        }
        term
    };
    Filter::new(filter.terms().iter().map(change).collect())
}

fn row(text: &str, time: Time) -> Start {
    let place = if text.len().is_multiple_of(2) { "(7,1)" } else { "(4711,2)" };
    Start::Row(Key {
        queue: text.to_owned(),
        priority: Some(4_711),
        at: Some(time),
        created_at: Some(time),
        id: Uuid::from_u128(text.len() as u128),
        place: place.to_owned(),
        with_it: false,
    })
}

/// The texts of every statement that lists could need for a filter, with how many values each has.
fn texts(facts: &Facts, filter: &Filter, typed: &str, time: Time) -> Vec<(String, usize)> {
    let asked = Asked { facts, schema: "\"s\"", filter };
    let size = Size { window: 10_000, rows: 201 };
    let starts = [Start::Top, Start::Pair { queue: typed.to_owned(), priority: 4_711 }, row(typed, time)];
    let mut texts = Vec::new();
    for name in
        ["running", "queued", "exhausted", "completed", "dead", "dead by id", "ids", "dead ids", "keys", "dead keys"]
    {
        let part = Part::named(name).expect("a part");
        for start in &starts {
            for backwards in [false, true] {
                let mut params = Params::default();
                let sql = page_sql(asked, part, (start, backwards), size, &mut params);
                texts.push((sql, params.count()));
            }
        }
    }
    let parts = [Part::Running, Part::Queued, Part::Dead];
    for key in SortKey::ALL {
        let mut params = Params::default();
        let after = Start::Sorted { value: 4_711, id: Uuid::from_u128(9) };
        let sql = sorted_sql(asked, &parts, (key, true), (&after, size), &mut params);
        texts.push((sql, params.count()));
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_typed_never_gets_into_the_text(filter in random(), migrated in any::<bool>()) {
        let facts = if migrated { facts() } else { Facts::default() };
        let all = texts(&facts, &filter, "☃'; --", Time::At(4_711));
        let others = texts(&facts, &other(&filter), "☃ or true", Time::At(1));
        for ((sql, count), (another, _)) in all.iter().zip(&others) {
            prop_assert_eq!(sql, another, "{}", filter);
            prop_assert!(!sql.contains(MARK) && !sql.contains("4711"), "{sql}");
            let used = |n: usize| sql.match_indices(&format!("${n}")).any(|(at, text)| {
                !sql[at + text.len()..].starts_with(|c: char| c.is_ascii_digit())
            });
            prop_assert!((1..=*count).all(used) && !used(count + 1), "{count} values: {sql}");
        }
    }
}
