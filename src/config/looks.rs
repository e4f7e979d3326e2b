//! `[theme]`, `[columns]`, `[redact]`: what is shown, and how.

use ratatui::style::Color;
use serde::{Deserialize, Deserializer};

use crate::theme::{Base, Theme};

/// A colour: a name (`red`), a number of the terminal's palette (`208`), or `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThemeColour(pub Color);

impl<'de> Deserialize<'de> for ThemeColour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom(format!("`{text}` is no colour: write red, 208 or #ff5f5f"));
        text.parse().map(Self).map_err(|_| wrong())
    }
}

/// `[theme]`
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThemeSettings {
    /// What the others are changed from.
    pub base: Base,
    /// Headings.
    pub heading: Option<ThemeColour>,
    /// The focus and keys.
    pub accent: Option<ThemeColour>,
    /// True zeros, rules and units.
    pub quiet: Option<ThemeColour>,
    /// Look at this.
    pub warn: Option<ThemeColour>,
    /// Act on this.
    pub act: Option<ThemeColour>,
    /// Marked rows.
    pub mark: Option<ThemeColour>,
}

impl ThemeSettings {
    /// The theme; without colours only its attributes.
    #[must_use]
    pub fn theme(&self, no_colour: bool, ascii: bool) -> Theme {
        let mut theme = if no_colour { Theme::mono() } else { Theme::of(self.base) };
        theme.ascii = ascii;
        if no_colour {
            return theme;
        }
        for (colour, style) in [
            (self.heading, &mut theme.heading),
            (self.accent, &mut theme.accent),
            (self.quiet, &mut theme.quiet),
            (self.warn, &mut theme.warn),
            (self.act, &mut theme.act),
            (self.mark, &mut theme.mark),
        ] {
            if let Some(ThemeColour(colour)) = colour {
                *style = style.fg(colour);
            }
        }
        theme
    }
}

/// `[columns]`: which ones, in which order; `None`: the usual ones.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Columns {
    /// Of the table of queues.
    pub queues: Option<Vec<String>>,
    /// Of the list of jobs.
    pub jobs: Option<Vec<String>>,
}

/// `[redact]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Redact {
    /// Hide every value.
    pub all: bool,
    /// Hide the values at these paths: keys from the outermost in, with dots between; `*` is any one key.
    pub paths: Vec<String>,
}
