//! Lines in pixels.

use crate::picture::axis::scale::Scale;
use crate::picture::draw::canvas::round;
use crate::picture::draw::layout::Area;

/// A run of points in pixels, without a gap.
pub(crate) type Stretch = Vec<(f64, f64)>;

/// Where a point lies in a plot, in pixels.
pub(crate) fn place(
    (x, y): (f64, f64),
    plot: Area,
    x_scale: &Scale,
    y_scale: &Scale,
) -> (f64, f64) {
    let across = plot.x + x_scale.position(x) * plot.width;
    (across, plot.bottom() - y_scale.position(y) * plot.height)
}

/// A line through these points, as SVG writes it.
pub(crate) fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.enumerate() {
        let step = if index == 0 { 'M' } else { 'L' };
        path.push_str(&format!("{step}{} {}", round(x), round(y)));
    }
    path
}

/// The points that show at this size: of all that follow each other in one pixel column, the
/// first, the lowest, the highest and the last.
pub(crate) fn thinned(points: impl Iterator<Item = (f64, f64)>) -> Stretch {
    let mut kept: Stretch = Vec::new();
    let mut column: Stretch = Vec::new();
    let mut empty = |column: &mut Stretch| {
        if column.len() <= 4 {
            kept.append(column);
            return;
        }
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let last = column.len() - 1;
        let highest = (0..=last).min_by(by_height).unwrap_or(0);
        let lowest = (0..=last).max_by(by_height).unwrap_or(0);
        let mut indices = vec![0, highest, lowest, last];
        indices.sort_unstable();
        indices.dedup();
        kept.extend(indices.into_iter().map(|index| column[index]));
        column.clear();
    };
    for point in points {
        if column.first().is_some_and(|first| first.0.floor() != point.0.floor()) {
            empty(&mut column);
        }
        column.push(point);
    }
    empty(&mut column);
    kept
}

/// Whether a line comes within `distance` pixels of an area.
pub(crate) fn touches(stretch: &[(f64, f64)], area: Area, distance: f64) -> bool {
    let wide = Area {
        x: area.x - distance,
        y: area.y - distance,
        width: area.width + 2.0 * distance,
        height: area.height + 2.0 * distance,
    };
    let between = |pair: &[(f64, f64)]| {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        // Points of the line so near each other that none jumps over the area.
        let steps = ((x1 - x0).abs().max((y1 - y0).abs()) / distance.max(1.0)).ceil().max(1.0);
        let steps = steps as u32;
        (0..=steps).any(|step| {
            let share = f64::from(step) / f64::from(steps);
            wide.contains(x0 + share * (x1 - x0), y0 + share * (y1 - y0))
        })
    };
    stretch.iter().any(|(x, y)| wide.contains(*x, *y)) || stretch.windows(2).any(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_peaks_and_ends() {
        let points = (0..100_000_i32).map(|k| (f64::from(k) / 1000.0, f64::from(k % 7)));
        let mut points: Vec<(f64, f64)> = points.collect();
        points[55_555].1 = 99.0;
        let kept = thinned(points.iter().copied());
        assert!(kept.len() <= 4 * 101, "{}", kept.len());
        assert!(kept.contains(&points[55_555]));
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        assert!(kept.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert_eq!(thinned(points[..3].iter().copied()), points[..3]);
    }
}
