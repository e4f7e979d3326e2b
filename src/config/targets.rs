//! `[targets.NAME]`: databases by name, chosen as `@NAME` wherever a connection string is taken.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::{ConfigError, Source, optional_duration};
use crate::model::spelling::suggestion;

/// One database.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// URI, key=value string or database name, as on the command line (`service=prod` works too).
    pub dsn: String,
    /// Its actions are confirmed by typing, and the header says so; `None`: when it is not a local socket.
    pub production: Option<bool>,
    /// The colour of its name in the header.
    pub colour: Option<super::ThemeColour>,
    /// Schema of the jobs table.
    pub schema: Option<String>,
    /// Refuse every action.
    pub read_only: bool,
    /// Time between polls.
    #[serde(deserialize_with = "optional_duration")]
    pub interval: Option<Duration>,
    /// Most database time, in percent of wall time.
    pub load: Option<f64>,
}

/// All of them.
pub type Targets = BTreeMap<String, Target>;

/// The target called `name`, from the settings in `source`.
///
/// # Errors
/// When there is none: the known ones are named.
pub fn find<'a>(targets: &'a Targets, name: &str, source: &Source) -> Result<&'a Target, ConfigError> {
    targets.get(name).ok_or_else(|| {
        let place = match source {
            Source::File(path) => format!("in {}", path.display()),
            Source::Defaults { looked_at: Some(path) } => format!("and no settings file {}", path.display()),
            Source::Defaults { looked_at: None } => "and no settings file".to_owned(),
        };
        let known: Vec<String> = targets.keys().map(|name| format!("@{name}")).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let at = format!("@{name}");
        let known = if known.is_empty() { "; there are none".to_owned() } else { suggestion(&at, &known) };
        ConfigError::Value { reason: format!("no such target {place}{known}"), place: at }
    })
}

/// Whether a connection string holds a password. What cannot be taken apart counts as one that does.
pub(super) fn has_password(dsn: &str) -> bool {
    let uri = dsn.split_once("://").map(|(_, rest)| rest);
    let before_host = uri.and_then(|rest| rest.split(['/', '?']).next()?.rsplit_once('@').map(|(user, _)| user));
    before_host.is_some_and(|user| user.contains(':')) || dsn.to_ascii_lowercase().contains("password")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_in_every_form() {
        for (dsn, there) in [
            ("postgresql://app@db/app", false),
            ("postgresql://app:s3cret@db/app", true),
            ("postgresql://app:s3cret@db1,db2/app", true),
            ("postgresql://db/app?password=s3cret", true),
            ("host=db password=s3cret", true),
            ("host=db user=app", false),
            ("service=prod", false),
            ("app", false),
            ("postgresql://db:5432/app", false),
        ] {
            assert_eq!(has_password(dsn), there, "{dsn}");
        }
    }

    #[test]
    fn an_unknown_target_names_the_known_ones() {
        let targets = Targets::from([("prod".to_owned(), Target::default()), ("test".to_owned(), Target::default())]);
        let source = Source::File("c.toml".into());
        let error = find(&targets, "prd", &source).expect_err("unknown").to_string();
        assert!(
            error.contains("@prd: no such target in c.toml; did you mean @prod? There are @prod, @test"),
            "{error}"
        );
        assert!(find(&Targets::new(), "x", &source).expect_err("unknown").to_string().contains("there are none"));
    }
}
