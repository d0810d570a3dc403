//! What all figures share: lengths that grow with the picture, the head, and marked axes.

use crate::picture::axis::ticks::Tick;
use crate::picture::colour::theme::{Palette, Rgb, Theme};
use crate::picture::draw::canvas::{Anchor, Canvas, Stroke, Style, round};
use crate::picture::draw::text::{Weight, fit, width, wrap};

/// A figure is at least this wide and high, in pixels; less has no room for text.
pub const SMALLEST_SIDE: u32 = 64;

/// A rectangle of whole pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub fn right(self) -> f64 {
        self.x + self.width
    }

    pub fn bottom(self) -> f64 {
        self.y + self.height
    }

    pub fn contains(self, x: f64, y: f64) -> bool {
        (self.x..=self.right()).contains(&x) && (self.y..=self.bottom()).contains(&y)
    }
}

/// What a figure is drawn on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    /// Pixels across; 64 to [`LARGEST_SIDE`](crate::picture::draw::render::LARGEST_SIDE), best from 300.
    pub width: u32,
    /// Pixels down; 64 to [`LARGEST_SIDE`](crate::picture::draw::render::LARGEST_SIDE), best from 240.
    pub height: u32,
    /// The background that it is made for.
    pub theme: Theme,
    /// The font size of labels in pixels; `None` for one that suits the size.
    pub font: Option<f64>,
}

/// All lengths of a figure follow from its size in pixels.
pub(crate) struct Layout {
    pub width: u32,
    pub height: u32,
    theme: Theme,
    /// The font size of labels, in pixels; the measure of everything else.
    pub unit: f64,
    pub palette: Palette,
}

impl Layout {
    pub fn new(page: &Page) -> Self {
        let Page { theme, font, .. } = *page;
        let width = page.width.clamp(SMALLEST_SIDE, crate::picture::draw::render::LARGEST_SIDE);
        let height = page.height.clamp(SMALLEST_SIDE, crate::picture::draw::render::LARGEST_SIDE);
        let (w, h) = (f64::from(width), f64::from(height));
        // A 56th of the mean side reads well from the back of a room; long strips get smaller
        // text, small pictures the smallest legible one.
        let suiting = ((w * h).sqrt() / 56.0).min(w.min(h) / 20.0).max(9.0);
        // Text so large that it leaves no room for the plot is made smaller.
        let unit = font.map_or(suiting, |font| font.min(w.min(h) / 12.0).max(4.0));
        Self { width, height, theme, unit, palette: theme.palette() }
    }

    /// A picture with nothing on it yet but its background, if it has one.
    pub fn canvas(&self) -> Canvas {
        Canvas::new(self.width, self.height, self.background())
    }

    /// The colour behind everything, if there is one.
    pub fn background(&self) -> Option<Rgb> {
        (!self.theme.is_transparent()).then_some(self.palette.background)
    }

    /// Between content and the edge of the picture.
    pub fn margin(&self) -> f64 {
        (1.1 * self.unit).round()
    }

    /// The length of tick marks.
    pub fn mark(&self) -> f64 {
        (0.35 * self.unit).round().max(2.0)
    }

    /// Between a tick mark and its label.
    pub fn gap(&self) -> f64 {
        (0.3 * self.unit).round().max(2.0)
    }

    /// The width of thin lines, in whole pixels.
    pub fn hairline(&self) -> f64 {
        (self.unit / 16.0).round().max(1.0)
    }

    /// The labels of axes.
    pub fn label(&self) -> Style {
        Style { size: self.unit, weight: Weight::Regular, colour: self.palette.ink }
    }

    /// The labels of ticks.
    pub fn tick_label(&self) -> Style {
        Style { size: 0.88 * self.unit, ..self.label() }
    }

    /// The width of the widest tick label.
    pub fn widest(&self, ticks: &[Tick]) -> f64 {
        let size = self.tick_label().size;
        let widths = ticks.iter().map(|tick| width(&tick.label, Weight::Regular, size));
        widths.fold(0.0, f64::max).ceil()
    }

