//! Settings: defaults, then the file, then the environment, then the command line. Every error names the place.

mod check;
mod keys;
mod looks;
mod place;
mod targets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::{BaseStrategy, choose_base_strategy};
use serde::{Deserialize, Deserializer};

use crate::fmt::parse_duration;

pub use keys::{Keys, table as key_table};
pub use looks::{Columns, Redact, ThemeColour, ThemeSettings};
pub use place::Wrong;
pub use targets::{Target, Targets, find as find_target};

/// The defaults as a commented file; also what `config --print-default` prints.
pub const DEFAULT_FILE: &str = include_str!("../assets/default.toml");
/// Polls are never closer together than this.
pub const INTERVAL_FLOOR: Duration = Duration::from_millis(50);

/// What went wrong with a setting.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file named on the command line cannot be read.
    #[error("cannot read the settings file {file}: {cause}")]
    Unreadable {
        /// Which file.
        file: String,
        /// Why.
        cause: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("settings file {file}: {cause}")]
    Malformed {
        /// Which file.
        file: String,
        /// Line, key and reason.
        cause: String,
    },
    /// A value is out of range.
    #[error("{place}: {reason}")]
    Value {
        /// Which variable, flag or key.
        place: String,
        /// What is wrong and what is right.
        reason: String,
    },
}

/// Colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// The terminal's own.
    Auto,
    /// None: attributes and signs only.
    None,
}

/// How times are written at start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Times {
    /// "4m12s ago".
    Relative,
    /// Absolute, UTC.
    Utc,
    /// Absolute, this machine's zone.
    Local,
}

/// `[poll]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Poll {
    /// Time between polls.
    #[serde(deserialize_with = "duration")]
    pub interval: Duration,
    /// Most database time, in percent of wall time.
    pub load: f64,
}

/// `[screen]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Screen {
    /// ASCII characters only.
    pub ascii: bool,
    /// Colours or none.
    pub colour: Colour,
    /// How times are written at start.
    pub times: Times,
    /// The mouse points here from the start.
    pub mouse: bool,
    /// Time range of charts at start.
    #[serde(deserialize_with = "duration")]
    pub range: Duration,
}

/// `[safety]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Safety {
    /// Refuse every action.
    pub read_only: bool,
    /// More jobs than this are confirmed by typing.
    pub typed_above: usize,
    /// `database@host` that count as harmless although not local.
    pub not_production: Vec<String>,
}

impl Default for Poll {
    fn default() -> Self {
        Self { interval: Duration::from_secs(1), load: 2.0 }
    }
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            ascii: false,
            colour: Colour::Auto,
            times: Times::Relative,
            mouse: false,
            range: Duration::from_mins(15),
        }
    }
}

impl Default for Safety {
    fn default() -> Self {
        Self { read_only: false, typed_above: 20, not_production: Vec::new() }
    }
}

/// All settings, resolved.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Rhythm and budget.
    pub poll: Poll,
    /// Looks.
    pub screen: Screen,
    /// Guards.
    pub safety: Safety,
    /// Databases by name.
    pub targets: Targets,
    /// Filters by name, as they are typed.
    pub filters: BTreeMap<String, String>,
    /// Keys that differ from the usual ones.
    pub keys: Keys,
    /// Colours.
    pub theme: ThemeSettings,
    /// Which columns.
    pub columns: Columns,
    /// What of payloads is hidden.
    pub redact: Redact,
}

/// Where the settings came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// No file: the built-in defaults.
    Defaults {
        /// Where a file would be read from.
        looked_at: Option<PathBuf>,
    },
    /// A file.
    File(PathBuf),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Defaults { .. } => f.write_str("(built-in defaults)"),
        }
    }
}

/// What the command line says; it wins over everything else.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The settings file, instead of the usual one.
    pub file: Option<PathBuf>,
    /// Time between polls.
    pub interval: Option<Duration>,
    /// Most database time, in percent of wall time.
    pub load: Option<f64>,
    /// ASCII characters only.
    pub ascii: bool,
    /// Refuse every action.
    pub read_only: bool,
}

