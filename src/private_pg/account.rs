//! Who runs the server: ourselves, or an unprivileged account when we are root (PostgreSQL refuses to run as root).
//!
//! It must not use helper programs (`sudo`, `runuser`): they are often missing.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use super::Error;

/// Accounts to drop to, best first; `_postgres` is its name on macOS.
const NAMES: [&str; 3] = ["postgres", "_postgres", "nobody"];

/// An account that runs programs in our place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// `None` when we can run the server ourselves.
    pub(super) fn for_server() -> Result<Option<Self>, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let passwd = fs::read_to_string("/etc/passwd").map_err(|error| Error::io("cannot read /etc/passwd", error))?;
        match NAMES.iter().find_map(|name| Self::parse(&passwd, name)) {
            Some(account) => Ok(Some(account)),
            None => Err(Error::NoAccount),
        }
    }

    fn parse(passwd: &str, name: &str) -> Option<Self> {
        let fields = passwd
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields.first() == Some(&name))?;
        Some(Self { uid: parse_id(fields.get(2)?)?, gid: parse_id(fields.get(3)?)? })
    }

    /// Gives a path to the account.
    pub(super) fn own(&self, path: &Path) -> io::Result<()> {
        chown(path, Some(self.uid), Some(self.gid))
    }
}

/// macOS writes the ids of `nobody` as -2.
fn parse_id(text: &str) -> Option<u32> {
    text.parse().ok().or_else(|| text.parse::<i32>().ok().map(i32::cast_unsigned))
}

/// A command that runs in `folder` under `account`, with a bare environment: the user's locale, `PG*` variables
/// and library paths must not reach the server.
pub(super) fn command(program: &Path, folder: &Path, account: Option<&Account>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").env("PATH", "/usr/bin:/bin").current_dir(folder);
    if let Some(account) = account {
        // As root this also drops the supplementary groups.
        command.uid(account.uid).gid(account.gid);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nnobody:*:-2:-2:Nobody:/:/bin/false\npostgres:x:101:104::/:\n";

    #[test]
    fn ids_come_from_the_line_of_that_name() {
        let account = Account { uid: 101, gid: 104 };
        assert_eq!(Account::parse(PASSWD, "postgres"), Some(account));
        assert_eq!(Account::parse(PASSWD, "post"), None);
    }

    #[test]
    fn negative_ids_wrap_as_in_the_kernel() {
        let account = Account::parse(PASSWD, "nobody").unwrap();
        assert_eq!(account.uid, u32::MAX - 1);
    }
}
