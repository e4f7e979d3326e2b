//! Terms of a filter as conditions on a row `j`. Everything typed becomes a parameter.

use uuid::Uuid;

use super::facts::Facts;
use super::key::Key;
use super::params::Params;
use crate::model::filter::{
    Filter, Has, Match, Moment, MomentField, NumberField, Numbers, PayloadTest, Range, Span, SpanField, StateSet, Term,
    Test, TextField, Words, begin_and_end, id_range,
};
use crate::model::{BackendKind, JobState};

/// The server's time as all parts of a statement see it.
pub(super) const NOW: &str = "statement_timestamp()";
/// So many characters of an error are searched: as many as our functions keep.
const ERROR_CHARS: usize = 8_000;

/// Where a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Live,
    Dead,
}

impl Table {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Live => "jobs",
            Self::Dead => "dead_letter_jobs",
        }
    }

    /// The states that its rows can be in.
    pub(super) fn states(self) -> StateSet {
        match self {
            Self::Live => StateSet::ANY.without(StateSet::DEAD),
            Self::Dead => StateSet::DEAD,
        }
    }
}

/// Writes conditions on rows of one table.
pub(super) struct Clauses<'a> {
    pub(super) facts: &'a Facts,
    pub(super) table: Table,
    pub(super) params: &'a mut Params,
    /// What names a row's queue and its priority.
    pub(super) names: (&'static str, &'static str),
}

impl<'a> Clauses<'a> {
    pub(super) fn new(facts: &'a Facts, table: Table, params: &'a mut Params) -> Self {
        Self { facts, table, params, names: ("j.queue", "j.priority") }
    }

    /// What a row must be like to be shown, cheap tests first. `states`: those that the rows can be in.
    pub(super) fn verdict(&mut self, filter: &Filter, states: StateSet) -> String {
        let mut terms: Vec<&Term> = filter.terms().iter().filter(|term| !matches!(term.test, Test::State(_))).collect();
        terms.sort_by_key(|term| term.test.reads());
        let shown = filter.states().and(states);
        let state = (shown != states).then(|| self.state(shown));
        let all: Vec<String> = state.into_iter().chain(terms.into_iter().map(|term| self.term(term))).collect();
        if all.is_empty() { "true".to_owned() } else { all.join(" and ") }
    }

    /// One term; a value that is missing is not what was asked for.
    pub(super) fn term(&mut self, term: &Term) -> String {
        let holds = self.test(&term.test);
        format!("{}coalesce(({holds}), false)", if term.negated { "not " } else { "" })
    }

    fn test(&mut self, test: &Test) -> String {
        if !test.states().meets(self.table.states()) {
            return "false".to_owned();
        }
        match test {
            Test::Anywhere(wanted) => self.anywhere(wanted),
            Test::Kind(kind) => (*kind == BackendKind::Jobs).to_string(),
            Test::State(_) => self.state(test.states()),
            Test::Text(TextField::Id, words) => self.id(words),
            Test::Text(field, words) => self.text(*field, words),
            Test::Number(field, numbers) => self.number(*field, numbers),
            Test::Span(field, range) => self.span(*field, range),
            Test::Moment(field, range) => {
                let column = self.moment(*field);
                self.range(column, range)
            }
            Test::Has(has) => self.has(*has).to_owned(),
            Test::Payload(path, test) => self.payload(path, test),
        }
    }

    /// Rows in one of these states.
    fn state(&self, states: StateSet) -> String {
        if self.table == Table::Dead {
            return states.has(JobState::Dead).to_string();
        }
        let mut any = Vec::new();
        let mut whole = |set: StateSet, sql: &str, single: &dyn Fn(JobState) -> String| {
            if set.is_within(states) {
                any.push(sql.to_owned());
            } else {
                any.extend(set.and(states).each().map(single));
            }
        };
        whole(StateSet::QUEUED, "j.status = 'queued'", &|state| {
            let due = match state {
                JobState::Exhausted => return "j.status = 'queued' and j.attempts >= j.max_attempts".to_owned(),
                JobState::Ready => "<=",
                _ => ">",
            };
            format!("j.status = 'queued' and j.attempts < j.max_attempts and j.run_at {due} {NOW}")
        });
        whole(StateSet::CLAIMED, "j.status = 'running'", &|state| {
            let (compare, missing) = if state == JobState::Running { (">=", "false") } else { ("<", "true") };
            format!("j.status = 'running' and coalesce(j.lease_until {compare} {NOW}, {missing})")
        });
        whole(StateSet::COMPLETED, "j.status = 'completed'", &|_| String::new());
        if any.is_empty() { "false".to_owned() } else { format!("({})", any.join(" or ")) }
    }

