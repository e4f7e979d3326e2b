//! The two lines on top: what this is and how it is known, and what is worst, in words.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::diagnose;
use crate::fmt::{self, Zone};
use crate::model::{ServerFacts, Severity, Time, TlsState};
use crate::panes::TimeStyle;
use crate::text::{Safe, truncate, width};

use super::App;
use super::world::{Link, Named, World};

/// Draws the header line: parts from the left in order of importance, the clock at the right.
pub(super) fn render(app: &App, area: Rect, buf: &mut Buffer) {
    let world = &app.world;
    let room = usize::from(area.width);
    let clock = clock(world);
    let mut line = String::new();
    let named = world.target.as_ref().map(|named| target_label(app, named));
    for part in named.into_iter().chain(parts(world, room >= 110)) {
        let next = if line.is_empty() { format!(" {part}") } else { format!("{line}  {part}") };
        if width(&next) + width(&clock) + 2 > room && !line.is_empty() {
            continue;
        }
        line = next;
    }
    let line = truncate(&line, room).into_owned();
    let free = room.saturating_sub(width(&line) + width(&clock) + 1);
    let text = if free > 0 { format!("{line}{}{clock} ", " ".repeat(free)) } else { line };
    Line::styled(text, world.theme.heading).render(area, buf);
    paint_target(app, area, buf);
}

/// The target's name in its own colour; production is bold, too.
fn paint_target(app: &App, area: Rect, buf: &mut Buffer) {
    let Some(named) = &app.world.target else { return };
    let label = target_label(app, named);
    let start: String =
        (area.left()..area.right()).filter_map(|x| buf.cell((x, area.y)).map(ratatui::buffer::Cell::symbol)).collect();
    let Some(at) = start.find(&label).map(|byte| width(start.get(..byte).unwrap_or_default())) else { return };
    let mut style = named.colour.map_or(app.world.theme.accent, |colour| Style::new().fg(colour));
    if app.guards.production == Some(true) {
        style = style.add_modifier(Modifier::BOLD);
    }
    let place = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    let room = Rect { x: area.x.saturating_add(place(at)), width: place(width(&label)), height: 1, ..area };
    buf.set_style(room.intersection(area), style);
}

/// `@prod`, `@prod PRODUCTION`.
fn target_label(app: &App, named: &Named) -> String {
    let word = if app.guards.production == Some(true) { " PRODUCTION" } else { "" };
    format!("@{}{word}", Safe::new(&named.name).truncate(24))
}

fn parts(world: &World, wide: bool) -> Vec<String> {
    let mut parts = Vec::new();
    if wide {
        parts.push("queuetop".into());
    }
    match &world.server {
        Some(server) => parts.extend(server_parts(server, wide)),
        None => match &world.link {
            Link::Connecting { target, .. } => parts.push(Safe::new(target).to_string()),
            _ => parts.push("not connected".into()),
        },
    }
    if world.server.is_some() {
        parts.push(rhythm(world));
        parts.push(cost(world, wide));
    }
    if world.frozen.is_some() {
        parts.insert(usize::from(wide), "FROZEN".into());
    }
    parts
}

fn server_parts(server: &ServerFacts, wide: bool) -> Vec<String> {
    let place = if server.local { "local".to_owned() } else { Safe::new(&server.host).to_string() };
    let at = if wide { " @ " } else { "@" };
    let version = Safe::new(&server.version);
    let short = version.as_str().split(' ').next().unwrap_or_default().to_owned();
    let side = if server.standby { "replica" } else { "primary" };
    let mut parts = vec![
        format!("{}{at}{}", Safe::new(&server.database), truncate(&place, 30)),
        format!("PG {short} {side}"),
        server.role_word().to_owned(),
    ];
    let tls = match server.tls {
        TlsState::Socket => "socket",
        TlsState::Verified => "TLS",
        TlsState::Encrypted => "TLS unverified",
        TlsState::Plain => "no TLS",
        TlsState::Unknown => "TLS ?",
    };
    parts.push(tls.into());
    parts
}

/// How changes are learned and how often is polled.
fn rhythm(world: &World) -> String {
    let every = world.rhythm.every.as_secs_f64();
    let every = if every < 1.0 { format!("{}ms", (every * 1000.0).round()) } else { format!("{}s", round1(every)) };
    let way = if world.push.live { "push + " } else { "poll " };
    let why =
        if world.rhythm.sharers > 1 { format!("shared by {}", world.rhythm.sharers) } else { "stretched".to_owned() };
    let stretched = if world.rhythm.every > world.rhythm.asked { format!(" ({why})") } else { String::new() };
    format!("{way}{every}{stretched}")
}

/// Database time of the last poll, and its share of wall time.
fn cost(world: &World, wide: bool) -> String {
    let share = fmt::percent(world.rhythm.load);
    if wide { format!("{} ms {share}", round1(world.rhythm.cost.as_secs_f64() * 1000.0)) } else { share }
}

fn round1(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// The server's time with its zone.
fn clock(world: &World) -> String {
    let zone = if world.times == TimeStyle::Local { Zone::Local } else { Zone::Utc };
    match world.now() {
        Time::NegInfinity => String::new(),
        now => zone.clock(now),
    }
}

/// Draws the verdict line: trouble with the link first, since nothing below is known without it.
pub(super) fn verdict(app: &App, area: Rect, buf: &mut Buffer) {
    let world = &app.world;
    let theme = &world.theme;
    let room = usize::from(area.width);
    let (text, style) = match link_trouble(world) {
        Some(text) => (format!(" {} {text}", crate::theme::ATTENTION), theme.act),
        None => match &world.snapshot {
            Some(snapshot) => {
                let verdict = diagnose::verdict(&world.findings, snapshot, room.saturating_sub(3));
                match verdict.severity {
                    Some(Severity::Act) => (format!(" {} {}", crate::theme::ATTENTION, verdict.text), theme.act),
                    Some(Severity::Look) => (format!(" {} {}", crate::theme::ATTENTION, verdict.text), theme.warn),
                    _ => (format!("   {}", verdict.text), theme.text),
                }
            }
            None => ("   waiting for the first reading".to_owned(), theme.quiet),
        },
    };
    Line::from(Span::styled(truncate(&text, room).into_owned(), style)).render(area, buf);
}

/// What is wrong with the link, and how old the numbers are.
fn link_trouble(world: &World) -> Option<String> {
    let age = world.data_age().map(|age| format!(" · numbers are {} old", fmt::age(whole(age.as_secs_f64()))));
    match &world.link {
        Link::Lost { reason, retry_at, connected } => {
            let retry = match retry_at {
                Some(at) if *at > world.mono => {
                    format!(" · next try in {} s", at.saturating_sub(world.mono).as_secs_f64().ceil())
                }
                Some(_) => " · trying again now".to_owned(),
                None => String::new(),
            };
            let what = if *connected { "no reading" } else { "not connected" };
            Some(format!("{what}{retry}{}: {}", age.unwrap_or_default(), Safe::first_line(reason)))
        }
        Link::Connecting { target, attempt } if world.snapshot.is_none() => {
            let again = if *attempt > 1 { format!(" (try {attempt})") } else { String::new() };
            Some(format!("connecting to {}{again} …", Safe::new(target)))
        }
        _ if world.stale() => Some(format!("no answer from the database{}", age.unwrap_or_default())),
        _ => None,
    }
}

fn whole(seconds: f64) -> i64 {
    fmt::whole_seconds(seconds)
}
