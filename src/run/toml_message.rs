//! What is wrong with a TOML text, in the words of its author: without the types of the program.

/// The message of an error, which names neither the line nor the file.
pub(crate) fn toml_message(error: &toml::de::Error) -> String {
    in_plain_words(error.message())
}

/// The words of the parser and of serde, and what they mean to whoever wrote the text.
fn in_plain_words(message: &str) -> String {
    let message = message.trim_end_matches(" in `TOML`");
    for start in ["invalid type: ", "invalid value: "] {
        if let Some((found, expected)) =
            message.strip_prefix(start).and_then(|rest| rest.rsplit_once(", expected "))
        {
            return format!("it is {}; it must be {}", value(found), kind(expected));
        }
    }
    for (start, what) in [("unknown field ", "key"), ("unknown variant ", "value")] {
        if let Some((found, known)) =
            message.strip_prefix(start).and_then(|rest| rest.split_once(", "))
        {
            let known = ["expected one of ", "expected "]
                .iter()
                .find_map(|start| known.strip_prefix(start));
            let found = found.trim_matches('`');
            return match known {
                Some(known) => {
                    format!("there is no {what} {found}; choose from {}", known.replace('`', ""))
                }
                None => format!("there is no {what} {found}"),
            };
        }
    }
    match message.strip_prefix("missing field ") {
        Some(field) => format!("{} is missing", field.trim_matches('`')),
        None => message.to_owned(),
    }
}

/// A value, such as `string "many"`, without its type.
fn value(found: &str) -> &str {
    let after = found.find([' ']).map(|at| found[at..].trim().trim_matches('`'));
    after.filter(|value| !value.is_empty()).unwrap_or(found)
}

/// What a type of the program is to people.
fn kind(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list, such as [32]",
        "a string" => "a text in quotes",
        other if other.starts_with("struct ") => "a table of keys",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_of_the_program_is_named() {
        for (message, plain) in [
            (
                "invalid type: string \"many\", expected usize",
                "it is \"many\"; it must be a whole number, at least 0",
            ),
            (
                "invalid value: integer `-1`, expected usize",
                "it is -1; it must be a whole number, at least 0",
            ),
            (
                "invalid type: integer `3`, expected a sequence",
                "it is 3; it must be a list, such as [32]",
            ),
            ("invalid type: map, expected f64", "it is map; it must be a number"),
            (
                "unknown field `overlapp`, expected one of `k`, `overlap`",
                "there is no key overlapp; choose from k, overlap",
            ),
            ("unknown field `speed`, there are no fields", "there is no key speed"),
            ("missing field `version`", "version is missing"),
            ("key with no value, expected `=`", "key with no value, expected `=`"),
        ] {
            assert_eq!(in_plain_words(message), plain);
        }
    }
}
