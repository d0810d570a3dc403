//! The kernels of the table by their names: what menus, options and files list.

use super::kernels::KERNELS;
use crate::solver::{Kernel, Layout, MethodName};
use serde::{Deserialize, Deserializer, de};

impl Kernel {
    /// Those that stand for another.
    const CHOICES: [Self; 2] = [Self::AUTO, Self::FASTEST];

    /// All of them: auto and fastest, then the table's, the fastest first, then the layouts of a matrix.
    pub const ALL: [Self; Self::CHOICES.len() + KERNELS.len() + Layout::ALL.len()] = {
        let mut all = [Self::AUTO; Self::CHOICES.len() + KERNELS.len() + Layout::ALL.len()];
        all[1] = Self::FASTEST;
        let mut row = 0;
        while row < KERNELS.len() {
            all[Self::CHOICES.len() + row] = Self::named(KERNELS[row].name);
            row += 1;
        }
        let mut layout = 0;
        while layout < Layout::ALL.len() {
            all[Self::CHOICES.len() + KERNELS.len() + layout] =
                Self::named(Layout::ALL[layout].name());
            layout += 1;
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

    /// Those that a method runs on: auto and fastest, then the table's, the fastest first.
    pub fn of(method: MethodName) -> Vec<Self> {
        let rows = KERNELS.iter().filter(|row| row.methods.contains(&method));
        Self::choices(method).chain(rows.map(|row| Self::named(row.name))).collect()
    }

    /// Those of a GPU: auto and fastest, then the table's, the fastest first.
    pub fn on_gpu() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().take(Self::CHOICES.len() + KERNELS.len())
    }

    /// Those that a CPU has for a matrix: auto, then its layouts, the fastest first.
    pub fn of_matrix() -> Vec<Self> {
        let layouts = Layout::ALL.into_iter().map(|layout| Self::named(layout.name()));
        [Self::AUTO].into_iter().chain(layouts).collect()
    }

    /// Those that a method runs on on the CPU.
    pub fn on_cpu(method: MethodName) -> Vec<Self> {
        let spectral = (method == MethodName::Hierarchical).then_some(Self::SPECTRAL);
        Self::choices(method).chain(spectral).collect()
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
        let layout = || self.layout().map_or(other, Layout::label);
        KERNELS.iter().find(|row| row.name == self.name()).map_or_else(layout, |row| row.label)
    }

    /// How it works, in one sentence.
    pub fn about(self) -> &'static str {
        let row = KERNELS.iter().find(|row| row.name == self.name());
        let choice = if self == Self::FASTEST {
            "The fastest that accepts the setting; it may be spectral, which rounds differently."
        } else {
            "The fastest that makes sweeps; above k = 1,024, spectral."
        };
        row.map_or_else(|| self.layout().map_or(choice, Layout::about), |row| row.about)
    }

    /// The layout of a matrix of this name.
    fn layout(self) -> Option<Layout> {
        Layout::ALL.into_iter().find(|layout| layout.name() == self.name())
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
}
