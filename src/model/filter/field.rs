//! Every field, declared once: its names, what it takes and what it is for.

use super::{Has, MomentField, NumberField, SpanField, TextField};
use crate::model::BackendKind;
use crate::model::spelling::one_off;

/// What a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Kind,
    State,
    Text(TextField),
    Number(NumberField),
    Span(SpanField),
    Moment(MomentField),
    Has,
    Payload,
}

/// One line of the table.
pub(super) struct Entry {
    pub(super) field: Field,
    /// As printed.
    pub(super) name: &'static str,
    /// Other names that are understood: the tables' columns, and what people type.
    pub(super) aliases: &'static [&'static str],
    /// What it is and how `:` compares.
    pub(super) about: &'static str,
    /// How it is used.
    pub(super) example: &'static str,
}

const fn entry(
    field: Field,
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    example: &'static str,
) -> Entry {
    Entry { field, name, aliases, about, example }
}

/// All fields, in the order of help.
pub(super) const FIELDS: [Entry; 24] = [
    entry(Field::Text(TextField::Queue), "queue", &["q"], "the queue's name; `~` for a part of it", "queue:emails,sms"),
    entry(
        Field::State,
        "state",
        &["status", "is"],
        "ready, scheduled, exhausted, running, expired, completed, dead; queued, live, any",
        "state:ready,expired",
    ),
    entry(Field::Text(TextField::Id), "id", &["job"], "how the id begins; whole, in any state", "id:8c1f"),
    entry(
        Field::Text(TextField::Error),
        "error",
        &["last_error", "err"],
        "a part of the last error's first 8,000 letters",
        "error:\"timed out\"",
    ),
    entry(
        Field::Text(TextField::Signature),
        "signature",
        &["sig"],
        "the error without what differs from case to case",
        "signature:\"no route to <ip>\"",
    ),
    entry(Field::Text(TextField::Worker), "worker", &["locked_by"], "how the id of who holds it begins", "worker:7f3a"),
    entry(
        Field::Text(TextField::Key),
        "key",
        &["idempotency_key"],
        "the idempotency key; whole, in any state",
        "key:evt_123",
    ),
    entry(Field::Number(NumberField::Attempts), "attempts", &["tries", "attempt"], "attempts begun", "attempts>=3"),
    entry(Field::Number(NumberField::Max), "max", &["max_attempts"], "the limit of attempts", "max:1"),
    entry(Field::Number(NumberField::Left), "left", &[], "attempts left", "left<=1"),
    entry(Field::Number(NumberField::Priority), "priority", &["prio"], "higher runs first", "priority:5..10"),
    entry(Field::Span(SpanField::Age), "age", &[], "time since it was put in", "age>10m"),
    entry(Field::Span(SpanField::Overdue), "overdue", &[], "time since a waiting job may run", "overdue>5m"),
    entry(Field::Span(SpanField::Due), "due", &[], "time until it may run; below zero when overdue", "due:0s..1h"),
    entry(
        Field::Span(SpanField::Lease),
        "lease",
        &[],
        "time left of the lease; below zero when it is over",
        "lease<30s",
    ),
    entry(Field::Span(SpanField::Beat), "beat", &[], "time since a running job's last heartbeat", "beat>2m"),
    entry(Field::Moment(MomentField::RunAt), "run_at", &["run"], "when it may run", "run_at<+1h"),
    entry(Field::Moment(MomentField::Created), "created", &["created_at"], "when it was put in", "created:2026-12-01"),
    entry(Field::Moment(MomentField::Failed), "failed", &["failed_at", "died"], "when it died", "failed>-1h"),
    entry(
        Field::Moment(MomentField::Completed),
        "completed",
        &["completed_at", "done"],
        "when it was done",
        "completed>2026-12-01T14:00",
    ),
    entry(Field::Text(TextField::Reason), "reason", &[], "a part of why it died", "reason:operator"),
    entry(Field::Has, "has", &[], "error, worker, lease, key, replay or payload.key: there is one", "-has:replay"),
    entry(
        Field::Payload,
        "payload",
        &[],
        "a value of the payload as text; without a key, a part of all of it",
        "payload.user.id:42",
    ),
    entry(Field::Kind, "kind", &["backend"], "jobs or pgmq", "kind:pgmq"),
];

/// What `has:` takes.
pub(super) const HAS: [(&str, Has); 5] =
    [("error", Has::Error), ("worker", Has::Worker), ("lease", Has::Lease), ("key", Has::Key), ("replay", Has::Replay)];

/// What `kind:` takes.
pub(super) const KINDS: [(&str, BackendKind); 2] = [("jobs", BackendKind::Jobs), ("pgmq", BackendKind::Pgmq)];

/// The field with this name, in any case of letters.
pub(super) fn named(name: &str) -> Option<&'static Entry> {
    FIELDS.iter().find(|entry| {
        let mut names = entry.aliases.iter().chain([&entry.name]);
        names.any(|known| known.eq_ignore_ascii_case(name))
    })
}

/// The name that is printed for a field.
pub(super) fn name(field: Field) -> &'static str {
    FIELDS.iter().find(|entry| entry.field == field).map_or("", |entry| entry.name)
}

/// The field that somebody may have meant: one that begins alike, or is one letter off.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let close = |known: &str| known.starts_with(&name) || name.starts_with(known) || one_off(known, &name);
    FIELDS.iter().find(|entry| entry.aliases.iter().chain([&entry.name]).any(|known| close(known))).map(|e| e.name)
}
