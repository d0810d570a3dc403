//! What a file of Rust source says about modules: a tokenizer that leaves out comments and literals, and
//! a reader of `mod`, `use` and paths. Items under `#[cfg(test)]` are left out.

use std::collections::BTreeSet;

/// Names joined by `::`.
pub type Path = Vec<String>;

/// One name that a `use` brings into a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// As it is written, `crate`, `self` and `super` included.
    pub path: Path,
    /// The name that it has here; `*` for a glob.
    pub name: String,
    /// Whether other modules see it under this name, too.
    pub is_public: bool,
}

/// A module, as one file or a block in a file writes it.
#[derive(Debug, Default)]
pub struct Module {
    /// Where it lies in its file: empty for the file's own module.
    pub path: Path,
    pub imports: Vec<Import>,
    /// Paths outside `use`, of at least two names.
    pub paths: Vec<Path>,
    /// Items that it defines itself.
    pub items: BTreeSet<String>,
    /// All names outside `use` and `mod`.
    pub words: BTreeSet<String>,
    /// Modules in files of their own that are compiled for tests alone.
    pub test_modules: Vec<String>,
}

/// The modules of a file; the first is the file's own.
pub fn read(text: &str) -> Vec<Module> {
    let mut reader = Reader { tokens: tokens(text), at: 0, depth: 0 };
    let mut modules = vec![Module::default()];
    // The modules that are open: their places, and the depth of their braces.
    let mut open = vec![(0, 0)];
    while let Some(token) = reader.peek(0) {
        let (module, floor) = open[open.len() - 1];
        let name = reader.peek(1).filter(|next| is_name(next)).map(str::to_owned);
        match token {
            "#" => {
                if reader.skip_attribute() {
                    modules[module].test_modules.extend(reader.skip_item());
                }
            }
            "{" => reader.step(1),
            "}" => {
                reader.step(1);
                if open.len() > 1 && reader.depth == floor {
                    open.pop();
                }
            }
            // `pub(in crate::run)` names who sees an item, not what it uses.
            "pub" if reader.peek(1) == Some("(") && reader.peek(2) == Some("in") => {
                reader.step(1);
                reader.skip_group();
            }
            "mod" if name.is_some() && reader.peek(2) == Some("{") => {
                let mut path = modules[module].path.clone();
                path.extend(name);
                open.push((modules.len(), reader.depth));
                modules.push(Module { path, ..Module::default() });
                reader.step(3);
            }
            "mod" => reader.step(2),
            "use" => {
                let is_public = matches!(reader.behind(), Some("pub" | ")"));
                reader.step(1);
                reader.use_tree(&mut Vec::new(), is_public, &mut modules[module].imports);
            }
            "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static"
                if reader.depth == floor + usize::from(open.len() > 1) =>
            {
                modules[module].items.extend(name);
                reader.step(1);
            }
            token if is_name(token) => {
                let path = reader.path();
                modules[module].words.extend(path.first().cloned());
                if path.len() > 1 {
                    modules[module].paths.push(path);
                }
            }
            _ => reader.step(1),
        }
    }
    modules
}

