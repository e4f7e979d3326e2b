//! What the simulated jobs carry and how they fail. Names and numbers are invented; the same chance gives the same texts.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::worker::JobError;

const PEOPLE: [&str; 8] = [
    "Ada Lovelace",
    "Zoë Müller",
    "José Ñandú",
    "Анна Каренина",
    "山田 太郎",
    "فاطمة الزهراء",
    "Nguyễn Thị Hương",
    "O'Brien \"Bob\"",
];
const SUBJECTS: [&str; 5] =
    ["Your order is on its way 📦", "Passwort zurücksetzen", "Ваш счёт готов", "ご注文の確認", "Reset your password"];
const EVENTS: [&str; 4] = ["order.paid", "order.shipped", "refund.created", "customer.updated"];

/// The payload of job number `number` of a queue. The number goes in, so that its handler can draw the same chance.
pub(super) fn payload(queue: &str, number: u64, rng: &mut Rng) -> Value {
    let person = PEOPLE[rng.usize(..PEOPLE.len())];
    match queue {
        "emails" => json!({
            "n": number, "to": format!("{person} <user{}@example.com>", rng.u32(1..9_999)),
            "subject": SUBJECTS[rng.usize(..SUBJECTS.len())], "template": "transactional/v3",
        }),
        "reports" => json!({
            "n": number, "report": "monthly revenue", "customer": person, "format": "pdf",
            "period": {"year": 2025, "month": rng.u32(1..13)}, "totals": [rng.u32(..9_999), rng.u32(..9_999)],
        }),
        "webhooks" => json!({
            "n": number, "event": EVENTS[rng.usize(..EVENTS.len())], "endpoint": rng.u32(1_000..9_999),
            "body": {"customer": person, "amount_cents": rng.u32(100..99_999), "currency": "EUR"},
        }),
        "thumbnails" => json!({
            "n": number, "image": format!("uploads/{:08x}.jpg", rng.u32(..)), "sizes": [64, 256, 1024],
        }),
        "invoices" => json!({"n": number, "invoice": format!("2025-{number:06}"), "customer": person}),
        _ => json!({"n": number, "issue": "Dezember-Ausgabe ❄️", "to": person}),
    }
}

/// Most are equal; a few are urgent, a few can wait.
pub(super) fn priority(queue: &str, rng: &mut Rng) -> i32 {
    match (queue, rng.u32(..100)) {
        ("emails", 0..15) | ("webhooks", 0..5) => 10,
        ("emails", 15..20) => 100,
        ("reports", 0..30) => -5,
        _ => 0,
    }
}

/// How a job of a queue fails this time, if it does. `down`: what it depends on does not answer.
pub(super) fn failure(queue: &str, down: bool, rng: &mut Rng) -> Option<JobError> {
    let percent = rng.u32(..100);
    match queue {
        "webhooks" if percent < 2 => {
            Some(JobError::Permanent(format!("410 Gone: endpoint {} was deleted by its owner", rng.u32(1_000..9_999))))
        }
        "webhooks" if down && percent < 85 => Some(JobError::Retry(outage(rng))),
        "emails" if percent < 2 => {
            Some(JobError::Retry(format!("421 4.7.0 try again later (session {:012x})", rng.u64(..1 << 48))))
        }
        "reports" if percent < 3 => Some(JobError::Retry(format!(
            "canceling statement due to statement timeout after {} ms\nat report.render (report.rs:{})",
            rng.u32(30_000..30_100),
            rng.u32(10..99),
        ))),
        "thumbnails" if percent < 2 => {
            Some(JobError::Permanent(format!("cannot decode 'uploads/{:08x}.jpg': not an image", rng.u32(..))))
        }
        _ => None,
    }
}

/// Three ways in which one broken dependency shows; ids and numbers differ each time.
fn outage(rng: &mut Rng) -> String {
    match rng.u32(..10) {
        0..5 => format!(
            "503 Service Unavailable from hooks.example.net (request {})",
            uuid::Builder::from_random_bytes(rng.u128(..).to_be_bytes()).into_uuid()
        ),
        5..8 => format!(
            "connect to 10.0.{}.{}:443: connection timed out after {} ms",
            rng.u32(..8),
            rng.u32(1..255),
            rng.u32(5_000..5_050)
        ),
        _ => format!("TLS handshake with \"hooks-{}.example.net\" failed: unexpected end of file", rng.u32(1..9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_chance_gives_the_same_texts() {
        for queue in super::super::queues::QUEUES.map(|temper| temper.queue) {
            let draw = || {
                let mut rng = Rng::with_seed(7);
                (payload(queue, 1, &mut rng), priority(queue, &mut rng), failure(queue, true, &mut rng))
            };
            assert_eq!(draw(), draw());
        }
    }

    #[test]
    fn an_outage_fails_most_webhooks_and_without_one_few_fail() {
        let failed = |down| {
            let mut rng = Rng::with_seed(1);
            (0..1000).filter(|_| failure("webhooks", down, &mut rng).is_some()).count()
        };
        assert!((800..900).contains(&failed(true)));
        assert!((5..50).contains(&failed(false)));
    }
}
