//! Password files: `host:port:database:user:password` lines, matched as libpq's `passwordFromFile` does.

use std::path::Path;

use super::{
    env::Env,
    error::{ConnInfoError, Place, quoted},
};
use crate::db::secret::Secret;

/// Whom a password is wanted for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Host name, socket folder, or `localhost` for the default socket folder.
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) dbname: &'a str,
    pub(super) user: &'a str,
}

/// The text of the password file, if it exists and others cannot read it. A file that is too open is left alone with a
/// warning, as psql does.
pub(super) fn load(path: &Path, env: &Env, warnings: &mut Vec<String>) -> Result<Option<String>, ConnInfoError> {
    if !env.files.exists(path) {
        return Ok(None);
    }
    let place = || Place::File(path.to_owned());
    let file = env
        .files
        .read(path)
        .map_err(|error| ConnInfoError::new(place(), format!("the password file cannot be read: {error}")))?;
    let complaint = if !file.regular {
        "is not a plain file"
    } else if file.mode & 0o077 != 0 {
        "has group or world access; permissions should be u=rw (0600) or less"
    } else {
        return Ok(Some(String::from_utf8_lossy(&file.bytes).into_owned()));
    };
    warnings.push(format!("password file {} is ignored: it {complaint}", quoted(path)));
    Ok(None)
}

/// The first line that matches.
pub(super) fn find(text: &str, wanted: Wanted<'_>) -> Option<Secret> {
    let port = wanted.port.to_string();
    let fields = [wanted.host, &port, wanted.dbname, wanted.user];
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).filter(|line| !line.starts_with('#')).find_map(
        |line| {
            let rest = fields.iter().try_fold(line, |rest, field| after_field(rest, field))?;
            Some(Secret::new(unescape(rest)))
        },
    )
}

/// What follows the first field of `line`, if that field is `*` or equals `expected`.
fn after_field<'a>(line: &'a str, expected: &str) -> Option<&'a str> {
    if let Some(rest) = line.strip_prefix("*:") {
        return Some(rest);
    }
    let mut expected = expected.chars();
    let mut chars = line.chars();
    loop {
        let c = match chars.next()? {
            ':' => return expected.next().is_none().then_some(chars.as_str()),
            '\\' => chars.next()?,
            c => c,
        };
        if expected.next()? != c {
            return None;
        }
    }
}

/// The password field, up to an unescaped colon.
fn unescape(field: &str) -> String {
    let mut password = String::new();
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        match c {
            ':' => break,
            '\\' => password.push(chars.next().unwrap_or('\\')),
            _ => password.push(c),
        }
    }
    password
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str, host: &str) -> Option<String> {
        let wanted = Wanted { host, port: 5432, dbname: "app", user: "u" };
        find(text, wanted).map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn lines_match_as_in_libpq() {
        assert_eq!(password("h:5432:app:u:pw", "h").as_deref(), Some("pw"));
        assert_eq!(password("*:*:*:*:pw", "h").as_deref(), Some("pw"));
        assert_eq!(password("h:5433:app:u:no\nh:5432:*:u:yes", "h").as_deref(), Some("yes"));
        assert_eq!(password("#h:5432:app:u:no", "h"), None);
        assert_eq!(password(r"fe80\:\:1:5432:app:u:a\:b\\c", "fe80::1").as_deref(), Some(r"a:b\c"));
        assert_eq!(password("h:5432:app:u:before:after", "h").as_deref(), Some("before"));
        assert_eq!(password("h:5432:app:u:pw\r\n", "h").as_deref(), Some("pw"));
        assert_eq!(password("hh:5432:app:u:pw", "h"), None);
        assert_eq!(password("h:5432:app", "h"), None);
        assert_eq!(password("", "h"), None);
    }
}