    /// The height of an axis below a plot: marks, their labels, and the axis' label if any.
    pub fn x_axis_height(&self, label: &str) -> f64 {
        let label = if label.is_empty() { 0.0 } else { 1.45 * self.unit };
        (self.mark() + self.gap() + 0.75 * self.unit + label).round()
    }

    /// The width of a label that reads upwards, with the room around it.
    pub fn upright_label_width(&self, label: &str) -> f64 {
        if label.is_empty() { 0.0 } else { (1.3 * self.unit).round() }
    }

    fn axis_stroke(&self) -> Stroke {
        Stroke { crisp: true, ..Stroke::solid(self.hairline(), self.palette.axis) }
    }

    /// A thin line around a rectangle, outside it, so that no value is covered.
    pub fn frame(&self, canvas: &mut Canvas, area: Area) {
        let half = self.hairline() / 2.0;
        let (x, y) = (round(area.x - half), round(area.y - half));
        let (w, h) = (round(area.width + 2.0 * half), round(area.height + 2.0 * half));
        canvas.line(&format!("M{x} {y}h{w}v{h}h-{w}z"), self.axis_stroke());
    }

    /// The ticks and the label of the axis below `area`.
    pub fn x_axis(&self, canvas: &mut Canvas, area: Area, ticks: &[Tick], label: &str) {
        let style = self.tick_label();
        let start = area.bottom() + self.hairline();
        let middle = start + self.mark() + self.gap() + 0.37 * style.size;
        for tick in ticks {
            let x = snapped(area.x + tick.position * area.width, self.hairline());
            canvas.line(&format!("M{} {}v{}", x, round(start), self.mark()), self.axis_stroke());
            // Labels at the ends stay inside the picture.
            let half = 0.5 * width(&tick.label, style.weight, style.size);
            let middle_x = x.min(f64::from(self.width) - half - 2.0).max(half + 2.0);
            canvas.words(middle_x, middle, Anchor::Middle, style, &tick.label);
        }
        let label_style = self.label();
        let room = 2.0
            * (area.x + 0.5 * area.width).min(f64::from(self.width) - area.x - 0.5 * area.width);
        let label = fit(label, label_style.weight, label_style.size, room - 4.0);
        let y = middle + 1.5 * self.unit;
        canvas.words(area.x + 0.5 * area.width, y, Anchor::Middle, label_style, &label);
    }

    /// The ticks of the axis left of `area`, and its label at `label_x`. Positions run downwards if
    /// `downwards`, and upwards if not.
    pub fn y_axis(
        &self,
        canvas: &mut Canvas,
        area: Area,
        ticks: &[Tick],
        downwards: bool,
        label: (&str, f64),
    ) {
        let start = area.x - self.hairline();
        for tick in ticks {
            let place = if downwards { tick.position } else { 1.0 - tick.position };
            let y = snapped(area.y + place * area.height, self.hairline());
            canvas.line(&format!("M{} {}h-{}", round(start), y, self.mark()), self.axis_stroke());
            let x = start - self.mark() - self.gap();
            canvas.words(x, y, Anchor::End, self.tick_label(), &tick.label);
        }
        self.upright_label(canvas, area, label);
    }

    /// The ticks of the axis right of `area`, upwards, and its label at `label_x`.
    pub fn right_axis(
        &self,
        canvas: &mut Canvas,
        area: Area,
        scale: Area,
        ticks: &[Tick],
        label: (&str, f64),
    ) {
        let start = scale.right() + self.hairline();
        for tick in ticks {
            let y = snapped(scale.bottom() - tick.position * scale.height, self.hairline());
            canvas.line(&format!("M{} {}h{}", round(start), y, self.mark()), self.axis_stroke());
            let x = start + self.mark() + self.gap();
            canvas.words(x, y, Anchor::Start, self.tick_label(), &tick.label);
        }
        self.upright_label(canvas, area, label);
    }

