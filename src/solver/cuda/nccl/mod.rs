//! NCCL, which moves values between the GPUs of several processes. Its library is opened at run time, as the driver's is.
//!
//! | file | |
//! |---|---|
//! | `places.rs` | where the library may lie |
//! | `library.rs` | the library, and the functions of it that are used |
//! | `communicator.rs` | a process in a group of processes: what it sends and receives |

mod communicator;
mod library;
mod places;

pub(super) use communicator::{Communicator, Message};
pub(super) use library::{new_group, version};