/// Looks up an environment variable; tests give their own.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The settings file's usual place: `$XDG_CONFIG_HOME/queuetop/config.toml`.
#[must_use]
pub fn usual_file() -> Option<PathBuf> {
    choose_base_strategy().ok().map(|dirs| dirs.config_dir().join("queuetop/config.toml"))
}

/// Resolves all settings.
///
/// # Errors
/// When the file named cannot be read, a file is wrong (file, line and key are named), or a variable or option is.
pub fn load(args: &Overrides, env: Env<'_>) -> Result<(Settings, Source), ConfigError> {
    let (text, source) = read_file(args.file.as_deref())?;
    let mut settings = parse(&text, &source)?;
    if let Source::File(path) = &source {
        check::private(&settings.targets, path).map_err(|wrong| wrong.in_file(&source.to_string(), &text))?;
    }
    from_environment(&mut settings, env)?;
    from_arguments(&mut settings, args)?;
    Ok((settings, source))
}

fn read_file(named: Option<&Path>) -> Result<(String, Source), ConfigError> {
    if let Some(path) = named {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| ConfigError::Unreadable { file: path.display().to_string(), cause })?;
        return Ok((text, Source::File(path.to_owned())));
    }
    let usual = usual_file();
    match usual.as_ref().map(std::fs::read_to_string) {
        Some(Ok(text)) => Ok((text, usual.map_or(Source::Defaults { looked_at: None }, Source::File))),
        Some(Err(cause)) if cause.kind() != std::io::ErrorKind::NotFound => {
            let file = usual.map(|p| p.display().to_string()).unwrap_or_default();
            Err(ConfigError::Unreadable { file, cause })
        }
        _ => Ok((String::new(), Source::Defaults { looked_at: usual })),
    }
}

/// Reads a settings file; what it does not name keeps its default.
fn parse(text: &str, source: &Source) -> Result<Settings, ConfigError> {
    let file = source.to_string();
    let settings = toml::from_str(text).map_err(|error| place::unreadable(&error, &file, text))?;
    check::all(&settings).map_err(|wrong| wrong.in_file(&file, text))?;
    Ok(settings)
}

fn from_environment(settings: &mut Settings, env: Env<'_>) -> Result<(), ConfigError> {
    let value = |place: &str, reason: String| ConfigError::Value { place: place.into(), reason };
    if let Some(text) = env("QUEUETOP_INTERVAL") {
        let interval = parse_duration(&text).and_then(check::interval);
        settings.poll.interval = interval.map_err(|e| value("QUEUETOP_INTERVAL", e))?;
    }
    if let Some(text) = env("QUEUETOP_LOAD") {
        let load = text.parse().map_err(|_| format!("`{text}` is not a number")).and_then(check::load);
        settings.poll.load = load.map_err(|e| value("QUEUETOP_LOAD", e))?;
    }
    if env("QUEUETOP_ASCII").is_some_and(|v| v == "1" || v == "true") {
        settings.screen.ascii = true;
    }
    if env("QUEUETOP_READ_ONLY").is_some_and(|v| v == "1" || v == "true") {
        settings.safety.read_only = true;
    }
    if env("NO_COLOR").is_some_and(|v| !v.is_empty()) {
        settings.screen.colour = Colour::None;
    }
    if !utf8_locale(env) {
        settings.screen.ascii = true;
    }
    Ok(())
}

/// Whether the locale in force is UTF-8: `LC_ALL`, else `LC_CTYPE`, else `LANG`; the first that is set decides alone. Where
/// none is set the terminal is taken to be a modern one.
fn utf8_locale(env: Env<'_>) -> bool {
    let decisive = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| env(name).filter(|v| !v.is_empty()));
    decisive.is_none_or(|value| {
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    })
}

fn from_arguments(settings: &mut Settings, args: &Overrides) -> Result<(), ConfigError> {
    let value = |place: &str, reason: String| ConfigError::Value { place: place.into(), reason };
    if let Some(interval) = args.interval {
        settings.poll.interval = check::interval(interval).map_err(|e| value("--interval", e))?;
    }
    if let Some(load) = args.load {
        settings.poll.load = check::load(load).map_err(|e| value("--load", e))?;
    }
    settings.screen.ascii |= args.ascii;
    settings.safety.read_only |= args.read_only;
    Ok(())
}

fn optional_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    duration(deserializer).map(Some)
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests;
