//! Where the server programs are: an explicit folder, `PG_BINDIR`, `PATH`, `pg_config`, well-known folders, the cache.
//!
//! It must accept a folder only after its programs really ran under the account that will run the server.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::account::{self, Account};
use super::{Error, Options, fetch};

/// Parent folder, beginning of the name of a version's folder, and what follows that folder.
const WELL_KNOWN: [(&str, &str, &str); 12] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/usr/lib", "postgresql", "bin"),
    ("/usr/lib64", "postgresql", "bin"),
    ("/usr/libexec", "postgresql", ""),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
    ("/opt/local/lib", "postgresql", "bin"),
    ("/usr/local", "pgsql", "bin"),
    ("/usr/local/lib", "postgresql", "bin"),
];

/// The folder of `initdb` and `postgres`; fetches them if that is allowed and nothing else is there.
pub(super) fn bin_dir(
    options: &Options,
    account: Option<&Account>,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, Error> {
    let from_variable = || env::var_os("PG_BINDIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let explicit = options.bin_dir.clone().or_else(|| if options.ignore_installed { None } else { from_variable() });
    if let Some(dir) = explicit {
        return check(&dir, account).map_err(|reason| Error::BinDir { dir, reason });
    }
    let caches = match &options.cache_dir {
        Some(dir) => vec![dir.clone()],
        None => fetch::cache_dirs(account.is_some()),
    };
    let mut candidates = if options.ignore_installed { Vec::new() } else { installed() };
    candidates.extend(caches.iter().map(|cache| fetch::bin_dir(cache)));
    let mut rejected = Vec::new();
    for dir in candidates.iter().filter(|dir| has_programs(dir)) {
        match check(dir, account) {
            Ok(dir) => return Ok(dir),
            Err(reason) => rejected.push(format!("\n{}: {reason}", dir.display())),
        }
    }
    let command = fetch::install_command();
    let (true, Some(cache)) = (options.fetch, caches.first()) else {
        let rejected = rejected.concat();
        return Err(Error::NotFound { rejected, command });
    };
    fetch::fetch(cache, say).and_then(|dir| check(&dir, account)).map_err(|reason| Error::Fetch { reason, command })
}

/// Folders that may hold an installed server, best first.
fn installed() -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = path_dirs();
    dirs.extend(pg_config_dir());
    dirs.extend(well_known());
    dirs
}

fn path_dirs() -> Vec<PathBuf> {
    env::var_os("PATH").map_or_else(Vec::new, |path| env::split_paths(&path).collect())
}

/// A program in `PATH`.
pub(super) fn in_path(program: &str) -> Option<PathBuf> {
    path_dirs().into_iter().map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// The development package ships `pg_config` without a server, so what it says is one candidate among others.
fn pg_config_dir() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").stderr(Stdio::null()).output().ok()?;
    let dir = String::from_utf8(output.stdout).ok()?;
    Some(PathBuf::from(dir.trim_end()))
}

fn well_known() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (parent, prefix, tail) in WELL_KNOWN {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(prefix) {
                found.push((version(&name), entry.path().join(tail)));
            }
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0));
    found.into_iter().map(|(_, dir)| dir).collect()
}

/// The numbers in a folder's name: `postgresql@17` is 17, `9.6` is 9 and 6.
fn version(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

fn has_programs(dir: &Path) -> bool {
    dir.is_absolute() && dir.join("initdb").is_file() && dir.join("postgres").is_file()
}

/// The real folder, if both programs run there under the account: a folder below a private home, or programs for
/// another C library, show here.
fn check(dir: &Path, account: Option<&Account>) -> Result<PathBuf, String> {
    let real = dir.join("initdb").canonicalize().map_err(|error| format!("initdb: {error}"))?;
    let real = real.parent().unwrap_or(dir).to_owned();
    for name in ["initdb", "postgres"] {
        let output = account::command(&real.join(name), Path::new("/"), account)
            .arg("--version")
            .output()
            .map_err(|error| format!("{name}: {error}"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let line = text.lines().next().unwrap_or_default();
            return Err(format!("{name} --version: {}, {line}", output.status));
        }
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_as_numbers() {
        let mut names = ["9.6", "16", "postgresql@17", "latest", "10"];
        names.sort_by_key(|name| std::cmp::Reverse(version(name)));
        assert_eq!(names, ["postgresql@17", "16", "10", "9.6", "latest"]);
    }

    #[test]
    fn an_explicit_folder_without_programs_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { bin_dir: Some(dir.path().to_owned()), ..Options::default() };
        let error = bin_dir(&options, None, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(&dir.path().display().to_string()), "{error}");
        assert!(error.contains("initdb"), "{error}");
    }

    #[test]
    fn without_a_server_and_without_fetch_one_command_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { ignore_installed: true, cache_dir: Some(dir.path().to_owned()), ..Options::default() };
        let error = bin_dir(&options, None, &mut |_| {}).unwrap_err();
        assert!(matches!(&error, Error::NotFound { command, .. } if !command.is_empty()), "{error}");
    }
}
