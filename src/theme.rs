//! Styles by meaning, and signs that say the same without colour.
//!
//! The default theme uses the terminal's own colours and attributes only, so it is readable on dark and light alike.
//! Panes name a meaning ("act", "stale"), never a colour. This module must not know what is drawn.

use ratatui::buffer::{Buffer, CellWidth};
use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

/// Beside a queue that needs attention.
pub const ATTENTION: &str = "▲";
/// Beside a lease past its end.
pub const EXPIRED: &str = "✗";
/// Beside a paused queue.
pub const PAUSED: &str = "‖";
/// Beside a queue whose numbers are estimates.
pub const ESTIMATED: &str = "≈";
/// Beside the row under the cursor, so that it is told without reverse video too.
pub const CURSOR: &str = "▸";
/// Beside a marked row.
pub const MARK: &str = "●";

/// What a theme is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// The terminal's own sixteen colours, whatever they look like there.
    #[default]
    #[serde(alias = "auto")]
    Terminal,
    /// Colours chosen for a dark background.
    Dark,
    /// Colours chosen for a light background.
    Light,
    /// Strong colours and attributes, told apart by everybody.
    HighContrast,
    /// No colours.
    Mono,
}

/// The style of each meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Everything else.
    pub text: Style,
    /// Names of panes and columns.
    pub heading: Style,
    /// The focused pane's name, keys in the footer, the second line of a chart.
    pub accent: Style,
    /// True zeros, rules, units: there, but quiet.
    pub quiet: Style,
    /// Values that were true once.
    pub stale: Style,
    /// Look at this.
    pub warn: Style,
    /// Act on this.
    pub act: Style,
    /// The row under the cursor; reverse video, so it is readable on any background.
    pub cursor: Style,
    /// A marked row.
    pub mark: Style,
    /// Draw with ASCII characters only.
    pub ascii: bool,
}

/// Accent, warn, act, quiet; each readable (4.5 to 1) on the background it is for, and blue, amber and red told apart by people
/// who see few colours.
const DARK: [Color; 4] = [
    Color::Rgb(0x6c, 0xb6, 0xff),
    Color::Rgb(0xf0, 0xb8, 0x4a),
    Color::Rgb(0xff, 0x7b, 0x72),
    Color::Rgb(0x9a, 0xa4, 0xae),
];
const LIGHT: [Color; 4] = [
    Color::Rgb(0x05, 0x50, 0xae),
    Color::Rgb(0x8a, 0x55, 0x00),
    Color::Rgb(0xb3, 0x1d, 0x28),
    Color::Rgb(0x57, 0x60, 0x6a),
];
const STRONG: [Color; 4] = [Color::Cyan, Color::Yellow, Color::LightRed, Color::Reset];

impl Default for Theme {
    fn default() -> Self {
        Self::terminal()
    }
}

impl Theme {
    /// The terminal's own colours: amber to look, red to act, one accent.
    #[must_use]
    pub const fn terminal() -> Self {
        Self {
            accent: Style::new().fg(Color::Cyan),
            warn: Style::new().fg(Color::Yellow),
            act: Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
            mark: Style::new().fg(Color::Cyan),
            ..Self::mono()
        }
    }

    /// The theme made from a base.
    #[must_use]
    pub const fn of(base: Base) -> Self {
        match base {
            Base::Terminal => Self::terminal(),
            Base::Mono => Self::mono(),
            Base::Dark => Self::coloured(DARK),
            Base::Light => Self::coloured(LIGHT),
            Base::HighContrast => {
                let theme = Self::coloured(STRONG);
                Self { heading: Style::new().add_modifier(Modifier::BOLD), quiet: Style::new(), ..theme }
            }
        }
    }

    const fn coloured(colours: [Color; 4]) -> Self {
        let [accent, warn, act, quiet] = colours;
        Self {
            accent: Style::new().fg(accent).add_modifier(Modifier::UNDERLINED),
            warn: Style::new().fg(warn),
            act: Style::new().fg(act).add_modifier(Modifier::BOLD),
            mark: Style::new().fg(accent).add_modifier(Modifier::BOLD),
            heading: Style::new().fg(quiet),
            quiet: Style::new().fg(quiet),
            ..Self::mono()
        }
    }

