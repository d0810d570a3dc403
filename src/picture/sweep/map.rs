//! What a map of k × overlap, of tile × overlap, or of height × budget shows: the cells of a sweep, coloured by what was
//! measured of them, or by what is predicted as long as nothing was measured.
//!
//! The figure that is saved and the window's map are both drawn from this.

use crate::number::number;
use crate::picture::axis::scale::{Range, Scale, ScaleKind};
use crate::picture::colour::map::{COLOURS, ColourMap};
use crate::picture::sweep::data::SweepData;
use crate::run::{
    CostPrediction, CycleLists, CycleSetting, ListAxis, Measure, PerAxis, RowOutcome, SweepRow,
    SweepSpec, TileLists, by_predicted_cost,
};
use crate::solver::Kernel;
use crate::solver::Subiterations;

/// What is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapValue {
    /// Seconds to the tolerance.
    Time,
    /// Cycles to the tolerance.
    Cycles,
    /// Sweeps to the tolerance.
    Sweeps,
    /// Seconds of a cycle.
    CycleTime,
    /// Seconds of a sweep.
    SweepTime,
    /// The share of ‖r‖₂² near tile borders.
    EdgeShare,
    /// The error of the prediction.
    Error,
}

impl MapValue {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 7] = [
        Self::Time,
        Self::Cycles,
        Self::Sweeps,
        Self::CycleTime,
        Self::SweepTime,
        Self::EdgeShare,
        Self::Error,
    ];

    /// What the best setting of a sweep minimizes.
    pub fn natural(spec: &SweepSpec) -> Self {
        match (spec.measures(Measure::Time), spec.measures(Measure::Cycles)) {
            (true, true) => Self::Time,
            (true, false) => Self::SweepTime,
            (false, _) => Self::Cycles,
        }
    }

    /// The name in menus and titles.
    pub fn label(self) -> &'static str {
        match self {
            Self::Time => "Projected time",
            Self::Cycles => "Cycles",
            Self::Sweeps => "Sweeps",
            Self::CycleTime => "Time per cycle",
            Self::SweepTime => "Time per sweep",
            Self::EdgeShare => "Edge share",
            Self::Error => "Prediction error",
        }
    }

    /// What it is, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Time => {
                "Solver time until the tolerance is met, projected: time per cycle × cycles. The solver had the machine to itself."
            }
            Self::Cycles => "Cycles until the tolerance is met.",
            Self::Sweeps => "Sweeps until the tolerance is met: those of a cycle times the cycles.",
            Self::CycleTime => "Solver time per cycle, with the machine to itself.",
            Self::SweepTime => {
                "Solver time per cycle, divided by its sweeps, with the machine to itself."
            }
            Self::EdgeShare => "The share of ‖r‖² near tile borders when the tolerance is met.",
            Self::Error => "The relative error of the predicted cost.",
        }
    }

    /// The unit beside its colour bar.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Time | Self::CycleTime | Self::SweepTime => "seconds",
            Self::Cycles => "cycles",
            Self::Sweeps => "sweeps",
            Self::EdgeShare => "share of ‖r‖²",
            Self::Error => "relative error",
        }
    }

    /// The value of a row, if it has one.
    pub fn of(self, row: &SweepRow) -> Option<f64> {
        match self {
            Self::Time => row.seconds,
            Self::Cycles => row.sweeps.and(row.cycles).map(|cycles| cycles.count as f64),
            Self::Sweeps => row.sweeps.map(|sweeps| sweeps as f64),
            Self::CycleTime => row.seconds_per_cycle,
            Self::SweepTime => row.seconds_per_sweep(),
            Self::EdgeShare => row.edge_share,
            Self::Error => row
                .seconds_prediction_error
                .or(row.prediction_error)
                .or(row.cycles_prediction_error)
                .map(f64::abs),
        }
    }

    /// Values that differ by factors are coloured by their logarithm.
    fn scale(self) -> ScaleKind {
        match self {
            Self::EdgeShare | Self::Error => ScaleKind::Linear,
            _ => ScaleKind::Log,
        }
    }
}

