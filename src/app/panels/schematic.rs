//! A small drawing of the method: a section through two neighbouring tiles, with what each computes
//! and owns, its halo, and how far staleness comes (Islam & Wang, Figs. 1, 2, 5 and 7).

use crate::app::state::session::Session;
use crate::app::widgets::theme;
use crate::grid::AxisTiling;
use crate::picture::number;
use crate::problem::{Operator, Stencil};
use crate::run::{MethodName, Report};
use eframe::egui::{
    self, Align2, Color32, Label, Rangef, Rect, RichText, Role, Sense, Stroke, TextStyle, Ui,
    WidgetInfo,
};

/// Height of a tile and of the drawing, in points.
const BAR: f32 = 17.0;
const HEIGHT: f32 = 2.0 * BAR + 42.0;

/// The samples before the words of the key, their gap and that between entries, in points.
const SAMPLE: [f32; 2] = [11.0, 9.0];
const SAMPLE_GAP: f32 = 3.0;
const ENTRY_GAP: f32 = 9.0;

/// The least width of a halo on the screen, in points.
const HALO: f32 = 3.0;

/// The distance between the strokes over stale points, in points.
const HATCH: f32 = 5.0;

/// Points of a tile, from its first to the one after its last, along the section.
#[derive(Clone, Copy)]
struct Section {
    computed: [f32; 2],
    owned: [f32; 2],
    stale: [f32; 2],
    /// Where its halo begins; it is one point wide.
    halo: f32,
}

/// The left and the right one of two inner tiles. Points count from the first of the left one.
fn sections(axis: &AxisTiling, k: usize) -> [Section; 2] {
    let [tile, overlap] = [axis.tile(), axis.overlap()].map(|points| points as f32);
    let border = tile - overlap / 2.0;
    let far = 2.0 * tile - overlap;
    // The first sweep reads a halo that is up to date; after that one more point is stale each time.
    let depth = stale_depth(axis, k) as f32;
    [
        Section {
            computed: [0.0, tile],
            owned: [0.0, border],
            stale: [tile - depth, tile],
            halo: tile,
        },
        Section {
            computed: [tile - overlap, far],
            owned: [border, far],
            stale: [tile - overlap, tile - overlap + depth],
            halo: tile - overlap - 1.0,
        },
    ]
}

/// How many points from a halo are stale after a cycle of k subiterations.
fn stale_depth(axis: &AxisTiling, k: usize) -> usize {
    k.saturating_sub(1).min(axis.tile())
}

/// Draws the section, and what follows from it in a sentence; under it the update formula.
pub fn ui(ui: &mut Ui, session: &Session, report: Option<&Report>) {
    let method = &session.spec.method;
    let tiling = session.tiling();
    // Blocks of a matrix have no halo of one point.
    let is_grid = session.spec.problem.matrix.is_none();
    // Halos that are written during the cycle go stale in another way.
    let is_frozen = method.name == MethodName::Hierarchical && method.schedule().is_jacobi();
    let tiled = tiling.as_ref().filter(|_| is_grid && is_frozen);
    if let Some(axis) = tiled.map(|tiling| tiling.x()).filter(|axis| axis.count() > 1) {
        // With k = ∞ all points of a tile are stale: more sweeps than it has points.
        let k = method.k.finite().unwrap_or(usize::MAX);
        let sentence = sentence(axis, k);
        let size = egui::vec2(ui.available_width(), HEIGHT);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let about = format!("Two neighbouring tiles. {sentence}");
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &about));
        response.on_hover_text(
            "A section through two neighbouring tiles. A tile computes all of its points; it writes back those that it owns and drops the others. Hatched points are stale after a cycle. The halo is frozen during the cycle. The dashed line is the tile border, in the middle of the overlap.",
        );
        draw(ui, rect, axis, k);
        ui.add(Label::new(RichText::new(sentence).small()).wrap());
    }
    let problem = report.map(|report| &report.plan.problem);
    let update = problem.and_then(|problem| match &problem.operator {
        Operator::Stencil(stencil) => Some((
            formula(stencil),
            "The update of Jacobi's iteration, with the numbers of this problem: b is divided by the diagonal of the matrix. A cycle applies it k times in every tile.",
        )),
        Operator::PerPoint(_) => Some((
            per_point_formula(problem.shape.dim()).to_owned(),
            "The update of Jacobi's iteration with coefficients of its own at every point (Eq. 4 of the long version of the paper). A cycle applies it k times in every tile.",
        )),
        Operator::Csr(_) => None,
    });
    if let Some((formula, about)) = update {
        ui.add(Label::new(RichText::new(formula).small()).wrap()).on_hover_text(about);
    }
}