    /// No colour at all, for `NO_COLOR` and monochrome terminals: attributes and signs tell the states apart.
    #[must_use]
    pub const fn mono() -> Self {
        Self {
            text: Style::new(),
            heading: Style::new().add_modifier(Modifier::DIM),
            accent: Style::new().add_modifier(Modifier::UNDERLINED),
            quiet: Style::new().add_modifier(Modifier::DIM),
            stale: Style::new().add_modifier(Modifier::DIM),
            warn: Style::new().add_modifier(Modifier::BOLD),
            act: Style::new().add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED)),
            cursor: Style::new().add_modifier(Modifier::REVERSED),
            mark: Style::new().add_modifier(Modifier::BOLD),
            ascii: false,
        }
    }

    /// The last step of a frame: in ASCII mode every other character becomes one that any terminal has.
    pub fn finish(&self, buf: &mut Buffer) {
        if !self.ascii {
            return;
        }
        let mut wide_tail = 0;
        for cell in &mut buf.content {
            if wide_tail > 0 {
                // What a wide character covered; the screen library leaves it blank.
                wide_tail -= 1;
                cell.set_symbol("?");
            } else if !cell.symbol().is_ascii() {
                wide_tail = cell.cell_width().saturating_sub(1);
                let plain = ascii_form(cell.symbol());
                cell.set_symbol(plain);
            }
        }
    }
}

/// What stands for one of our own signs in ASCII; `?` for a character of somebody else's.
fn ascii_form(symbol: &str) -> &'static str {
    match symbol {
        ATTENTION => "!",
        EXPIRED => "x",
        PAUSED => "=",
        ESTIMATED => "~",
        CURSOR => ">",
        MARK | "•" => "*",
        "─" | "━" | "╌" | "▄" => "-",
        "│" | "┃" | "▏" | "▕" | "╎" => "|",
        "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" => "+",
        "…" | "·" | "▁" | "▂" => ".",
        "▃" => ":",
        "▅" | "▆" | "▇" | "█" | "▉" | "▊" | "▋" | "▌" | "▍" | "▎" => "#",
        "↑" => "^",
        "↓" => "v",
        "←" => "<",
        "→" => ">",
        "⏎" => "E",
        "␣" => "_",
        "⠀" => " ",
        "×" => "x",
        braille if braille.chars().all(|c| ('\u{2801}'..='\u{28ff}').contains(&c)) => "*",
        _ => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;

    fn row(text: &str) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, 12, 1));
        buf.set_string(0, 0, text, Style::new());
        Theme { ascii: true, ..Theme::mono() }.finish(&mut buf);
        buf.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn ascii_mode_leaves_nothing_else_and_no_column_moves() {
        assert_eq!(row("▲ 8c1f…e2 │"), "! 8c1f.e2 | ");
        assert_eq!(row("漢字 x ✗‖≈▸"), "???? x x=~> ");
        assert_eq!(row("▁▂▃▄▅▆▇█⠒⣿"), "..:-####**  ");
        assert_eq!(row("é1⃣"), "??          ");
    }

    #[test]
    fn states_are_told_apart_without_colour() {
        let theme = Theme::mono();
        let styles = [theme.text, theme.quiet, theme.warn, theme.act, theme.cursor];
        for (at, style) in styles.iter().enumerate() {
            assert!(style.fg.is_none() && style.bg.is_none());
            assert!(!styles[..at].contains(style));
        }
    }

    /// As WCAG 2 has it.
    fn contrast(colour: Color, background: f64) -> f64 {
        let Color::Rgb(r, g, b) = colour else { panic!("{colour:?}") };
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let light = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
        (light.max(background) + 0.05) / (light.min(background) + 0.05)
    }

    #[test]
    fn colours_are_readable_on_their_background() {
        for (colours, background) in [(DARK, 0.0), (LIGHT, 1.0)] {
            for colour in colours {
                assert!(contrast(colour, background) >= 4.5, "{colour:?}: {:.1}", contrast(colour, background));
            }
        }
    }

    #[test]
    fn no_theme_paints_a_background() {
        let all = [Base::Terminal, Base::Dark, Base::Light, Base::HighContrast, Base::Mono];
        for theme in all.map(Theme::of) {
            for style in [theme.text, theme.heading, theme.accent, theme.warn, theme.act, theme.cursor, theme.mark] {
                assert!(style.bg.is_none());
            }
        }
    }
}