    /// A label beside `area`, reading upwards, centred on the abscissa it comes with. One that is
    /// longer than the area is high extends below it, beside the x axis, not above it, where the
    /// title is.
    fn upright_label(&self, canvas: &mut Canvas, area: Area, (label, x): (&str, f64)) {
        let style = self.label();
        let room = f64::from(self.height) - self.margin() - area.y;
        let label = fit(label, style.weight, style.size, room.max(0.0));
        let length = width(&label, style.weight, style.size);
        let middle = area.y + 0.5 * area.height.max(length);
        canvas.words_up(x, middle, style, &label);
    }
}

/// Where a line of whole pixels' width has to be centred to cover whole pixels.
pub(crate) fn snapped(place: f64, width: f64) -> f64 {
    let half = if width.round() % 2.0 == 1.0 { 0.5 } else { 0.0 };
    round((place - half).round() + half)
}

/// The title and the line of settings, laid out but not placed yet.
pub(crate) struct Head {
    title: (String, Style),
    subtitle: (Vec<String>, Style),
    /// From the top of the picture to where the plot may begin.
    pub height: f64,
    margin: f64,
    width: f64,
}

impl Head {
    /// A subtitle takes two lines where it is long. One that has a line break always takes two,
    /// and where all stands does not depend on the second: it may change from frame to frame.
    pub fn new(layout: &Layout, title: &str, subtitle: &str) -> Self {
        let Layout { unit, ref palette, .. } = *layout;
        let margin = layout.margin();
        let room = f64::from(layout.width) - 2.0 * margin;
        // A long title is set smaller before it is cut.
        let full = 1.4 * unit;
        let size = (full * room / width(title, Weight::SemiBold, full).max(1.0)).clamp(unit, full);
        let style = Style { size, weight: Weight::SemiBold, colour: palette.ink };
        let title = (fit(title, style.weight, size, room), style);
        let style = Style { size: 0.92 * unit, weight: Weight::Regular, colour: palette.soft };
        let (lines, lasting) = match subtitle.split_once('\n') {
            Some((first, second)) => {
                ([first, second].map(|line| fit(line, style.weight, style.size, room)).to_vec(), 1)
            }
            None => (wrap(subtitle, style.weight, style.size, room, 2), 2),
        };
        let subtitle = (lines, style);
        let lasting = subtitle.0.iter().take(lasting);
        let widths = lasting.map(|line| width(line, style.weight, style.size));
        let width = widths.fold(width(&title.0, title.1.weight, title.1.size), f64::max);
        let title_height = if title.0.is_empty() { 0.0 } else { 1.75 * unit };
        let lines = subtitle.0.len() as f64;
        let below = if title_height + lines > 0.0 { 0.55 * unit } else { 0.0 };
        let height = (margin + title_height + 1.3 * unit * lines + below).round();
        Self { title, subtitle, height, margin, width }
    }

    /// Draws it `down` pixels from the top, flush with the first of these abscissas from which it
    /// fits, or with the margin.
    pub fn draw(&self, canvas: &mut Canvas, layout: &Layout, down: f64, flush_with: &[f64]) {
        let rightmost = f64::from(layout.width) - self.margin - self.width;
        let fits = flush_with.iter().copied().find(|x| *x <= rightmost);
        let x = fits.unwrap_or(self.margin);
        let mut y = self.margin + down;
        if !self.title.0.is_empty() {
            canvas.words(x, y + 0.7 * layout.unit, Anchor::Start, self.title.1, &self.title.0);
            y += 1.75 * layout.unit;
        }
        let style = self.subtitle.1;
        for line in &self.subtitle.0 {
            let room = f64::from(layout.width) - self.margin - x;
            let line = fit(line, style.weight, style.size, room);
            canvas.words(x, y + 0.6 * layout.unit, Anchor::Start, style, &line);
            y += 1.3 * layout.unit;
        }
    }
}

/// How many ticks of an axis find room if each takes `each` pixels.
pub(crate) fn room_for(length: f64, each: f64, most: usize) -> usize {
    ((length / each).max(0.0) as usize).clamp(2, most)
}

/// The colour of a line over data: light on dark maps, dark on the others.
pub(crate) const fn over(dark: bool) -> Rgb {
    if dark { [0xff; 3] } else { [0; 3] }
}
