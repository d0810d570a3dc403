//! A stand-in for NCCL whose driver is the stand-in beside it: values travel at once, whatever the stream, between processes
//! through files. The folder is that of `TILESCOPE_TEST_FOLDER`. `TILESCOPE_TEST_HANGS=1:7` keeps rank 1 in its 7th call for
//! ever, as a GPU that waits for another. GPUs that join in one call belong to one process: the folder, if there is one, has
//! a file for each until that is closed. With `TILESCOPE_TEST_NCCL=0` none joins, with `TILESCOPE_TEST_NCCL=7` the 7th
//! exchange of such GPUs fails.

#![crate_type = "cdylib"]
#![allow(non_snake_case, clippy::missing_safety_doc)]

use std::collections::HashMap;
use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};
use std::thread::sleep;
use std::time::Duration;

type Code = c_int;

const OK: Code = 0;

/// `ncclSystemError` and `ncclInternalError`.
const SYSTEM_ERROR: Code = 2;
const INTERNAL_ERROR: Code = 3;

/// The only type of values beside bytes.
const WORDS: c_int = 5;

#[repr(C)]
pub struct UniqueId([u8; 128]);

/// What this process is, and what it has done.
#[derive(Default)]
struct State {
    rank: usize,
    count: usize,
    /// Calls that take part in something.
    calls: usize,
    /// Messages to each process, and from each.
    sent: HashMap<usize, usize>,
    received: HashMap<usize, usize>,
    /// What the group under way receives: from whom, where to, how many bytes.
    expected: Vec<(usize, usize, usize)>,
    /// Whether calls belong together until the group ends.
    is_in_group: bool,
    /// Whether all are GPUs of this process, and how many have joined.
    is_local: bool,
    joined: usize,
    /// What they send and receive in the group under way, and their exchanges so far.
    parcels: [Vec<Parcel>; 2],
    exchanges: usize,
}

/// From whom to whom, where it lies or goes, how many bytes.
type Parcel = ([usize; 2], usize, usize);

/// The number of a member in its handle.
const RANK: usize = 0xff;

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

fn file(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("TILESCOPE_TEST_FOLDER").expect("a folder")).join(name)
}

/// Leaves bytes for another process.
fn leave(name: &str, bytes: &[u8]) {
    let unfinished = file(&format!("{name}.unfinished"));
    std::fs::write(&unfinished, bytes).expect("a file");
    std::fs::rename(unfinished, file(name)).expect("a file");
}

/// Waits for bytes that another process leaves, for ever.
fn wait_for(name: &str) -> Vec<u8> {
    loop {
        match std::fs::read(file(name)) {
            Ok(bytes) => return bytes,
            Err(_) => sleep(Duration::from_millis(1)),
        }
    }
}

impl State {
    /// Counts a call; the one that hangs leaves word of it.
    fn call(&mut self) -> usize {
        self.calls += 1;
        let own = format!("{}:{}", self.rank, self.calls);
        if std::env::var("TILESCOPE_TEST_HANGS").is_ok_and(|hangs| hangs == own) {
            leave("hangs", b"");
            loop {
                sleep(Duration::from_secs(1));
            }
        }
        self.calls
    }
}

unsafe fn bytes_at<'a>(from: *const u8, bytes: usize) -> &'a [u8] {
    unsafe { std::slice::from_raw_parts(from, bytes) }
}

