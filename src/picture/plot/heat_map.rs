//! Maps with axes and a colour bar.

use crate::picture::axis::scale::{End, Range, Scale};
use crate::picture::axis::ticks::{Tick, bar_ticks, linear_ticks};
use crate::picture::colour::map::{COLOURS, ColourMap};
use crate::picture::colour::paint::{INFINITE, Samples, colours};
use crate::picture::draw::canvas::{Anchor, Canvas, Stroke, round};
use crate::picture::draw::layout::{Area, Head, Layout, Page, over, room_for, snapped};
use crate::picture::draw::png::{SCREEN_DPI, encode_png};
use crate::picture::draw::text::{Weight, fit, width};

/// Tile borders nearer than this many pixels would hide the map.
const NEAREST_BORDERS: f64 = 4.0;

/// An axis of a [`HeatMapFigure`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapAxis<'a> {
    /// What is written along it; may be empty.
    pub label: &'a str,
    /// Its value at the left or upper edge of the map.
    pub start: f64,
    /// Its value at the right or lower edge of the map; more than `start`.
    pub end: f64,
}

/// A map of a [`HeatMapFigure`].
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    /// What stands above it; may be empty.
    pub title: &'a str,
    /// The values, which divide the x axis evenly. More samples than pixels are pooled, see
    /// [`Samples::pooled`].
    pub samples: Samples<'a>,
    /// Where the samples end on the y axis, which they divide evenly down to there; below it no values
    /// are known.
    pub end: f64,
    /// Where tile borders run down the map, in units of the x axis; empty to draw none.
    pub tile_borders_x: &'a [f64],
    /// Where tile borders run across the map, in units of the y axis; empty to draw none.
    pub tile_borders_y: &'a [f64],
    /// Where devices that share the grid meet, in units of the y axis: dashed, since what lies along them is to be seen.
    pub device_borders_y: &'a [f64],
    /// Borders between samples, from corner to corner, in samples; empty to draw none.
    pub cell_borders: &'a [[[f32; 2]; 2]],
    /// Parts that are outlined.
    pub outlines: &'a [Outline],
    /// Lines through corners of cells.
    pub lines: &'a [CornerLine],
}

/// A rectangle of a [`Panel`] with a line around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outline {
    /// Its left and right end, in units of the x axis.
    pub x: [f64; 2],
    /// Its upper and lower end, in units of the y axis.
    pub y: [f64; 2],
    /// Red, green, blue.
    pub colour: [u8; 3],
}

/// A line of a [`Panel`] through corners of its cells.
#[derive(Clone, Debug, PartialEq)]
pub struct CornerLine {
    /// In units of the axes.
    pub corners: Vec<[f64; 2]>,
    /// Red, green, blue.
    pub colour: [u8; 3],
}

/// A heat map with axes, colour bar, title and settings; or several, with the same axes and colours.
#[derive(Clone, Copy, Debug)]
pub struct HeatMapFigure<'a> {
    /// The first line; may be empty.
    pub title: &'a str,
    /// The line of settings below it; takes two lines when it is long; may be empty.
    pub subtitle: &'a str,
    /// The maps: side by side, or one above the other where they are larger so.
    pub panels: &'a [Panel<'a>],
    /// Across, to the right.
    pub x_axis: MapAxis<'a>,
    /// Down: its start is on top.
    pub y_axis: MapAxis<'a>,
    /// Whether samples are drawn as squares.
    pub equal_aspect: bool,
    /// Where values lie on the colour bar.
    pub scale: Scale,
    /// Their colours.
    pub map: ColourMap,
    /// What is written along the colour bar, such as `|residual|`; may be empty.
    pub value_label: &'a str,
    /// What it is drawn on.
    pub page: Page,
}

/// Where everything goes.
struct HeatMapLayout {
    /// How far everything moves down, so that the figure is centred.
    down: f64,
    /// Where the maps go, and whether they are one above the other.
    maps: Vec<Area>,
    stacked: bool,
    bar: Area,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    bar_ticks: Vec<Tick>,
    y_label_x: f64,
    value_label_x: f64,
}

/// The room between maps, and that for their titles.
struct Gaps {
    across: f64,
    down: f64,
    title: f64,
}

