//! `[targets.NAME]`: databases by name, chosen as `@NAME` wherever a connection string is taken.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::{ConfigError, optional_duration};

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

/// The target called `name`.
///
/// # Errors
/// When there is none: the known ones are named.
pub fn find<'a>(targets: &'a Targets, name: &str) -> Result<&'a Target, ConfigError> {
    targets.get(name).ok_or_else(|| {
        let known: Vec<String> = targets.keys().map(|name| format!("@{name}")).collect();
        let known =
            if known.is_empty() { "there are none".to_owned() } else { format!("there are {}", known.join(", ")) };
        ConfigError::Value {
            place: format!("@{name}"),
            reason: format!("no such target in the settings file; {known}"),
        }
    })
}

/// Whether a connection string holds a password. What cannot be taken apart counts as one that does.
fn has_password(dsn: &str) -> bool {
    let uri = dsn.split_once("://").map(|(_, rest)| rest);
    let before_host = uri.and_then(|rest| rest.split(['/', '?']).next()?.rsplit_once('@').map(|(user, _)| user));
    before_host.is_some_and(|user| user.contains(':')) || dsn.to_ascii_lowercase().contains("password")
}

/// A file with a password in it must be private, as `.pgpass` must.
///
/// # Errors
/// When others may read it.
pub(super) fn check_private(targets: &Targets, file: &Path) -> Result<(), ConfigError> {
    let Some((name, _)) = targets.iter().find(|(_, target)| has_password(&target.dsn)) else {
        return Ok(());
    };
    let mode = std::fs::metadata(file).map_or(0o777, |metadata| metadata.mode());
    let others = mode % 0o100;
    if others == 0 {
        return Ok(());
    }
    let file = file.display();
    Err(ConfigError::Value {
        place: format!("settings file {file}, targets.{name}.dsn"),
        reason: format!("it holds a password and others may read the file; run: chmod 600 {file}"),
    })
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
        let error = find(&targets, "prd").expect_err("unknown").to_string();
        assert!(error.contains("@prd") && error.contains("@prod, @test"), "{error}");
        assert!(find(&Targets::new(), "x").expect_err("unknown").to_string().contains("there are none"));
    }
}
