//! A cycle that is made in pieces, between which its thread has other work.

use super::norms::PartialNorms;
use super::team::Team;
use crate::clock::Instant;
use std::time::Duration;

/// The parts of a cycle that are made.
#[derive(Debug, Default)]
pub(super) struct Begun {
    /// How many.
    parts: usize,
    /// Whether these are all.
    pub is_whole: bool,
    /// The norms that came of them, in order.
    pub norms: Vec<PartialNorms>,
    /// Whether these were wanted.
    pub is_measured: bool,
    /// The time that they took.
    pub spent: Duration,
    /// When the present piece is long enough; `None` if it is all that is left.
    pub until: Option<Instant>,
}

impl Begun {
    /// A cycle of which nothing is made, and the end of its first piece.
    pub fn new(is_measured: bool, until: Option<Instant>) -> Self {
        Self { is_measured, until, ..Self::default() }
    }

    /// Works on the parts that are left of these, which are those of the piece before; see [`Team::map`]. A piece that has an end
    /// is made by the calling thread.
    pub fn go_on<P: Send, S, N: IntoIterator<Item = PartialNorms> + Send>(
        &mut self,
        team: &Team,
        parts: Vec<P>,
        updates: usize,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, P) -> N + Sync + Send,
    ) {
        let count = parts.len();
        let left = parts.into_iter().skip(self.parts);
        if let Some(until) = self.until {
            let mut scratch = scratch();
            for part in left {
                self.norms.extend(work(&mut scratch, part));
                self.parts += 1;
                if Instant::now() >= until {
                    break;
                }
            }
        } else {
            let found = team.map(left.collect(), updates, scratch, work);
            self.norms.extend(found.into_iter().flatten());
            self.parts = count;
        }
        self.is_whole = self.parts == count;
    }
}

#[cfg(test)]
mod tests {
    use crate::run::{Planner, RunSpec};
    use crate::solver::{self, Kernel, NormRequest};
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Also if other norms are wanted in between, and if the run begins again in the middle of a cycle.
        #[test]
        fn cycles_made_in_pieces_are_those_made_at_once(
            kind in prop::sample::select(&["grid", "spectral", "line", "matrix"][..]),
            side in 9..40_usize,
            k in 1..9_usize,
            pieces in prop::collection::vec((0..7_usize, any::<bool>()), 1..6),
            is_restarted: bool,
        ) {
            let mut spec = RunSpec::default();
            spec.problem.shape = if kind == "line" { vec![20 * side] } else { vec![side, side] };
            (spec.method.k, spec.method.tile) = (k.into(), vec![8]);
            match kind {
                "spectral" => spec.method.kernel = Kernel::SPECTRAL,
                "matrix" => {
                    let text = format!(
                        "version = 1\n[problem]\nkind = \"matrix\"\nmatrix = {{ source = \"poisson-{side}x{side}\" }}\n\
                         [method]\nname = \"hierarchical\"\nk = {k}\ntile = [50]\n"
                    );
                    spec = RunSpec::from_toml(&text, "a run").unwrap();
                }
                _ => {}
            }
            let plan = Planner::default().plan(&spec).unwrap();
            let set_up = || {
                solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place).unwrap()
            };
            let (mut whole, mut pieced) = (set_up(), set_up());
            if is_restarted {
                pieced.make_piece(NormRequest::ALL, Duration::ZERO);
                pieced.restart().unwrap();
            }
            for (count, is_measured) in pieces {
                let norms = if is_measured { NormRequest::ALL } else { NormRequest::NONE };
                pieced.make_piece(NormRequest::RESIDUAL, Duration::ZERO);
                for _ in 0..count {
                    pieced.make_piece(norms, Duration::ZERO);
                }
                let [one, other] = [&mut whole, &mut pieced].map(|it| it.cycles(1, norms).unwrap());
                prop_assert_eq!(one.norms, other.norms);
                prop_assert!(whole.solution().unwrap() == pieced.solution().unwrap());
                prop_assert!(whole.previous().unwrap() == pieced.previous().unwrap());
            }
        }
    }
}
