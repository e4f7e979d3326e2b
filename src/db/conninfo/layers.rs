//! Which value of a key wins: connection string, then service file, then environment, then defaults (measured with
//! psql 15). `DATABASE_URL` stands in for the connection string only where nothing else says where to connect:
//! mixing it key by key with `PG*` would send one server's password to another.

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    env::Env,
    error::{ConnInfoError, Place},
    keys::{self, KEYS, Key, Use},
    parse::{Given, parse},
    service,
};

/// A value that won, and where it was read.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) place: Place,
}

/// All values that won, by key.
#[derive(Default)]
pub(super) struct Layers {
    values: BTreeMap<&'static str, Value>,
    pub(super) warnings: Vec<String>,
    pub(super) pooled: bool,
}

/// The variables that say where to connect; any of them makes `DATABASE_URL` unheard.
const WHERE: [&str; 6] = ["PGSERVICE", "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER"];

impl Layers {
    pub(super) fn gather(dsn: Option<&str>, env: &Env) -> Result<Self, ConnInfoError> {
        let mut layers = Self::default();
        if let Some(dsn) = dsn {
            layers.add_string(dsn, Place::Dsn)?;
        } else if let Some(url) = database_url(env)? {
            layers.add_string(&url, Place::DatabaseUrl)?;
        }
        layers.add_service(env)?;
        layers.add_environment(env)?;
        Ok(layers)
    }

    /// The value of a key; set to nothing counts as not set, as nearly everywhere in libpq.
    pub(super) fn get(&self, key: &'static str) -> Option<&Value> {
        self.values.get(key).filter(|value| !value.text.is_empty())
    }

    pub(super) fn text(&self, key: &'static str) -> Option<&str> {
        self.get(key).map(|value| value.text.as_str())
    }

    pub(super) fn path(&self, key: &'static str) -> Option<PathBuf> {
        self.text(key).map(PathBuf::from)
    }

    fn add_string(&mut self, dsn: &str, place: fn(usize) -> Place) -> Result<(), ConnInfoError> {
        let mut after_secret = false;
        for Given { key, value, at } in parse(dsn, place)? {
            let Some(known) = keys::find(&key) else {
                return Err(unknown(&key, place(at), after_secret));
            };
            if let Some(text) = self.accept(known, value, &place(at))? {
                // Of a key that is given twice the last one counts.
                self.values.insert(known.name, Value { text, place: place(at) });
            }
            after_secret = keys::is_secret(known.name);
        }
        Ok(())
    }

    fn add_service(&mut self, env: &Env) -> Result<(), ConnInfoError> {
        let from_env = |key: &'static str, variable: &'static str| -> Result<Option<Value>, ConnInfoError> {
            let given = self.get(key).cloned();
            let fallback = env.var(variable)?.filter(|text| !text.is_empty());
            let place = Place::Env(variable);
            Ok(given.or_else(|| fallback.map(|text| Value { text, place })))
        };
        let Some(name) = from_env("service", "PGSERVICE")? else {
            return Ok(());
        };
        let file = from_env("servicefile", "PGSERVICEFILE")?.map(|file| PathBuf::from(file.text));
        for setting in service::load(&name.text, &name.place, file, env)? {
            let place = Place::Service(setting.file, setting.line);
            let Some(known) = keys::find(&setting.key) else {
                return Err(unknown(&setting.key, place, false));
            };
            if let Some(text) = self.accept(known, setting.value, &place)? {
                self.values.entry(known.name).or_insert(Value { text, place });
            }
        }
        Ok(())
    }

    fn add_environment(&mut self, env: &Env) -> Result<(), ConnInfoError> {
        for key in KEYS {
            let Some(variable) = key.env else { continue };
            if self.values.contains_key(key.name) {
                continue;
            }
            let place = Place::Env(variable);
            if let Some(value) = env.var(variable)?
                && let Some(text) = self.accept(key, value, &place)?
            {
                self.values.insert(key.name, Value { text, place });
            }
        }
        // The old name of PGSSLMODE=require; to drop it in silence would drop the encryption that it demands.
        let place = Place::Env("PGREQUIRESSL");
        if self.get("sslmode").is_none() && env.var("PGREQUIRESSL")?.is_some_and(|value| value.starts_with('1')) {
            self.values.insert("sslmode", Value { text: "require".into(), place });
        }
        Ok(())
    }

    /// The value if the key is one that we obey; an error if it is one that we must not ignore.
    fn accept(&mut self, key: &Key, value: String, place: &Place) -> Result<Option<String>, ConnInfoError> {
        if value.contains('\0') {
            return Err(ConnInfoError::new(place.clone(), format!("the value of {} holds a NUL character", key.name)));
        }
        match key.r#use {
            Use::Obeyed => return Ok(Some(value)),
            Use::Harmless => {}
            Use::Refused(_) if value.is_empty() => {}
            Use::Refused(why) => {
                let what = format!("{} is not supported", key.name);
                return Err(ConnInfoError::new(place.clone(), what).hint(why));
            }
            Use::Foreign => {
                self.pooled |= key.name == "pgbouncer" && value == "true";
                self.warnings.push(format!("{place}: {} is of another program and has no effect here", key.name));
            }
        }
        Ok(None)
    }
}

fn database_url(env: &Env) -> Result<Option<String>, ConnInfoError> {
    for variable in WHERE {
        if env.var(variable)?.is_some_and(|value| !value.is_empty()) {
            return Ok(None);
        }
    }
    Ok(env.var("DATABASE_URL")?.filter(|url| !url.is_empty()))
}

/// Names an unknown key, unless it may be a piece of a password that lacks its quotes.
fn unknown(key: &str, place: Place, after_secret: bool) -> ConnInfoError {
    if let Some(near) = keys::nearest(key) {
        let what = format!("unknown key {}", super::error::echo(key));
        return ConnInfoError::new(place, what).hint(format!("did you mean {near}?"));
    }
    let plain = !key.is_empty() && key.len() <= 30 && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if plain && !after_secret {
        return ConnInfoError::new(place, format!("unknown key \"{key}\""));
    }
    let hint = "if it belongs to the password, the password needs quoting: single quotes in key=value, %XX in a URI";
    ConnInfoError::new(place, "unknown key (not repeated here)").hint(hint)
}
