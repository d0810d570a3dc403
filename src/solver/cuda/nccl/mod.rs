//! NCCL, which moves values between GPUs of several processes, or of one. Its library is opened at run time, as the driver's is.
//!
//! | file | |
//! |---|---|
//! | `places.rs` | where the library may lie |
//! | `library.rs` | the library, and the functions of it that are used |
//! | `calls.rs` | calls, and why one failed |
//! | `communicator.rs` | a process in a group of processes: what it sends and receives |
//! | `members.rs` | what the processes of a group know of each other's GPUs |
//! | `gpu_group.rs` | the GPUs of one process as a group |

mod calls;
mod communicator;
mod gpu_group;
mod library;
mod members;
mod places;

pub(super) use calls::Message;
pub(super) use communicator::Communicator;
pub(super) use gpu_group::GpuGroup;
pub(super) use library::{new_group, version};
pub(super) use members::Members;
