//! `queuetop config`: where the settings come from.

use crate::args::ConfigArgs;
use crate::config::{self, Overrides, Source};
use crate::keymap::{self, Binding};
use crate::text::Safe;

use super::{CommandError, tell};

/// Prints the default file, or where the settings come from.
///
/// # Errors
/// When the settings in force are wrong.
pub fn run(args: &ConfigArgs) -> Result<u8, CommandError> {
    if args.print_default {
        tell::out(config::DEFAULT_FILE)?;
        return Ok(0);
    }
    if args.keys {
        tell::out(keys())?;
        return Ok(0);
    }
    let overrides = Overrides { file: args.config.clone(), ..Overrides::default() };
    let (_, source) = config::load(&overrides, &|name| std::env::var(name).ok())
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    let place = match source {
        Source::File(path) => format!("settings file: {}", path.display()),
        Source::Defaults { looked_at: Some(path) } => {
            format!("no settings file: the defaults hold. It would be read from {}", path.display())
        }
        Source::Defaults { looked_at: None } => "no settings file and no home folder: the defaults hold".to_owned(),
    };
    let place = Safe::full(&place);
    tell::out(format_args!("{place}\n`queuetop config --print-default` prints a file with every setting\n"))?;
    Ok(0)
}

/// Every command with its place and keys, as `[keys]` names them.
fn keys() -> String {
    let line = |binding: &Binding| {
        let keys: Vec<String> = binding.keys.iter().map(|key| key.label()).collect();
        let name = format!("{}.{}", binding.scope.name(), binding.command.name());
        format!("{name:<28} {:<18} {}\n", keys.join(" "), binding.help)
    };
    keymap::BINDINGS.iter().map(line).collect()
}
