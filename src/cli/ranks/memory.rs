//! Whether the processes of a run, several of which may be on one machine, have the memory that each of them needs.

use crate::grid::memory::{available, available_to_all, human};
use crate::number::joined;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;

/// Where Linux has the name of a machine or container, and a number of its own for every start of a machine: names may be
/// those of several.
const NAME_FILE: &str = "/proc/sys/kernel/hostname";
const BOOT_FILE: &str = "/proc/sys/kernel/random/boot_id";

/// What a process needs of the memory of its machine, and what is free there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Memory {
    /// The machine, by its name and its start.
    pub host: String,
    pub boot: String,
    /// Bytes that the process needs.
    pub needed: u64,
    /// Bytes that it may take alone, and that all processes of the machine may take together.
    pub available: u64,
    pub available_to_all: u64,
}

impl Memory {
    /// Of this process, which needs so many bytes.
    pub fn of_this(needed: u64) -> Self {
        let read = |file| fs::read_to_string(file).unwrap_or_default().trim().to_owned();
        Self {
            host: read(NAME_FILE),
            boot: read(BOOT_FILE),
            needed,
            available: available(),
            available_to_all: available_to_all(),
        }
    }
}

/// Whether each process has what it needs, and those of each machine together; why not, in a sentence.
pub(super) fn check<'a>(all: impl Iterator<Item = (usize, &'a Memory)>) -> Result<(), String> {
    let mut machines: BTreeMap<_, (Vec<usize>, u64, u64)> = BTreeMap::new();
    for (rank, Memory { host, boot, needed, available, available_to_all }) in all {
        refuse(&[rank], host, *needed, *available)?;
        let (ranks, sum, free) = machines.entry((host, boot)).or_insert((Vec::new(), 0, u64::MAX));
        ranks.push(rank);
        *sum = sum.saturating_add(*needed);
        // Who came later may see what others have taken meanwhile.
        *free = (*free).min(*available_to_all);
    }
    let mut machines = machines.into_iter();
    machines.try_for_each(|((host, _), (ranks, sum, free))| refuse(&ranks, host, sum, free))
}

/// Refuses processes of a machine that need more than is free.
fn refuse(ranks: &[usize], host: &str, needed: u64, free: u64) -> Result<(), String> {
    if needed <= free {
        return Ok(());
    }
    let (who, need) = match ranks {
        [one] => (format!("rank {one}"), "needs"),
        _ => (format!("ranks {}", joined(ranks, ", ")), "together need"),
    };
    let [needed, free] = [needed, free].map(human);
    Err(format!(
        "{who} on {host} {need} {needed} of memory, and {free} is free; use a smaller shape or more machines"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(host: &str, boot: &str, needed: u64) -> Memory {
        let [host, boot] = [host, boot].map(str::to_owned);
        Memory { host, boot, needed, available: 8_000_000_000, available_to_all: 9_000_000_000 }
    }

    fn said(all: &[Memory]) -> Result<(), String> {
        check(all.iter().enumerate())
    }

    #[test]
    fn processes_of_one_machine_are_counted_together() {
        let of = |host, boot| memory(host, boot, 4_000_000_000);
        assert_eq!(said(&[of("a", "1"), of("a", "1"), of("b", "2"), of("b", "2")]), Ok(()));
        let three = [of("a", "1"), of("b", "2"), of("b", "2"), of("b", "2")];
        let sentence = "ranks 1, 2, 3 on b together need 12.0 GB of memory, and 9.00 GB is free; use a smaller shape or more machines";
        assert_eq!(said(&three), Err(sentence.to_owned()));
        // Another machine of the same name.
        assert_eq!(said(&[of("b", "1"), of("b", "1"), of("b", "2"), of("b", "2")]), Ok(()));
        // The least that one of them finds free.
        let mut late = [of("a", "1"), of("a", "1")];
        late[1].available_to_all = 7_000_000_000;
        assert!(said(&late).unwrap_err().contains("need 8.00 GB of memory, and 7.00 GB is free"));
    }

    #[test]
    fn a_process_that_may_not_take_what_it_needs_is_named() {
        let all = [memory("a", "1", 1_000), memory("b", "2", 8_500_000_000)];
        let sentence = "rank 1 on b needs 8.50 GB of memory, and 8.00 GB is free; use a smaller shape or more machines";
        assert_eq!(said(&all), Err(sentence.to_owned()));
    }

    #[test]
    fn the_memory_of_this_machine_is_known() {
        let Memory { needed, available, available_to_all, .. } = Memory::of_this(7);
        assert_eq!(needed, 7);
        // Other tests take memory between the two.
        assert!(available > 0 && available_to_all > 0);
    }
}
