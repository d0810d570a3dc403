//! What a field consists of, mode by mode.

use crate::grid::{Need, Shape};
use crate::number::grouped;
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::paint::Samples;
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::maps::{known_range, scale};
use crate::picture::figures::titles::Titles;
use crate::picture::plot::description::{Plot, PlotAxis, Series};
use crate::picture::plot::heat_map::{HeatMapFigure, MapAxis, Panel};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{
    self, CsvTable, FieldKind, Frequencies, FrequencyRequest, MOST_FREQUENCIES, Snapshot,
    SnapshotRequest,
};

/// What is written along the modes of each axis.
const HALF_WAVES: [&str; 3] =
    ["p: half waves along x", "q: half waves along y", "r: half waves along z"];

/// The amplitudes of the modes of a field: in 2D a map, in 1D a curve.
struct FrequenciesFigure;

impl FigureKind {
    /// What a field consists of, mode by mode.
    pub const FREQUENCIES: Self = Self::new(&FrequenciesFigure);
}

impl FigureType for FrequenciesFigure {
    fn name(&self) -> &'static str {
        "frequencies"
    }

    fn label(&self) -> &'static str {
        "Frequencies"
    }

    fn about(&self) -> &'static str {
        "The sine transform of the field: how much each mode contributes, with p half waves along x and q along y. In 1D it is a curve, of the first system of a batch; in 3D a slice of the modes."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the amplitudes that are drawn.")
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-frequencies", field.name())
    }

    fn need(&self) -> Need {
        Need::SineModes
    }

    fn uses(&self) -> Uses {
        Uses { absolute: false, borders: false, projection: false, ..Uses::MAP }
    }

    fn request(&self, view: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        let most = view.figure.size.map(|side| side as usize);
        request.observation.frequencies = Some(FrequencyRequest { most, slice: view.slice });
    }

    fn check(&self, _: &ViewSpec, shape: &Shape) -> Result<(), ViewError> {
        if shape.points() <= MOST_FREQUENCIES {
            return Ok(());
        }
        let most = grouped(MOST_FREQUENCIES as u64);
        let allowed = format!("frequencies are found on grids of at most {most} points");
        Err(ViewError::Value { field: "the grid", value: shape.to_string(), allowed })
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        let of = |snapshot: &&Snapshot| {
            let found = snapshot.observation.frequencies.as_ref()?;
            known_range(&found.amplitudes.values, view)
        };
        snapshots.iter().filter_map(of).reduce(Range::union)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        let found = first.observation.frequencies.as_ref();
        let slice = found.and_then(|found| found.slice_name());
        let slice = slice.map_or_else(String::new, |name| format!(", {name}"));
        format!("Frequencies of the {}{slice}", first.field().name())
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let nothing = || Drawing::Figure(String::new());
        let Some(snapshot) = snapshots.first() else { return nothing() };
        let Some(found) = &snapshot.observation.frequencies else { return nothing() };
        let spec = &view.figure;
        let titles = Titles::of(&snapshots[..1], view);
        if snapshot.plan.problem.shape.dim() == 1 {
            let mut plot = frequencies_plot(found, spec.scale, spec.theme);
            plot.y.range = spec.range.or_else(|| self.range(snapshots, view));
            return Drawing::Figure(plot.svg(&titles.title, &titles.subtitle, &spec.page()));
        }
        let amplitudes = &found.amplitudes;
        let [across, down] = amplitudes.size;
        // A mode lies in the middle of its cell.
        let end = |axis: usize| 0.5 + (amplitudes.size[axis] * amplitudes.block[axis]) as f64;
        let panel = Panel {
            title: "",
            samples: Samples::new(across, down, &amplitudes.values).unwrap_or(Samples::EMPTY),
            end: end(1),
            tile_borders_x: &[],
            tile_borders_y: &[],
            device_borders_y: &[],
            cell_borders: &[],
            outlines: &[],
            lines: &[],
        };
        let [x, y] = found.axes();
        let figure = HeatMapFigure {
            title: &titles.title,
            subtitle: &titles.subtitle,
            panels: &[panel],
            x_axis: MapAxis { label: HALF_WAVES[x], start: 0.5, end: end(0) },
            y_axis: MapAxis { label: HALF_WAVES[y], start: 0.5, end: end(1) },
            equal_aspect: true,
            scale: scale(&snapshots[..1], view),
            map: spec.map,
            value_label: &amplitude_label(found.field),
            page: spec.page(),
        };
        Drawing::Figure(figure.svg())
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |(name, snapshot): (String, &&'a Snapshot)| {
            let found = snapshot.observation.frequencies.as_deref()?;
            Some((name, run::frequencies_table(found, snapshot.plan.problem.shape.dim())))
        };
        let names = Titles::of(snapshots, view).each;
        names.into_iter().zip(snapshots).filter_map(table).collect()
    }
}

/// What is written along the amplitudes of modes in a field.
pub fn amplitude_label(field: FieldKind) -> String {
    format!("amplitude in {}", field.symbol())
}

/// The plot of the frequencies of a 1D field.
pub fn frequencies_plot(found: &Frequencies, scale: ScaleKind, theme: Theme) -> Plot {
    let block = found.amplitudes.block[0];
    let amplitudes = found.amplitudes.values.iter().enumerate();
    let points = amplitudes.map(|(at, value)| ((1 + at * block) as f64, f64::from(*value)));
    let x = PlotAxis::new(HALF_WAVES[0], ScaleKind::Linear);
    let series = vec![Series::line("", points.collect(), theme.curve(0))];
    Plot { series, ..Plot::new(x, PlotAxis::new(amplitude_label(found.field), scale)) }
}
