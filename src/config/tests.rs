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

/// Files with a mistake, and the message of each; long lists of what there is are cut here.
const MISTAKES: &[(&str, &str)] = &[
    (
        "[poll]\n\nintervall = \"1s\"\n",
        "line 3, poll.intervall: no such key; did you mean interval? There are interval, load",
    ),
    ("[poll]\nrate = 1\n", "line 2, poll.rate: no such key; there are interval, load"),
    ("\n[pool]\nx = 1\n", "line 2, pool: no such key; did you mean poll? There are poll, screen"),
    ("[poll\n", "line 1, column 6: unclosed table, expected `]`"),
    (
        "[poll]\ninterval = \"soon\"\n",
        "line 2, poll.interval: `soon` is not a length of time: write 500ms, 1s, 5m, 1h or 7d",
    ),
    ("[poll]\ninterval = \"1ms\"\n", "line 2, poll.interval: at least 50 ms"),
    ("[poll]\nload = \"2\"\n", "line 2, poll.load: expected a number, found a value of type string"),
    ("[poll]\nload = 101.0\n", "line 2, poll.load: 101 is not above 0 and at most 100 percent"),
    ("[screen]\nascii = \"yes\"\n", "line 2, screen.ascii: expected true or false, found a value of type string"),
    (
        "[screen]\ncolour = \"auot\"\n",
        "line 2, screen.colour: `auot` is none of its values; did you mean auto? There are auto, none",
    ),
    ("[screen]\nrange = \"0s\"\n", "line 2, screen.range: must be longer than 0s"),
    (
        "[safety]\nnot_production = \"app@db\"\n",
        "line 2, safety.not_production: expected a list, found a value of type string",
    ),
    (
        "[targets]\nprod = \"postgresql://app@db/app\"\n",
        "line 2, targets.prod: expected a table, found a value of type string",
    ),
    (
        "[targets.prod]\ndns = \"x\"\n",
        "line 2, targets.prod.dns: no such key; did you mean dsn? There are dsn, production, colour, schema, read_only, interval, load",
    ),
    (
        "[targets.prod]\ncolour = \"rot\"\n",
        "line 2, targets.prod.colour: `rot` is no colour: write red, 208 or #ff5f5f",
    ),
    ("[targets.prod]\nproduction = true\n", "line 1, targets.prod.dsn: a target needs one, such as \"service=prod\""),
    (
        "[targets.\"pro.d\"]\ndsn = \"x\"\nload = 0.0\n",
        "line 3, targets.\"pro.d\".load: 0 is not above 0 and at most 100 percent",
    ),
    ("[targets.a]\ndsn = \"x\"\ninterval = \"1ms\"\n", "line 3, targets.a.interval: at least 50 ms"),
    ("[targets.a]\ndsn = \"x\"\ndsn = \"y\"\n", "line 3, column 1: duplicate key"),
    (
        "[theme]\nbase = \"pink\"\n",
        "line 2, theme.base: `pink` is none of its values; there are auto, terminal, dark, light, high-contrast, mono",
    ),
    ("[theme]\nact = \"#ff\"\n", "line 2, theme.act: `#ff` is no colour: write red, 208 or #ff5f5f"),
    (
        "[theme]\nback = \"red\"\n",
        "line 2, theme.back: no such key; there are base, heading, accent, quiet, warn, act, mark",
    ),
    ("[redact]\npaths = 3\n", "line 2, redact.paths: expected a list, found a value of type integer"),
    ("[redact]\npaths = [\"a\", \"a..b\"]\n", "line 2, redact.paths: `a..b` has an empty key: write user.email"),
    (
        "[columns]\nqueues = [\"queue\", \"raedy\"]\n",
        "line 2, columns.queues: no column `raedy`; did you mean ready? There are queue, ready",
    ),
    ("[columns]\njobs = [\"job\", \"job\"]\n", "line 2, columns.jobs: column `job` is there twice"),
    ("[columns]\njobs = []\n", "line 2, columns.jobs: at least one column"),
    ("[filters]\na = \"state:dead\"\nx = \" \"\n", "line 3, filters.x: an empty filter"),
    (
        "[filters]\nx = \"quue:a\"\n",
        "line 2, filters.x: no field is called quue: did you mean queue?; to look for it as text, put it in quotes",
    ),
    ("[filters]\nx = \"a\\tb\"\n", "line 2, filters.x: a filter is one line without control characters"),
    (
        "[keys]\nrequeue = [\"f5\"]\nrequeu = [\"r\"]\n",
        "line 3, keys.requeu: no such command; did you mean requeue? There are all-queues",
    ),
    ("[keys]\nrequeue = \"r\"\n", "line 2, keys.requeue: expected a list, found a value of type string"),
    (
        "[keys]\nrequeue = [\"hyper-r\"]\n",
        "line 2, keys.requeue: `hyper-r` is no key: write r, space, ctrl-e, f5, enter or pgdn",
    ),
    (
        "[keys]\n\"jobs.requeue\" = [\"d\"]\n",
        "line 2, keys.\"jobs.requeue\": d already means dead-letter in the same place (jobs)",
    ),
    (
        "[keys]\n\"confirm.confirm\" = [\"enter\"]\n",
        "line 2, keys.\"confirm.confirm\": a confirmation is answered by y only",
    ),
];

