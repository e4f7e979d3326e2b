//! Random filters for tests: every kind of term, and texts that try to be something else.

use proptest::prelude::*;

use super::{
    Filter, Has, Match, Moment, MomentField, NumberField, Numbers, PayloadTest, Range, Span, SpanField, StateWord,
    Term, Test, TextField, Words,
};
use crate::model::{BackendKind, Time};

/// In every random text, and nowhere in what is ours.
pub(crate) const MARK: char = '☃';

/// Texts that need quotes, look like other things, or try to leave an SQL string.
pub(crate) fn text() -> impl Strategy<Value = String> + Clone {
    let part = prop::sample::select(vec![
        " ",
        "\"",
        "\\",
        "'",
        "$1",
        "{schema}",
        "{matches}",
        "%_*",
        "..",
        ",",
        "-",
        ":",
        ">=",
        "state:dead",
        "\n\t",
        "ÄéßI",
        "'; drop table jobs; --",
        "abc",
        "…",
    ]);
    let parts = prop::collection::vec(part, 0..5);
    (parts.clone(), parts).prop_map(|(before, after)| format!("{}{MARK}{}", before.concat(), after.concat()))
}

fn range<T: Clone + std::fmt::Debug + 'static>(
    values: impl Strategy<Value = T> + Clone + 'static,
) -> BoxedStrategy<Range<T>> {
    (0..5, values.clone(), values)
        .prop_map(|(which, low, high)| match which {
            0 => Range::Above(low),
            1 => Range::From(low),
            2 => Range::Below(high),
            3 => Range::To(high),
            _ => Range::Between(low, high),
        })
        .boxed()
}

fn span() -> impl Strategy<Value = Span> + Clone {
    prop_oneof![-100_000_000_000_i64..100_000_000_000, Just(0), Just(90_061_001)].prop_map(Span)
}

fn moment() -> impl Strategy<Value = Moment> + Clone {
    prop_oneof![
        span().prop_map(Moment::FromNow),
        // The years 1 to 9999, in which dates have four digits.
        (-62_135_596_800_000_000_i64..253_402_300_799_999_999).prop_map(|micros| Moment::At(Time::At(micros))),
        Just(Moment::At(Time::Infinity)),
        Just(Moment::At(Time::NegInfinity)),
    ]
}

fn words(text: &BoxedStrategy<String>) -> BoxedStrategy<Test> {
    use TextField::{Error, Id, Key, Queue, Reason, Signature, Worker};
    let field = prop::sample::select(vec![Id, Queue, Worker, Error, Signature, Key, Reason]);
    (field, 0_usize..3, prop::collection::vec(text.clone(), 1..4))
        .prop_map(|(field, how, any)| {
            let how = [field.usual(), Match::Whole, Match::Part][how];
            Test::Text(field, Words { how, any })
        })
        .boxed()
}

fn payload(text: &BoxedStrategy<String>) -> BoxedStrategy<Test> {
    let any = prop::collection::vec(text.clone(), 1..3);
    let path = prop::collection::vec(prop_oneof![text.clone(), Just("user_id".to_owned()), Just(String::new())], 1..4);
    let number = prop::sample::select(vec!["0", "-1.5", "+7", "007.250"]).prop_map(str::to_owned);
    prop_oneof![
        any.clone().prop_map(|any| Test::Payload(vec![], PayloadTest::Part(any))),
        (path.clone(), any.clone()).prop_map(|(path, any)| Test::Payload(path, PayloadTest::Part(any))),
        (path.clone(), any).prop_map(|(path, any)| Test::Payload(path, PayloadTest::Whole(any))),
        (path.clone(), range(number)).prop_map(|(path, range)| Test::Payload(path, PayloadTest::In(range))),
        path.prop_map(|path| Test::Payload(path, PayloadTest::Present)),
    ]
    .boxed()
}

fn test(text: &BoxedStrategy<String>) -> BoxedStrategy<Test> {
    let number =
        prop::sample::select(vec![NumberField::Priority, NumberField::Attempts, NumberField::Max, NumberField::Left]);
    let numbers = prop_oneof![
        prop::collection::vec(any::<i32>(), 1..4).prop_map(Numbers::Is),
        range(any::<i32>()).prop_map(Numbers::In),
    ];
    let spans = prop::sample::select(vec![
        SpanField::Age,
        SpanField::Lease,
        SpanField::Due,
        SpanField::Overdue,
        SpanField::Beat,
    ]);
    let moments = prop::sample::select(vec![
        MomentField::RunAt,
        MomentField::Created,
        MomentField::Failed,
        MomentField::Completed,
    ]);
    let has = prop::sample::select(vec![Has::Error, Has::Worker, Has::Lease, Has::Key, Has::Replay]);
    let states = prop::sample::select(StateWord::all().collect::<Vec<_>>());
    prop_oneof![
        2 => text.clone().prop_filter("something", |text| !text.is_empty()).prop_map(Test::Anywhere),
        1 => Just(Test::Kind(BackendKind::Jobs)),
        3 => prop::collection::vec(states, 1..4).prop_map(Test::State),
        4 => words(text),
        3 => (number, numbers).prop_map(|(field, numbers)| Test::Number(field, numbers)),
        3 => (spans, range(span())).prop_map(|(field, range)| Test::Span(field, range)),
        3 => (moments, range(moment())).prop_map(|(field, range)| Test::Moment(field, range)),
        1 => has.prop_map(Test::Has),
        3 => payload(text),
    ]
    .boxed()
}

/// Filters of up to five terms with these texts.
fn with(text: &BoxedStrategy<String>) -> BoxedStrategy<Filter> {
    let term = (any::<bool>(), test(text)).prop_map(|(negated, test)| Term { negated, test });
    prop::collection::vec(term, 0..6).prop_map(Filter::new).boxed()
}

/// Filters whose texts all hold the [`MARK`].
pub(crate) fn marked() -> impl Strategy<Value = Filter> {
    with(&text().boxed())
}

/// Filters, many of whose texts need no quotes, or look as if they did not.
pub(crate) fn filter() -> impl Strategy<Value = Filter> {
    with(&prop_oneof![text(), "-[-a-z.]{0,3}", "[-a-z0-9_.@+%#/…é]{0,6}", "(state|queue)?[:=~<>]?[a-z]{0,3}"].boxed())
}
