//! The CPU's vector instructions, chosen when the program runs.
//!
//! The arithmetic is written once, without intrinsics, and compiled for every level. Each value
//! is computed by the same operations in the same order whatever the vector length, and a fused
//! multiply-add is rounded once in hardware and in software alike: the bits are the same.

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What the target always has; fused multiply-adds may be computed in software.
    Plain,
    /// AVX2 and FMA: 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, DQ, BW and VL: 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Work that is compiled once per level. `run`, and all that it calls for many points, must be
/// `#[inline(always)]`, or it is compiled for the plain level only. The same holds for a closure that
/// is passed to an iterator and is too long to be inlined: long work belongs in `for` loops.
pub(super) trait Task {
    type Output;
    fn run(self) -> Self::Output;
    /// The same at the plain level.
    #[inline(always)]
    fn run_plain(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run()
    }
}

impl Level {
    /// The levels that this CPU has, plain first.
    pub fn available() -> Vec<Self> {
        #[cfg_attr(
            not(target_arch = "x86_64"),
            expect(unused_mut, reason = "it has no other level")
        )]
        let mut levels = vec![Self::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if avx2 {
                levels.push(Self::Avx2);
            }
            if avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
            {
                levels.push(Self::Avx512);
            }
        }
        levels
    }

    /// The best level of this CPU.
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self::Plain)
    }

    /// Runs `task` as compiled for this level.
    pub(super) fn run<T: Task>(self, task: T) -> T::Output {
        match self {
            Self::Plain => task.run_plain(),
            // SAFETY: no solver has a level above `best`, which checks that the CPU has these features.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { avx2(task) },
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { avx512(task) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
fn avx2<T: Task>(task: T) -> T::Output {
    task.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")]
#[inline(never)]
fn avx512<T: Task>(task: T) -> T::Output {
    task.run()
}