/// A cell of the map.
#[derive(Clone, Debug, Default)]
pub struct MapCell<'a> {
    /// What was measured; for several tiles or kernels, of the best.
    pub row: Option<&'a SweepRow>,
    /// The index of its cell among those of the sweep, if it can run.
    pub index: Option<usize>,
    /// The measured value, if it is known.
    pub value: Option<f64>,
    /// The predicted value, if there is one.
    pub predicted: Option<f64>,
    /// Why it cannot run, if no tile and no kernel can.
    pub cannot_run: Option<&'a str>,
    /// Whether it differs from the best by no more than noise.
    pub is_equal: bool,
    /// Whether it is faster than Jacobi's iteration, where both are known.
    pub beats_classic: Option<bool>,
    /// Whether its cycles are exactly sweeps of Jacobi's iteration.
    pub is_exact: bool,
}

/// A map: overlaps across, k or tiles down; of passes, budgets across and heights down.
#[derive(Clone, Debug)]
pub struct SweepMap<'a> {
    /// Under the columns.
    pub across: ListAxis,
    /// Beside the rows.
    pub down: ListAxis,
    /// Row by row.
    pub cells: Vec<Vec<MapCell<'a>>>,
    /// Across and down.
    pub best: Option<[usize; 2]>,
    /// From the least to the most.
    pub scale: Scale,
}

/// What the rows of a map of tiles are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapRows {
    /// k, at a tile or the best of several.
    #[default]
    K,
    /// Tiles, at a k or the best of several: where k costs nothing, the valley lies in tile × overlap.
    Tile,
}

impl MapRows {
    /// Both, as they stand in menus.
    pub const ALL: [Self; 2] = [Self::K, Self::Tile];

    /// The name beside the rows, and in menus.
    pub fn label(self) -> &'static str {
        match self {
            Self::K => "k",
            Self::Tile => "tile",
        }
    }

    /// What it means, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::K => "From top to bottom k, at a tile or the best of all.",
            Self::Tile => {
                "From top to bottom the tile, at a k or the best of all: in the sine basis k costs nothing, and what is left to choose is tile × overlap."
            }
        }
    }
}

/// Which of several k or tiles, and kernels, a map shows; `None` for the best of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// What its rows are.
    pub rows: MapRows,
    /// The k, where rows are tiles.
    pub k: Option<Subiterations>,
    /// The tile, where rows are k.
    pub tile: Option<PerAxis>,
    /// The requested kernel.
    pub kernel: Option<Kernel>,
}

impl Layer {
    /// What a map of a sweep shows first: the best of all, by k unless there are several tiles and one k.
    pub fn natural(spec: &SweepSpec) -> Self {
        let rows = match spec.cycle.tiles() {
            Some(TileLists { k, tile, .. }) if k.len() == 1 && tile.len() > 1 => MapRows::Tile,
            _ => MapRows::K,
        };
        Self { rows, ..Self::default() }
    }

    /// The same kernel with k as rows, as charts need it.
    pub(super) fn by_k(self) -> Self {
        match self.rows {
            MapRows::K => self,
            MapRows::Tile => Self { kernel: self.kernel, ..Self::default() },
        }
    }

    /// Whether it shows a setting.
    pub(super) fn shows(&self, cycle: CycleSetting) -> bool {
        cycle.tiles().is_none_or(|setting| {
            self.k.is_none_or(|shown| shown == setting.k)
                && self.tile.is_none_or(|shown| shown == setting.tile)
        })
    }

    /// The lists down and across, and the tiles of the rows, if rows are tiles.
    fn axes(self, lists: &CycleLists) -> ([ListAxis; 2], Option<&[PerAxis]>) {
        let [down, across] = lists.axes();
        match lists.tiles().filter(|_| self.rows == MapRows::Tile) {
            Some(lists) => ([lists.tile_axis(), across], Some(&lists.tile)),
            None => ([down, across], None),
        }
    }
}

/// A line between two corners of cells, each counted across and down.
pub type Segment = [[usize; 2]; 2];

/// Dark is little, and so good.
pub const MAP_COLOURS: ColourMap = ColourMap::Viridis;

impl MapCell<'_> {
    /// The value that is coloured: the measured one, or else the predicted one.
    pub fn shown(&self) -> Option<f64> {
        self.value.or(self.predicted.filter(|_| !self.is_measured()))
    }

    /// Whether it was measured, whatever the result is.
    pub fn is_measured(&self) -> bool {
        self.row.is_some()
    }

    /// What is written into the cell: its value with three digits, or why it has none.
    pub fn text(&self) -> Option<String> {
        if let Some(value) = self.shown() {
            // Counts are exact.
            let is_count = self.is_measured() && value.fract() == 0.0;
            let three: f64 = format!("{value:.2e}").parse().unwrap_or(value);
            return Some(number(if is_count { value } else { three }));
        }
        match self.row?.outcome {
            RowOutcome::Capped => self.row?.cycles.map(|cycles| cycles.to_string()),
            RowOutcome::RoundingLimit => Some("rounding".to_owned()),
            RowOutcome::Diverged => Some("diverges".to_owned()),
            RowOutcome::Measured | RowOutcome::CannotRun => None,
        }
    }
}

