//! What a launcher of several processes sets in the environment of each: PyTorch's sets all of it, job files of Slurm and
//! Kubernetes do (`examples/cluster`).

use super::error::RankError;
use crate::solver::Rank;
use std::env;
use std::time::Duration;

/// The variables.
const WORLD_SIZE: &str = "WORLD_SIZE";
const RANK: &str = "RANK";
const LOCAL_RANK: &str = "LOCAL_RANK";
const ADDRESS: &str = "MASTER_ADDR";
const PORT: &str = "MASTER_PORT";

/// Set where PyTorch's launcher itself listens at the port, for its own program to connect to.
const PORT_IN_USE: &str = "TORCHELASTIC_USE_AGENT_STORE";

/// Seconds that processes wait for each other before the run; [`SECONDS`] without it.
const WAIT: &str = "TILESCOPE_WAIT";
const SECONDS: u64 = 20;

/// The most that is taken: a day.
const MOST_SECONDS: u64 = 86_400;

/// The most processes: more than any machine has GPUs.
const MOST: usize = 1 << 16;

/// How this process was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Launch {
    pub rank: Rank,
    /// Its number on this machine.
    pub local: Option<usize>,
    /// Where rank 0 is reached.
    pub address: String,
    pub port: u16,
    /// How long it waits for the others.
    pub wait: Duration,
}

impl Launch {
    /// As one of several processes; `None` of one that runs alone.
    ///
    /// # Errors
    /// [`RankError`] if the launcher left out a variable, or one has no meaning.
    pub fn of_environment() -> Result<Option<Self>, RankError> {
        Self::of(|name| env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, RankError> {
        let Some(count) = whole(&variable, WORLD_SIZE, 1, MOST)? else { return Ok(None) };
        if count == 1 {
            return Ok(None);
        }
        let required = |name| RankError::NotSet { name, count };
        let index = whole(&variable, RANK, 0, count - 1)?.ok_or(required(RANK))?;
        let address = variable(ADDRESS).filter(|address| !address.is_empty());
        let port = whole(&variable, PORT, 1, u16::MAX.into())?.ok_or(required(PORT))?;
        // The next one is free in all likelihood, and no process need tell another.
        let port = match variable(PORT_IN_USE).as_deref() {
            Some("True") if port < u16::MAX.into() => port + 1,
            _ => port,
        };
        let wait = whole(&variable, WAIT, 1, MOST_SECONDS)?.unwrap_or(SECONDS);
        Ok(Some(Self {
            rank: Rank { index, count },
            local: whole(&variable, LOCAL_RANK, 0, MOST)?,
            address: address.ok_or(required(ADDRESS))?,
            port: port as u16,
            wait: Duration::from_secs(wait),
        }))
    }

    /// Which of the GPUs that this process sees is its own: that of its number on this machine. A launcher may also show
    /// each process one GPU alone.
    ///
    /// # Errors
    /// [`RankError::Value`] if there are fewer.
    pub fn gpu(&self, gpus: usize) -> Result<u32, RankError> {
        let gpu = match self.local {
            _ if gpus == 1 => 0,
            Some(local) if local >= gpus => {
                let allowed = format!("this machine has {gpus} GPUs, and each process takes one");
                return Err(RankError::Value {
                    name: LOCAL_RANK,
                    value: local.to_string(),
                    allowed,
                });
            }
            Some(local) => local,
            None => self.rank.index % gpus.max(1),
        };
        Ok(gpu as u32)
    }
}

/// A whole number from a variable, if it is set.
fn whole<N>(
    variable: impl Fn(&str) -> Option<String>,
    name: &'static str,
    least: N,
    most: N,
) -> Result<Option<N>, RankError>
where
    N: std::str::FromStr + PartialOrd + std::fmt::Display + Copy,
{
    let Some(value) = variable(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    match value.parse::<N>() {
        Ok(number) if number >= least && number <= most => Ok(Some(number)),
        _ => {
            let allowed = format!("it must be a whole number from {least} to {most}");
            Err(RankError::Value { name, value, allowed })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(&str, &str); 5] =
        [(RANK, "1"), (WORLD_SIZE, "4"), (LOCAL_RANK, "1"), (ADDRESS, "node-0"), (PORT, "29500")];

    fn launch(changes: &[(&str, &str)]) -> Result<Option<Launch>, String> {
        let value = |name: &str| {
            let all = changes.iter().chain(&ALL);
            all.clone().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Launch::of(value).map_err(|error| error.to_string())
    }

    #[test]
    fn what_launchers_set_says_which_process_this_is() {
        let found = launch(&[]).unwrap().unwrap();
        let expected = Launch {
            rank: Rank { index: 1, count: 4 },
            local: Some(1),
            address: "node-0".to_owned(),
            port: 29_500,
            wait: Duration::from_secs(20),
        };
        assert_eq!(found, expected);
        assert_eq!(Launch::of(|_| None).unwrap(), None);
        assert_eq!(launch(&[(WORLD_SIZE, "1")]), Ok(None));
        // PyTorch's launcher listens at its port itself.
        let elastic = launch(&[(PORT_IN_USE, "True")]).unwrap().unwrap();
        assert_eq!(elastic.port, 29_501);
        let elastic = launch(&[(PORT_IN_USE, "False")]).unwrap().unwrap();
        assert_eq!(elastic.port, 29_500);
    }

    #[test]
    fn what_is_missing_or_has_no_meaning_is_named() {
        for (changes, said) in [
            ((WORLD_SIZE, "many"), "WORLD_SIZE is many; it must be a whole number from 1 to 65536"),
            ((WORLD_SIZE, "0"), "WORLD_SIZE is 0; it must be a whole number from 1 to 65536"),
            ((RANK, "4"), "RANK is 4; it must be a whole number from 0 to 3"),
            ((RANK, ""), "WORLD_SIZE is 4, but RANK is not set"),
            ((ADDRESS, ""), "WORLD_SIZE is 4, but MASTER_ADDR is not set"),
            ((PORT, "0"), "MASTER_PORT is 0; it must be a whole number from 1 to 65535"),
            ((WAIT, "0"), "TILESCOPE_WAIT is 0; it must be a whole number from 1 to 86400"),
        ] {
            let error = launch(&[changes]).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn each_process_of_a_machine_has_a_gpu_of_its_own() {
        let mut found = launch(&[]).unwrap().unwrap();
        assert_eq!(found.gpu(4).unwrap(), 1);
        assert_eq!(found.gpu(1).unwrap(), 0);
        (found.rank.index, found.local) = (5, None);
        assert_eq!(found.gpu(4).unwrap(), 1);
        found.local = Some(7);
        assert!(found.gpu(4).unwrap_err().to_string().starts_with("LOCAL_RANK is 7; "));
    }
}
