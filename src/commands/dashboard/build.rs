//! From the settings to the program's core.

use crate::app::world::{Named, World};
use crate::app::{App, Guards};
use crate::config::{Colour, ThemeSettings, Times};
use crate::model::Redaction;
use crate::panes::{Arrangement, TimeStyle};
use crate::theme::{Base, Theme};

use super::super::CommandError;
use super::Plan;

/// The program, knowing nothing of the database yet.
///
/// # Errors
/// When the settings name a column that there is not.
pub(super) fn app(plan: &Plan) -> Result<App, CommandError> {
    let settings = &plan.settings;
    let screen = &settings.screen;
    let theme = theme(&settings.theme, screen.colour == Colour::None, screen.ascii);
    let arrangement = Arrangement::new(settings.columns.queues.as_deref(), settings.columns.jobs.as_deref())
        .map_err(|(place, why)| CommandError::Usage(format!("columns.{place}: {why}")))?;
    let times = match screen.times {
        Times::Relative => TimeStyle::Relative,
        Times::Utc => TimeStyle::Utc,
        Times::Local => TimeStyle::Local,
    };
    let guards = Guards {
        read_only: plan.settings.safety.read_only,
        typed_above: plan.settings.safety.typed_above,
        not_production: plan.settings.safety.not_production.clone(),
        psql_line: plan.psql_line.clone(),
        production: plan.target.production,
        filters: settings.filters.clone().into_iter().collect(),
        redaction: Redaction::new(settings.redact.all, &settings.redact.paths),
    };
    let mut world = World::new(theme, times, screen.range, settings.poll.interval);
    world.arrangement = arrangement;
    world.mouse = screen.mouse;
    let colour = plan.target.colour.map(|colour| colour.0).filter(|_| screen.colour != Colour::None);
    world.target = plan.name.as_ref().map(|name| Named { name: name.clone(), colour });
    Ok(App::new(world, guards))
}

/// Colours that a terminal without 24-bit colours would only guess at become its own sixteen.
fn theme(settings: &ThemeSettings, no_colour: bool, ascii: bool) -> Theme {
    let any_colour = std::env::var("COLORTERM").is_ok_and(|value| value == "truecolor" || value == "24bit");
    let needs_any = matches!(settings.base, Base::Dark | Base::Light);
    let base = if needs_any && !any_colour { Base::Terminal } else { settings.base };
    ThemeSettings { base, ..settings.clone() }.theme(no_colour, ascii)
}
