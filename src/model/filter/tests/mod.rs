//! What is typed, and what is said of what cannot be meant.

mod meaning;

use proptest::prelude::*;

use super::arbitrary::{filter as random, text as random_text};
use super::*;

fn filter(text: &str) -> Filter {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn words(field: TextField, how: Match, any: &[&str]) -> Test {
    Test::Text(field, Words { how, any: any.iter().map(|text| (*text).to_owned()).collect() })
}

fn payload(path: &[&str], test: PayloadTest) -> Test {
    Test::Payload(path.iter().map(|key| (*key).to_owned()).collect(), test)
}

fn minutes(minutes: i64) -> Span {
    Span(minutes * 60_000)
}

/// The only term of a text.
fn test(text: &str) -> Test {
    let filter = filter(text);
    assert_eq!(filter.terms().len(), 1, "{text}");
    filter.terms()[0].test.clone()
}

#[test]
fn every_field_reads_what_it_is_for() {
    let hour = Moment::FromNow(minutes(60));
    let strings = |any: &[&str]| any.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    for (text, expected) in [
        ("timeout", Test::Anywhere("timeout".into())),
        ("\"no \\\"route\\\" C:\\temp\\\\\"", Test::Anywhere("no \"route\" C:\\temp\\".into())),
        (r"100%_\x", Test::Anywhere(r"100%_\x".into())),
        ("10.0.0.5:5432", Test::Anywhere("10.0.0.5:5432".into())),
        ("queue:emails", words(TextField::Queue, Match::Whole, &["emails"])),
        ("Q=a,\"b, c\"", words(TextField::Queue, Match::Whole, &["a", "b, c"])),
        ("queue~mail", words(TextField::Queue, Match::Part, &["mail"])),
        ("error:\"\"", words(TextField::Error, Match::Part, &[""])),
        ("error:>=3..5", words(TextField::Error, Match::Part, &[">=3..5"])),
        ("worker:7f3", words(TextField::Worker, Match::Begin, &["7f3"])),
        ("key:a:b=c", words(TextField::Key, Match::Whole, &["a:b=c"])),
        ("state:ready,EXPIRED", Test::State(vec![StateWord::One(JobState::Ready), StateWord::One(JobState::Expired)])),
        ("is:any", Test::State(vec![StateWord::Any])),
        ("attempts>=3", Test::Number(NumberField::Attempts, Numbers::In(Range::From(3)))),
        ("attempts:>=3", Test::Number(NumberField::Attempts, Numbers::In(Range::From(3)))),
        ("tries:1,2", Test::Number(NumberField::Attempts, Numbers::Is(vec![1, 2]))),
        ("prio:-5..-1", Test::Number(NumberField::Priority, Numbers::In(Range::Between(-5, -1)))),
        ("max:..5", Test::Number(NumberField::Max, Numbers::In(Range::To(5)))),
        ("left:5..", Test::Number(NumberField::Left, Numbers::In(Range::From(5)))),
        ("age>1h30m", Test::Span(SpanField::Age, Range::Above(minutes(90)))),
        ("lease<-1.5m", Test::Span(SpanField::Lease, Range::Below(Span(-90_000)))),
        ("due:0s..1w", Test::Span(SpanField::Due, Range::Between(Span(0), minutes(7 * 24 * 60)))),
        ("run_at<+1h", Test::Moment(MomentField::RunAt, Range::Below(hour))),
        ("created>=now", Test::Moment(MomentField::Created, Range::From(Moment::FromNow(Span(0))))),
        ("has:key", Test::Has(Has::Key)),
        ("has:payload.a.\"b c\"", payload(&["a", "b c"], PayloadTest::Present)),
        ("payload:x,y", payload(&[], PayloadTest::Part(strings(&["x", "y"])))),
        ("payload.to:\"a@b\"", payload(&["to"], PayloadTest::Whole(strings(&["a@b"])))),
        ("payload.to~a@b", payload(&["to"], PayloadTest::Part(strings(&["a@b"])))),
        ("payload.a.0>-1.5", payload(&["a", "0"], PayloadTest::In(Range::Above("-1.5".into())))),
        ("payload.n:5..10", payload(&["n"], PayloadTest::In(Range::Between("5".into(), "10".into())))),
        ("payload.v:1.2..x", payload(&["v"], PayloadTest::Whole(strings(&["1.2..x"])))),
        ("kind:pgmq", Test::Kind(BackendKind::Pgmq)),
    ] {
        assert_eq!(test(text), expected, "{text}");
    }
}

#[test]
fn a_day_is_all_of_it() {
    let at = |text: &str| match test(text) {
        Test::Moment(_, range) => range.map(|moment| match moment {
            Moment::At(time) => time.to_rfc3339(),
            Moment::FromNow(_) => panic!("{text}"),
        }),
        other => panic!("{other:?}"),
    };
    let (first, last) = ("2026-12-01T00:00:00.000000Z".to_owned(), "2026-12-01T23:59:59.999999Z".to_owned());
    assert_eq!(at("created:2026-12-01"), Range::Between(first.clone(), last.clone()));
    assert_eq!(at("created>2026-12-01"), Range::Above(last.clone()));
    assert_eq!(at("created>=2026-12-01"), Range::From(first.clone()));
    assert_eq!(at("created<2026-12-01"), Range::Below(first));
    assert_eq!(at("created:..2026-12-01"), Range::To(last));
    assert_eq!(at("failed>\"2026-12-01 14:02\""), Range::Above("2026-12-01T14:02:00.000000Z".into()));
    assert_eq!(at("failed>2026-12-01T14:02:11.5+02:00"), Range::Above("2026-12-01T12:02:11.500000Z".into()));
    assert_eq!(at("run_at=infinity"), Range::Between("infinity".into(), "infinity".into()));
}

#[test]
fn what_is_wrong_is_named_and_shown_where_it_stands() {
    for (text, at, expected) in [
        ("a quue:x", "quue", "no field is called quue: did you mean queue?"),
        ("sate:dead", "sate", "did you mean state?"),
        ("http://x", "http", "put it in quotes"),
        (" :x", ":x", "expected a field in front of it"),
        ("a -", "-", "right behind the minus"),
        ("\"open", "\"open", "expected a closing quote"),
        ("x \"a\"b", "b", "expected a space here"),
        ("\"\"", "\"\"", "expected text between the quotes"),
        ("queue:", "", "expected a value: the queue's name"),
        ("queue:a,", "", "expected a value"),
        ("state:running,done", "done", "expected ready, scheduled"),
        ("state>ready", ">", "expected : behind state"),
        ("attempts:x", "x", "expected a whole number"),
        ("attempts>99999999999", "99999999999", "expected a whole number"),
        ("attempts~3", "~", "expected :, >, >=, < or <= behind attempts"),
        ("age:5m", ":", "expected >, >=, <, <= or a range, as in age>10m"),
        ("age>5", "5", "expected a length of time"),
        ("age>99999999d", "99999999d", "at most 36500d"),
        ("run_at<1h", "1h", "expected a time such as -1h"),
        ("created:2026-13-01", "2026-13-01", "expected a time"),
        ("has:money", "money", "expected error, worker, lease"),
        ("payload=x", "=", "a key, as in payload.user.id=42"),
        ("payload.:x", "", "expected a key of the payload"),
        ("payload.a>b", "b", "expected a number"),
        ("kind:kafka", "kafka", "expected jobs or pgmq"),
        ("a\0b", "\0", "no text in a database holds a zero byte"),
    ] {
        let error = text.parse::<Filter>().expect_err(text);
        assert_eq!(text.get(error.span.clone()), Some(at), "{text}: {error:?}");
        assert!(error.message.contains(expected), "{text}: {error}");
        assert_eq!(at.is_empty(), error.span.is_empty(), "{text}");
    }
}

#[test]
fn a_filter_prints_as_it_is_typed() {
    for text in [
        "queue:emails state:dead attempts>=3 age>10m error:\"time out\" worker:7f3 payload.to:\"a b\" -queue:test smtp",
        "-\"a phrase\" queue:a,b queue~\"x, y\" id:8c1f…e2 id=8c1f has:payload.\"a b\".c payload:x payload.n>5 payload.n:1..2",
        "run_at:-1h..+5m created>=2026-12-01T14:02:11.500Z failed<now lease<-1m30s due:0s..1d2h3m4s5ms max:1 kind:pgmq",
        "\"-x\" \"a:b\" \"..\" -has:replay state:queued,any",
    ] {
        assert_eq!(filter(text).to_string(), text);
    }
}

#[test]
fn help_examples_are_filters() {
    for entry in &field::FIELDS {
        let _ = filter(entry.example);
        assert!(help_text().contains(entry.example) && markdown_table().contains(entry.name));
    }
    let example = FILTER_HELP.lines().nth(2).expect("an example");
    assert_eq!(filter(example).to_string(), example.trim());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_printed_reads_back(filter in random()) {
        let text = filter.to_string();
        prop_assert_eq!(text.parse::<Filter>(), Ok(filter), "{}", text);
    }

    #[test]
    fn any_text_is_a_filter_or_an_error_within_it(text in r#"[-a-z:=~<>.,"\\ 0-9é☃%'\n]{0,30}"#, any in "\\PC*") {
        for text in [text, any] {
            match text.parse::<Filter>() {
                Ok(filter) => prop_assert_eq!(filter.to_string().parse::<Filter>(), Ok(filter)),
                Err(error) => prop_assert!(text.get(error.span.clone()).is_some() && !error.message.is_empty()),
            }
        }
    }

    #[test]
    fn completing_never_breaks_a_text(text in "\\PC{0,20}", name in random_text(), cursor in 0_usize..30) {
        let names = [name];
        let known = Vocabulary { queues: &names, workers: &names };
        for text in [text.clone(), format!("queue:{text}"), format!("x worker:a,{text}")] {
            for one in complete(&text, cursor, &known) {
                prop_assert!(text.get(one.span).is_some());
            }
        }
    }
}

#[test]
fn completions_fit_what_is_typed() {
    let queues = ["emails".to_owned(), "my mails".to_owned()];
    let workers = ["7f3a".to_owned()];
    let known = Vocabulary { queues: &queues, workers: &workers };
    for (text, expected) in [
        ("sta", "state:"),
        ("x -sta", "x -state:"),
        ("state:ru", "state:running"),
        ("state:ready,exp", "state:ready,expired"),
        ("queue:em", "queue:emails"),
        ("queue:\"my", "queue:\"my mails\""),
        ("queue:mail", "queue:emails"),
        ("worker:", "worker:7f3a"),
        ("has:re", "has:replay"),
        ("age>", "age>1m"),
        ("ag", "age>"),
        ("kind:p", "kind:pgmq"),
    ] {
        let all = complete(text, text.len(), &known);
        let first = all.first().unwrap_or_else(|| panic!("nothing for {text}"));
        let mut whole = text.to_owned();
        whole.replace_range(first.span.clone(), &first.text);
        assert_eq!(whole, expected);
    }
    for nothing in ["\"sta", "queue:x", "error:ti", "10.0"] {
        assert_eq!(complete(nothing, nothing.len(), &known), [], "{nothing}");
    }
    assert_eq!(complete("", 0, &known).len(), field::FIELDS.len());
    assert_eq!(complete("sta dead", 3, &known)[0].span, 0..3);
}
