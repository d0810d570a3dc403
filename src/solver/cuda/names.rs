//! The kernels of the table by their names: what menus, options and files list.

use super::kernels::KERNELS;
use crate::solver::{Kernel, MethodName};
use serde::{Deserialize, Deserializer, de};

impl Kernel {
    /// All of them, as they stand in menus: auto, then the table's, the fastest first.
    pub const ALL: [Self; KERNELS.len() + 1] = {
        let mut all = [Self::AUTO; KERNELS.len() + 1];
        let mut row = 0;
        while row < KERNELS.len() {
            all[row + 1] = Self::named(KERNELS[row].name);
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

    /// Those that a method runs on: auto, then the table's, the fastest first.
    pub fn of(method: MethodName) -> Vec<Self> {
        let rows = KERNELS.iter().filter(|row| row.methods.contains(&method));
        [Self::AUTO].into_iter().chain(rows.map(|row| Self::named(row.name))).collect()
    }

    /// Those that a method runs on without auto, the slowest first: the order of a kernel comparison.
    pub fn compared(method: MethodName) -> Vec<Self> {
        Self::of(method).into_iter().skip(1).rev().collect()
    }

    /// The name in menus and titles.
    pub fn label(self) -> &'static str {
        KERNELS.iter().find(|row| row.name == self.name()).map_or("Auto", |row| row.label)
    }

    /// How it works, in one sentence.
    pub fn about(self) -> &'static str {
        let row = KERNELS.iter().find(|row| row.name == self.name());
        row.map_or("The fastest kernel that accepts the setting.", |row| row.about)
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
        for kernel in [Kernel::AUTO, Kernel::CLASSIC, Kernel::SHARED, Kernel::REGISTER] {
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
        for method in MethodName::ALL {
            let kernels = Kernel::of(method);
            assert!(kernels.len() > 1 && kernels[0] == Kernel::AUTO, "{method:?}");
        }
    }
}
