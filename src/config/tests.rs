//! Settings from files and surroundings. Not part of the program.

use super::*;

fn with_file(text: &str) -> Result<Settings, ConfigError> {
    parse(text, &Source::File("c.toml".into()))
}

#[test]
fn the_embedded_file_says_what_the_defaults_are() {
    assert_eq!(with_file(DEFAULT_FILE).unwrap(), Settings::default());
    assert_eq!(with_file("").unwrap(), Settings::default());
}

#[test]
fn a_file_changes_only_what_it_names() {
    let settings = with_file("[poll]\ninterval = \"250ms\"\n").unwrap();
    assert_eq!(settings.poll.interval, Duration::from_millis(250));
    assert!((settings.poll.load - 2.0).abs() < 1e-9);
}

#[test]
fn an_error_names_file_line_and_key() {
    for (text, parts) in [
        ("[poll]\n\nintervall = \"1s\"\n", ["c.toml", "line 3", "intervall", "`interval`"]),
        ("\n[pool]\nx = 1\n", ["c.toml", "line 2", "pool", "`poll`"]),
        ("[poll]\ninterval = \"soon\"\n", ["c.toml", "line 2", "soon", "500ms"]),
        ("[screen]\nascii = \"yes\"\n", ["c.toml", "line 2", "ascii", "boolean"]),
        ("[poll\n", ["c.toml", "line 1", "", ""]),
    ] {
        let message = with_file(text).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
}

#[test]
fn the_first_locale_variable_that_is_set_decides() {
    let env = |pairs: &'static [(&str, &str)]| {
        move |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned())
    };
    assert!(!utf8_locale(&env(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")])));
    assert!(utf8_locale(&env(&[("LC_ALL", ""), ("LANG", "en_US.UTF-8")])));
    assert!(utf8_locale(&env(&[("LANG", "C.utf8")])));
    assert!(utf8_locale(&env(&[])));
}

#[test]
fn everything_that_can_be_set_is_read() {
    let settings = with_file(
        "[targets.prod]\ndsn = \"service=prod\"\nproduction = true\ncolour = \"#ff5f5f\"\ninterval = \"2s\"\n\
         [filters]\nstuck = \"state:expired\"\n[keys]\nrequeue = [\"f5\"]\n[theme]\nbase = \"high-contrast\"\nact = \"red\"\n\
         [columns]\nqueues = [\"queue\", \"ready\"]\n[redact]\npaths = [\"user.email\"]\n[screen]\nmouse = true\n",
    )
    .unwrap();
    check(&settings).expect("fine");
    let prod = find_target(&settings.targets, "prod").expect("a target");
    assert_eq!((prod.production, prod.interval), (Some(true), Some(Duration::from_secs(2))));
    assert!(settings.screen.mouse && settings.columns.jobs.is_none());
}

#[test]
fn what_is_wrong_in_the_newer_parts_is_named_too() {
    for (text, parts) in [
        ("[targets.prod]\ndns = \"x\"\n", ["line 2", "dns", "`dsn`"]),
        ("[targets.prod]\ncolour = \"rot\"\n", ["line 2", "rot", "#ff5f5f"]),
        ("[theme]\nbase = \"pink\"\n", ["line 2", "pink", "high-contrast"]),
        ("[redact]\npaths = 3\n", ["line 2", "paths", "sequence"]),
    ] {
        let message = with_file(text).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
    for (text, part) in [
        ("[keys]\nrequeu = [\"r\"]\n", "keys.requeu"),
        ("[targets.a]\ninterval = \"1ms\"\n", "targets.a.interval"),
        ("[filters]\nx = \" \"\n", "filters.x"),
    ] {
        let message = check(&with_file(text).unwrap()).unwrap_err().to_string();
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}
