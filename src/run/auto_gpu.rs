//! The GPUs that [`Backend::Auto`](super::Backend::Auto) may use: each is opened once.

use crate::run::host::aside;
use crate::solver::SolverError;
use crate::solver::cuda::{Device, Unavailable};
use std::sync::{Arc, OnceLock};

/// The outcome of opening a GPU, once that is known.
type OpenOutcome = Arc<OnceLock<Result<(), SolverError>>>;

/// The GPUs that were tried.
#[derive(Debug, Default)]
pub(super) struct AutoGpus {
    /// Whether GPUs are opened on a thread, and not waited for.
    is_background: bool,
    /// The ordinals of the GPUs, and the outcome of opening each.
    tried: Vec<(u32, OpenOutcome)>,
}

impl AutoGpus {
    /// GPUs are opened on threads of their own.
    pub fn without_waiting() -> Self {
        Self { is_background: true, ..Self::default() }
    }

    /// Whether a check waits for the GPU.
    pub fn waits(&self) -> bool {
        !self.is_background
    }

    /// Whether a GPU can be used. `None` while it is being opened, unless a check waits for that.
    pub fn check(&mut self, device: &Device) -> Option<Result<(), SolverError>> {
        let known = self.tried.iter().find(|(ordinal, _)| *ordinal == device.ordinal());
        let opened = match known {
            Some((_, opened)) => Arc::clone(opened),
            None => {
                let opened = OpenOutcome::default();
                self.tried.push((device.ordinal(), Arc::clone(&opened)));
                if self.is_background {
                    open_beside(device.clone(), Arc::clone(&opened));
                }
                opened
            }
        };
        if self.is_background {
            opened.get().cloned()
        } else {
            Some(opened.get_or_init(|| device.check()).clone())
        }
    }

    /// The same of several GPUs: that of the first that cannot be used.
    pub fn check_all(&mut self, devices: &[Device]) -> Option<Result<(), SolverError>> {
        // All are opened at once.
        let checked: Vec<_> = devices.iter().map(|device| self.check(device)).collect();
        let failed = checked.iter().flatten().find(|opened| opened.is_err());
        match failed {
            Some(error) => Some(error.clone()),
            None => checked.iter().all(Option::is_some).then_some(Ok(())),
        }
    }

    /// Whether a GPU was tried, and it is known whether it can be used.
    pub fn knows(&self, ordinal: u32) -> bool {
        self.tried.iter().any(|(tried, opened)| *tried == ordinal && opened.get().is_some())
    }
}

/// Opens a GPU on a thread of its own.
fn open_beside(device: Device, opened: OpenOutcome) {
    let answer = Arc::clone(&opened);
    let open = move || _ = answer.set(device.check());
    if let Err(error) = aside("tilescope-GPU", open) {
        _ = opened.set(Err(Unavailable::Driver(error.to_string()).into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// No machine has a GPU with this ordinal.
    const NONE: u32 = u32::MAX;

    #[test]
    fn a_gpu_is_opened_beside_the_work_or_waited_for() {
        let device = Device::new(NONE);
        let mut waiting = AutoGpus::default();
        assert!(!waiting.knows(NONE));
        assert!(matches!(waiting.check(&device), Some(Err(SolverError::Unavailable(_)))));
        assert!(waiting.knows(NONE));

        let mut gpus = AutoGpus::without_waiting();
        let begin = Instant::now();
        while gpus.check(&device).is_none() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it is known some time");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(gpus.knows(NONE));
        assert_eq!(gpus.check(&device), waiting.check(&device));
        assert_eq!(gpus.tried.len(), 1, "it is opened once");
    }
}
