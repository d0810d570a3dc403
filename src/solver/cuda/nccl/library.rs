//! The library of NCCL, opened when it is first needed, and the functions of it that are used.

use super::places::{VARIABLE, candidates};
use crate::solver::GroupId;
use crate::solver::rank::{NcclError, version_text};
use libloading::Library;
use std::ffi::{c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

/// `ncclResult_t`.
pub(super) type Code = c_int;

/// `ncclSuccess`.
pub(super) const SUCCESS: Code = 0;

/// Types of values (`ncclDataType_t`): bytes, and numbers of 64 bits.
pub(super) const BYTES: c_int = 1;
pub(super) const WORDS: c_int = 5;

/// `ncclUniqueId`, which is passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct UniqueId(pub [u8; GroupId::BYTES]);

/// `ncclComm_t`, and a stream of the driver.
pub(super) type Handle = *mut c_void;

/// The functions, as `nccl.h` declares them.
pub(super) struct Nccl {
    pub version: i32,
    get_unique_id: unsafe extern "C" fn(*mut UniqueId) -> Code,
    pub comm_init_rank: unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> Code,
    pub comm_abort: unsafe extern "C" fn(Handle) -> Code,
    pub comm_get_async_error: unsafe extern "C" fn(Handle, *mut Code) -> Code,
    pub group_start: unsafe extern "C" fn() -> Code,
    pub group_end: unsafe extern "C" fn() -> Code,
    /// Where values lie, how many and of which type, the other process.
    pub send: unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Handle, Handle) -> Code,
    pub recv: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Handle, Handle) -> Code,
    pub all_gather:
        unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, Handle, Handle) -> Code,
    pub broadcast: unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        usize,
        c_int,
        c_int,
        Handle,
        Handle,
    ) -> Code,
    /// What the functions are part of.
    _library: Library,
}

/// The library, opened once.
///
/// # Errors
/// [`NcclError`] if there is none that can be used.
pub(super) fn nccl() -> Result<&'static Nccl, NcclError> {
    static NCCL: OnceLock<Result<Nccl, NcclError>> = OnceLock::new();
    NCCL.get_or_init(open).as_ref().map_err(Clone::clone)
}

/// The version of the library, as text.
///
/// # Errors
/// [`NcclError`] if there is none that can be used.
pub(in crate::solver::cuda) fn version() -> Result<String, NcclError> {
    Ok(version_text(nccl()?.version))
}

/// A new group of processes, or of the GPUs of one. The process that makes it has to belong to it.
///
/// # Errors
/// [`NcclError`] if the library cannot be used, or fails.
pub(in crate::solver::cuda) fn new_group() -> Result<GroupId, NcclError> {
    let mut id = UniqueId([0; GroupId::BYTES]);
    // SAFETY: it writes as many bytes as the type has.
    check(unsafe { (nccl()?.get_unique_id)(&raw mut id) })?;
    Ok(GroupId(id.0))
}

/// What a call returned, in words.
pub(super) fn check(code: Code) -> Result<(), NcclError> {
    let what = match code {
        SUCCESS => return Ok(()),
        1 => "a call of the GPU's driver failed",
        2 => "a call of the system failed, such as one of the network",
        3 => "it found an error of its own",
        4 | 5 => "it refused what it was asked for",
        6 => "another process, or the network to it, failed",
        _ => "for a reason that it has no name for",
    };
    Err(NcclError::Failed(what))
}

fn open() -> Result<Nccl, NcclError> {
    let files = candidates(|name| std::env::var_os(name));
    let found = files.iter().find_map(|file| load(file));
    let nccl = found.ok_or_else(|| match std::env::var_os(VARIABLE) {
        Some(file) => NcclError::Unusable(file.to_string_lossy().into_owned()),
        None => NcclError::Missing,
    })?;
    match nccl.version < NcclError::OLDEST {
        true => Err(NcclError::Old(version_text(nccl.version))),
        false => Ok(nccl),
    }
}

/// The library in a file; `None` if it cannot be opened, or lacks a function.
fn load(file: &Path) -> Option<Nccl> {
    // SAFETY: what the library does when it is opened is as safe as the linker's own choice, or that of whoever named it.
    let library = unsafe { Library::new(file) }.ok()?;
    // SAFETY: the types of the functions are those of `nccl.h`, which have not changed since version 2.7.
    unsafe {
        let get_version =
            *library.get::<unsafe extern "C" fn(*mut c_int) -> Code>("ncclGetVersion").ok()?;
        let mut version = 0;
        check(get_version(&raw mut version)).ok()?;
        Some(Nccl {
            version,
            get_unique_id: *library.get("ncclGetUniqueId").ok()?,
            comm_init_rank: *library.get("ncclCommInitRank").ok()?,
            comm_abort: *library.get("ncclCommAbort").ok()?,
            comm_get_async_error: *library.get("ncclCommGetAsyncError").ok()?,
            group_start: *library.get("ncclGroupStart").ok()?,
            group_end: *library.get("ncclGroupEnd").ok()?,
            send: *library.get("ncclSend").ok()?,
            recv: *library.get("ncclRecv").ok()?,
            all_gather: *library.get("ncclAllGather").ok()?,
            broadcast: *library.get("ncclBroadcast").ok()?,
            _library: library,
        })
    }
}
