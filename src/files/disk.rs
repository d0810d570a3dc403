//! Files on a disk.

use super::error::FileError;
use super::unfinished::{Unfinished, complete};
use crate::pauses::without_pauses;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Whether files have folders that can be chosen.
pub const HAS_FOLDERS: bool = true;

/// A file that is read.
pub type ReadFile = File;

/// Writes a file through `write`, completely or not at all: into a temporary file in the same folder,
/// which is renamed at the end.
///
/// A symbolic link is followed and its target replaced. Pipes and devices are written directly, since
/// they cannot be replaced. New files get default permissions; replaced files keep theirs.
///
/// # Errors
/// [`FileError::Write`] for any error of the system or of `write`.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<GradualFile>) -> io::Result<()>,
) -> Result<(), FileError> {
    without_pauses(write_atomically_with_pauses(path, async |out| write(out)))
}

/// [`write_atomically`] with pauses.
///
/// # Errors
/// [`FileError::Write`].
pub(crate) async fn write_atomically_with_pauses(
    path: &Path,
    write: impl AsyncFnOnce(&mut BufWriter<GradualFile>) -> io::Result<()>,
) -> Result<(), FileError> {
    let written = try_write(path, write).await;
    written.map_err(|cause| FileError::Write { path: path.to_owned(), cause })
}

async fn try_write(
    path: &Path,
    write: impl AsyncFnOnce(&mut BufWriter<GradualFile>) -> io::Result<()>,
) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    match &existing {
        Some(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Some(metadata) if !metadata.is_file() => {
            let file = File::options().write(true).open(path)?;
            let mut out = BufWriter::new(GradualFile { file, waits: false, unsynced: 0 });
            write(&mut out).await?;
            // A pipe may wait for its reader here.
            out.flush()?;
            return complete(path, || Ok(()));
        }
        // Renaming ignores the permissions of the replaced file, so they are checked here.
        Some(_) => drop(File::options().write(true).open(path)?),
        None => {}
    }
    let target = if existing.is_some() { fs::canonicalize(path)? } else { linked(path) };
    let folder = folder_of(&target);
    let mut builder = tempfile_builder();
    if let Some(permissions) = permissions(existing.as_ref()) {
        builder.permissions(permissions);
    }
    remove_left_over(folder);
    let (file, unfinished) = builder.tempfile_in(folder)?.into_parts();
    let _known = Unfinished::new(&unfinished);
    // Locked, it is not taken for the file of a process that was killed.
    _ = file.try_lock();
    if let Some(existing) = &existing {
        // The umask was applied to them. A file system without permissions has none to keep.
        _ = file.set_permissions(existing.permissions());
    }
    let mut out = BufWriter::new(GradualFile { file, waits: true, unsynced: 0 });
    write(&mut out).await?;
    let GradualFile { file, .. } = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    // On the disk before it replaces another: a power failure leaves one of the two.
    file.sync_all()?;
    // Closed first: not every system can rename open files.
    drop(file);
    // Not `persist`, which does not go through the C library, whose calls tests make fail.
    complete(path, || fs::rename(&unfinished, &target))?;
    _ = unfinished.keep();
    Ok(())
}

/// A file that is brought to the disk while it is written. At the end there is little left to wait for, and a process
/// can end at any time: it cannot in the middle of bringing gigabytes to the disk.
#[derive(Debug)]
pub struct GradualFile {
    file: File,
    /// Whether it is on a disk; a pipe is not.
    waits: bool,
    /// Bytes that may not be on the disk yet.
    unsynced: usize,
}

/// Bytes that are brought to the disk at once: a fraction of a second on any disk, also beside other work.
const AT_ONCE: usize = 4 << 20;

