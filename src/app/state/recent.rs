//! The files that were opened or saved last.

use std::path::PathBuf;

/// Files that are remembered.
const MAX_FILES: usize = 8;

/// Extensions of files that can be opened.
const ENDINGS: [&str; 9] = ["toml", "png", "apng", "svg", "pdf", "npy", "jpg", "jpeg", "mtx"];

/// The files that were opened or saved last, the newest first.
#[derive(Clone, Debug, Default)]
pub struct RecentFiles(Vec<PathBuf>);

impl RecentFiles {
    /// Those that are remembered.
    pub fn new(mut paths: Vec<PathBuf>) -> Self {
        paths.truncate(MAX_FILES);
        Self(paths)
    }

    pub fn all(&self) -> &[PathBuf] {
        &self.0
    }

    /// Adds a file, unless it is of a kind that cannot be opened.
    pub fn add(&mut self, path: PathBuf) {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !ENDINGS.iter().any(|other| other.eq_ignore_ascii_case(ending)) {
            return;
        }
        let path = std::path::absolute(&path).unwrap_or(path);
        self.0.retain(|other| *other != path);
        self.0.insert(0, path);
        self.0.truncate(MAX_FILES);
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
}