impl HeatMapFigure<'_> {
    /// The figure as an SVG document. Text stays text; the map is embedded as PNG.
    pub fn svg(&self) -> String {
        let layout = Layout::new(&self.page);
        let mut canvas = layout.canvas();
        let head = Head::new(&layout, self.title, self.subtitle);
        let plan = self.plan(&layout, &head);
        let left = plan.maps.first().map_or(0.0, |map| map.x);
        let flush_with = [left, plan.y_label_x - 0.5 * layout.unit];
        head.draw(&mut canvas, &layout, plan.down, &flush_with);
        for (index, (panel, map)) in self.panels.iter().zip(&plan.maps).enumerate() {
            self.draw_title(&mut canvas, &layout, panel, *map);
            self.draw_map(&mut canvas, &layout, panel, *map);
            if !plan.stacked || index + 1 == plan.maps.len() {
                layout.x_axis(&mut canvas, *map, &plan.x_ticks, self.x_axis.label);
            }
            if plan.stacked || index == 0 {
                let y_label = (self.y_axis.label, plan.y_label_x);
                layout.y_axis(&mut canvas, *map, &plan.y_ticks, true, y_label);
            }
        }
        self.draw_bar(&mut canvas, &layout, plan.bar);
        let value_label = (self.value_label, plan.value_label_x);
        let beside = bar_with_ends(plan.bar);
        layout.right_axis(&mut canvas, beside, plan.bar, &plan.bar_ticks, value_label);
        canvas.finish()
    }

    fn plan(&self, layout: &Layout, head: &Head) -> HeatMapLayout {
        let Layout { unit, .. } = *layout;
        let (w, h) = (f64::from(layout.width), f64::from(layout.height));
        let margin = layout.margin();
        // The uppermost tick label reaches half a line above the map.
        let top = head.height.max(margin + 0.5 * unit);
        let bottom = margin + layout.x_axis_height(self.x_axis.label);
        let room_down = (h - top - bottom).floor().max(8.0);

        // Ticks are chosen for the room there is; a map made smaller by its aspect takes fewer,
        // never wider ones.
        let y_most = |height| whole_steps(&self.y_axis, room_for(height, 3.4 * unit, 9));
        let bar_most = |height| room_for(height, 2.6 * unit, 12);
        let y_ticks = axis_ticks(&self.y_axis, y_most(room_down));
        let labels =
            |height: f64| bar_ticks(&self.scale, bar_most(height), BAR_APART * unit / height);
        let widest = labels(room_down);
        let mark = layout.mark() + layout.gap() + layout.hairline();
        let left = layout.upright_label_width(self.y_axis.label) + layout.widest(&y_ticks) + mark;
        let bar_width = (1.1 * unit).round();
        let bar_gap = (1.3 * unit).round();
        let right = bar_gap
            + bar_width
            + mark
            + layout.widest(&widest)
            + layout.gap()
            + layout.upright_label_width(self.value_label);
        let room_across = (w - 2.0 * margin - left - right).floor().max(8.0);

        let size = layout.tick_label().size;
        let longest = axis_ticks(&self.x_axis, 9);
        let each = longest.iter().map(|tick| width(&tick.label, Weight::Regular, size));
        let x_label = each.fold(2.0 * unit, f64::max);
        let titled = self.panels.iter().any(|panel| !panel.title.is_empty());
        let title = if titled { (1.65 * unit).round() } else { 0.0 };
        // The last label below a map and the first below the next reach half their width beyond.
        let gaps =
            Gaps { across: (x_label + 0.4 * unit).round(), down: (0.9 * unit).round(), title };
        let (stacked, (map_width, map_height)) = self.arrange(room_across, room_down, &gaps);
        let count = self.panels.len().max(1);
        let (across, down) = if stacked { (1, count) } else { (count, 1) };
        let all = |count: usize, each: f64, gap: f64| {
            let count = count as f64;
            count * each + (count - 1.0) * gap
        };
        let block_width = all(across, map_width, gaps.across);
        let block_height = all(down, map_height + title, gaps.down);
        let x = (margin + left + 0.5 * (room_across - block_width)).round().max(margin);
        let moved = (0.5 * (room_down - block_height)).round().max(0.0);
        let place = |index: usize| {
            let (col, row) = if stacked { (0, index) } else { (index, 0) };
            Area {
                x: x + col as f64 * (map_width + gaps.across),
                y: top + moved + title + row as f64 * (map_height + title + gaps.down),
                width: map_width,
                height: map_height,
            }
        };
        let maps: Vec<Area> = (0..count).map(place).collect();
        // Marks of clipped ends take their room from the bar, so that it is as high as the maps.
        let end = end_height(bar_width);
        let (first, last) = (place(0), place(count - 1));
        let bar = Area {
            x: last.right() + bar_gap,
            y: first.y + end,
            width: bar_width,
            height: (last.bottom() - first.y - 2.0 * end).max(1.0),
        };
        let (y_ticks, bar_marks) =
            (axis_ticks(&self.y_axis, y_most(map_height)), labels(bar.height));
        let x_most = whole_steps(&self.x_axis, room_for(map_width, x_label + 1.6 * unit, 11));
        let x_ticks = axis_ticks(&self.x_axis, x_most);
        let half_label = 0.5 * unit;
        let bar_labels = bar.right() + mark + layout.widest(&bar_marks) + layout.gap();
        HeatMapLayout {
            y_label_x: x - mark - layout.widest(&y_ticks) - layout.gap() - half_label,
            value_label_x: bar_labels + half_label,
            down: moved,
            maps,
            stacked,
            bar,
            x_ticks,
            y_ticks,
            bar_ticks: bar_marks,
        }
    }

    /// Whether maps are one above the other, and how large each is: whichever makes them larger.
    fn arrange(&self, room_across: f64, room_down: f64, gaps: &Gaps) -> (bool, (f64, f64)) {
        let others = (self.panels.len().max(1) - 1) as f64;
        let count = others + 1.0;
        let each = |room: f64| (room / count).floor().max(8.0);
        let beside = self
            .map_size(each(room_across - others * gaps.across), (room_down - gaps.title).max(8.0));
        let below =
            self.map_size(room_across, each(room_down - count * gaps.title - others * gaps.down));
        if self.panels.len() > 1 && below.0 * below.1 > beside.0 * beside.1 {
            (true, below)
        } else {
            (false, beside)
        }
    }

    /// The size of a map in whole pixels, within the room. Cells of several pixels get a whole
    /// number of them where that costs little, so that all look alike.
    fn map_size(&self, room_across: f64, room_down: f64) -> (f64, f64) {
        let most = |of: &dyn Fn(Samples<'_>) -> usize| {
            self.panels.iter().map(|panel| of(panel.samples)).fold(1, usize::max) as f64
        };
        let (cols, rows) = (most(&|samples| samples.cols()), most(&|samples| samples.rows()));
        let whole = |cell: f64| if cell.floor() > 0.85 * cell { cell.floor() } else { cell };
        let (across, down) = (room_across / cols, room_down / rows);
        let (across, down) = if self.equal_aspect {
            let cell = whole(across.min(down));
            (cell, cell)
        } else {
            (whole(across), whole(down))
        };
        ((cols * across).round().max(1.0), (rows * down).round().max(1.0))
    }

    pub(crate) fn draw_title(
        &self,
        canvas: &mut Canvas,
        layout: &Layout,
        panel: &Panel<'_>,
        area: Area,
    ) {
        let style = layout.label();
        let title = fit(panel.title, style.weight, style.size, area.width);
        canvas.words(area.x, area.y - 0.9 * layout.unit, Anchor::Start, style, &title);
    }

    pub(crate) fn draw_map(
        &self,
        canvas: &mut Canvas,
        layout: &Layout,
        panel: &Panel<'_>,
        area: Area,
    ) {
        canvas.rect(area.x, area.y, area.width, area.height, layout.palette.missing, 1.0);
        let range = Range::new(self.y_axis.start, self.y_axis.end);
        let share = ((panel.end - range.lo()) / (range.hi() - range.lo())).clamp(0.0, 1.0);
        let known = Area { height: (share * area.height).round(), ..area };
        let pooled = panel.samples.pooled(known.width as usize, known.height as usize);
        let (cols, rows, values) = pooled;
        if let Ok(samples) = Samples::new(cols, rows, &values) {
            let mut pixels = Vec::new();
            colours(&samples, &self.scale, self.map, &mut pixels);
            draw_pixels(canvas, known, cols, rows, pixels);
        }
        self.draw_borders(canvas, layout, panel, area);
        layout.frame(canvas, area);
        self.draw_outlines(canvas, layout, panel, area);
    }

    /// Lines that are seen on any map: each lies on a wider dark one.
    fn draw_outlines(&self, canvas: &mut Canvas, layout: &Layout, panel: &Panel<'_>, area: Area) {
        let line = (layout.unit / 5.0).round().max(1.0);
        let place = |axis: &MapAxis<'_>, at: f64, start: f64, length: f64| {
            snapped(start + (at - axis.start) / (axis.end - axis.start) * length, line)
        };
        let mut draw = |path: &str, colour| {
            let under = Stroke {
                opacity: 0.6,
                ..Stroke::solid(line + 2.0 * layout.hairline(), over(false))
            };
            for stroke in [under, Stroke::solid(line, colour)] {
                canvas.line(path, Stroke { crisp: true, ..stroke });
            }
        };
        for Outline { x, y, colour } in panel.outlines {
            let [left, right] = x.map(|x| place(&self.x_axis, x, area.x, area.width));
            let [top, bottom] = y.map(|y| place(&self.y_axis, y, area.y, area.height));
            let (width, height) = (round(right - left), round(bottom - top));
            draw(&format!("M{left} {top}h{width}v{height}h-{width}z"), *colour);
        }
        for CornerLine { corners, colour } in panel.lines {
            let mut path = String::new();
            for [x, y] in corners {
                let x = place(&self.x_axis, *x, area.x, area.width);
                let y = place(&self.y_axis, *y, area.y, area.height);
                path.push_str(&format!("{}{x} {y}", if path.is_empty() { 'M' } else { 'L' }));
            }
            if !path.is_empty() {
                draw(&path, *colour);
            }
        }
    }

    fn draw_borders(&self, canvas: &mut Canvas, layout: &Layout, panel: &Panel<'_>, area: Area) {
        let line = layout.hairline();
        let places = |axis: &MapAxis<'_>, borders: &[f64], start: f64, length: f64| -> Vec<f64> {
            let range = Range::new(axis.start, axis.end);
            let place = |border: &f64| (border - range.lo()) / (range.hi() - range.lo());
            let inside = borders.iter().map(place).filter(|place| *place > 0.0 && *place < 1.0);
            let places: Vec<f64> =
                inside.map(|place| snapped(start + place * length, line)).collect();
            let near = |pair: &[f64]| (pair[1] - pair[0]).abs() < NEAREST_BORDERS * line;
            if places.windows(2).any(near) { Vec::new() } else { places }
        };
        let mut path = String::new();
        for x in places(&self.x_axis, panel.tile_borders_x, area.x, area.width) {
            path.push_str(&format!("M{x} {}v{}", round(area.y), round(area.height)));
        }
        for y in places(&self.y_axis, panel.tile_borders_y, area.y, area.height) {
            path.push_str(&format!("M{} {y}h{}", round(area.x), round(area.width)));
        }
        let [cols, rows] = [panel.samples.cols(), panel.samples.rows()].map(|cells| cells as f64);
        let corner = |[x, y]: [f32; 2]| {
            let [x, y] = [f64::from(x) / cols * area.width, f64::from(y) / rows * area.height];
            format!("{} {}", snapped(area.x + x, line), snapped(area.y + y, line))
        };
        for [from, to] in panel.cell_borders {
            path.push_str(&format!("M{}L{}", corner(*from), corner(*to)));
        }
        if !path.is_empty() {
            let dark_map = !self.map.is_diverging() && self.map != ColourMap::Turbo;
            let colour = over(dark_map);
            let stroke = Stroke { opacity: 0.35, crisp: true, ..Stroke::solid(line, colour) };
            canvas.line(&path, stroke);
        }
        let path: String = places(&self.y_axis, panel.device_borders_y, area.y, area.height)
            .iter()
            .map(|y| format!("M{} {y}h{}", round(area.x), round(area.width)))
            .collect();
        if !path.is_empty() {
            // A light line on a wider dark one is seen on any map.
            let dash = Some((layout.unit / 2.0).round().max(2.0));
            for (width, dark) in [(4.0 * line, false), (2.0 * line, true)] {
                canvas.line(&path, Stroke { dash, ..Stroke::solid(width, over(dark)) });
            }
        }
    }

    pub(crate) fn draw_bar(&self, canvas: &mut Canvas, layout: &Layout, bar: Area) {
        let upwards = self.map.table().iter().rev().flatten().copied().collect();
        draw_pixels(canvas, bar, 1, COLOURS, upwards);
        layout.frame(canvas, bar);
        // A triangle marks that there are values beyond that end, in the colour that they get. Infinite ones
        // have a colour of their own.
        let half = layout.hairline() / 2.0;
        let end = end_height(bar.width) - layout.hairline();
        let ends =
            [(End::High, COLOURS - 1, bar.y - half, -end), (End::Low, 0, bar.bottom() + half, end)];
        for (which, step, base, rise) in ends {
            let is_infinite =
                which == End::High && self.panels.iter().any(|panel| panel.samples.has_infinite());
            let clips = |panel: &Panel<'_>| panel.samples.clip(&self.scale, which);
            if !(is_infinite || self.panels.iter().any(clips)) {
                continue;
            }
            let [r, g, b, _] = if is_infinite { INFINITE } else { self.map.table()[step] };
            if is_infinite {
                let x = bar.right() + layout.mark() + layout.gap();
                let style = layout.tick_label();
                canvas.words(x, round(base + 0.5 * rise), Anchor::Start, style, "∞");
            }
            let path = format!(
                "M{} {}h{}L{} {}z",
                round(bar.x - half),
                round(base),
                round(bar.width + 2.0 * half),
                round(bar.x + 0.5 * bar.width),
                round(base + rise)
            );
            canvas.area(&path, [r, g, b], 1.0);
            canvas.line(&path, Stroke::solid(layout.hairline(), layout.palette.axis));
        }
    }
}

