//! Whether a file carries the run that it shows.

use super::FilmFile;
use crate::picture::file::saved::unnameable_file;
use crate::picture::view::kind::is_table;
use crate::run::RunSpec;
use std::path::Path;

/// Why the figure or the animation `path` of these runs cannot be opened as a run, as the end of a sentence that begins
/// with its name; `None` where it can, and for a table, of which nobody expects it.
pub fn why_without_run<'a>(path: &Path, runs: impl Iterator<Item = &'a RunSpec>) -> Option<String> {
    if is_table(path) {
        return None;
    }
    if FilmFile::of(path).is_ok_and(|film| !film.carries_run()) {
        return Some("does not carry its run; an .apng does".to_owned());
    }
    let file = unnameable_file(path, runs)?;
    Some(format!("carries no run: the name of {} is not text (UTF-8)", file.display()))
}