/// Black or white, whichever has more contrast on a colour.
pub fn ink_on([red, green, blue]: [u8; 3]) -> [u8; 3] {
    // Rec. 601 luma.
    let light = 0.299 * f32::from(red) + 0.587 * f32::from(green) + 0.114 * f32::from(blue);
    if light > 140.0 { [0; 3] } else { [0xff; 3] }
}

impl<'a> SweepMap<'a> {
    /// The map of a sweep.
    pub fn new(data: SweepData<'a>, layer: Layer, value: MapValue) -> Self {
        let SweepData { outline, rows, predictions, classic } = data;
        let classic = classic.and_then(|classic| classic.cost());
        let cost = |index: usize| {
            let row: Option<&SweepRow> = rows.get(index).and_then(Option::as_ref);
            let predicted = || predictions.get(index).copied().flatten()?.cost;
            row.map_or_else(predicted, SweepRow::cost)
        };
        let spec = &outline.spec;
        let ([down, across], tiles) = layer.axes(&spec.cycle);
        let (high, wide) = (down.labels.len(), across.labels.len());
        let mut cells: Vec<Vec<MapCell<'a>>> = vec![vec![MapCell::default(); wide]; high];
        let mut can_run = vec![vec![false; wide]; high];
        let mut seen = vec![vec![false; wide]; high];
        for (index, cell) in outline.cells.iter().enumerate() {
            let setting = &cell.setting;
            let is_shown = layer.shows(setting.cycle)
                && layer.kernel.is_none_or(|kernel| kernel == setting.kernel);
            // Cells are in order: the columns change fastest, then k or the height.
            let across = index % wide;
            let down = match tiles.zip(setting.cycle.tiles()) {
                None => Some(index / wide % high),
                Some((tiles, setting)) => tiles.iter().position(|tile| *tile == setting.tile),
            };
            let Some(down) = down.filter(|_| is_shown) else { continue };
            let shown = &mut cells[down][across];
            let row = rows.get(index).and_then(Option::as_ref);
            let refusal = row
                .filter(|row| row.outcome == RowOutcome::CannotRun)
                .and_then(|row| row.reason.as_deref())
                .or(cell.cannot_run.as_deref());
            seen[down][across] = true;
            match refusal {
                Some(why) => {
                    shown.cannot_run.get_or_insert(why);
                    continue;
                }
                None => can_run[down][across] = true,
            }
            // What was measured comes before what is predicted, then what costs less.
            let is_better = shown.index.is_none_or(|known| {
                match (shown.row.is_some(), row.is_some(), cost(known), cost(index)) {
                    (true, false, ..) => false,
                    (false, true, ..) => true,
                    (.., Some(known), Some(cost)) => cost < known,
                    (.., known, _) => known.is_none(),
                }
            });
            if is_better {
                (shown.row, shown.index) = (row, Some(index));
            }
        }
        let all = cells.iter().flatten().filter_map(|cell| cell.row);
        let best = SweepRow::best(all);
        let mut at = None;
        for (down, line) in cells.iter_mut().enumerate() {
            for (across, cell) in line.iter_mut().enumerate() {
                if can_run[down][across] || !seen[down][across] {
                    cell.cannot_run = None;
                }
                let Some(index) = cell.index else { continue };
                let setting = &outline.cells[index].setting;
                let shape = &spec.run.problem.shape;
                let method = &spec.run.method;
                let is_frozen = method.schedule().is_jacobi() && !method.has_frozen_devices();
                cell.is_exact = is_frozen && setting.cycle.is_exact(shape);
                cell.predicted = data.predicted(index, value);
                let beats = |classic: f64| cost(index).map(|cost| cost < classic);
                cell.beats_classic = classic.and_then(beats);
                let Some(row) = cell.row else { continue };
                cell.value = value.of(row).filter(|value| value.is_finite());
                let is_best = best.is_some_and(|best| std::ptr::eq(best, row));
                if is_best {
                    at = Some([across, down]);
                }
                cell.is_equal = !is_best && best.is_some_and(|best| row.equals_within_noise(best));
            }
        }
        let values = cells.iter().flatten().filter_map(MapCell::shown);
        let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| {
            (lo.min(value), hi.max(value))
        });
        let scale = Scale::new(value.scale(), Range::new(lo, hi));
        Self { across, down, cells, best: at, scale }
    }

    /// A cell in words: `k = 8, overlap 2`.
    pub fn cell_name(&self, [across, down]: [usize; 2]) -> String {
        format!("{}, {}", self.down.value(down), self.across.value(across))
    }

    /// The colour of a value, in sRGB.
    pub fn colour(&self, value: f64) -> [u8; 3] {
        let step = self.scale.position(value) * (COLOURS - 1) as f64;
        let [r, g, b, _] = MAP_COLOURS.table()[(step as usize).min(COLOURS - 1)];
        [r, g, b]
    }

    /// The cell of the lowest predicted cost, across and down, and its prediction.
    pub fn predicted_best(&self, data: SweepData<'_>) -> Option<([usize; 2], CostPrediction)> {
        let cells = self.cells.iter().enumerate().flat_map(|(down, row)| {
            row.iter().enumerate().map(move |(across, cell)| ([across, down], cell.index))
        });
        let predicted = cells
            .filter_map(|(at, index)| Some((at, data.predictions.get(index?).copied().flatten()?)));
        let known = predicted.filter(|(_, prediction)| prediction.cost.is_some());
        known.min_by(|(_, one), (_, other)| by_predicted_cost(one, other))
    }

    /// The lines between cells that are faster than Jacobi's iteration and others that are not.
    pub fn contour(&self) -> Vec<Segment> {
        self.between(|cell| cell.beats_classic)
    }

    /// The lines between cells that are exactly Jacobi's iteration and others.
    pub fn exact(&self) -> Vec<Segment> {
        self.between(|cell| cell.shown().map(|_| cell.is_exact))
    }

    /// The lines between cells of which the one has something and the other has not.
    fn between(&self, has: impl Fn(&MapCell<'_>) -> Option<bool>) -> Vec<Segment> {
        let at = |across: usize, down: usize| self.cells.get(down)?.get(across).and_then(&has);
        let mut segments = Vec::new();
        for down in 0..self.cells.len() {
            for across in 0..self.across.labels.len() {
                let Some(here) = at(across, down) else { continue };
                let differs = |other: Option<bool>| other.is_some_and(|other| other != here);
                if differs(at(across + 1, down)) {
                    segments.push([[across + 1, down], [across + 1, down + 1]]);
                }
                if differs(at(across, down + 1)) {
                    segments.push([[across, down + 1], [across + 1, down + 1]]);
                }
            }
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::any::sweep;
    use crate::run::{ClassicBaseline, CycleTime, Sweep};

    fn data<'a>(
        sweep: &'a Sweep,
        rows: &'a [Option<SweepRow>],
        classic: Option<ClassicBaseline>,
    ) -> SweepData<'a> {
        SweepData { outline: sweep.outline(), rows, predictions: &[], classic }
    }

    #[test]
    fn cells_show_their_prediction_until_they_are_measured() {
        let mut sweep = sweep(&[1, 2, 4]);
        let predictions = sweep.predict(&|| false).unwrap().unwrap();
        let mut by_cell = vec![None; sweep.cells().len()];
        for prediction in &predictions {
            by_cell[prediction.index] = Some(*prediction);
        }
        let mut rows = vec![None; by_cell.len()];
        let outline = sweep.outline().clone();
        let map = |rows: &[Option<SweepRow>]| {
            let data = SweepData { outline: &outline, rows, predictions: &by_cell, classic: None };
            let map = SweepMap::new(data, Layer::default(), MapValue::Cycles);
            let (at, prediction) = map.predicted_best(data).unwrap();
            let cell = &map.cells[at[1]][at[0]];
            assert_eq!(cell.predicted, prediction.cost);
            (cell.index.unwrap(), cell.value, cell.shown(), cell.predicted, map.best)
        };
        let (best, value, shown, predicted, outlined) = map(&rows);
        assert!(value.is_none() && shown == predicted && outlined.is_none());
        let cell = sweep.cells()[best].clone();
        rows[best] = sweep.measure(&[cell], 1, &|| false).unwrap().pop();
        let (index, value, shown, predicted, outlined) = map(&rows);
        assert!(index == best && value.is_some() && shown == value && outlined.is_some());
        // The prediction stays.
        assert!((predicted.unwrap() / value.unwrap() - 1.0).abs() < 0.1);
    }

    #[test]
    fn a_cell_shows_the_best_of_its_tiles_or_the_one_that_is_asked_for() {
        let mut sweep = sweep(&[1, 2, 4]);
        let cells = sweep.cells().to_vec();
        let rows = sweep.measure(&cells, 2, &|| false).unwrap();
        let known: Vec<_> = rows.iter().cloned().map(Some).collect();
        let sweeps = rows[0].sweeps.map(|sweeps| sweeps as f64);
        let classic = ClassicBaseline { time: None, sweeps, counts: true };
        let map =
            |layer| SweepMap::new(data(&sweep, &known, Some(classic)), layer, MapValue::Cycles);
        let both = map(Layer::default());
        let small = map(Layer { tile: Some(PerAxis::all(4)), ..Layer::default() });
        assert!(both.cells[1][0].value <= small.cells[1][0].value);
        // Overlap 2 goes with both, 8 with neither, which is reported.
        assert!(both.cells[0][1].cannot_run.is_none());
        assert!(both.cells[2][2].cannot_run.unwrap().contains("overlap 8 is too large for tile"));
        // The fewest cycles are those of k = 4; without times nothing compares with Jacobi's.
        assert_eq!(both.best.unwrap()[1], 2);
        assert!(both.contour().is_empty());
        assert!(both.cells[0][0].is_exact && both.cells[1][1].is_exact);
        assert!(!both.cells[1][0].is_exact && !both.exact().is_empty());
        assert_eq!(both.colour(both.scale.range().lo()), [0x44, 0x01, 0x54]);
        // By tiles: the same best cell, and at one k what that k has with each tile.
        let tiles = map(Layer { rows: MapRows::Tile, ..Layer::default() });
        assert_eq!(tiles.down.labels, ["4", "8"]);
        let value = |map: &SweepMap<'_>| map.best.and_then(|[at, down]| map.cells[down][at].value);
        assert_eq!(value(&tiles), value(&both));
        let two = Some(Subiterations::Finite(2));
        let of_two = map(Layer { rows: MapRows::Tile, k: two, ..Layer::default() });
        for (down, tile) in [4, 8].into_iter().enumerate() {
            let by_k = map(Layer { tile: Some(PerAxis::all(tile)), ..Layer::default() });
            for across in 0..both.across.labels.len() {
                let [cell, same] = [&of_two.cells[down][across], &by_k.cells[1][across]];
                assert_eq!((cell.value, cell.index), (same.value, same.index));
            }
        }
    }

    #[test]
    fn cells_within_noise_of_the_best_are_marked_as_equal() {
        let sweep = sweep(&[1, 2, 4]);
        let mut known: Vec<Option<SweepRow>> = vec![None; sweep.cells().len()];
        let row = |seconds: f64, error: f64| {
            let mut row = sweep.outline().empty_row(&sweep.cells()[0].setting);
            let time = CycleTime { median: seconds, error, repeats: 9 };
            row.measured = "time".into();
            (row.seconds_per_cycle, row.seconds_per_cycle_error) = (Some(time.median), Some(error));
            Some(row)
        };
        (known[0], known[1], known[3]) = (row(1.0, 0.1), row(1.15, 0.1), row(1.5, 0.1));
        let map = SweepMap::new(data(&sweep, &known, None), Layer::default(), MapValue::CycleTime);
        assert_eq!(map.best, Some([0, 0]));
        let equal = |across: usize, down: usize| map.cells[down][across].is_equal;
        assert!(equal(1, 0) && !equal(0, 0) && !equal(0, 1));
        // Faster than 1.3 s are the first two; what was not measured is on neither side.
        let time = Some(CycleTime { median: 1.3, error: 0.0, repeats: 9 });
        let classic = Some(ClassicBaseline { time, sweeps: None, counts: false });
        let map =
            SweepMap::new(data(&sweep, &known, classic), Layer::default(), MapValue::SweepTime);
        assert_eq!(map.contour(), [[[0, 1], [1, 1]]]);
    }
}
