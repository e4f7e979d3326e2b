//! The statements of `tests/data/table_queue.sql` by name, with values filled in.

/// A statement; each `:name` is replaced by the SQL given for it.
pub(crate) fn statement(name: &str, values: &[(&str, &str)]) -> String {
    let text = include_str!("../data/table_queue.sql");
    let section = text.split("-- @ ").find_map(|section| section.strip_prefix(name)?.strip_prefix('\n'));
    let mut sql = section.unwrap_or_else(|| panic!("no statement is called {name}")).to_owned();
    for (name, value) in values {
        sql = sql.replace(&format!(":{name}"), value);
    }
    assert!(!sql.replace("::", "").contains(" :"), "a value is missing: {sql}");
    sql
}

/// The tables and indexes alone, empty.
pub(crate) fn tables() -> String {
    ["jobs", "indexes", "dead letters"].map(|name| statement(name, &[])).concat()
}