#[test]
fn every_mistake_is_named_with_file_line_and_key() {
    for (text, message) in MISTAKES {
        let said = with_file(text).unwrap_err().to_string();
        assert!(said.starts_with(&format!("settings file c.toml: {message}")), "{text}: {said}");
    }
}

#[test]
fn a_password_in_a_broken_file_is_not_repeated() {
    for text in [
        "[targets]\nprod = \"postgresql://app:s3cret@db/app\"\n",
        "[targets.prod]\ndns = \"postgresql://app:s3cret@db/app\"\n",
        "[targets.prod]\ndsn = \"postgresql://app:s3cret@db/app\n",
        "[targets.prod]\ndsn = postgresql://app:s3cret@db/app\n",
        "[targets.prod]\ndsn = [\"postgresql://app:s3cret@db/app\"]\n",
        "[targets.prod]\nproduction = \"host=db password=s3cret, expected true\"\n",
        "[targets.prod]\ndsn = \"a\"\ndsn = \"postgresql://app:s3cret@db/app\"\n",
    ] {
        let message = with_file(text).unwrap_err().to_string();
        assert!(message.starts_with("settings file c.toml: line ") && !message.contains("s3cret"), "{message}");
    }
}

#[test]
fn a_variable_and_an_option_are_named_as_such() {
    let env = |name: &'static str, value: &'static str| move |asked: &str| (asked == name).then(|| value.to_owned());
    let none = |_: &str| None;
    let file = tempfile::NamedTempFile::new().expect("a file");
    let args = Overrides { file: Some(file.path().to_owned()), ..Overrides::default() };
    let said = |args: &Overrides, env: Env<'_>| load(args, env).unwrap_err().to_string();
    assert_eq!(said(&args, &env("QUEUETOP_INTERVAL", "1ms")), "QUEUETOP_INTERVAL: at least 50 ms");
    assert_eq!(said(&args, &env("QUEUETOP_LOAD", "x")), "QUEUETOP_LOAD: `x` is not a number");
    let zero = Overrides { load: Some(0.0), ..args.clone() };
    assert_eq!(said(&zero, &none), "--load: 0 is not above 0 and at most 100 percent");
    std::fs::write(file.path(), "[poll]\ninterval = \"5s\"\nload = 1.0\n").expect("written");
    let both = Overrides { interval: Some(Duration::from_secs(3)), ..args.clone() };
    let (settings, _) = load(&both, &env("QUEUETOP_INTERVAL", "4s")).unwrap();
    assert_eq!((settings.poll.interval, settings.poll.load), (Duration::from_secs(3), 1.0));
    let (settings, _) = load(&args, &env("QUEUETOP_INTERVAL", "4s")).unwrap();
    assert_eq!(settings.poll.interval, Duration::from_secs(4));
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
    let prod = find_target(&settings.targets, "prod", &Source::File("c.toml".into())).expect("a target");
    assert_eq!((prod.production, prod.interval), (Some(true), Some(Duration::from_secs(2))));
    assert!(settings.screen.mouse && settings.columns.jobs.is_none());
}
