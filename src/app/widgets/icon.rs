//! The icons of buttons, drawn rather than typed: no font has them all in one style.

use eframe::egui::{self, Atom, Color32, Painter, Rect, Shape, Stroke};

/// Side of an icon, in points.
const SIDE: f32 = 11.0;

#[derive(Clone, Copy, Debug)]
pub enum Icon {
    Run,
    Pause,
    Step,
    StepBack,
    Reset,
    Sun,
    Moon,
}

impl Icon {
    /// The icon as a part of a button, in the colour of its text.
    pub fn atom(self) -> Atom<'static> {
        Atom::paint(egui::Vec2::splat(SIDE), move |ui, args| {
            let rect = Rect::from_center_size(args.rect.center(), egui::Vec2::splat(SIDE));
            self.paint(ui.painter(), rect, args.fallback_text_color);
        })
    }

    fn paint(self, painter: &Painter, rect: Rect, colour: Color32) {
        let at = |x: f32, y: f32| rect.min + egui::vec2(x, y) * SIDE;
        let bar = |from: f32, to: f32| {
            painter.rect_filled(Rect::from_min_max(at(from, 0.04), at(to, 0.96)), 1.0, colour);
        };
        let triangle = |right: f32| {
            let corners = vec![at(0.1, 0.0), at(right, 0.5), at(0.1, 1.0)];
            painter.add(Shape::convex_polygon(corners, colour, Stroke::NONE));
        };
        let centre = rect.center();
        match self {
            Self::Sun => {
                painter.circle_filled(centre, SIDE * 0.24, colour);
                for ray in 0..8 {
                    let angle = ray as f32 / 8.0 * std::f32::consts::TAU;
                    let way = egui::vec2(angle.cos(), angle.sin()) * SIDE;
                    let ends = [centre + way * 0.36, centre + way * 0.52];
                    painter.line_segment(ends, Stroke::new(1.3, colour));
                }
            }
            Self::Moon => {
                // A crescent: the outer arc there, the inner one back.
                let point = |middle: f32, radius: f32, turn: f32| {
                    let angle = turn * std::f32::consts::TAU;
                    centre + egui::vec2(middle + radius * angle.cos(), radius * angle.sin()) * SIDE
                };
                let outer = (0..=20).map(|step| point(0.0, 0.48, 0.12 + 0.76 * step as f32 / 20.0));
                painter.add(Shape::line(outer.collect(), Stroke::new(1.4, colour)));
                let inner =
                    (0..=20).map(|step| point(0.26, 0.35, 0.19 + 0.62 * step as f32 / 20.0));
                painter.add(Shape::line(inner.collect(), Stroke::new(1.4, colour)));
            }
            Self::Run => triangle(1.0),
            Self::Pause => {
                bar(0.1, 0.38);
                bar(0.62, 0.9);
            }
            Self::Step => {
                triangle(0.75);
                bar(0.78, 0.98);
            }
            Self::StepBack => {
                bar(0.02, 0.22);
                let corners = vec![at(0.9, 0.0), at(0.25, 0.5), at(0.9, 1.0)];
                painter.add(Shape::convex_polygon(corners, colour, Stroke::NONE));
            }
            Self::Reset => {
                // An arc that is open at its upper right, with a tip at its end.
                let point = |turn: f32| {
                    let angle = turn * std::f32::consts::TAU;
                    centre + egui::vec2(angle.cos(), angle.sin()) * SIDE * 0.42
                };
                let arc: Vec<_> =
                    (0..=24).map(|step| point(0.02 + 0.78 * step as f32 / 24.0)).collect();
                painter.add(Shape::line(arc, Stroke::new(1.6, colour)));
                let corners = vec![at(0.44, -0.16), at(0.44, 0.30), at(0.86, 0.07)];
                painter.add(Shape::convex_polygon(corners, colour, Stroke::NONE));
            }
        }
    }
}
