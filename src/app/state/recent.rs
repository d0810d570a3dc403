//! The files that were opened or saved last, and their folder.

use std::path::{Path, PathBuf};

/// Files that are remembered.
const MAX_FILES: usize = 8;

/// Extensions of files that can be opened.
const ENDINGS: [&str; 11] =
    ["toml", "png", "apng", "svg", "pdf", "npy", "jpg", "jpeg", "mtx", "gz", "md"];

/// The files that were opened or saved last, the newest first.
#[derive(Clone, Debug, Default)]
pub struct RecentFiles {
    files: Vec<PathBuf>,
    /// The folder of the last file of any kind.
    folder: Option<PathBuf>,
}

impl RecentFiles {
    /// Those that are remembered.
    pub fn new(mut files: Vec<PathBuf>, folder: Option<PathBuf>) -> Self {
        files.truncate(MAX_FILES);
        Self { files, folder }
    }

    pub fn all(&self) -> &[PathBuf] {
        &self.files
    }

    /// The folder of the last file, if there was one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Where a dialog begins: in the folder of the last file while it is there, or else in that of the program.
    pub fn first_folder(&self) -> PathBuf {
        let last = self.folder.as_ref().filter(|folder| folder.is_dir());
        last.cloned().unwrap_or_else(|| std::env::current_dir().unwrap_or_default())
    }

    /// Notes the folder of a file, and adds the file unless it is of a kind that cannot be opened.
    pub fn add(&mut self, path: PathBuf) {
        let path = std::path::absolute(&path).unwrap_or(path);
        self.folder = path.parent().map(Path::to_owned);
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !ENDINGS.iter().any(|other| other.eq_ignore_ascii_case(ending)) {
            return;
        }
        self.files.retain(|other| *other != path);
        self.files.insert(0, path);
        self.files.truncate(MAX_FILES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_files_come_first_and_none_twice() {
        let mut recent = RecentFiles::default();
        for name in ["/a.toml", "/b.svg", "/c.csv", "/a.toml"] {
            recent.add(name.into());
        }
        assert_eq!(recent.all(), [PathBuf::from("/a.toml"), "/b.svg".into()]);
        (0..20).for_each(|number| recent.add(format!("/{number}.png").into()));
        assert_eq!((recent.all().len(), &recent.all()[0]), (MAX_FILES, &"/19.png".into()));
    }

    #[test]
    fn a_lesson_is_a_recent_file() {
        let mut recent = RecentFiles::default();
        recent.add("/mine.md".into());
        assert_eq!(recent.all(), [PathBuf::from("/mine.md")]);
    }

    #[test]
    fn dialogs_begin_in_the_folder_of_the_last_file_while_it_is_there() {
        let usual = std::env::current_dir().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut recent = RecentFiles::default();
        assert_eq!((recent.folder(), recent.first_folder()), (None, usual.clone()));
        // A table cannot be opened, but it is where it is.
        recent.add(folder.path().join("curve.csv"));
        assert!(recent.all().is_empty());
        assert_eq!(recent.first_folder(), folder.path());
        drop(folder);
        assert_eq!(recent.first_folder(), usual);
    }
}
