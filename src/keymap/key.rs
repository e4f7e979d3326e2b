//! One key press, and how it is written.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// One key press, without what terminals disagree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character as typed (shift is in the character).
    Char(char),
    /// A character with Ctrl.
    Ctrl(char),
    /// A named key.
    Named(KeyCode),
}

impl Key {
    /// The key of an event; `None` for releases, repeats of held keys and anything with Alt.
    #[must_use]
    pub fn of(event: &KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release || event.modifiers.contains(KeyModifiers::ALT) {
            return None;
        }
        match event.code {
            KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::CONTROL) => {
                Some(Self::Ctrl(c.to_ascii_lowercase()))
            }
            KeyCode::Char(c) => Some(Self::Char(c)),
            code => Some(Self::Named(code)),
        }
    }

    /// Reads a key as the settings write it: `r`, `R`, `space`, `ctrl-e`, `f5`, `enter`, `pgdn`.
    ///
    /// # Errors
    /// What was written and what is understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut letters = text.chars();
        if let (Some(only), None) = (letters.next(), letters.next())
            && !only.is_control()
        {
            return Ok(Self::Char(only));
        }
        let lower = text.to_ascii_lowercase();
        let code = match lower.as_str() {
            "space" => return Ok(Self::Char(' ')),
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "tab" => KeyCode::Tab,
            "shift-tab" => KeyCode::BackTab,
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "pgup" => KeyCode::PageUp,
            "pgdn" => KeyCode::PageDown,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "delete" => KeyCode::Delete,
            "backspace" => KeyCode::Backspace,
            other => {
                let ctrl = other.strip_prefix("ctrl-").and_then(|key| key.chars().next().filter(|_| key.len() == 1));
                // Terminals send one and the same byte for both.
                let same = match ctrl {
                    Some('i') => Some("tab"),
                    Some('m') => Some("enter"),
                    Some('[') => Some("esc"),
                    _ => None,
                };
                if let Some(same) = same {
                    return Err(format!("`{text}` is the same as {same} in a terminal: write {same}"));
                }
                if let Some(letter) = ctrl {
                    return Ok(Self::Ctrl(letter));
                }
                let number =
                    other.strip_prefix('f').and_then(|number| number.parse().ok()).filter(|n| (1..=12).contains(n));
                KeyCode::F(
                    number.ok_or_else(|| format!("`{text}` is no key: write r, space, ctrl-e, f5, enter or pgdn"))?,
                )
            }
        };
        Ok(Self::Named(code))
    }

    /// As written in the footer and the help.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Self::Char(' ') => "Space".into(),
            Self::Char(c) => c.to_string(),
            Self::Ctrl(c) => format!("Ctrl-{}", c.to_ascii_uppercase()),
            Self::Named(KeyCode::PageUp) => "PgUp".into(),
            Self::Named(KeyCode::PageDown) => "PgDn".into(),
            Self::Named(KeyCode::BackTab) => "Shift-Tab".into(),
            Self::Named(KeyCode::Up) => "↑".into(),
            Self::Named(KeyCode::Down) => "↓".into(),
            Self::Named(code) => format!("{code}"),
        }
    }
}
