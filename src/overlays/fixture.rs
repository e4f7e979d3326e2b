//! Jobs and surroundings for the tests of overlays. Not part of the program.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::model::{BackendKind, Fence, History, Job, JobRef, JobState, QueueId, Time};
use crate::panes::{Arrangement, Ctx, Marks, TimeStyle};
use crate::theme::Theme;

pub(super) const NOW: Time = Time::At(1_796_133_731_000_000);

pub(super) fn ago(seconds: u64) -> Time {
    NOW.minus(Duration::from_secs(seconds))
}

pub(super) fn ahead(seconds: u64) -> Time {
    NOW.plus(Duration::from_secs(seconds))
}

/// Every column in its usual place.
static AS_IT_IS: Arrangement = Arrangement { queues: None, jobs: None };

/// A job; `at` is the end of the lease for what is running, else when it is due.
pub(super) fn job(number: u32, queue: &str, state: JobState, attempts: i32, at: Time) -> Job {
    let held = matches!(state, JobState::Running | JobState::Expired);
    Job {
        at: JobRef {
            queue: QueueId { backend: BackendKind::Jobs, name: queue.into() },
            id: format!("8c1fd0a4-1111-4222-8333-44444444{number:04x}"),
            dead: state == JobState::Dead,
        },
        state,
        priority: Some(0),
        attempts,
        max_attempts: Some(8),
        run_at: if held { ago(600) } else { at },
        created_at: Some(ago(900)),
        worker: held.then(|| "7f3a0000-0000-4000-8000-000000000001".into()),
        lease_until: held.then_some(at),
        updated_at: Some(ago(540)),
        error: (attempts > 1).then(|| "timeout connecting to smtp.example".into()),
        fence: Fence(serde_json::json!({ "attempts": attempts, "lease_until": at.to_rfc3339() })),
    }
}

/// Draws on a screen of that size and gives back its text, a line a row.
pub(super) fn screen(size: (u16, u16), stale: bool, draw: impl FnOnce(Rect, &mut Buffer, &Ctx<'_>)) -> String {
    let (history, marks, theme) = (History::default(), Marks::new(), Theme::terminal());
    let ctx = Ctx {
        snapshot: None,
        history: &history,
        server: None,
        queue: None,
        marks: &marks,
        now: NOW,
        findings: &[],
        stale,
        range: Duration::from_mins(15),
        times: TimeStyle::Relative,
        theme: &theme,
        filter: "",
        arrangement: &AS_IT_IS,
        focused: true,
    };
    let area = Rect::new(0, 0, size.0, size.1);
    let mut buf = Buffer::empty(area);
    draw(area, &mut buf, &ctx);
    let width = usize::from(size.0.max(1));
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
    buf.content.chunks(width).map(|cells| row(cells).trim_end().to_owned() + "\n").collect()
}