/// What the overlap does about stale points.
fn sentence(axis: &AxisTiling, k: usize) -> String {
    let (stale, kept) = (stale_depth(axis, k), axis.overlap() / 2);
    match (stale, kept) {
        (0, _) => "k = 1: the halo is always up to date, exact Jacobi.".to_owned(),
        (1, 0) => "1 point next to each halo goes stale, and it is owned.".to_owned(),
        (stale, 0) => {
            format!("{stale} points next to each halo go stale, and all of them are owned.")
        }
        (1, _) => "1 point next to each halo goes stale; it is not owned: exact Jacobi.".to_owned(),
        (stale, kept) if stale <= kept => {
            format!(
                "{stale} points next to each halo go stale; none of them is owned: exact Jacobi."
            )
        }
        (stale, kept) => format!(
            "{stale} points next to each halo go stale; overlap drops {kept} of them, and {} {} owned.",
            stale - kept,
            if stale - kept == 1 { "is" } else { "are" }
        ),
    }
}

/// The update of a point from its neighbours, by the entries of its row over the diagonal.
fn formula(stencil: &Stencil) -> String {
    let Stencil { d, a, c, e, f, p, q } = *stencil;
    let all =
        [("u(i−1)", a), ("u(i+1)", c), ("u(j−1)", e), ("u(j+1)", f), ("u(k−1)", p), ("u(k+1)", q)];
    let there: Vec<_> = all.into_iter().filter(|(_, entry)| *entry != 0.0).collect();
    // Relative to the diagonal, as they enter the update.
    let weights = there.iter().map(|(_, entry)| -entry / d);
    let alike = |weight: f64| (weight - weights.clone().next().unwrap_or(0.0)).abs() < 1e-12;
    if !there.is_empty() && weights.clone().all(alike) {
        let sum: Vec<_> = there.iter().map(|(name, _)| *name).collect();
        let count = 1.0 / weights.clone().next().unwrap_or(1.0);
        return format!("u ← b / {} + ({}) / {}", number(d), sum.join(" + "), trimmed(count));
    }
    let terms: Vec<_> = there
        .iter()
        .zip(weights.clone())
        .map(|((name, _), w)| format!("{} {name}", trimmed(w)))
        .collect();
    format!("u ← b / {} + {}", number(d), terms.join(" + ")).replace("+ −", "− ")
}

/// The update where every point has coefficients of its own.
fn per_point_formula(dim: usize) -> &'static str {
    match dim {
        1 => "u(i) ← (b(i) − a(i) u(i−1) − c(i) u(i+1)) / d(i)",
        _ => "u ← (b − a u(i−1) − c u(i+1) − e u(j−1) − f u(j+1)) / d, all of point (i, j)",
    }
}

/// A number with at most three decimals.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').replace('-', "−")
}

fn draw(ui: &Ui, rect: Rect, axis: &AxisTiling, k: usize) {
    let sections = sections(axis, k);
    let (first, last) = (sections[0].computed[0], sections[1].computed[1]);
    let place = |point: f32| rect.left() + (point - first) / (last - first) * rect.width();
    let painter = ui.painter();
    let ink = ui.visuals().text_color();
    let border = place(sections[0].owned[1]);
    for (index, section) in sections.iter().enumerate() {
        let top = rect.top() + index as f32 * (BAR + 4.0);
        let y = Rangef::new(top, top + BAR);
        let bar = |[from, to]: [f32; 2]| Rect::from_x_y_ranges(place(from)..=place(to), y);
        let colour = theme::curve(ui, index);
        painter.rect_filled(bar(section.computed), 0.0, colour.gamma_multiply(0.25));
        painter.rect_filled(bar(section.owned), 0.0, colour.gamma_multiply(0.75));
        hatch(ui, bar(section.stale), ui.visuals().error_fg_color);
        painter.rect_stroke(
            bar(section.computed),
            0.0,
            Stroke::new(1.0, ink),
            egui::StrokeKind::Inside,
        );
        let halo = bar([section.halo, section.halo + 1.0]);
        // However small the tile, its halo can be seen; at the side where it lies.
        let wide = halo.width().max(HALO);
        let halo = match index {
            0 => Rect::from_x_y_ranges(halo.left()..=halo.left() + wide, y),
            _ => Rect::from_x_y_ranges(halo.right() - wide..=halo.right(), y),
        };
        painter.rect_filled(halo, 0.0, ink);
    }
    let foot = rect.top() + 2.0 * BAR + 8.0;
    painter.extend(egui::Shape::dashed_line(
        &[egui::pos2(border, rect.top() - 1.0), egui::pos2(border, foot)],
        Stroke::new(1.5, ink),
        3.0,
        2.0,
    ));
    let font = TextStyle::Small.resolve(ui.style());
    let label = |x: f32, align: Align2, text: &str, colour: Color32| {
        painter.text(egui::pos2(x, foot), align, text, font.clone(), colour);
    };
    let weak = ui.visuals().weak_text_color();
    label(rect.left(), Align2::LEFT_TOP, "left tile", theme::curve(ui, 0));
    label(rect.right(), Align2::RIGHT_TOP, "right tile", theme::curve(ui, 1));
    let overlap = [sections[1].computed[0], sections[0].computed[1]].map(place);
    let line = Stroke::new(1.0, weak);
    painter.hline(overlap[0]..=overlap[1], foot - 2.0, line);
    for end in overlap {
        painter.vline(end, foot - 5.0..=foot, line);
    }
    let at = border.clamp(rect.left() + 88.0, rect.right() - 88.0);
    label(at, Align2::CENTER_TOP, &format!("overlap {}", axis.overlap()), weak);
    key(ui, Rect::from_min_max(egui::pos2(rect.left(), foot + 18.0), rect.max));
}

