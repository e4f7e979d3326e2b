//! Programs that some tests need and that not every machine has. A missing one is never passed over in silence: the test
//! says so past the harness, and fails where `QUEUETOP_TEST_ALL` is set, as it is in CI.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Where server programs lie that are not in everybody's `PATH`.
const MORE_FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/sbin"];

/// The program, or `None` after saying what is left out and how to get it.
pub(crate) fn program(name: &str, package: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(MORE_FOLDERS.map(PathBuf::from));
    let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let line = format!("NOT TESTED: {test} needs {name}: apt-get install {package}");
        assert!(std::env::var_os("QUEUETOP_TEST_ALL").is_none(), "{line}");
        writeln!(io::stderr(), "{line}").expect("standard error");
    }
    found
}

/// A client program: that of the server in use, else any.
pub(crate) fn server_program(name: &str, bin_dir: &Path) -> Option<PathBuf> {
    let own = bin_dir.join(name);
    if own.is_file() { Some(own) } else { program(name, "postgresql-client") }
}
