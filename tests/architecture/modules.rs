//! The graph of modules: which file uses what of which other file.
//!
//! Names are followed through re-exports to the file that defines them, so that a `mod.rs` that only hands
//! on names of its children depends on nothing, and nothing depends on it.

use crate::source::{self, Module, Path};
use std::collections::{BTreeMap, BTreeSet};

/// Longer chains of re-exports are loops.
const LONGEST_CHAIN: usize = 16;

/// The name of the library in its own program.
const LIBRARY: &str = "tilescope";

/// The modules of a crate by their paths, each with its file.
#[derive(Debug, Default)]
pub struct Modules(BTreeMap<Path, (String, Module)>);

/// What a path leads to.
enum Target {
    Module(Path),
    /// An item, by the module that defines it.
    Item(Path),
}

impl Modules {
    /// The modules of some files, which are named from the crate's root: `run/sweep/mod.rs`.
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut modules = BTreeMap::new();
        let mut tests = Vec::new();
        for (file, text) in files {
            let path = module_path(&file);
            for module in source::read(&text) {
                let path = [&path[..], &module.path].concat();
                let child = |name: &String| [&path[..], std::slice::from_ref(name)].concat();
                tests.extend(module.test_modules.iter().map(child));
                modules.insert(path, (file.clone(), module));
            }
        }
        modules.retain(|path: &Path, _| !tests.iter().any(|test| path.starts_with(test)));
        Self(modules)
    }

    pub fn files(&self) -> BTreeSet<&str> {
        self.0.values().map(|(file, _)| file.as_str()).collect()
    }

    /// All pairs of a file and another one that it uses.
    pub fn edges(&self) -> BTreeSet<(&str, &str)> {
        let mut edges = BTreeSet::new();
        for (path, (file, module)) in &self.0 {
            let mut add = |target: &Path| {
                let (to, _) = &self.0[target];
                if to != file {
                    edges.insert((file.as_str(), to.as_str()));
                }
            };
            for import in &module.imports {
                let is_glob = import.name == "*";
                let names =
                    if is_glob { &import.path[..import.path.len() - 1] } else { &import.path };
                let Some(absolute) = self.absolute(path, names) else { continue };
                let is_handed_on = import.is_public
                    && absolute.starts_with(path)
                    && !module.words.contains(&import.name);
                match self.resolve(&absolute, 0) {
                    Target::Item(target) if !is_handed_on => add(&target),
                    Target::Module(target) if is_glob && !is_handed_on => add(&target),
                    // Paths through the module say what is used of it.
                    _ => {}
                }
            }
            for names in &module.paths {
                if let Some(absolute) = self.absolute(path, names) {
                    match self.resolve(&absolute, 0) {
                        Target::Item(target) | Target::Module(target) => add(&target),
                    }
                }
            }
        }
        edges
    }

    /// A path from the crate's root, if it leads into the crate.
    fn absolute(&self, module: &Path, names: &[String]) -> Option<Path> {
        let (first, rest) = names.split_first()?;
        match first.as_str() {
            "crate" | LIBRARY => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let (_, above) = module.split_last()?;
                match rest.first().map(String::as_str) {
                    Some("super") => self.absolute(&above.to_vec(), rest),
                    _ => Some([above, rest].concat()),
                }
            }
            _ => {
                let child = [&module[..], std::slice::from_ref(first)].concat();
                if self.0.contains_key(&child) {
                    return Some([&child[..], rest].concat());
                }
                let (_, here) = self.0.get(module)?;
                let import = here.imports.iter().find(|import| import.name == *first)?;
                // A single name in an import is another crate.
                if import.path.first() == Some(first) {
                    return None;
                }
                Some([&self.absolute(module, &import.path)?[..], rest].concat())
            }
        }
    }

    /// Follows a path to the module that defines what it names.
    fn resolve(&self, absolute: &[String], chain: usize) -> Target {
        let mut at: Path = Vec::new();
        for (place, name) in absolute.iter().enumerate() {
            let child = [&at[..], std::slice::from_ref(name)].concat();
            if self.0.contains_key(&child) {
                at = child;
                continue;
            }
            let Some((_, module)) = self.0.get(&at) else { return Target::Item(Vec::new()) };
            if module.items.contains(name) || chain == LONGEST_CHAIN {
                return Target::Item(at);
            }
            let rest = &absolute[place + 1..];
            let named = module.imports.iter().filter(|import| import.name == *name);
            for import in named {
                if let Some(path) = self.absolute(&at, &import.path) {
                    return self.resolve(&[&path[..], rest].concat(), chain + 1);
                }
            }
            for import in module.imports.iter().filter(|import| import.name == "*") {
                let from = self.absolute(&at, &import.path[..import.path.len() - 1]);
                let Some(from) = from else { continue };
                let path = [&from[..], &absolute[place..]].concat();
                if let Target::Item(found) = self.resolve(&path, chain + 1)
                    && self.0[&found].1.items.contains(name)
                {
                    return Target::Item(found);
                }
            }
            return Target::Item(at);
        }
        Target::Module(at)
    }
}

