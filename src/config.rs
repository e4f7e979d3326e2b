//! Settings: defaults, then the file, then the environment, then the command line. Every error names the place.

mod keys;
mod looks;
mod targets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::{BaseStrategy, choose_base_strategy};
use serde::{Deserialize, Deserializer};

use crate::fmt::parse_duration;
use crate::model::Filter;

pub use keys::{Keys, table as key_table};
pub use looks::{Columns, Redact, ThemeColour, ThemeSettings};
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
/// When the file named cannot be read, a file is malformed (line and key are named), or a value is out of range.
pub fn load(args: &Overrides, env: Env<'_>) -> Result<(Settings, Source), ConfigError> {
    let (text, source) = read_file(args.file.as_deref())?;
    let mut settings = parse(&text, &source)?;
    from_environment(&mut settings, env)?;
    from_arguments(&mut settings, args);
    check(&settings)?;
    if let Source::File(path) = &source {
        targets::check_private(&settings.targets, path)?;
    }
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
    toml::from_str(text).map_err(|e| ConfigError::Malformed {
        file: match source {
            Source::File(path) => path.display().to_string(),
            Source::Defaults { .. } => "(built-in defaults)".into(),
        },
        cause: e.to_string().trim_end().to_owned(),
    })
}

fn from_environment(settings: &mut Settings, env: Env<'_>) -> Result<(), ConfigError> {
    let value = |place: &str, reason: String| ConfigError::Value { place: place.into(), reason };
    if let Some(text) = env("QUEUETOP_INTERVAL") {
        settings.poll.interval = parse_duration(&text).map_err(|e| value("QUEUETOP_INTERVAL", e))?;
    }
    if let Some(text) = env("QUEUETOP_LOAD") {
        settings.poll.load = text.parse().map_err(|_| value("QUEUETOP_LOAD", format!("`{text}` is not a number")))?;
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

fn from_arguments(settings: &mut Settings, args: &Overrides) {
    if let Some(interval) = args.interval {
        settings.poll.interval = interval;
    }
    if let Some(load) = args.load {
        settings.poll.load = load;
    }
    settings.screen.ascii |= args.ascii;
    settings.safety.read_only |= args.read_only;
}

fn check(settings: &Settings) -> Result<(), ConfigError> {
    let value = |place: &str, reason: String| Err(ConfigError::Value { place: place.into(), reason });
    if settings.poll.interval < INTERVAL_FLOOR {
        return value("poll.interval", format!("at least {} ms", INTERVAL_FLOOR.as_millis()));
    }
    if !(settings.poll.load > 0.0 && settings.poll.load <= 100.0) {
        return value("poll.load", format!("{} is not above 0 and at most 100 percent", settings.poll.load));
    }
    key_table(&settings.keys)?;
    for (name, filter) in &settings.filters {
        if let Err(reason) = check_filter(filter) {
            return value(&format!("filters.{name}"), reason);
        }
    }
    for (name, target) in &settings.targets {
        if target.interval.is_some_and(|interval| interval < INTERVAL_FLOOR) {
            return value(&format!("targets.{name}.interval"), format!("at least {} ms", INTERVAL_FLOOR.as_millis()));
        }
        if target.load.is_some_and(|load| !(load > 0.0 && load <= 100.0)) {
            return value(&format!("targets.{name}.load"), "it is not above 0 and at most 100 percent".into());
        }
    }
    if settings.screen.range.is_zero() {
        return value("screen.range", "must be longer than 0s".into());
    }
    Ok(())
}

fn check_filter(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("an empty filter".into());
    }
    text.parse::<Filter>().map(drop).map_err(|error| error.to_string())
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