/// The bar with the room of the marks at its ends: as high as what is beside it.
pub(crate) fn bar_with_ends(bar: Area) -> Area {
    let end = end_height(bar.width);
    Area { y: bar.y - end, height: bar.height + 2.0 * end, ..bar }
}

/// The least distance of the label of an end of the bar from other labels, in font sizes.
pub(crate) const BAR_APART: f64 = 1.3;

/// The height of the mark of a clipped end, with the line around it.
pub(crate) fn end_height(bar_width: f64) -> f64 {
    (0.75 * bar_width).round()
}

/// An axis that counts points or cycles has no marks between two of them.
pub(crate) fn whole_steps(axis: &MapAxis<'_>, most: usize) -> usize {
    let whole = axis.start.fract() == 0.0 && axis.end.fract() == 0.0;
    let span = (axis.end - axis.start).abs();
    // From a dozen steps on, ticks are whole anyway.
    if whole && span < 12.0 { most.min(span as usize + 1) } else { most }
}

/// The ticks of an axis, at most `most`.
pub(crate) fn axis_ticks(axis: &MapAxis<'_>, most: usize) -> Vec<Tick> {
    let range = Range::new(axis.start, axis.end);
    linear_ticks(range.lo(), range.hi(), most)
}

/// Embeds RGBA pixels. Sizes that PNG cannot say are sizes without pixels: nothing is drawn.
pub(crate) fn draw_pixels(
    canvas: &mut Canvas,
    area: Area,
    cols: usize,
    rows: usize,
    pixels: Vec<u8>,
) {
    let (Ok(cols), Ok(rows)) = (u32::try_from(cols), u32::try_from(rows)) else { return };
    let Some(image) = image::RgbaImage::from_raw(cols, rows, pixels) else { return };
    let mut png = Vec::new();
    if encode_png(&mut png, &image, SCREEN_DPI, &[]).is_ok() {
        canvas.image(area.x, area.y, area.width, area.height, &png);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{ScaleKind, Theme, render};

    fn panel(samples: Samples<'_>) -> Panel<'_> {
        Panel {
            title: "",
            samples,
            end: samples.rows() as f64,
            tile_borders_x: &[2.0, f64::NAN, 1e300],
            tile_borders_y: &[1.0],
            device_borders_y: &[1.0],
            cell_borders: &[],
            outlines: &[],
            lines: &[],
        }
    }

    fn figure<'a>(panels: &'a [Panel<'a>], width: u32, height: u32) -> HeatMapFigure<'a> {
        let samples = panels[0].samples;
        HeatMapFigure {
            title: "Residual <after> cycle & more",
            subtitle: "Poisson 2D, 256² · k = 32, overlap = 0, tile = 32 · ‖r‖/‖r₀‖ = 0.0312",
            panels,
            x_axis: MapAxis { label: "i", start: 0.0, end: samples.cols() as f64 },
            y_axis: MapAxis { label: "j", start: 0.0, end: samples.rows() as f64 },
            equal_aspect: true,
            scale: Scale::new(ScaleKind::Log, Range::new(1e-4, 1.0)),
            map: ColourMap::Inferno,
            value_label: "|residual|",
            page: Page { width, height, theme: Theme::Dark, font: None },
        }
    }

    /// The colours of a picture along its outermost pixels.
    fn rim(picture: &image::RgbaImage) -> Vec<[u8; 4]> {
        let (w, h) = picture.dimensions();
        let across = (0..w).flat_map(|x| [(x, 0), (x, h - 1)]);
        let down = (0..h).flat_map(|y| [(0, y), (w - 1, y)]);
        across.chain(down).map(|(x, y)| picture.get_pixel(x, y).0).collect()
    }

    #[test]
    fn any_size_and_shape_is_drawn_and_nothing_reaches_the_rim() {
        let values: Vec<f32> = (0..4000_u16).map(|k| f32::from(k) / 1000.0).collect();
        let shapes = [(4, 3), (4000, 1), (1, 4000), (50, 80), (0, 0), (0, 5)];
        for (width, height) in [(300, 240), (400, 300), (1600, 300), (300, 1500), (8000, 400)] {
            for (cols, rows) in shapes {
                let samples = Samples::new(cols, rows, &values[..cols * rows]).unwrap();
                let one = panel(samples);
                let two = Panel { title: "overlap 4 and rather more than fits", end: 1.0, ..one };
                for (panels, equal_aspect) in
                    [(&[one][..], true), (&[one], false), (&[two, one], true), (&[one, two], false)]
                {
                    let figure = HeatMapFigure { equal_aspect, ..figure(panels, width, height) };
                    let picture = render(&figure.svg()).unwrap();
                    assert_eq!(picture.dimensions(), (width, height));
                    let rim = rim(&picture);
                    let plain = rim.iter().all(|pixel| *pixel == rim[0]);
                    assert!(plain, "{width} × {height}, {} of {cols} × {rows}", panels.len());
                }
            }
        }
        let panels = [panel(Samples::new(4, 3, &values[..12]).unwrap())];
        assert_eq!(render(&figure(&panels, 0, u32::MAX).svg()).unwrap().width(), 64);
    }

    #[test]
    fn cells_have_hard_edges() {
        let values = [1.0, 1e-4, 1e-4, 1.0];
        let samples = Samples::new(2, 2, &values).unwrap();
        let panels = [Panel {
            tile_borders_x: &[],
            tile_borders_y: &[],
            device_borders_y: &[],
            ..panel(samples)
        }];
        let picture = render(&figure(&panels, 600, 500).svg()).unwrap();
        let table = ColourMap::Inferno.table();
        let cells = picture.pixels().filter(|pixel| pixel.0 == table[255]).count();
        let dark = picture.pixels().filter(|pixel| pixel.0 == table[0]).count();
        // Two cells each; the bar adds a few pixels, equally many at both ends.
        assert!(cells > 2 * 150 * 150 && cells.abs_diff(dark) < 100, "{cells} {dark}");
    }

    #[test]
    fn maps_stand_beside_each_other_where_they_are_larger_so() {
        let values = [0.5; 12];
        let samples = Samples::new(4, 3, &values).unwrap();
        let panels = [panel(samples), panel(samples)];
        let stacked = |width, height| {
            let figure = figure(&panels, width, height);
            let layout = Layout::new(&figure.page);
            let plan = figure.plan(&layout, &Head::new(&layout, figure.title, figure.subtitle));
            let (first, second) = (plan.maps[0], plan.maps[1]);
            assert_eq!((first.width, first.height), (second.width, second.height));
            assert!(second.x > first.right() || second.y > first.bottom());
            plan.stacked
        };
        assert!(!stacked(1200, 600) && stacked(500, 900));
    }

    #[test]
    fn a_line_one_point_wide_survives_a_small_figure() {
        let mut values = vec![1e-4_f32; 2000 * 2000];
        values.iter_mut().skip(777).step_by(2000).for_each(|value| *value = 1.0);
        let panels = [panel(Samples::new(2000, 2000, &values).unwrap())];
        let picture = render(&figure(&panels, 300, 240).svg()).unwrap();
        let bright = ColourMap::Inferno.table()[255];
        let longest =
            (0..300).map(|x| (0..240).filter(|y| picture.get_pixel(x, *y).0 == bright).count());
        assert!(longest.max() > Some(100));
    }

    #[test]
    fn ends_beyond_which_values_lie_are_marked() {
        let count = |values: &[f32]| {
            let panels = [panel(Samples::new(values.len(), 1, values).unwrap())];
            figure(&panels, 400, 300).svg().matches("<path").count()
        };
        let neither = count(&[0.5, 0.1]);
        assert!(count(&[2.0, 0.1]) > neither && count(&[0.5, 0.0]) > neither);
        assert_eq!(count(&[f32::NAN, 0.1]), neither);
    }
}
