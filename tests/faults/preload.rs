//! A library that is loaded before the C library and makes one operation on files fail.
//!
//! `FAULT` is `OPERATION,N,ERROR`: the N-th `write`, `fsync`, `truncate`, `rename`, `create` or `mkdir` fails with this
//! error number, or with `short` writes half of what it was given, as the system may. Only writes to files are counted,
//! not those to pipes, and only files that are created, not those that are there. The file that `FAULT_MARK` names is created once that has happened.

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::mem::{self, ManuallyDrop};
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
}

/// The next definition of a symbol after this library.
const NEXT: *mut c_void = -1_isize as *mut c_void;

struct Fault {
    operation: String,
    number: u64,
    /// The error; `None` for a short write.
    error: Option<c_int>,
}

/// What is to fail, if anything is.
fn fault() -> Option<&'static Fault> {
    static FAULT: OnceLock<Option<Fault>> = OnceLock::new();
    let read = || {
        let text = std::env::var("FAULT").ok()?;
        let mut parts = text.split(',');
        let operation = parts.next()?.to_owned();
        let number = parts.next()?.parse().ok()?;
        Some(Fault { operation, number, error: parts.next()?.parse().ok() })
    };
    FAULT.get_or_init(read).as_ref()
}

/// Counts an operation; the fault if this is the one.
fn strikes(operation: &str) -> Option<&'static Fault> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let fault = fault().filter(|fault| fault.operation == operation)?;
    if COUNT.fetch_add(1, Ordering::SeqCst) + 1 != fault.number {
        return None;
    }
    if let Some(mark) = std::env::var_os("FAULT_MARK") {
        drop(File::create(mark));
    }
    Some(fault)
}

fn is_file(fd: c_int) -> bool {
    // SAFETY: the caller's descriptor is only borrowed: the file is never dropped.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

fn set_error(error: c_int) {
    // SAFETY: the C library returns the address of this thread's error number.
    unsafe { *__errno_location() = error };
}

/// The definition of the C library.
fn original(name: &CStr) -> *mut c_void {
    // SAFETY: a lookup of a name that the C library has.
    unsafe { dlsym(NEXT, name.as_ptr()) }
}

/// # Safety
/// As `write` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(fd: c_int, data: *const c_void, mut length: usize) -> isize {
    if fault().is_some() && is_file(fd) && let Some(fault) = strikes("write") {
        match fault.error {
            Some(error) => {
                set_error(error);
                return -1;
            }
            None => length = length.div_ceil(2),
        }
    }
    type Write = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;
    // SAFETY: this is the type of `write`, and the arguments are the caller's.
    unsafe { mem::transmute::<*mut c_void, Write>(original(c"write"))(fd, data, length) }
}

/// A copy within the system counts as a write.
///
/// # Safety
/// As `copy_file_range` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn copy_file_range(
    from: c_int,
    from_at: *mut i64,
    to: c_int,
    to_at: *mut i64,
    mut length: usize,
    flags: c_uint,
) -> isize {
    if fault().is_some() && is_file(to) && let Some(fault) = strikes("write") {
        match fault.error {
            Some(error) => {
                set_error(error);
                return -1;
            }
            None => length = length.div_ceil(2),
        }
    }
    type Copy = unsafe extern "C" fn(c_int, *mut i64, c_int, *mut i64, usize, c_uint) -> isize;
    // SAFETY: this is the type of `copy_file_range`, and the arguments are the caller's.
    unsafe {
        let copy = mem::transmute::<*mut c_void, Copy>(original(c"copy_file_range"));
        copy(from, from_at, to, to_at, length, flags)
    }
}

/// # Safety
/// As `fsync` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    if let Some(error) = strikes("fsync").and_then(|fault| fault.error) {
        set_error(error);
        return -1;
    }
    type Sync = unsafe extern "C" fn(c_int) -> c_int;
    // SAFETY: this is the type of `fsync`, and the argument is the caller's.
    unsafe { mem::transmute::<*mut c_void, Sync>(original(c"fsync"))(fd) }
}

/// Data that is brought to the disk counts as a file that is.
///
/// # Safety
/// As `fdatasync` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    if let Some(error) = strikes("fsync").and_then(|fault| fault.error) {
        set_error(error);
        return -1;
    }
    type Sync = unsafe extern "C" fn(c_int) -> c_int;
    // SAFETY: this is the type of `fdatasync`, and the argument is the caller's.
    unsafe { mem::transmute::<*mut c_void, Sync>(original(c"fdatasync"))(fd) }
}

/// # Safety
/// As `ftruncate64` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate64(fd: c_int, length: i64) -> c_int {
    if let Some(error) = strikes("truncate").and_then(|fault| fault.error) {
        set_error(error);
        return -1;
    }
    type Truncate = unsafe extern "C" fn(c_int, i64) -> c_int;
    // SAFETY: this is the type of `ftruncate64`, and the arguments are the caller's.
    unsafe { mem::transmute::<*mut c_void, Truncate>(original(c"ftruncate64"))(fd, length) }
}

/// # Safety
/// As `rename` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    if let Some(error) = strikes("rename").and_then(|fault| fault.error) {
        set_error(error);
        return -1;
    }
    type Rename = unsafe extern "C" fn(*const c_char, *const c_char) -> c_int;
    // SAFETY: this is the type of `rename`, and the arguments are the caller's.
    unsafe { mem::transmute::<*mut c_void, Rename>(original(c"rename"))(from, to) }
}

/// Whether opening a path in this way makes a file that was not there.
///
/// # Safety
/// `path` is a text of C.
unsafe fn is_created(path: *const c_char, flags: c_int) -> bool {
    /// `O_CREAT` of Linux.
    const CREATE: c_int = 0o100;
    // SAFETY: the caller's.
    let path = unsafe { CStr::from_ptr(path) };
    flags & CREATE != 0 && std::fs::symlink_metadata(OsStr::from_bytes(path.to_bytes())).is_err()
}

/// # Safety
/// As `open64` of the C library, whose third argument is there wherever it is read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: `path` is the caller's.
    if fault().is_some()
        && unsafe { is_created(path, flags) }
        && let Some(error) = strikes("create").and_then(|fault| fault.error)
    {
        set_error(error);
        return -1;
    }
    type Open = unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int;
    // SAFETY: this is the type of `open64`, and the arguments are the caller's.
    unsafe { mem::transmute::<*mut c_void, Open>(original(c"open64"))(path, flags, mode) }
}

/// # Safety
/// As `mkdir` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mkdir(path: *const c_char, mode: c_uint) -> c_int {
    if let Some(error) = strikes("mkdir").and_then(|fault| fault.error) {
        set_error(error);
        return -1;
    }
    type Make = unsafe extern "C" fn(*const c_char, c_uint) -> c_int;
    // SAFETY: this is the type of `mkdir`, and the arguments are the caller's.
    unsafe { mem::transmute::<*mut c_void, Make>(original(c"mkdir"))(path, mode) }
}
