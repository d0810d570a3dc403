//! The speedup of one run over another, tolerance by tolerance.

/// Tolerances of a curve: more than any plot has pixels between two ticks.
const LEVELS: usize = 240;

/// What it cost to reach a reduction of the residual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostAt {
    /// Seconds or sweeps since the initial guess.
    pub cost: f64,
    /// ‖r‖₂ / ‖r₀‖₂.
    pub reduction: f64,
}

/// How many times as fast one of two runs reaches a tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedupAt {
    /// The tolerance: ‖r‖₂ / ‖r₀‖₂.
    pub tolerance: f64,
    /// The cost of the other run over that of the run.
    pub speedup: f64,
}

/// The speedup of a run over another at tolerances that both have reached, evenly spread by their logarithms, from
/// the smallest to 1. Both come in the order of their cycles; a tolerance is reached at the first cycle that is as
/// small, whatever follows.
pub fn speedup_curve(own: &[CostAt], other: &[CostAt]) -> Vec<SpeedupAt> {
    let (Some(least), Some(least_of_other)) = (least(own), least(other)) else {
        return Vec::new();
    };
    // An exact solution is as small as rounding allows.
    let least = least.max(least_of_other).max(f64::EPSILON);
    if least >= 1.0 {
        return Vec::new();
    }
    let [mut own, mut other] = [own, other].map(|run| Reached { run, from: 0 });
    let speedup = |level: usize| {
        let tolerance = least.powf(level as f64 / LEVELS as f64);
        let (own, other) = (own.cost_to(tolerance)?, other.cost_to(tolerance)?);
        let speedup = other / own;
        (own > 0.0 && speedup > 0.0).then_some(SpeedupAt { tolerance, speedup })
    };
    let mut curve: Vec<_> = (1..=LEVELS).filter_map(speedup).collect();
    curve.reverse();
    curve
}

/// The smallest reduction.
fn least(run: &[CostAt]) -> Option<f64> {
    run.iter().map(|at| at.reduction).filter(|reduction| reduction.is_finite()).reduce(f64::min)
}

/// A run that is read up to smaller and smaller tolerances.
struct Reached<'a> {
    run: &'a [CostAt],
    from: usize,
}

impl Reached<'_> {
    /// The cost of a tolerance that is no larger than the one before.
    fn cost_to(&mut self, tolerance: f64) -> Option<f64> {
        let here = self.run[self.from..].iter().position(|at| at.reduction <= tolerance)?;
        self.from += here;
        Some(self.run[self.from].cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(costs: &[(f64, f64)]) -> Vec<CostAt> {
        costs.iter().map(|&(cost, reduction)| CostAt { cost, reduction }).collect()
    }

    /// The reduction falls by a tenth for each unit, or each three units, of cost.
    #[test]
    fn of_steady_runs_it_is_the_ratio_of_their_rates() {
        let steady = |each: f64| {
            let at = |n: i32| (each * f64::from(n), 0.1_f64.powi(n));
            run(&(0..8).map(at).collect::<Vec<_>>())
        };
        let curve = speedup_curve(&steady(1.0), &steady(3.0));
        assert_eq!(curve.len(), LEVELS);
        assert!((curve[0].tolerance - 1e-7).abs() < 1e-20);
        assert!(curve.windows(2).all(|pair| pair[0].tolerance < pair[1].tolerance));
        assert!(curve.last().unwrap().tolerance < 1.0);
        assert!(curve.iter().all(|at| at.speedup == 3.0));
    }

    #[test]
    fn a_tolerance_is_reached_at_the_first_cycle_that_is_as_small() {
        let own = run(&[(0.0, 1.0), (1.0, 0.1), (2.0, 0.5), (4.0, 0.01)]);
        let other = run(&[(0.0, 1.0), (2.0, 0.3), (6.0, 0.001)]);
        let curve = speedup_curve(&own, &other);
        let at = |tolerance: f64| {
            let next = curve.iter().find(|at| at.tolerance >= tolerance).unwrap();
            next.speedup
        };
        // The other has gone further: what both have reached counts.
        assert!((curve[0].tolerance - 0.01).abs() < 1e-15);
        assert_eq!((at(0.5), at(0.2), at(0.05)), (2.0, 6.0, 1.5));
    }

    #[test]
    fn runs_that_reached_nothing_have_none() {
        let started = run(&[(0.0, 1.0)]);
        let done = run(&[(0.0, 1.0), (1.0, 0.0)]);
        assert!(speedup_curve(&started, &done).is_empty());
        assert!(speedup_curve(&[], &done).is_empty());
        assert!(speedup_curve(&run(&[(0.0, 1.0), (1.0, f64::NAN)]), &done).is_empty());
        assert!(speedup_curve(&done, &done).iter().all(|at| at.speedup == 1.0));
        // What is not timed has no speedup.
        assert!(speedup_curve(&done, &run(&[(f64::NAN, 1.0), (f64::NAN, 0.1)])).is_empty());
    }
}
