//! "Did you mean": the known word that somebody most likely wanted to write.

/// The known word that is one slip away from `name`, whatever the case of either.
pub fn nearest<'a>(name: &str, mut known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    known.find(|word| {
        let word = word.to_lowercase();
        word == name || one_off(&word, &name)
    })
}

/// `; did you mean load? There are interval, load`: what to say behind an unknown word.
#[must_use]
pub fn suggestion(wrong: &str, known: &[&str]) -> String {
    let near = nearest(wrong, known.iter().copied());
    let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    let joint = if near.is_empty() { "; there are" } else { " There are" };
    if known.is_empty() { near } else { format!("{near}{joint} {}", known.join(", ")) }
}

/// One letter more, less or other, or two that changed places.
pub(super) fn one_off(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail =
        |skip_a: usize, skip_b: usize| a.get(head + skip_a..).is_some_and(|rest| b.get(head + skip_b..) == Some(rest));
    let swapped = a.len() == b.len()
        && a.get(head) == b.get(head + 1)
        && a.get(head + 1) == b.get(head)
        && a.get(head + 2..) == b.get(head + 2..);
    a.len() > 1 && (tail(1, 1) || tail(1, 0) || tail(0, 1) || swapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_forgiven_and_two_are_not() {
        let known = ["interval", "load", "dsn"];
        for (name, wanted) in [
            ("intervall", Some("interval")),
            ("inetrval", Some("interval")),
            ("Interval", Some("interval")),
            ("laod", Some("load")),
            ("dns", Some("dsn")),
            ("lo", None),
            ("", None),
            ("password", None),
        ] {
            assert_eq!(nearest(name, known.into_iter()), wanted, "{name}");
        }
    }
}