unsafe fn put(bytes: &[u8], to: *mut u8) {
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

fn size(kind: c_int) -> usize {
    if kind == WORDS { 8 } else { 1 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(to: *mut c_int) -> Code {
    unsafe { *to = 22_803 };
    OK
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetUniqueId(to: *mut UniqueId) -> Code {
    unsafe { (*to).0.fill(7) };
    OK
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRank(
    to: *mut usize,
    count: c_int,
    id: UniqueId,
    rank: c_int,
) -> Code {
    assert_eq!(id.0, [7; 128], "the bytes of rank 0");
    assert_eq!(std::env::var("NCCL_NVLS_ENABLE").as_deref(), Ok("0"));
    let mut state = STATE.lock().unwrap();
    state.joined += 1;
    let handle = (state.joined << 8) + rank as usize;
    unsafe { *to = handle };
    if state.is_in_group {
        state.is_local = true;
        if fails_at() == Some(0) {
            return SYSTEM_ERROR;
        }
        if std::env::var_os("TILESCOPE_TEST_FOLDER").is_some() {
            leave(&format!("open.{handle}"), b"");
        }
        return OK;
    }
    (state.rank, state.count) = (rank as usize, count as usize);
    state.call();
    leave(&format!("joined.{rank}"), b"");
    for other in 0..count {
        wait_for(&format!("joined.{other}"));
    }
    OK
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclAllGather(
    from: *const u8,
    to: *mut u8,
    count: usize,
    kind: c_int,
    _handle: usize,
    _stream: usize,
) -> Code {
    let mut state = STATE.lock().unwrap();
    let (call, bytes) = (state.call(), count * size(kind));
    leave(&format!("gather.{call}.{}", state.rank), unsafe { bytes_at(from, bytes) });
    for other in 0..state.count {
        let found = wait_for(&format!("gather.{call}.{other}"));
        assert_eq!(found.len(), bytes, "all give as much");
        unsafe { put(&found, to.add(other * bytes)) };
    }
    OK
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclBroadcast(
    from: *const u8,
    to: *mut u8,
    count: usize,
    kind: c_int,
    root: c_int,
    _handle: usize,
    _stream: usize,
) -> Code {
    let mut state = STATE.lock().unwrap();
    let (call, bytes) = (state.call(), count * size(kind));
    let name = format!("broadcast.{call}.{root}");
    if state.rank == root as usize {
        leave(&name, unsafe { bytes_at(from, bytes) });
    }
    let found = wait_for(&name);
    assert_eq!(found.len(), bytes, "all expect as much");
    unsafe { put(&found, to) };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommAbort(handle: usize) -> Code {
    if std::env::var_os("TILESCOPE_TEST_FOLDER").is_some() {
        _ = std::fs::remove_file(file(&format!("open.{handle}")));
    }
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommGetAsyncError(_handle: usize, to: *mut Code) -> Code {
    unsafe { *to = OK };
    OK
}

/// The exchange of GPUs of one process that fails; 0 where they cannot join.
fn fails_at() -> Option<usize> {
    std::env::var("TILESCOPE_TEST_NCCL").ok()?.parse().ok()
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupStart() -> Code {
    let mut state = STATE.lock().unwrap();
    state.call();
    state.is_in_group = true;
    OK
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclSend(
    from: *const u8,
    count: usize,
    kind: c_int,
    peer: c_int,
    handle: usize,
    _stream: usize,
) -> Code {
    let mut state = STATE.lock().unwrap();
    if state.is_local {
        let parcel = ([handle & RANK, peer as usize], from as usize, count * size(kind));
        state.parcels[0].push(parcel);
        return OK;
    }
    let sent = state.sent.entry(peer as usize).or_default();
    *sent += 1;
    let name = format!("message.{sent}.to.{peer}.from");
    leave(&format!("{name}.{}", state.rank), unsafe { bytes_at(from, count * size(kind)) });
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclRecv(
    to: usize,
    count: usize,
    kind: c_int,
    peer: c_int,
    handle: usize,
    _stream: usize,
) -> Code {
    let mut state = STATE.lock().unwrap();
    if state.is_local {
        let parcel = ([peer as usize, handle & RANK], to, count * size(kind));
        state.parcels[1].push(parcel);
        return OK;
    }
    state.expected.push((peer as usize, to, count * size(kind)));
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupEnd() -> Code {
    let mut state = STATE.lock().unwrap();
    state.is_in_group = false;
    if state.is_local {
        return exchange(&mut state);
    }
    for (peer, to, bytes) in std::mem::take(&mut state.expected) {
        let received = state.received.entry(peer).or_default();
        *received += 1;
        let name = format!("message.{received}.to");
        let name = format!("{name}.{}.from.{peer}", state.rank);
        let found = wait_for(&name);
        assert_eq!(found.len(), bytes, "as much is sent as is received");
        unsafe { put(&found, to as *mut u8) };
        _ = std::fs::remove_file(file(&name));
    }
    OK
}

/// Moves what GPUs of one process send to each other.
fn exchange(state: &mut State) -> Code {
    let [mut sent, received] = std::mem::take(&mut state.parcels);
    if fails_at() == Some(0) {
        return SYSTEM_ERROR;
    }
    if received.is_empty() {
        return OK;
    }
    state.exchanges += 1;
    if fails_at().is_some_and(|exchange| state.exchanges >= exchange) {
        return INTERNAL_ERROR;
    }
    for (ends, to, bytes) in received {
        let number = sent.iter().position(|(its, ..)| *its == ends).expect("it is sent");
        let (_, from, its_bytes) = sent.remove(number);
        assert_eq!(its_bytes, bytes, "as much is sent as is received");
        unsafe { put(bytes_at(from as *const u8, bytes), to as *mut u8) };
    }
    assert!(sent.is_empty(), "all is received");
    OK
}