/// The module that a file is: `run/sweep/mod.rs` and `run/sweep.rs` are `run::sweep`.
fn module_path(file: &str) -> Path {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if stem == "lib" { Vec::new() } else { stem.split('/').map(str::to_owned).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let owned = files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
        let modules = Modules::new(owned);
        modules.edges().into_iter().map(|(from, to)| format!("{from} → {to}")).collect()
    }

    #[test]
    fn names_are_followed_through_what_hands_them_on() {
        let files = [
            ("lib.rs", "pub mod a; pub mod b;"),
            (
                "a/mod.rs",
                "mod c; mod d; pub use c::C; pub use d::*; pub use d::D as Other; pub struct A;",
            ),
            ("a/c.rs", "pub struct C; use super::A;"),
            ("a/d.rs", "pub struct D; pub fn d() {}"),
            ("b.rs", "use crate::a::{self, C}; fn f() { a::d(); a::Other::new(); }"),
            ("main.rs", "use tilescope::b::X;"),
        ];
        let wanted = ["a/c.rs → a/mod.rs", "b.rs → a/c.rs", "b.rs → a/d.rs", "main.rs → b.rs"];
        assert_eq!(edges(&files), wanted);
    }

    #[test]
    fn what_is_handed_on_and_used_is_used() {
        let files = [
            ("a/mod.rs", "mod c; mod d; pub use c::C; pub use d::D; fn f(c: C) {}"),
            ("a/c.rs", "pub struct C;"),
            ("a/d.rs", "pub struct D; use super::super::a::c::C;"),
        ];
        assert_eq!(edges(&files), ["a/d.rs → a/c.rs", "a/mod.rs → a/c.rs"]);
    }

    #[test]
    fn paths_in_code_count_and_tests_do_not() {
        let files = [
            (
                "a.rs",
                "fn f() -> crate::b::B { println!(\"{}\", crate::c::C) } #[cfg(test)] mod tests { use crate::d::D; }",
            ),
            ("b.rs", "pub struct B; // crate::a::f"),
            ("c.rs", "pub const C: &str = \"crate::a::f\"; #[cfg(test)] mod any;"),
            ("c/any.rs", "use crate::a::f;"),
            ("d.rs", "pub struct D; mod inner { fn f() { super::super::b::g(); } }"),
        ];
        assert_eq!(edges(&files), ["a.rs → b.rs", "a.rs → c.rs", "d.rs → b.rs"]);
    }

    #[test]
    fn loops_of_names_end() {
        let files =
            [("a.rs", "pub use crate::b::X;"), ("b.rs", "pub use crate::a::X; fn f() { X::y() }")];
        assert_eq!(edges(&files).len(), 2);
    }
}