struct Reader<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    /// How many braces are open.
    depth: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> Option<&'a str> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn behind(&self) -> Option<&'a str> {
        self.tokens.get(self.at.checked_sub(1)?).copied()
    }

    fn step(&mut self, count: usize) {
        for _ in 0..count {
            match self.peek(0) {
                Some("{") => self.depth += 1,
                Some("}") => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips whatever is in the bracket or brace that opens here.
    fn skip_group(&mut self) {
        let mut open = 0;
        while let Some(token) = self.peek(0) {
            match token {
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" => open -= 1,
                _ => {}
            }
            self.step(1);
            if open == 0 {
                return;
            }
        }
    }

    /// Skips an attribute; returns whether what follows is compiled for tests alone.
    fn skip_attribute(&mut self) -> bool {
        self.step(1);
        if self.peek(0) == Some("!") {
            self.step(1);
        }
        let begin = self.at;
        if self.peek(0) == Some("[") {
            self.skip_group();
        }
        let inside = &self.tokens[begin..self.at];
        inside.get(1) == Some(&"cfg") && inside.contains(&"test") && !inside.contains(&"not")
    }

    /// Skips an item, a statement, a field or a variant; returns its name if it is a module in a file of its
    /// own.
    fn skip_item(&mut self) -> Option<String> {
        while self.peek(0) == Some("#") {
            self.skip_attribute();
        }
        let begin = self.at;
        let is_item = |token: &&str| ITEMS.contains(token);
        while let Some(token) = self.peek(0) {
            match token {
                "{" => {
                    let is_use = self.tokens[begin..self.at].contains(&"use");
                    self.skip_group();
                    if !is_use {
                        return None;
                    }
                }
                "(" | "[" => self.skip_group(),
                ";" => {
                    let (keyword, name) = (self.tokens[self.at - 2], self.tokens[self.at - 1]);
                    self.step(1);
                    return (keyword == "mod").then(|| name.to_owned());
                }
                "," if !self.tokens[begin..self.at].iter().any(is_item) => {
                    self.step(1);
                    return None;
                }
                "}" => return None,
                _ => self.step(1),
            }
        }
        None
    }

    /// The path that begins here.
    fn path(&mut self) -> Path {
        // What follows a type in angle brackets, or `::` at the very front, is not a path of this crate.
        let is_rest = matches!(self.behind(), Some("::" | "."));
        let mut path: Path = self.peek(0).map(str::to_owned).into_iter().collect();
        self.step(1);
        while self.peek(0) == Some("::") && self.peek(1).is_some_and(is_name) {
            path.extend(self.peek(1).map(str::to_owned));
            self.step(2);
        }
        if is_rest { Vec::new() } else { path }
    }

    /// The names of a `use` from here to its `;`, or to the end of a part in braces.
    fn use_tree(&mut self, before: &mut Path, is_public: bool, imports: &mut Vec<Import>) {
        let length = before.len();
        let mut alias = None;
        while let Some(token) = self.peek(0) {
            match token {
                "{" => {
                    self.step(1);
                    while !matches!(self.peek(0), Some("}") | None) {
                        self.use_tree(&mut before.clone(), is_public, imports);
                        if self.peek(0) == Some(",") {
                            self.step(1);
                        }
                    }
                    self.step(1);
                    // All names were in the braces.
                    before.truncate(length);
                }
                "as" => {
                    alias = self.peek(1).map(str::to_owned);
                    self.step(2);
                }
                "::" => self.step(1),
                "," | "}" => break,
                ";" => {
                    self.step(1);
                    break;
                }
                name => {
                    before.push(name.to_owned());
                    self.step(1);
                }
            }
        }
        if before.len() > length {
            if before.len() > 1 && before.last().is_some_and(|last| last == "self") {
                before.pop();
            }
            let last = before.last().cloned().unwrap_or_default();
            let name = alias.unwrap_or(last);
            imports.push(Import { path: before.clone(), name, is_public });
        }
    }
}

/// Words by which items begin.
const ITEMS: [&str; 14] = [
    "fn",
    "mod",
    "use",
    "impl",
    "struct",
    "enum",
    "union",
    "const",
    "static",
    "type",
    "trait",
    "let",
    "extern",
    "macro_rules",
];

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Names, numbers, `::` and single other characters; no comments, no strings, no lifetimes.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric() || first == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = string(rest) {
            length
        } else if first == '\'' {
            character(rest)
        } else if is_word {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(&rest[..end]);
            end
        } else if rest.starts_with("::") {
            tokens.push("::");
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(&rest[..first.len_utf8()]);
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// How long a comment in `/*` and `*/` is; such comments nest.
fn block_comment(text: &str) -> usize {
    let mut open = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            (open, at) = (open + 1, at + 2);
        } else if rest.starts_with(b"*/") {
            (open, at) = (open - 1, at + 2);
            if open == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// How long the string is that begins here, if one does, its prefix included.
fn string(text: &str) -> Option<usize> {
    let letters = text.find(|c: char| !matches!(c, 'b' | 'c' | 'r')).filter(|at| *at <= 2)?;
    let is_raw = text[..letters].ends_with('r');
    let hashes = text[letters..].find(|c: char| c != '#')?;
    let begin = letters + hashes + 1;
    if !text[letters + hashes..].starts_with('"') || hashes > 0 && !is_raw {
        return None;
    }
    if is_raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len()));
    }
    let mut escaped = false;
    for (at, letter) in text[begin..].char_indices() {
        match letter {
            '"' if !escaped => return Some(begin + at + 1),
            '\\' if !escaped => escaped = true,
            _ => escaped = false,
        }
    }
    Some(text.len())
}

/// How long the literal character or the lifetime is that begins here.
fn character(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    match (letters.next(), letters.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let after = at + escaped.len_utf8();
            text[after..].find('\'').map_or(text.len(), |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => text[1..]
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(text.len(), |end| 1 + end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(text: &str) -> Vec<String> {
        let module = read(text).swap_remove(0);
        let written = |import: &Import| {
            let kind = if import.is_public { "pub " } else { "" };
            format!("{kind}{} as {}", import.path.join("::"), import.name)
        };
        module.imports.iter().map(written).collect()
    }

    #[test]
    fn comments_and_literals_are_not_tokens() {
        let text = r####"a /* b /* c */ d */ "e \" f" r#"g " h"# 'i' '\'' 'j b"k" b'l' '\u{6d}' br"n" o::p // q"####;
        assert_eq!(tokens(text), ["a", "b", "o", "::", "p"]);
        assert_eq!(tokens("r\"x\" radius '{' b \"\""), ["radius", "b"]);
    }

    #[test]
    fn use_trees_are_taken_apart() {
        let text = "use crate::a::{self, b::{C, D as E}, f::*};\npub(crate) use super::G;";
        let taken = [
            "crate::a as a",
            "crate::a::b::C as C",
            "crate::a::b::D as E",
            "crate::a::f::* as *",
            "pub super::G as G",
        ];
        assert_eq!(imports(text), taken);
    }

    #[test]
    fn what_is_compiled_for_tests_alone_is_left_out() {
        let text = "
            #[cfg(test)] mod any;
            #[cfg(test)] #[allow(unused)] mod tests { use crate::a::B; fn f() { crate::c::d(); } }
            #[cfg(test)] use crate::e::{F, G};
            #[cfg(test)] fn g(h: [u8; 3], i: crate::i::I) -> bool { crate::j::k() }
            struct L { #[cfg(test)] m: crate::m::M, n: crate::n::N }
            #[cfg(not(test))] use crate::o::P;
            pub(in crate::p) fn q() { crate::q::r::<u8>::s(); x.super_y(); T::U; }
        ";
        let module = read(text).swap_remove(0);
        assert_eq!(module.test_modules, ["any"]);
        let paths: Vec<_> = module.paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["crate::n::N", "crate::q::r", "T::U"]);
        assert_eq!(imports(text), ["crate::o::P as P"]);
        assert_eq!(module.items.into_iter().collect::<Vec<_>>(), ["L", "q"]);
    }

    #[test]
    fn modules_in_braces_are_modules() {
        let modules =
            read("mod a { use super::B; fn c() {} mod d { const E: u8 = super::f(); } } fn g() {}");
        let items: Vec<_> =
            modules.iter().map(|module| (module.path.join("::"), &module.items)).collect();
        let only = |name: &str| BTreeSet::from([name.to_owned()]);
        let wanted = [("", "g"), ("a", "c"), ("a::d", "E")]
            .map(|(path, item)| (path.to_owned(), only(item)));
        assert!(items.iter().map(|(path, items)| (path.clone(), (*items).clone())).eq(wanted));
        assert_eq!(modules[2].paths, [["super", "f"]]);
    }
}
