//! Service files: named groups of settings (`~/.pg_service.conf` and friends), read as libpq's `parseServiceInfo` does.

use std::path::{Path, PathBuf};

use super::{
    env::Env,
    error::{ConnInfoError, Place, echo},
};

/// One setting of a service, with its line, counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

/// Where system-wide service files lie: `PGSYSCONFDIR`, else where Debian and others build libpq to look.
const SYSTEM_FOLDERS: [&str; 3] = ["/etc/postgresql-common", "/etc/sysconfig/pgsql", "/usr/local/etc/postgresql"];

/// The settings of service `name`. `named` is the file from `servicefile` or `PGSERVICEFILE`.
pub(super) fn load(
    name: &str,
    asked: &Place,
    named: Option<PathBuf>,
    env: &Env,
) -> Result<Vec<Setting>, ConnInfoError> {
    let mut files = Vec::new();
    match named {
        Some(file) => files.push((file, true)),
        None => files.extend(env.at_home(".pg_service.conf").map(|file| (file, false))),
    }
    match env.var("PGSYSCONFDIR")? {
        Some(folder) => files.push((Path::new(&folder).join("pg_service.conf"), false)),
        None => files.extend(SYSTEM_FOLDERS.map(|folder| (Path::new(folder).join("pg_service.conf"), false))),
    }
    for (file, must_exist) in &files {
        if !*must_exist && !env.files.exists(file) {
            continue;
        }
        let read = env.files.read(file).map_err(|error| {
            ConnInfoError::new(Place::File(file.clone()), format!("the service file cannot be read: {error}"))
        })?;
        let text = String::from_utf8_lossy(&read.bytes);
        if let Some(settings) = group(&text, name, file)? {
            return Ok(settings);
        }
    }
    let looked: Vec<String> = files.iter().map(|(file, _)| file.display().to_string()).collect();
    Err(ConnInfoError::new(asked.clone(), format!("definition of service {} not found", echo(name)))
        .hint(format!("looked in {}", looked.join(", "))))
}

/// The group `[name]` of a service file, or `None` when it has none.
fn group(text: &str, name: &str, file: &Path) -> Result<Option<Vec<Setting>>, ConnInfoError> {
    let mut found: Option<Vec<Setting>> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            if header.strip_prefix(name).is_some_and(|rest| rest.starts_with(']')) {
                found = Some(Vec::new());
            }
            continue;
        }
        let Some(settings) = &mut found else {
            continue;
        };
        let line_number = index + 1;
        let fault = |what: &str| Err(ConnInfoError::new(Place::Service(file.to_owned(), line_number), what));
        if line.starts_with("ldap") {
            return fault("LDAP look-ups of services are not supported");
        }
        let Some((key, value)) = line.split_once('=') else {
            return fault("syntax error: a setting is key=value");
        };
        if key == "service" || key == "servicefile" {
            return fault("a service cannot name another service");
        }
        settings.push(Setting { key: key.into(), value: value.into(), file: file.into(), line: line_number });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, name: &str) -> Result<Option<Vec<(String, String)>>, String> {
        let settings = group(text, name, Path::new("/f")).map_err(|error| error.to_string())?;
        Ok(settings.map(|all| all.into_iter().map(|one| (one.key, one.value)).collect()))
    }

    #[test]
    fn a_group_ends_where_the_next_begins() {
        let text = "# note\n[a]\nhost=h1\n\n  port = 1\n[b]\nhost=h2\n[a]\nuser=late\n";
        let expected = vec![("host".into(), "h1".into()), ("port ".into(), " 1".into())];
        assert_eq!(read(text, "a"), Ok(Some(expected)));
        assert_eq!(read(text, "b"), Ok(Some(vec![("host".into(), "h2".into())])));
        assert_eq!(read(text, "c"), Ok(None));
        assert_eq!(read("[ab]\nhost=x", "a"), Ok(None));
    }

    #[test]
    fn faults_name_the_line_and_not_its_text() {
        let error = read("[a]\nhunter2", "a").unwrap_err();
        assert!(error.contains("line 2") && !error.contains("hunter2"), "{error}");
        assert!(read("[a]\nservice=b", "a").unwrap_err().contains("another service"));
        assert_eq!(read("hunter2\n[a]", "a"), Ok(Some(Vec::new())), "only the wanted group is looked at");
    }
}