    fn anywhere(&mut self, text: &str) -> String {
        if let Ok(id) = Uuid::parse_str(text.trim()) {
            return format!("j.id = {}", self.params.uuid(id));
        }
        let wanted = self.params.text(text);
        let worker = if self.table == Table::Live { "j.locked_by::text" } else { "null::text" };
        let key = self.column("idempotency_key");
        let places = ["j.id::text", worker, &error_head(), &key];
        let places: Vec<String> = places.iter().map(|place| part(place, &wanted)).collect();
        places.join(" or ")
    }

    fn id(&mut self, words: &Words) -> String {
        let mut any: Vec<String> = Vec::new();
        for wanted in &words.any {
            if words.how == Match::Part {
                let wanted = self.params.text(wanted);
                any.push(part("j.id::text", &wanted));
            } else if let Some((first, last)) = id_range(wanted, words.how) {
                let (first, last) = (self.params.uuid(first), self.params.uuid(last));
                let end = begin_and_end(wanted).1;
                let end =
                    (words.how == Match::Begin && !end.is_empty()).then(|| self.params.text(&end.to_ascii_lowercase()));
                let end = end.map(|end| format!(" and right(j.id::text, length({end})) = {end}")).unwrap_or_default();
                any.push(format!("j.id between {first} and {last}{end}"));
            }
        }
        if any.is_empty() { "false".to_owned() } else { any.join(" or ") }
    }

    fn text(&mut self, field: TextField, words: &Words) -> String {
        let own = match field {
            TextField::Queue => self.names.0.to_owned(),
            TextField::Worker => "case when j.status = 'running' then j.locked_by::text end".to_owned(),
            TextField::Error if words.how == Match::Part => error_head(),
            TextField::Error => "j.last_error".to_owned(),
            TextField::Signature => self.signature(),
            TextField::Key => self.column("idempotency_key"),
            TextField::Reason => self.column("reason"),
            TextField::Id => "j.id::text".to_owned(),
        };
        self.words(&own, words.how, &words.any)
    }

    fn words(&mut self, own: &str, how: Match, any: &[String]) -> String {
        let one = |params: &mut Params, wanted: &String| {
            if how == Match::Part {
                return part(own, &params.text(wanted));
            }
            let (begin, end) = begin_and_end(wanted);
            let (begin, end) = (params.text(begin), params.text(end));
            format!("left({own}, length({begin})) = {begin} and right({own}, length({end})) = {end}")
        };
        match how {
            Match::Whole => format!("{own} = any({})", self.params.texts(any)),
            _ => any.iter().map(|wanted| one(self.params, wanted)).collect::<Vec<_>>().join(" or "),
        }
    }

    /// Whether ties stand by their place in the table; else, by their id.
    pub(super) fn has_places(&self) -> bool {
        self.facts.can_read(self.table.name(), "ctid")
    }

    /// Rows that tie with this one and come behind it.
    pub(super) fn tie(&mut self, key: &Key, falls: bool) -> String {
        let compare = format!("{}{}", if falls { "<" } else { ">" }, if key.with_it { "=" } else { "" });
        if key.place.is_empty() {
            return format!("j.id {compare} {}", self.params.uuid(key.id));
        }
        format!("j.ctid {compare} {}::tid", self.params.text(&key.place))
    }

    /// A column that need not be there, or not be readable.
    fn column(&self, name: &'static str) -> String {
        if self.facts.can_read(self.table.name(), name) { format!("j.{name}") } else { "null::text".to_owned() }
    }

    /// As our function says, else as near as one expression comes to it.
    fn signature(&self) -> String {
        let callable = self.facts.functions.get("error_signature").is_some_and(|function| function.callable);
        let computed = if callable {
            format!("case when j.last_error is not null then {{schema}}.error_signature({}) end", error_head())
        } else {
            concat!("(", include_str!("sql/signature.sql"), ")").to_owned()
        };
        match self.table {
            Table::Dead if self.facts.can_read("dead_letter_jobs", "signature") => {
                format!("coalesce(j.signature, {computed})")
            }
            _ => computed,
        }
    }

    fn number(&mut self, field: NumberField, numbers: &Numbers) -> String {
        let own = match field {
            NumberField::Priority
                if self.table == Table::Dead && !self.facts.can_read("dead_letter_jobs", "priority") =>
            {
                "null::integer"
            }
            NumberField::Priority => self.names.1,
            NumberField::Attempts => "j.attempts",
            NumberField::Max => "j.max_attempts",
            NumberField::Left => "(j.max_attempts::bigint - j.attempts)",
        };
        match numbers {
            Numbers::Is(any) => format!("{own} = any({})", self.params.int4s(any)),
            Numbers::In(range) => compare(own, &range.map(|number| self.params.int4(*number))),
        }
    }