impl Write for GradualFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A figure may come in one piece of gigabytes.
        let most = if self.waits { AT_ONCE - self.unsynced } else { AT_ONCE };
        let written = self.file.write(&bytes[..bytes.len().min(most)])?;
        self.unsynced += written;
        if self.waits && self.unsynced >= AT_ONCE {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What the names of unfinished files begin with. Letters and digits follow that are chosen at random.
const UNFINISHED: &str = ".tilescope-";

/// What they end with: nobody else names a file so.
const UNFINISHED_END: &str = ".unfinished";

/// The number of random letters and digits.
const RANDOM: usize = 6;

/// An unfinished file this old is left over, if no process has it locked: a new one is not locked yet for a moment.
const LEFT_OVER: Duration = Duration::from_secs(5);

/// Removes unfinished files of processes that were killed. What cannot be removed stays.
fn remove_left_over(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let unfinished = entries.flatten().filter(|entry| is_unfinished(&entry.file_name()));
    for entry in unfinished {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file);
        let age = metadata.and_then(|it| it.modified().ok()?.elapsed().ok());
        let is_left = |file: File| file.try_lock().is_ok();
        if age.is_some_and(|age| age > LEFT_OVER) && File::open(entry.path()).is_ok_and(is_left) {
            _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a name has exactly the form of those of unfinished files: files that are named like this program, such as
/// `.tilescope-config`, belong to others.
fn is_unfinished(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| {
        name.strip_prefix(UNFINISHED).and_then(|name| name.strip_suffix(UNFINISHED_END))
    });
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The permissions of the replaced file, or those of any new file before the umask; a temporary file
/// would be accessible to its owner only.
#[cfg(unix)]
fn permissions(existing: Option<&fs::Metadata>) -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let new = || fs::Permissions::from_mode(0o666);
    Some(existing.map_or_else(new, fs::Metadata::permissions))
}

#[cfg(not(unix))]
fn permissions(_: Option<&fs::Metadata>) -> Option<fs::Permissions> {
    None
}

/// Checks that a file can be written at `path`, as far as possible without writing it: a misspelt folder, or one in
/// which no file can be created, is reported before a long run and not after it.
///
/// # Errors
/// [`FileError::Write`] if `path` is a folder or its parent is not, or the system refuses a file there.
pub fn check_place(path: &Path) -> Result<(), FileError> {
    let refuse = |cause| FileError::Write { path: path.to_owned(), cause };
    if path.is_dir() {
        return Err(refuse(io::ErrorKind::IsADirectory.into()));
    }
    let metadata = fs::metadata(folder_of(path)).map_err(refuse)?;
    if !metadata.is_dir() {
        return Err(refuse(io::ErrorKind::NotADirectory.into()));
    }
    if is_replaced(path) { check_creation(path).map_err(refuse) } else { Ok(()) }
}

/// Creates a file as [`write_atomically`] would for `path`, and removes it.
fn check_creation(path: &Path) -> io::Result<()> {
    let exists = path.exists();
    if exists {
        drop(File::options().write(true).open(path)?);
    }
    let target = if exists { fs::canonicalize(path)? } else { linked(path) };
    tempfile_builder().tempfile_in(folder_of(&target)).map(drop)
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// What makes unfinished files.
fn tempfile_builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED).suffix(UNFINISHED_END).rand_bytes(RANDOM);
    builder
}

/// Creates a folder and those around it, where they do not exist.
///
/// # Errors
/// [`FileError::Write`] if the system refuses.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|cause| FileError::Write { path: path.to_owned(), cause })
}

/// Waits until the names of the files in a folder are on the disk: after a power failure a file that was replaced before is
/// the new one.
///
/// # Errors
/// [`FileError::Write`] if the system reports an error.
#[cfg(unix)]
pub fn sync_folder(path: &Path) -> Result<(), FileError> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|cause| FileError::Write { path: path.to_owned(), cause })
}

/// The same where the system does not let a program wait for that.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn sync_folder(_: &Path) -> Result<(), FileError> {
    Ok(())
}

/// Renames a file; another of the new name is replaced.
///
/// # Errors
/// [`FileError::Write`] if the system refuses.
pub fn rename(path: &Path, to: &Path) -> Result<(), FileError> {
    fs::rename(path, to).map_err(|cause| FileError::Write { path: path.to_owned(), cause })
}

/// Whether writing `path` replaces what is there, or makes a new file: not a folder, a pipe or a device.
pub fn is_replaced(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}

/// Whether a path names a pipe. The standard output may be one, too, which has no name of its own.
#[cfg(unix)]
pub fn is_named_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let named = fs::canonicalize(path).and_then(fs::symlink_metadata);
    named.is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// Whether a path names a pipe: pipes are no files here.
#[cfg(not(unix))]
pub fn is_named_pipe(_: &Path) -> bool {
    false
}

/// Where a path leads whose file does not exist yet: that of a link is the file that it names.
fn linked(path: &Path) -> PathBuf {
    /// As many links as systems follow.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        let Ok(target) = fs::read_link(&path) else { break };
        path = folder_of(&path).join(target);
    }
    path
}

/// Whether two paths lead to one file, also through links. Of files that do not exist yet, their folders
/// are compared.
pub fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(_), Ok(_)) if fs::canonicalize(one).ok() == fs::canonicalize(other).ok() => true,
        (Ok(one), Ok(other)) => is_same_node(&one, &other),
        (Err(_), Err(_)) => {
            let place = |path: &Path| {
                let path = linked(path);
                Some((fs::canonicalize(folder_of(&path)).ok()?, path.file_name()?.to_owned()))
            };
            place(one).is_some() && place(one) == place(other)
        }
        _ => false,
    }
}

/// Whether two names are hard links of one file.
#[cfg(unix)]
fn is_same_node(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_node(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    false
}

/// Whether there is a file.
pub fn exists(path: &Path) -> bool {
    path.exists()
}

/// Opens a file for reading. Folders, pipes and devices are refused: reading them may not end.
///
/// # Errors
/// That of the system, or that it is not a file.
pub fn open(path: &Path) -> io::Result<ReadFile> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    File::open(path)
}

/// Opens a file for reading and appending; a new one is created where there is none.
///
/// # Errors
/// That of the system.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).read(true).open(path)
}

/// Bytes that this user may still write to the disk of a folder; `None` where the system does not say.
#[cfg(unix)]
pub fn free_space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Bytes that this user may still write to the disk of a folder; `None` where the system does not say.
#[cfg(not(unix))]
pub fn free_space(_: &Path) -> Option<u64> {
    None
}

