//! The update of one point with its numbers.

use crate::picture::number;
use crate::problem::{Operator, Stencil};
use crate::run::Report;
use crate::solver::{Inside, PointUpdate};

/// Weights that differ by less are written as one.
const ALIKE: f64 = 1e-12;

/// The update that gave a cell its value, or why there is none, in one sentence.
pub(super) fn of_cell(inside: &Inside, report: &Report, cell: [usize; 2]) -> String {
    let problem = &report.plan.problem;
    let update = inside.update_at(cell, problem.shape.dim() == 1);
    let update = update.and_then(|update| Some((update, update.point.place(&problem.shape)?)));
    let Some((update, [i, row])) = update else {
        let made = if problem.shape.dim() == 1 { cell[1] } else { inside.subiteration };
        return match made {
            0 => "No subiteration has been made.".to_owned(),
            _ => "This value is not updated inside the cycle.".to_owned(),
        };
    };
    let stencil = match &problem.operator {
        Operator::Stencil(stencil) => *stencil,
        Operator::PerPoint(rows) => rows.row(i, row),
        Operator::Csr(_) => return "The rows of a matrix are not shown here.".to_owned(),
    };
    let b = problem.rhs.at(problem.shape.nx(), i, row);
    text(&stencil, b, &update, report.plan.method.omega())
}

/// The update in numbers: `u = 0.003 + (0.12 + 0.34 + 0.2 + 0.18) / 4 = 0.213, before 0.2`.
fn text(stencil: &Stencil, b: f64, update: &PointUpdate, omega: f64) -> String {
    let pairs = stencil.neighbours().into_iter().zip(update.neighbours);
    let terms = pairs.flat_map(|(entries, values)| entries.into_iter().zip(values));
    // Relative to the diagonal, as they enter the update.
    let terms = terms.filter(|(entry, _)| *entry != 0.0).map(|(entry, u)| (-entry / stencil.d, u));
    let terms: Vec<(f64, f64)> = terms.collect();
    let first = terms.first().map_or(0.0, |(weight, _)| *weight);
    let sum = match terms.iter().all(|(weight, _)| (weight - first).abs() < ALIKE) {
        true if first > 0.0 => {
            let values: Vec<_> = terms.iter().map(|(_, u)| number(*u)).collect();
            format!(" + ({}) / {}", values.join(" + "), number(1.0 / first))
        }
        _ => terms
            .iter()
            .map(|(weight, u)| format!(" + {} · {}", number(*weight), in_brackets(*u)))
            .collect(),
    };
    let sum = format!("{}{sum}", number(b / stencil.d)).replace("+ −", "− ");
    let (before, after) = (number(update.before), number(update.after));
    let change = number(update.after - update.before);
    let update = match omega == 1.0 {
        true => format!("u = {sum} = {after}"),
        false => {
            format!(
                "u = {before} + {} · ({sum} − {}) = {after}",
                number(omega),
                in_brackets(update.before)
            )
        }
    };
    format!("{update}, before {before}, change {change}")
}

/// A factor or what is subtracted, in brackets if it is negative.
fn in_brackets(value: f64) -> String {
    if value < 0.0 { format!("({})", number(value)) } else { number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GridPoint;

    fn update(before: f64, after: f64) -> PointUpdate {
        let neighbours = [[0.125, 0.375], [0.25, -0.5], [0.0; 2]];
        PointUpdate { point: GridPoint::Flat([3, 4]), neighbours, before, after }
    }

    #[test]
    fn equal_weights_are_one_divisor() {
        let poisson = Stencil { d: 4.0, a: -1.0, c: -1.0, e: -1.0, f: -1.0, ..Stencil::default() };
        assert_eq!(
            text(&poisson, 2.0, &update(0.5, 0.5625), 1.0),
            "u = 0.5 + (0.125 + 0.375 + 0.25 − 0.5) / 4 = 0.5625, before 0.5, change 0.0625"
        );
    }

    #[test]
    fn other_weights_stand_before_their_values_and_damping_around_all() {
        let stencil = Stencil { d: 4.0, a: -2.0, c: 1.0, e: -1.0, f: -1.0, ..Stencil::default() };
        assert_eq!(
            text(&stencil, 4.0, &update(1.0, 0.953_125), 0.5),
            "u = 1 + 0.5 · (1 + 0.5 · 0.125 − 0.25 · 0.375 + 0.25 · 0.25 + 0.25 · (−0.5) − 1) = 0.9531, before 1, change −0.04688"
        );
    }
}
