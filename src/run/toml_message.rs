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
            let limit = if is_too_large(found) { TOO_LARGE } else { "" };
            return format!("it is {}; it must be {}{limit}", value(found), kind(expected));
        }
    }
    if let Some((_, expected)) =
        message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("it has too few or too many values; it must be {}", kind(expected));
    }
    // Which kinds are allowed, only the program knows.
    if message.starts_with("data did not match any variant of untagged enum ") {
        return "its value is of a kind that is not allowed here".to_owned();
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
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("{} is missing", field.trim_matches('`'));
    }
    let known = OF_PARSER.iter().find(|(start, _)| message.starts_with(start));
    known.map_or(message, |(_, plain)| plain).to_owned()
}

/// How messages of the parser begin that only those understand who know how it works, and what they mean. The
/// other messages are sentences about TOML.
const OF_PARSER: [(&str, &str); 16] = [
    ("wanted string or table", "it must be a name in quotes"),
    ("cannot recurse further", "lists or tables are nested too deeply"),
    ("invalid basic string", TEXT),
    ("invalid literal string", TEXT),
    ("invalid multi-line basic string", TEXT),
    ("invalid multi-line literal string", TEXT),
    ("key with no value", "the key has no value; write key = value"),
    ("missing assignment between", "there is no = between the key and its value"),
    ("missing value for key", "the key has no value; write key = value"),
    ("duplicate key", "the key is there twice"),
    ("unclosed table", "the name of the table has no closing ]"),
    ("unclosed array table", "the name of the table has no closing ]]"),
    ("unclosed array", "the list has no closing ]"),
    ("unclosed inline table", "the table has no closing }"),
    ("string values must be quoted", "a text must be in quotes"),
    ("invalid unquoted key", "a key has letters, digits, _ and -, or it must be in quotes"),
];

/// What is wrong with a text in quotes.
const TEXT: &str = "the text in quotes has no closing quote, or a character that must be escaped";

/// A value, such as `string "many"`, without its type.
fn value(found: &str) -> &str {
    match found {
        "map" => return "a table of keys",
        "sequence" => return "a list",
        _ => {}
    }
    let types = ["string ", "integer ", "floating point ", "boolean ", "character "];
    let value = types.iter().find_map(|name| found.strip_prefix(name)).unwrap_or(found);
    let value = WIDE.iter().find_map(|end| value.strip_suffix(end)).unwrap_or(value);
    value.trim_matches('`')
}

/// How the parser marks a whole number that has more than 64 bits.
const WIDE: [&str; 2] = [" as i128", " as u128"];

/// What a whole number must be besides, that has more.
const TOO_LARGE: &str = ", of at most 19 digits";

fn is_too_large(found: &str) -> bool {
    WIDE.iter().any(|end| found.ends_with(end))
}

/// What a type of the program is to people.
fn kind(expected: &str) -> String {
    let count = ["an array of length ", "a tuple of size "];
    if let Some(count) = count.iter().find_map(|start| expected.strip_prefix(start)) {
        return format!("a list of {count} values");
    }
    // The types are followed by their names.
    let starts = |kinds: &[&str]| kinds.iter().any(|kind| expected.starts_with(kind));
    if starts(&["struct "]) {
        return "a table of keys".to_owned();
    }
    if starts(&["enum ", "variant identifier"]) {
        return "a name in quotes".to_owned();
    }
    if starts(&["tuple ", "newtype ", "unit "]) {
        return "a value of another kind".to_owned();
    }
    let plain = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list, such as [32]",
        "a string" => "a text in quotes",
        other => other,
    };
    plain.to_owned()
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
            (
                "invalid type: integer `99999999999999999999` as i128, expected usize",
                "it is 99999999999999999999; it must be a whole number, at least 0, of at most 19 digits",
            ),
            ("invalid type: map, expected f64", "it is a table of keys; it must be a number"),
            (
                "invalid type: floating point `1.5`, expected u64",
                "it is 1.5; it must be a whole number, at least 0",
            ),
            (
                "invalid type: string \"a b\", expected struct ProblemSpec",
                "it is \"a b\"; it must be a table of keys",
            ),
            (
                "invalid type: integer `3`, expected enum Precision",
                "it is 3; it must be a name in quotes",
            ),
            (
                "invalid length 1, expected an array of length 2",
                "it has too few or too many values; it must be a list of 2 values",
            ),
            (
                "data did not match any variant of untagged enum Either",
                "its value is of a kind that is not allowed here",
            ),
            (
                "unknown field `overlapp`, expected one of `k`, `overlap`",
                "there is no key overlapp; choose from k, overlap",
            ),
            ("unknown field `speed`, there are no fields", "there is no key speed"),
            ("missing field `version`", "version is missing"),
            ("key with no value, expected `=`", "the key has no value; write key = value"),
            ("wanted string or table", "it must be a name in quotes"),
            (
                "invalid basic string, expected non-double-quote visible characters, `\\`",
                "the text in quotes has no closing quote, or a character that must be escaped",
            ),
            ("unclosed array table, expected `]]`", "the name of the table has no closing ]]"),
            ("extra comma in array, expected nothing", "extra comma in array, expected nothing"),
        ] {
            assert_eq!(in_plain_words(message), plain);
        }
    }

    #[test]
    fn what_the_parser_says_of_a_wrong_text_is_known_here() {
        for (text, plain) in [
            ("a = \"b", TEXT),
            ("a = 'b", TEXT),
            ("a", "the key has no value; write key = value"),
            ("a = 1\na = 2", "the key is there twice"),
            ("[a", "the name of the table has no closing ]"),
            ("a = [1", "the list has no closing ]"),
            (&format!("a = {}", "[".repeat(200)), "lists or tables are nested too deeply"),
        ] {
            let error = toml::from_str::<toml::Table>(text).unwrap_err();
            assert_eq!(toml_message(&error), plain, "{text}: {}", error.message());
        }
    }
}
