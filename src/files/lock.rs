//! Locks, so that one process at a time writes a file.

use std::fs::{File, TryLockError};

/// Locks a file for as long as it is open. A file system without locks, or a pipe, has none to take: then it is as if it were
/// locked.
///
/// # Errors
/// Which process has it locked, as part of a sentence: `process 4711`, or `another process` where the system does not say.
pub fn lock(file: &File) -> Result<(), String> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let by = lock_holder(file);
            Err(by.map_or_else(
                || "another process".to_owned(),
                |process| format!("process {process}"),
            ))
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// The process that has locked a file, where the system lists it: Linux does (`/proc/locks`).
#[cfg(target_os = "linux")]
fn lock_holder(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let listed = || -> Option<u32> {
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        // 1: FLOCK  ADVISORY  WRITE 4711 08:02:131072 0 EOF
        let fields = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut holders = fields.filter(|fields| {
            fields.get(1) == Some(&"FLOCK") && fields.get(5).is_some_and(|it| it.ends_with(&inode))
        });
        holders.next()?.get(4)?.parse().ok()
    };
    // The list is read in parts: it may change between them, and lack a lock that is held.
    (0..5).find_map(|_| listed())
}

#[cfg(not(target_os = "linux"))]
fn lock_holder(_: &File) -> Option<u32> {
    None
}
