//! Which values of payloads are not shown.

/// What the settings hide. The default hides nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redaction {
    all: bool,
    paths: Vec<Vec<String>>,
}

impl Redaction {
    /// Hides every value, or those at these paths: keys from the outermost in with dots between, `*` for any one key. Members of
    /// arrays need no number: `users.email` hides the address of each of them. Capitals make no difference.
    #[must_use]
    pub fn new(all: bool, paths: &[String]) -> Self {
        let keys = |path: &String| path.split('.').map(str::to_lowercase).collect();
        Self { all, paths: paths.iter().map(keys).collect() }
    }

    /// Whether the value at this path is hidden: the keys that lead to it, outermost first; members of arrays by their number,
    /// from 0. What lies below a hidden value is hidden too.
    #[must_use]
    pub fn hides(&self, path: &[&str]) -> bool {
        self.all || self.paths.iter().any(|wanted| leads_into(wanted, path))
    }
}

/// Whether `path` goes to, or through, what `wanted` names.
fn leads_into(wanted: &[String], path: &[&str]) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    let Some((key, below)) = path.split_first() else { return false };
    let fits = first == "*" || *first == key.to_lowercase();
    // A number may be a key of its own or a place in an array that was not named.
    let is_number = !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
    (fits && leads_into(rest, below)) || (is_number && leads_into(wanted, below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_stars_and_arrays() {
        let paths = ["user.email", "*.token", "cards.number"].map(str::to_owned);
        let redaction = Redaction::new(false, &paths);
        for (path, hidden) in [
            (vec!["user", "email"], true),
            (vec!["User", "EMAIL"], true),
            (vec!["user", "email", "domain"], true),
            (vec!["user"], false),
            (vec!["user", "name"], false),
            (vec!["email"], false),
            (vec!["session", "token"], true),
            (vec!["token"], false),
            (vec!["cards", "0", "number"], true),
            (vec!["cards", "12", "expires"], false),
            (vec![], false),
        ] {
            assert_eq!(redaction.hides(&path), hidden, "{path:?}");
        }
        assert!(!Redaction::default().hides(&["a"]) && Redaction::new(true, &[]).hides(&["a"]));
    }
}
