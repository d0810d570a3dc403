//! What a pyramid costs: models of the seconds per point and sweep, and the height that each finds best.
//!
//! R is the planes of a slab, n its height, τ_c the seconds to move a value and τ_a those to update a point;
//! ρ = τ_c / τ_a. A wavefront needs no model: it moves 3 values per point and pass.

/// A model of the seconds that a pyramid takes per point and sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PyramidModel {
    /// The paper's, (R − n)/(R − 2n) · (3 τ_c / n + τ_a). It scales the traffic of an explicit method and
    /// forgets that the right-hand side does not shrink.
    ///
    /// Source: Kochurov, Vorotnikova and Golovashkin (2015), the estimate after Eq. 2.
    Paper,
    /// With the traffic as it is, [(3R − 2n) τ_c / n + (R − n) τ_a] / (R − 2n).
    Corrected,
    /// The same where sweeps do not shrink, as in the paper's kernel: R − 2 planes per sweep.
    NotShrinking,
    /// Two slabs of R planes at a time, whose copies and sweeps overlap: the longer of the way up,
    /// 2R τ_c / n / (R − 2n), and the sweeps. The link carries the way down meanwhile.
    TwoInFlight,
}

impl PyramidModel {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Paper, Self::Corrected, Self::NotShrinking, Self::TwoInFlight];

    /// Values moved per point and sweep by an inner slab, counted: (3R − 2n)/(R − 2n)/n. Infinite where
    /// 2n ≥ R.
    pub fn values_per_update(planes: usize, height: usize) -> f64 {
        owned(planes, height)
            .map_or(f64::INFINITY, |owned| (3 * planes - 2 * height) as f64 / owned / height as f64)
    }

    /// Updates made per update needed by an inner slab that shrinks, counted: (R − n − 1)/(R − 2n).
    /// Infinite where 2n ≥ R.
    pub fn redundancy(planes: usize, height: usize) -> f64 {
        owned(planes, height).map_or(f64::INFINITY, |owned| (planes - height - 1) as f64 / owned)
    }

    /// Seconds per point and sweep with slabs of `planes` planes and `height` sweeps, where moving a value
    /// takes `transfer` seconds and updating a point `update` seconds. Infinite where 2n ≥ R.
    pub fn seconds(self, planes: usize, height: usize, transfer: f64, update: f64) -> f64 {
        let Some(owned) = owned(planes, height) else { return f64::INFINITY };
        let (r, n) = (planes as f64, height as f64);
        let moved = (3.0 * r - 2.0 * n) * transfer / n;
        match self {
            Self::Paper => (r - n) / owned * (3.0 * transfer / n + update),
            Self::Corrected => (moved + (r - n) * update) / owned,
            Self::NotShrinking => (moved + (r - 2.0) * update) / owned,
            Self::TwoInFlight => (2.0 * r * transfer / n).max((r - n) * update) / owned,
        }
    }

    /// The height of least cost as a real number, in closed form, for ρ = `ratio`.
    pub fn best_real_height(self, planes: usize, ratio: f64) -> f64 {
        let (r, p) = (planes as f64, ratio);
        // R (−6ρ + √D)/(…), written so that nothing cancels where the denominator passes through 0.
        let root = |d: f64| 3.0 * p * r / (6.0 * p + d.sqrt());
        match self {
            Self::Paper => root(18.0 * p * p + 3.0 * p * r),
            Self::Corrected => root(24.0 * p * p + 3.0 * p * r),
            Self::NotShrinking => root(24.0 * p * p + 6.0 * p * (r - 2.0)),
            // Below R/4 the way up gets shorter with n; where it meets the sweeps is best.
            Self::TwoInFlight => {
                let square = r * r - 8.0 * r * p;
                if square < r * r / 4.0 { r / 4.0 } else { (r - square.sqrt()) / 2.0 }
            }
        }
    }

    /// The whole height of least cost that leaves an owned plane, at least 1.
    pub fn best_height(self, planes: usize, ratio: f64) -> usize {
        let most = (planes.saturating_sub(1) / 2).max(1);
        let below = (self.best_real_height(planes, ratio) as usize).clamp(1, most);
        let above = (below + 1).min(most);
        let cost = |height| self.seconds(planes, height, ratio, 1.0);
        if cost(above) < cost(below) { above } else { below }
    }
}

/// R − 2n, if that is a plane at least and there are sweeps.
fn owned(planes: usize, height: usize) -> Option<f64> {
    let owned = planes.checked_sub(height.checked_mul(2)?)?;
    (height > 0 && owned > 0).then_some(owned as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the measured heights and those of the models at R = 64 in the notes on the paper.
    #[test]
    fn best_heights_are_those_of_the_paper_and_of_its_correction() {
        for (ratio, expected) in [(0.13, [4, 4, 3]), (1.03, [9, 9, 7]), (4.6, [14, 14, 12])] {
            let best = |model: PyramidModel| model.best_real_height(64, ratio).round() as usize;
            let models = [PyramidModel::Paper, PyramidModel::Corrected, PyramidModel::NotShrinking];
            assert_eq!(models.map(best), expected, "{ratio}");
        }
    }

    /// The forms of the published table: R (−6ρ + √…)/(R − 6ρ) and so on.
    #[test]
    fn closed_forms_are_those_of_the_table() {
        for (r, p) in [(64.0_f64, 0.5_f64), (325.0, 2.1), (24.0, 7.0)] {
            let table = [
                (PyramidModel::Paper, 18.0 * p * p + 3.0 * p * r, r - 6.0 * p),
                (PyramidModel::Corrected, 24.0 * p * p + 3.0 * p * r, r - 4.0 * p),
                (
                    PyramidModel::NotShrinking,
                    24.0 * p * p + 6.0 * p * (r - 2.0),
                    2.0 * (r - 2.0) - 4.0 * p,
                ),
            ];
            for (model, d, denominator) in table {
                let written = r * (-6.0 * p + d.sqrt()) / denominator;
                let best = model.best_real_height(r as usize, p);
                assert!(
                    (best / written - 1.0).abs() < 1e-12,
                    "{model:?} {r} {p}: {best} {written}"
                );
            }
        }
    }

    #[test]
    fn no_other_height_costs_less() {
        for model in PyramidModel::ALL {
            for planes in [3, 4, 5, 8, 24, 64, 325] {
                for ratio in [0.0, 0.01, 0.13, 1.0, 4.6, 24.0, 200.0] {
                    let best = model.best_height(planes, ratio);
                    let least = model.seconds(planes, best, ratio, 1.0);
                    for height in 1..=(planes - 1) / 2 {
                        let cost = model.seconds(planes, height, ratio, 1.0);
                        assert!(
                            least <= cost * (1.0 + 1e-12),
                            "{model:?} {planes} {ratio}: {best}, {height}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_leaves_no_owned_plane_takes_for_ever() {
        for model in PyramidModel::ALL {
            for (planes, height) in [(8, 4), (8, usize::MAX), (8, 0), (0, 1)] {
                assert_eq!(model.seconds(planes, height, 1.0, 1.0), f64::INFINITY);
            }
        }
        assert_eq!(PyramidModel::Paper.seconds(32, 8, 0.0, 1.0), 24.0 / 16.0);
        assert_eq!(PyramidModel::Corrected.seconds(64, 24, 24.0, 0.0), (192.0 - 48.0) / 16.0);
    }
}
