//! The kernels of the table by their names: what menus, options and files list.

use super::kernels::{KERNELS, KernelType};
use crate::solver::{Kernel, Layout, MethodName};
use serde::{Deserialize, Deserializer, de};

impl Kernel {
    /// Those that stand for another.
    const CHOICES: [Self; 2] = [Self::AUTO, Self::FASTEST];

    /// All of them: auto and fastest, then the table's: those of grids, the fastest first, then those of
    /// matrices.
    pub const ALL: [Self; Self::CHOICES.len() + KERNELS.len()] = {
        let mut all = [Self::AUTO; Self::CHOICES.len() + KERNELS.len()];
        all[1] = Self::FASTEST;
        let mut row = 0;
        while row < KERNELS.len() {
            all[Self::CHOICES.len() + row] = Self::named(KERNELS[row].name);
            row += 1;
        }
        all
    };

    /// Their names.
    const NAMES: [&'static str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut kernel = 0;
        while kernel < names.len() {
            names[kernel] = Self::ALL[kernel].name();
            kernel += 1;
        }
        names
    };

    /// Those that a method runs on on a grid: auto and fastest, then the table's, the fastest first.
    pub fn of(method: MethodName) -> Vec<Self> {
        let runs = |row: &&KernelType| !row.is_for_blocks && row.methods.contains(&method);
        let rows = KERNELS.iter().filter(runs).map(|row| Self::named(row.name));
        Self::choices(method).chain(rows).collect()
    }

    /// Those that a GPU has for grids: auto and fastest, then the table's, the fastest first.
    pub fn of_grid() -> Vec<Self> {
        let rows = KERNELS.iter().filter(|row| !row.is_for_blocks);
        Self::CHOICES.into_iter().chain(rows.map(|row| Self::named(row.name))).collect()
    }

    /// Those that a GPU has for a matrix: auto, then the table's, the fastest first.
    pub fn of_matrix() -> Vec<Self> {
        let rows = KERNELS.iter().filter(|row| row.is_for_blocks);
        [Self::AUTO].into_iter().chain(rows.map(|row| Self::named(row.name))).collect()
    }

    /// Those that a CPU has for a matrix: auto, then its layouts, the fastest first.
    pub fn of_matrix_on_cpu() -> Vec<Self> {
        let layouts = Layout::ALL.into_iter().map(Layout::kernel);
        [Self::AUTO].into_iter().chain(layouts).collect()
    }

    /// Those that a method runs on on the CPU: auto, fastest where it has a choice, and what can be chosen beside it by name.
    pub fn on_cpu(method: MethodName) -> Vec<Self> {
        let other = match method {
            MethodName::Hierarchical => Some(Self::SPECTRAL),
            MethodName::Classic => Some(Self::FUSED),
            MethodName::Pyramid | MethodName::Wavefront => None,
        };
        Self::choices(method).chain(other).collect()
    }

    fn choices(method: MethodName) -> impl Iterator<Item = Self> {
        let is_choice =
            move |kernel: &Self| *kernel == Self::AUTO || method == MethodName::Hierarchical;
        Self::CHOICES.into_iter().filter(is_choice)
    }

    /// Those that make a method's sweeps, all to the same bits, the slowest first: the order of a kernel
    /// comparison.
    pub fn compared(method: MethodName) -> Vec<Self> {
        let others = [Self::AUTO, Self::FASTEST, Self::SPECTRAL];
        Self::of(method).into_iter().rev().filter(|kernel| !others.contains(kernel)).collect()
    }

    /// The name in menus and titles.
    pub fn label(self) -> &'static str {
        let other = if self == Self::FASTEST { "Fastest" } else { "Auto" };
        self.row().map_or(other, |row| row.label)
    }

    /// How it works, in one sentence.
    pub fn about(self) -> &'static str {
        let choice = if self == Self::FASTEST {
            "The fastest that accepts the setting; it may be spectral, which rounds differently."
        } else {
            "The fastest that performs sweeps; above k = 1,024, spectral."
        };
        self.row().map_or(choice, |row| row.about)
    }

    /// Whether it makes sweeps with coefficients per point; a choice does where one of those that it stands for
    /// does.
    pub fn takes_rows(self) -> bool {
        self.row().is_none_or(|row| row.takes_rows)
    }

    /// Whether it makes damped sweeps; a choice does where one of those that it stands for does.
    pub fn takes_damping(self) -> bool {
        self.row().is_none_or(|row| row.takes_damping)
    }

    /// Its row of the table.
    fn row(self) -> Option<&'static KernelType> {
        KERNELS.iter().find(|row| row.name == self.name())
    }
}

impl<'de> Deserialize<'de> for Kernel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|kernel| kernel.name() == name);
        known.ok_or_else(|| de::Error::unknown_variant(&name, &Self::NAMES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_names_are_those_of_the_table() {
        for kernel in [
            Kernel::AUTO,
            Kernel::FASTEST,
            Kernel::CLASSIC,
            Kernel::FUSED,
            Kernel::SHARED,
            Kernel::REGISTER,
            Kernel::SPECTRAL,
        ] {
            assert!(Kernel::ALL.contains(&kernel), "{kernel:?}");
        }
        for (kernel, name) in Kernel::ALL.into_iter().zip(Kernel::NAMES) {
            assert_eq!(kernel.name(), name);
            let written = serde_json::to_string(&kernel).unwrap();
            assert_eq!(serde_json::from_str::<Kernel>(&written).unwrap(), kernel);
        }
        assert!(serde_json::from_str::<Kernel>("\"none\"").is_err());
    }

    #[test]
    fn every_method_runs_on_a_kernel() {
        for method in [MethodName::Classic, MethodName::Hierarchical] {
            let kernels = Kernel::of(method);
            assert!(kernels.len() > 1 && kernels[0] == Kernel::AUTO, "{method:?}");
        }
    }

    #[test]
    fn a_gpu_has_every_layout_of_a_cpu() {
        let on_gpu = Kernel::of_matrix();
        assert!(Kernel::of_matrix_on_cpu().iter().all(|kernel| on_gpu.contains(kernel)));
    }
}
