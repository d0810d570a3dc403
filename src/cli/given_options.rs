//! Messages about a value name the option that it came from: to the rest of the program it is a key of a run file.

use super::console::UsageError;
use crate::run::PlanError;
use clap::ArgMatches;
use clap::parser::ValueSource;

/// Keys whose option has another name. Any other option is called like its key, with hyphens.
const RENAMED: [(&str, &str); 1] = [("tolerance", "tol")];

/// The options of a command line, without their hyphens in front.
pub(super) struct GivenOptions(Vec<String>);

impl GivenOptions {
    /// Those of the subcommand.
    pub fn of(matches: &ArgMatches) -> Self {
        let options = matches.subcommand().into_iter().flat_map(|(_, matches)| {
            let is_given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
            matches.ids().map(clap::Id::as_str).filter(is_given)
        });
        Self(options.map(|id| id.replace('_', "-")).collect())
    }

    /// The same error, in whose message options take the place of keys.
    pub fn name_in(&self, error: anyhow::Error) -> anyhow::Error {
        if !error.is::<PlanError>() && !error.is::<UsageError>() {
            return error;
        }
        let message = error.to_string();
        // What a sweep says of its first setting comes after a colon.
        let parts: Vec<_> = message.split(": ").map(|part| self.name_at_start(part)).collect();
        error.context(parts.join(": "))
    }

    /// A message begins with the key that it is about, `tile is …`, or with one inside of it, `hot_box.left is …`.
    fn name_at_start(&self, message: &str) -> String {
        let is_of_key = |c: char| c.is_ascii_lowercase() || c == '_';
        let (key, rest) = message.split_at(message.find(|c| !is_of_key(c)).unwrap_or(0));
        let renamed = RENAMED.iter().find(|(old, _)| *old == key);
        let option = renamed.map_or_else(|| key.replace('_', "-"), |(_, new)| (*new).to_owned());
        if !self.0.contains(&option) {
            return message.to_owned();
        }
        let inner = rest.strip_prefix('.').and_then(|rest| rest.split_once(' '));
        match inner {
            Some((inner, rest)) => format!("{inner} of --{option} {rest}"),
            None => format!("--{option}{rest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use crate::run::any::run;
    use clap::CommandFactory;
    use proptest::prelude::*;

    /// Keys of what a table is about: their options have the names of the tables, which messages use, too.
    const OF_TABLE: [&str; 3] = ["kind", "name", "rule"];

    fn given(option: &str) -> GivenOptions {
        GivenOptions(vec![option.to_owned()])
    }

    #[test]
    fn every_option_of_a_run_is_named_in_place_of_its_key() {
        let cli = Cli::command();
        let options = cli.find_subcommand("solve").unwrap().get_arguments();
        for option in options.filter_map(|option| option.get_long()) {
            let renamed = RENAMED.iter().find(|(_, new)| *new == option);
            let key =
                renamed.map_or_else(|| option.replace('-', "_"), |(old, _)| (*old).to_owned());
            let said = |given: GivenOptions| {
                let error = UsageError(format!("none can run: {key} is 3; it must be 2"));
                given.name_in(error.into()).to_string()
            };
            assert_eq!(said(given(option)), format!("none can run: --{option} is 3; it must be 2"));
            assert_eq!(said(given("other")), format!("none can run: {key} is 3; it must be 2"));
        }
        assert_eq!(given("hot-box").name_at_start("hot_box.left is 2"), "left of --hot-box is 2");
    }

    proptest! {
        #[test]
        fn every_key_of_a_run_file_has_an_option(spec in run()) {
            let cli = Cli::command();
            let solve = cli.find_subcommand("solve").unwrap();
            let file = serde_json::to_value(&spec).unwrap();
            let tables = ["problem", "method", "stop"].map(|table| file[table].as_object().unwrap());
            for key in tables.into_iter().flat_map(serde_json::Map::keys) {
                let renamed = RENAMED.iter().find(|(old, _)| old == key);
                let option = renamed.map_or_else(|| key.replace('_', "-"), |(_, new)| (*new).to_owned());
                let is_option = solve.get_arguments().any(|known| known.get_long() == Some(&option));
                prop_assert!(is_option || OF_TABLE.contains(&key.as_str()), "{}", key);
            }
        }
    }
}
