//! Settings of passes through fast memory: height and budget.

use super::{CycleSetting, ListAxis, sort};
use crate::grid::ByteCount;
use crate::number::joined;
use crate::run::command::Lists;
use crate::run::spec::MethodSpec;
use crate::solver::Height;

/// Bytes of the unit in which charts show budgets.
const MEGABYTE: f64 = 1e6;

/// Lists of what makes a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassLists {
    /// Heights: sweeps of a pass.
    pub height: Vec<usize>,
    /// Budgets of fast memory.
    pub memory: Vec<ByteCount>,
}

/// What makes a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PassSetting {
    /// Sweeps of a pass.
    pub height: usize,
    /// The budget of fast memory.
    pub memory: ByteCount,
}

impl PassLists {
    pub(super) fn normalize(&mut self) {
        sort(&mut self.height);
        sort(&mut self.memory);
    }

    pub(super) fn axes(&self) -> [ListAxis; 2] {
        let height = ListAxis {
            name: "height",
            before: "height ",
            labels: self.height.iter().map(ToString::to_string).collect(),
            numbers: self.height.iter().map(|height| Some(*height as f64)).collect(),
            unit: "",
        };
        let budget = ListAxis {
            name: "budget",
            before: "budget ",
            labels: self.memory.iter().map(ToString::to_string).collect(),
            numbers: self.memory.iter().map(|it| Some(it.bytes() as f64 / MEGABYTE)).collect(),
            unit: ", MB",
        };
        [height, budget]
    }

    pub(super) fn settings(&self) -> Vec<CycleSetting> {
        let of_height = |&height: &usize| {
            let with = move |&memory: &ByteCount| PassSetting { height, memory };
            self.memory.iter().map(with).map(CycleSetting::Pass)
        };
        self.height.iter().flat_map(of_height).collect()
    }

    pub(super) fn options(&self) -> Lists {
        Lists {
            height: Some(joined(&self.height, ",")),
            memory: Some(joined(&self.memory, ",")),
            ..Lists::default()
        }
    }
}

impl PassSetting {
    pub(super) fn set(self, method: &mut MethodSpec) {
        method.height = Some(Height::Sweeps(self.height));
        method.memory = Some(self.memory);
    }

    /// The lowest, a middle and the largest height: a model with an update, a value and a pass needs three.
    pub(super) fn to_probe(here: &[Self]) -> Vec<Self> {
        let mut places = [0, here.len() / 2, here.len().saturating_sub(1)].to_vec();
        places.dedup();
        places.iter().filter_map(|place| here.get(*place).copied()).collect()
    }
}