/// What the parts of a tile are called.
fn key(ui: &Ui, room: Rect) {
    let (ink, tile) = (ui.visuals().text_color(), theme::curve(ui, 0));
    let font = TextStyle::Small.resolve(ui.style());
    let mut left = room.left();
    for (name, fill, is_stale) in [
        ("owned", tile.gamma_multiply(0.75), false),
        ("only computed", tile.gamma_multiply(0.25), false),
        ("stale", tile.gamma_multiply(0.25), true),
        ("halo", ink, false),
    ] {
        let corner = egui::pos2(left, room.top() + 2.0);
        let sample = Rect::from_min_size(corner, SAMPLE.into());
        ui.painter().rect_filled(sample, 0.0, fill);
        if is_stale {
            hatch(ui, sample, ui.visuals().error_fg_color);
        }
        let at = egui::pos2(sample.right() + SAMPLE_GAP, room.top());
        let text = ui.painter().text(at, Align2::LEFT_TOP, name, font.clone(), ink);
        left = text.right() + ENTRY_GAP;
    }
}

/// Strokes over a part of a tile.
fn hatch(ui: &Ui, part: Rect, colour: Color32) {
    if part.width() < 1.0 {
        return;
    }
    let painter = ui.painter().with_clip_rect(part.intersect(ui.clip_rect()));
    painter.rect_filled(part, 0.0, colour.gamma_multiply(0.18));
    let steps = ((part.width() + part.height()) / HATCH).ceil() as usize;
    for step in 0..=steps {
        let x = part.left() + step as f32 * HATCH;
        let ends = [egui::pos2(x, part.top()), egui::pos2(x - part.height(), part.bottom())];
        painter.line_segment(ends, Stroke::new(1.0, colour));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Shape;

    fn axis(tile: usize, overlap: usize) -> AxisTiling {
        let tiling = crate::grid::Tiling::new(&[256, 256], &[tile; 2], &[overlap; 2]).unwrap();
        tiling.x().clone()
    }

    #[test]
    fn stale_points_are_owned_unless_the_overlap_is_wide_enough() {
        for (k, overlap, expected) in [
            (1, 0, "up to date"),
            (16, 0, "15 points next to each halo go stale, and all of them are owned."),
            (16, 4, "overlap drops 2 of them, and 13 are owned."),
            (8, 14, "7 points next to each halo go stale; none of them is owned: exact Jacobi."),
            (256, 4, "32 points next to each halo"),
        ] {
            let text = sentence(&axis(32, overlap), k);
            assert!(text.contains(expected), "{text}");
            let tiling = crate::grid::Tiling::new(&[256, 256], &[32; 2], &[overlap; 2]).unwrap();
            assert_eq!(text.contains("exact Jacobi"), tiling.is_exact(k), "{text}");
            let [left, right] = sections(&axis(32, overlap), k);
            assert_eq!(left.owned[1], right.owned[0]);
            // What is owned and stale, as the sentence says.
            let owned = (left.owned[1] - left.stale[0]).max(0.0) as usize;
            assert_eq!(owned > 0, !tiling.is_exact(k));
        }
    }

    #[test]
    fn the_formula_has_the_numbers_of_the_stencil() {
        let shape = Shape::grid_2d(8, 8).unwrap();
        let poisson = formula(&Stencil::poisson(&shape));
        assert_eq!(poisson, "u ← b / 324 + (u(i−1) + u(i+1) + u(j−1) + u(j+1)) / 4");
        let stencil = Stencil { d: 4.0, a: -1.5, c: -0.5, e: -1.0, f: 1.0, ..Stencil::default() };
        let other = formula(&stencil);
        assert_eq!(other, "u ← b / 4 + 0.375 u(i−1) + 0.125 u(i+1) + 0.25 u(j−1) − 0.25 u(j+1)");
    }
}