/// Makes an empty file this long, of zeros that have their place on the disk: writing over them later needs no more room.
///
/// # Errors
/// That of the system, such as a full disk.
pub fn allocate(file: &mut File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        match fallocate(&*file, FallocateFlags::empty(), 0, bytes) {
            // Not every file system can.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            allocated => return allocated.map_err(io::Error::from),
        }
    }
    io::copy(&mut io::repeat(0).take(bytes), file)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocated_files_are_as_long_as_they_are_to_be() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_space(folder.path()).is_none_or(|bytes| bytes > 0));
        let mut file = File::create(folder.path().join("zeros")).unwrap();
        allocate(&mut file, 70_001).unwrap();
        assert_eq!(fs::read(folder.path().join("zeros")).unwrap(), [0; 70_001]);
    }

    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_large_piece_is_brought_to_the_disk_in_parts() {
        let file = tempfile::tempfile().unwrap();
        let mut gradual = GradualFile { file, waits: true, unsynced: 0 };
        let piece = vec![7; AT_ONCE + 5];
        assert_eq!(gradual.write(&piece[..3]).unwrap(), 3);
        assert_eq!(gradual.write(&piece).unwrap(), AT_ONCE - 3);
        assert_eq!(gradual.unsynced, 0);
        assert_eq!(gradual.file.metadata().unwrap().len(), AT_ONCE as u64);
    }

    #[test]
    fn a_failure_leaves_nothing_behind_and_nothing_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let fail = |out: &mut BufWriter<GradualFile>| {
            out.write_all(&[b'x'; 100_000])?;
            Err(io::ErrorKind::StorageFull.into())
        };
        let said = write_atomically(&path, fail).unwrap_err().to_string();
        assert!(said.ends_with("a.csv: the disk is full"), "{said}");
        assert_eq!(files(folder.path()), 0);
        write_atomically(&path, |out| out.write_all(b"old")).unwrap();
        write_atomically(&path, fail).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(files(folder.path()), 1);
        write_atomically(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let lost = folder.path().join("no/such/folder.csv");
        let said = write_atomically(&lost, |_| Ok(())).unwrap_err().to_string();
        assert!(said.contains("no such file or folder"), "{said}");
        let said = write_atomically(folder.path(), |_| Ok(())).unwrap_err().to_string();
        assert!(said.ends_with("it is a folder"), "{said}");
    }

    #[test]
    fn files_of_killed_processes_are_removed_by_the_next_save() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * LEFT_OVER;
        let make = |name: &str| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(old).unwrap();
            file
        };
        let name = |random: &str| format!("{UNFINISHED}{random}{UNFINISHED_END}");
        let [killed, locked, recent] = ["kIlled", "l0cked", "Recent"].map(name);
        drop(make(&killed));
        // Files of other people and programs.
        let others = [
            ".tilescope-config",
            ".tilescope-longish.unfinished",
            ".tilescope-no-tes.unfinished",
            ".tilescope-notes.txt",
            "tilescope-mine.csv",
        ];
        others.iter().for_each(|name| drop(make(name)));
        let busy = make(&locked);
        busy.lock().unwrap();
        File::create(folder.path().join(&recent)).unwrap();
        write_atomically(&folder.path().join("a.csv"), |out| out.write_all(b"1")).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = [&others[..], &[&locked, &recent, "a.csv"]].concat();
        expected.sort_unstable();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_folder_without_room_for_a_file_is_found_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        check_place(&path).unwrap();
        fs::write(&path, "old").unwrap();
        check_place(&path).unwrap();
        assert_eq!((files(folder.path()), fs::read(&path).unwrap()), (1, b"old".to_vec()));
        if cfg!(target_os = "linux") {
            // No user can create a file there.
            let said = check_place(Path::new("/proc/a.csv")).unwrap_err().to_string();
            assert!(said.starts_with("cannot write /proc/a.csv: "), "{said}");
            check_place(Path::new("/dev/null")).unwrap();
        }
    }

    #[test]
    fn an_unfinished_file_has_a_name_by_which_it_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let names = |_: &mut BufWriter<GradualFile>| {
            let mut names = fs::read_dir(folder.path())?.flatten().map(|entry| entry.file_name());
            assert!(names.all(|name| is_unfinished(&name)));
            Ok(())
        };
        write_atomically(&folder.path().join("a.csv"), names).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_devices_and_permissions_are_respected() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        // The default mode of a new file here.
        fs::write(&path, "").unwrap();
        let default_mode = fs::metadata(&path).unwrap().mode();
        fs::remove_file(&path).unwrap();
        write_atomically(&path, |out| out.write_all(b"1")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode(), default_mode);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&path, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"2")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"2");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        // Among them what the umask would take away.
        for mode in [0o664, 0o777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            write_atomically(&path, |out| out.write_all(b"2")).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, mode);
        }
        write_atomically(Path::new("/dev/null"), |out| out.write_all(b"3")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
