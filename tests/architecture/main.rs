//! The module graph of `src` (`ARCHITECTURE.md`): a floor imports only from floors below it, folders do not
//! import from each other in a cycle, and import cycles of files stay small. `cargo test --test architecture
//! -- --nocapture` prints the existing cycles.

mod cycles;
mod modules;
mod source;

use cycles::cycles;
use modules::Modules;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The floors, lowest first, with the folders and files in `src` that they are.
const FLOORS: [&[&str]; 8] = [
    &["grid", "files", "clock", "number", "pauses", "random", "stop_token"],
    &["problem"],
    &["solver"],
    &["run"],
    &["picture"],
    &["lesson"],
    &["app"],
    &["cli", "main"],
];

/// The largest import cycle of files that each folder of `src` may have. These numbers may only shrink.
const LARGEST_FILE_CYCLE: [(&str, usize); 7] = [
    ("grid", 3),
    ("problem", 3),
    ("solver", 9),
    ("run", 3),
    ("picture", 5),
    ("app", 3),
    ("cli", 2),
];

/// The source tree, without `lib.rs`, which only names the floors.
fn source_tree() -> Modules {
    fn collect(folder: &Path, root: &Path, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, root, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    Modules::new(files)
}

/// The name of a floor's folder or file: `run` of `run/sweep/row.rs`.
fn top(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or(file)
}

/// The floor of a file; `None` for `lib.rs`.
fn floor(file: &str) -> Option<usize> {
    let name = top(file);
    let floor = FLOORS.iter().position(|names| names.contains(&name));
    assert!(floor.is_some() || name == "lib", "src/{name} is on no floor: name it in FLOORS");
    floor
}

/// The folder of the second level that a file belongs to; files beside these folders are one folder, apart
/// from the floor's `mod.rs`, which may bring all of them together. A file that
/// has a folder of its own name belongs to it.
fn folder(file: &str, folders: &BTreeSet<String>) -> String {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut parts = stem.split('/');
    match (parts.next(), parts.next()) {
        (Some(floor), Some(part)) => {
            let own = format!("{floor}/{part}");
            if folders.contains(&own) || part == "mod" { own } else { format!("{floor}/") }
        }
        _ => stem.to_owned(),
    }
}

/// All folders of the second level.
fn folders(modules: &Modules) -> BTreeSet<String> {
    let folder = |file: &&str| {
        let mut parts = file.split('/');
        let (floor, part, rest) = (parts.next()?, parts.next()?, parts.next());
        rest.map(|_| format!("{floor}/{part}"))
    };
    modules.files().iter().filter_map(folder).collect()
}

#[test]
fn no_floor_imports_from_a_floor_above_it() {
    let modules = source_tree();
    let upward: Vec<_> = modules
        .edges()
        .into_iter()
        .filter(|(from, to)| floor(from).zip(floor(to)).is_some_and(|(from, to)| from < to))
        .map(|(from, to)| format!("  {from} imports from {to}"))
        .collect();
    assert!(upward.is_empty(), "upward imports between floors:\n{}", upward.join("\n"));
}

#[test]
fn no_two_folders_import_from_each_other() {
    let modules = source_tree();
    let (edges, folders) = (modules.edges(), folders(&modules));
    let named: Vec<_> = edges
        .iter()
        .map(|(from, to)| (folder(from, &folders), folder(to, &folders), from, to))
        .filter(|(from, to, ..)| from != to)
        .collect();
    let between = named.iter().map(|(from, to, ..)| (from.as_str(), to.as_str())).collect();
    let mut found = Vec::new();
    for cycle in cycles(&between) {
        let lines: Vec<_> = named
            .iter()
            .filter(|(from, to, ..)| cycle.contains(from.as_str()) && cycle.contains(to.as_str()))
            .map(|(_, _, from, to)| format!("  {from} imports from {to}"))
            .collect();
        found.push(format!("import cycle of the folders {cycle:?}:\n{}", lines.join("\n")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_import_cycle_of_files_is_larger_than_its_bound() {
    let modules = source_tree();
    let mut larger = Vec::new();
    for cycle in cycles(&modules.edges()) {
        let floor = cycle.first().map_or("", |file| top(file));
        let bound = LARGEST_FILE_CYCLE.iter().find(|(name, _)| *name == floor);
        let bound = bound.map_or(1, |(_, bound)| *bound);
        let text = format!("import cycle of {} files, at most {bound}: {cycle:?}", cycle.len());
        println!("{text}");
        if cycle.len() > bound {
            larger.push(text);
        }
    }
    assert!(larger.is_empty(), "{}", larger.join("\n"));
}
