//! Why several processes cannot make a run together.

use crate::number::joined;

/// Why several processes cannot make a run together.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum RankError {
    /// A variable of the environment with a value that it cannot have.
    #[error("{name} is {value}; {allowed}")]
    Value { name: &'static str, value: String, allowed: String },
    /// A launcher that did not set all variables.
    #[error("WORLD_SIZE is {count}, but {name} is not set; a launcher sets both, or neither")]
    NotSet { name: &'static str, count: usize },
    /// What one process makes alone.
    #[error("WORLD_SIZE is {count}, but {what} runs in one process; solve is shared by several")]
    OneProcess { what: &'static str, count: usize },
    /// An option that has no meaning there.
    #[error("{option} does not go with WORLD_SIZE {count}: {why}")]
    Option { option: &'static str, count: usize, why: &'static str },
    /// A name that stands for no machine.
    #[error("MASTER_ADDR is {0}, which is not the name or address of a machine that can be found")]
    Address(String),
    /// Another program has the port.
    #[error("MASTER_PORT {0} is taken by another program on this machine; choose another port")]
    Taken(u16),
    /// The system does not let rank 0 listen.
    #[error("rank 0 cannot listen at port {port}: {why}")]
    Listen { port: u16, why: String },
    /// Nothing listens there.
    #[error("rank 0 was not reached at {at} within {seconds} s")]
    NotReached { at: String, seconds: u64 },
    /// What listens there does not answer as rank 0 would.
    #[error("rank 0 did not answer at {at} within {seconds} s; another program may have the port")]
    NoAnswer { at: String, seconds: u64 },
    /// Some have not come.
    #[error("{} did not come within {seconds} s; TILESCOPE_WAIT sets how long ranks are waited for", named(.ranks))]
    Absent { ranks: Vec<usize>, seconds: u64 },
    /// What rank 0 found.
    #[error("{0}")]
    Refused(String),
    /// The system has no thread for it.
    #[error("the system starts no thread: {0}")]
    Thread(String),
}

/// `rank 3`, or `ranks 1, 2`.
fn named(ranks: &[usize]) -> String {
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{word} {}", joined(ranks, ", "))
}