    fn span(&mut self, field: SpanField, range: &Range<Span>) -> String {
        let (only, own) = match field {
            SpanField::Age => ("", self.moment(MomentField::Created)),
            SpanField::Lease => ("j.status = 'running' and ", "coalesce(j.lease_until, '-infinity')"),
            SpanField::Beat => ("j.status = 'running' and ", "j.updated_at"),
            SpanField::Due | SpanField::Overdue => {
                ("j.status = 'queued' and j.attempts < j.max_attempts and ", "j.run_at")
            }
        };
        format!("{only}{}", self.range(own, &moments(field, range)))
    }

    fn moment(&self, field: MomentField) -> &'static str {
        match (field, self.table) {
            (MomentField::Created, Table::Live) => "j.created_at",
            (MomentField::Created, Table::Dead) => "j.original_created_at",
            (MomentField::RunAt, _) => "j.run_at",
            (MomentField::Failed, _) => "j.failed_at",
            (MomentField::Completed, _) => "j.completed_at",
        }
    }

    /// A column in a range of time: an index on it serves this.
    pub(super) fn range(&mut self, own: &str, range: &Range<Moment>) -> String {
        let bounds = range.map(|moment| match *moment {
            Moment::At(time) => self.params.time(time),
            Moment::FromNow(Span(ms)) => format!("({NOW} + {} * interval '1 ms')", self.params.int8(ms)),
        });
        compare(own, &bounds)
    }

    fn has(&self, has: Has) -> &'static str {
        match has {
            Has::Error => "j.last_error is not null",
            Has::Worker => "j.status = 'running' and j.locked_by is not null",
            Has::Lease => "j.status = 'running' and j.lease_until is not null",
            Has::Key if self.facts.can_read(self.table.name(), "idempotency_key") => "j.idempotency_key is not null",
            Has::Replay if self.facts.can_read(self.table.name(), "replayed_at") => "j.replayed_at is not null",
            Has::Key | Has::Replay => "false",
        }
    }

    fn payload(&mut self, path: &[String], test: &PayloadTest) -> String {
        // Taken out once: each look at a stored payload unpacks all of it.
        let (own, from) = if path.is_empty() {
            ("v", "j.payload::text".to_owned())
        } else {
            ("(v #>> '{}')", format!("j.payload #> {}", self.params.texts(path)))
        };
        let holds = match test {
            PayloadTest::Whole(any) => self.words(own, Match::Whole, any),
            PayloadTest::Part(any) => self.words(own, Match::Part, any),
            PayloadTest::Present => format!("{own} is not null"),
            PayloadTest::In(range) => {
                let bounds = range.map(|number| format!("{}::numeric", self.params.text(number)));
                format!("case when jsonb_typeof(v) = 'number' then {} end", compare("(v #>> '{}')::numeric", &bounds))
            }
        };
        format!("select {holds} from (select {from} as v offset 0) as payload")
    }
}

/// The part of an error that is searched: the server unpacks no more of it.
fn error_head() -> String {
    format!("left(j.last_error, {ERROR_CHARS})")
}

/// A part of a text, in any case of letters. `lower()` unpacks it once.
fn part(own: &str, wanted: &str) -> String {
    format!("coalesce(position(lower({wanted}) in lower({own})) > 0, false)")
}

fn compare(own: &str, bounds: &Range<String>) -> String {
    match bounds {
        Range::Above(low) => format!("{own} > {low}"),
        Range::From(low) => format!("{own} >= {low}"),
        Range::Below(high) => format!("{own} < {high}"),
        Range::To(high) => format!("{own} <= {high}"),
        Range::Between(low, high) => format!("{own} >= {low} and {own} <= {high}"),
    }
}

/// A length of time as points in time: what is older than an hour lies before an hour ago.
pub(super) fn moments(field: SpanField, range: &Range<Span>) -> Range<Moment> {
    match field {
        SpanField::Lease | SpanField::Due => range.map(|span| Moment::FromNow(*span)),
        SpanField::Age | SpanField::Overdue | SpanField::Beat => {
            let ago = |Span(ms): Span| Moment::FromNow(Span(ms.saturating_neg()));
            match *range {
                Range::Above(low) => Range::Below(ago(low)),
                Range::From(low) => Range::To(ago(low)),
                Range::Below(high) => Range::Above(ago(high)),
                Range::To(high) => Range::From(ago(high)),
                Range::Between(low, high) => Range::Between(ago(high), ago(low)),
            }
        }
    }
}
